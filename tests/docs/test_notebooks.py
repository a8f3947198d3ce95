"""The notebooks run from top to bottom: their cells hold assertions. They are kept without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_has_no_outputs(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells and all(cell.outputs == [] and cell.execution_count is None for cell in cells)


def test_is_listed() -> None:
    page = (NOTEBOOKS / "index.md").read_text()
    assert len(FILES) >= 2
    assert [path.name for path in FILES if f"({path.name})" not in page] == []
