"""Kernels without an aggregate: they work where nothing can be kept, too."""

import os
import shutil
import subprocess
import sys
from types import ModuleType

import pytest

from slidewheel.compiler import fixed

KERNELS = """
def _twice(x):
    return 2 * x


def total(values):
    found = 0
    for value in values:
        found += _twice(value)
    return found
"""
CODE = """
import slidewheel as sw
query = sw.query(time="t", keys=["k"], windows=[sw.sliding("2s", every="1s")], aggregates=[sw.count()])
print(query.run({"t": [0, 500_000, 1_500_000], "k": ["a", "b", "a"]})["count"].to_pylist())
"""
BROKEN = ["no directory", "no rights"]


def unusable(folder, broken) -> str:
    """A place in which nothing can be kept."""
    place = folder / "cache"
    if broken == "no directory":
        place.write_text("a file stands in the way")
    elif os.geteuid() == 0:
        return "/proc/slidewheel"  # where not even root may write
    else:
        place.mkdir(mode=0o500)
    return str(place)


@pytest.fixture
def file(tmp_path, monkeypatch) -> ModuleType:
    (tmp_path / "kernels_of_a_test.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kernels_of_a_test", raising=False)
    return __import__("kernels_of_a_test")


@pytest.mark.parametrize("broken", BROKEN)
def test_where_nothing_can_be_kept(file, tmp_path, monkeypatch, broken):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", unusable(tmp_path, broken))
    kernels = fixed.Compiled(file)
    assert [kernels.total((1, 2)), kernels.total((5, 6))] == [6, 22]
    assert [path.name for path in tmp_path.glob("**/slidewheel_generated*")] == []


def test_where_it_breaks_between_loading_and_compiling(file, tmp_path, monkeypatch):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "kept"))
    kernels = fixed.Compiled(file)
    assert len(list(tmp_path.glob("kept/slidewheel_generated*.py"))) == 1
    shutil.rmtree(tmp_path / "kept")
    (tmp_path / "kept").write_text("a file stands in the way")
    assert kernels.total((1, 2)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("broken", BROKEN)
def test_a_query_where_nothing_can_be_kept(tmp_path, broken):
    environment = os.environ | {"SLIDEWHEEL_CACHE_DIR": unusable(tmp_path, broken)}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[1, 1, 2, 1, 1]", done.stderr
