"""What is published: one wheel for all platforms, with all that it needs and nothing else."""

import email
import json
import os
import re
import subprocess
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, Published, build

MEGABYTE = 1_000_000
PAGE = "slidewheel/serve/page"


@pytest.fixture
def names(published: Published) -> set[str]:
    with zipfile.ZipFile(published.wheel) as archive:
        return set(archive.namelist())


def read(wheel: Path, ending: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(ending))
        return archive.read(name).decode()


def metadata(wheel: Path) -> Message:
    return email.message_from_string(read(wheel, ".dist-info/METADATA"))


def version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src/slidewheel/_version.py").read_text())
    assert found is not None
    return found[1]


def test_it_is_one_small_file_for_all_platforms(published):
    assert published.wheel.name == f"slidewheel-{version()}-py3-none-any.whl"
    assert published.wheel.stat().st_size < 2 * MEGABYTE
    tags = email.message_from_string(read(published.wheel, ".dist-info/WHEEL"))
    assert tags["Root-Is-Purelib"] == "true" and tags.get_all("Tag") == ["py3-none-any"]


def test_it_has_every_file_of_the_package_and_no_other(names):
    tracked = subprocess.run(["git", "ls-files", "src/slidewheel"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("which files belong to the package is known to git alone, and this is no checkout")
    expected = {name.removeprefix("src/") for name in tracked.stdout.split() if (ROOT / name).exists()}
    found = {name for name in names if ".dist-info/" not in name}
    assert expected <= found
    # Files of the tree that are not yet committed are in the wheel too.
    assert all(name.startswith(f"{PAGE}/vendor/") or (ROOT / "src" / name).exists() for name in found - expected)
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc", ".so"))]


def test_tests_benchmarks_and_docs_stay_at_home(names):
    assert {name.partition("/")[0] for name in names} == {"slidewheel", f"slidewheel-{version()}.dist-info"}


def test_type_checkers_are_told_that_there_are_types(names):
    assert "slidewheel/py.typed" in names


def test_the_page_is_complete_with_its_chart_library_and_the_library_with_its_licence(published, names):
    assert {f"{PAGE}/index.html", f"{PAGE}/app.js", f"{PAGE}/style.css", f"{PAGE}/icon.svg"} <= names
    pinned = json.loads((ROOT / "package.json").read_text())["dependencies"]["uplot"]
    assert f"v{pinned}" in read(published.wheel, "vendor/uPlot.iife.min.js")[:200]
    assert ".uplot" in read(published.wheel, "vendor/uPlot.min.css")
    assert "Permission is hereby granted" in read(published.wheel, "vendor/LICENSE")


def test_the_version_stands_in_one_file(published):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project and project["dynamic"] == ["version"]
    assert "version" not in json.loads((ROOT / "package.json").read_text())
    assert metadata(published.wheel)["Version"] == version()


def test_its_metadata_name_the_licence_the_extras_and_the_command(published):
    known = metadata(published.wheel)
    assert known["License-Expression"] == "Apache-2.0" and known["Requires-Python"] == ">=3.11"
    assert {"spark", "store", "serve", "cli"} <= set(known.get_all("Provides-Extra", []))
    needed = [line for line in known.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(re.split(r"[<>=]", line)[0] for line in needed) == ["numba", "numpy", "pyarrow"]
    assert "slidewheel = slidewheel.cli.main:main" in read(published.wheel, ".dist-info/entry_points.txt")


def test_the_source_archive_builds_the_same_wheel_without_npm(published, tmp_path):
    with tarfile.open(published.archive) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert not {"tests", "bench", "docs"} & {path.name for path in source.iterdir()}
    build(source, tmp_path / "again", "--wheel", **{**os.environ, "PATH": str(tmp_path)})
    (again,) = (tmp_path / "again").glob("*.whl")
    assert again.read_bytes() == published.wheel.read_bytes()
