"""The site is built without a warning, so that every page is in a toctree; and all that it links to is there."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import slidewheel as sw

DOCS = Path(__file__).parents[2] / "docs"


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {"", "top"}  # a browser knows these two by itself
        self.links: list[str] = []
        self.files: list[str] = []
        self.wordless = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in ("img", "script", "source") and "src" in values:
            self.files.append(values["src"])
            self.wordless += tag == "img" and not values.get("alt")
        elif tag == "link" and "href" in values:
            self.files.append(values["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, and what was complained of."""
    folder = tmp_path_factory.mktemp("site").resolve()
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", folder / "doctrees", DOCS, folder / "html"]
    return folder / "html", subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True).stderr


@pytest.fixture(scope="module")
def site(built: tuple[Path, str]) -> Path:
    return built[0]


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def test_is_built_without_a_warning(built: tuple[Path, str]) -> None:
    assert built[1] == ""


def test_links_lead_somewhere(pages: dict[Path, Page], site: Path) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links + page.files:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            there = target.is_relative_to(site) and target.is_file()
            if not there or (target in pages and unquote(address.fragment) not in pages[target].anchors):
                broken.append((path.relative_to(site), link))
    assert broken == []


def test_links_outside_are_https(pages: dict[Path, Page], site: Path) -> None:
    outside = {link for page in pages.values() for link in page.links if urlsplit(link).scheme or urlsplit(link).netloc}
    assert [link for link in outside if urlsplit(link).scheme != "https" or "." not in urlsplit(link).netloc] == []


def test_a_page_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert [file for page in pages.values() for file in page.files if urlsplit(file).netloc] == []


def test_pictures_have_words(pages: dict[Path, Page], site: Path) -> None:
    assert {path.relative_to(site) for path, page in pages.items() if page.wordless} == set()


def test_every_public_name_is_in_the_reference(pages: dict[Path, Page], site: Path) -> None:
    import slidewheel.spark

    anchors = {anchor for path, page in pages.items() if path.parent.name == "api" for anchor in page.anchors}
    names = {f"slidewheel.{name}" for name in sw.__all__ if name != "swag"}
    names |= {f"slidewheel.swag.{name}" for name in sw.swag.__all__} | {"module-slidewheel.swag"}
    names |= {f"slidewheel.spark.{name}" for name in slidewheel.spark.__all__}
    assert sorted(names - anchors) == []


def test_every_command_and_option_is_in_the_reference() -> None:
    from typer.main import get_command

    from slidewheel.cli.commands import app

    text = (DOCS / "api" / "command-line.md").read_text()
    missing = []
    commands = [(name, command) for name, command in get_command(app).commands.items()]
    while commands:
        name, command = commands.pop()
        commands += [(f"{name} {inner}", below) for inner, below in getattr(command, "commands", {}).items()]
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        wanted = [f"slidewheel {name}", *(option for option in options if option != "--help")]
        missing += [f"{name}: {each}" for each in wanted if each not in text]
    assert missing == []
