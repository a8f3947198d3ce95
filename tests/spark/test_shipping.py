"""The package as a zip file: the same bytes each time, and enough for executors that have no slidewheel."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import slidewheel
from slidewheel.errors import SlidewheelError
from slidewheel.spark import shipping


def test_the_zip_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "one"))
    first = shipping.package()
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "two"))
    second = shipping.package()
    assert first.name == second.name and slidewheel.__version__ in first.name
    assert first.read_bytes() == second.read_bytes()
    assert os.listdir(first.parent) == [first.name]
    root = Path(slidewheel.__file__).parent
    with zipfile.ZipFile(first) as archive:
        names = set(archive.namelist())
        assert archive.read("slidewheel/engine/query.py") == (root / "engine" / "query.py").read_bytes()
    assert names == {f"slidewheel/{path.relative_to(root)}" for path in (*root.rglob("*.py"), root / "py.typed")}


def test_what_was_shipped_before_is_not_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path))
    before = shipping.package().stat()
    assert shipping.package().stat().st_mtime_ns == before.st_mtime_ns


def test_nowhere_to_write_it(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(SlidewheelError, match="set SLIDEWHEEL_CACHE_DIR"):
        shipping.package()


PROGRAM = """
import pyarrow as pa
from slidewheel.spark.session import session
from slidewheel.spark.shipping import ship

def sums(batches):
    for batch in batches:
        import slidewheel as sw
        query = sw.query(time="id", windows=sw.tumbling("1s"), aggregates=sw.sum("id"))
        answer = query.run(pa.table({"id": batch["id"]}))["sum_id"].to_pylist()
        yield pa.RecordBatch.from_pydict({"file": [sw.__file__], "total": [sum(answer)]})

spark = session("local-cluster[1,1,1024]", {"spark.log.level": "OFF"})
path = ship(spark)
assert ship(spark) == path
found = spark.range(0, 1000, 1, 2).mapInArrow(sums, "file string, total long").collect()
assert sum(row.total for row in found) == sum(range(1000)), found
assert all(path.name in row.file for row in found), found
spark.stop()
"""


def python_without_slidewheel(folder: Path) -> Path:
    """A Python that has every package of this one but slidewheel."""
    packages = folder / "packages"
    packages.mkdir()
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "slidewheel" not in path.name and path.suffix != ".pth":
            (packages / path.name).symlink_to(path)
    venv.create(folder / "venv", symlinks=True)
    [site] = (folder / "venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    return folder / "venv" / "bin" / "python"


def test_executors_that_have_no_slidewheel(tmp_path):
    bare = python_without_slidewheel(tmp_path)
    environment = {**os.environ, "PYSPARK_PYTHON": str(bare), "SPARK_WORKER_DIR": str(tmp_path / "work")}
    environment.pop("PYTHONPATH", None)
    has_it = subprocess.run([bare, "-c", "import numba; import slidewheel"], env=environment, capture_output=True)
    assert b"No module named 'slidewheel'" in has_it.stderr
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
