"""The site: `python -m sphinx -W --keep-going -b html docs build/site`."""

import inspect
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes

import slidewheel
from slidewheel._version import __version__

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "slidewheel"
author = "the slidewheel authors"
release = version = __version__
html_title = f"slidewheel {__version__}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["**.ipynb_checkpoints"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
pygments_dark_style = "a11y-dark"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = html_show_copyright = False
html_use_index = html_domain_indices = False  # the search finds names, too
highlight_language = "none"  # a fence without a language is a drawing

# Links to headings, as on GitHub.
myst_heading_anchors = 4

smartquotes = False  # "1h" is code more often than speech

# Docstrings have single backticks for code, as Markdown does.
default_role = "code"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

# Pages for files that are outside of this folder, which Sphinx does not read.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples": "notebooks/index.md",
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
TOCTREE = "\n\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def read_page(app: Any, docname: str, source: list[str]) -> None:
    """Links that leave docs/ lead to their pages; and the index of a folder lists all the pages of it."""
    folder = (HERE / docname).parent
    source[0] = relinked(source[0], folder, folder)
    if docname.endswith("/index") and "{toctree}" not in source[0] and len(list(folder.glob("*.md"))) > 1:
        source[0] += TOCTREE


def read_include(app: Any, path: Path, docname: str, content: list[str]) -> None:
    content[0] = relinked(content[0], (HERE / path).resolve().parent, (HERE / docname).parent)


def relinked(text: str, folder: Path, page: Path) -> str:
    """A text that was written in one folder, with its links as they have to be on a page in another."""

    def link(found: re.Match[str]) -> str:
        label, address, anchor = found[1], found[2], found[3] or ""
        target = (folder / address).resolve()
        if not target.exists() or not target.is_relative_to(ROOT):
            return found[0]
        target = HERE / PAGES.get(target.relative_to(ROOT).as_posix(), target)
        if target.is_dir():  # nothing to show or to download
            return label
        return f"[{label}]({Path(os.path.relpath(target, page)).as_posix()}{anchor})"

    return LINK.sub(link, text)


def trim_code(app: Any, doctree: nodes.document) -> None:
    """Examples end with an empty line, for the sake of doctest; nobody has to see it."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip("\n")
        block.children = [nodes.Text(block.rawsource)]


def read_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Lines such as `times: the time of each row`, with their indented rest, become a list of definitions."""
    try:
        parameters = set(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return
    result: list[str] = []
    inside = False
    for line in lines:
        names, colon, rest = line.partition(": ")
        if colon and set(names.split(", ")) <= parameters:
            result += ["", ", ".join(f"``{each}``" for each in names.split(", ")), f"    {rest}"]
            inside = True
        elif inside and line and not line.startswith(" "):
            result += ["", line]
            inside = False
        else:
            result.append(line)
    lines[:] = result


# Classes that users make themselves; all others come from functions, and their constructors are nobody's business.
CONSTRUCTED = ("Wheel", "KeyedWheel", "Level", "StoreWriter")
SHORT = {
    "str | ~datetime.timedelta | ~numpy.timedelta64 | int": "Duration",
    "str | ~datetime.datetime | ~datetime.date | ~numpy.datetime64 | int": "Instant",
    "~slidewheel.algebra.aggregate.Aggregate | ~slidewheel.algebra.define.AggregateType": "~slidewheel.Aggregate",
    "~numpy.ndarray[~typing.Any, ~typing.Any]": "~numpy.ndarray",
}


def read_signature(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Types under the names by which the reference knows them."""
    if what == "class" and name.rpartition(".")[2] not in CONSTRUCTED:
        return "", None
    return public(signature), public(returns)


def public(types: str | None) -> str | None:
    if types is None:
        return None
    for long, short in SHORT.items():
        types = types.replace(long, short)
    return re.sub(r"~?slidewheel\.[\w.]+\.(\w+)", public_name, types)


def public_name(found: re.Match[str]) -> str:
    return f"~slidewheel.{found[1]}" if found[1] in slidewheel.__all__ else found[1]


def setup(app: Any) -> None:
    app.connect("source-read", read_page)
    app.connect("include-read", read_include)
    app.connect("doctree-read", trim_code)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", read_signature)
