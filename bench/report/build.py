"""Makes all pages from the result files."""

import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from bench import results
from bench.report import index
from bench.report.page import Page
from bench.suites import SUITES


def build(measured: Path, folder: Path) -> Iterator[Path]:
    """The pages of all suites that have a result file, and the index; each path when it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    pages: dict[str, Page] = {}
    headlines: dict[str, list[index.Headline]] = {}
    for suite in SUITES:
        found, writer = results.load(measured, suite), writer_of(suite)
        if found is None or writer is None:
            continue
        for old in folder.glob(f"{suite}-*.svg"):  # a plot that the page no longer has
            old.unlink()
        page = pages[suite] = Page(found, folder)
        if found.records:
            writer.write(page)
            headlines[suite] = writer.headlines(page) if hasattr(writer, "headlines") else []
        else:
            page.title(f"{suite}: nothing was measured")
        page.targets()
        page.made_on()
        yield _written(folder / f"{suite}.md", page.text())
    yield _written(folder / "index.md", index.text(pages, headlines))


def writer_of(suite: str) -> ModuleType | None:
    name = f"bench.report.pages.{suite}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
