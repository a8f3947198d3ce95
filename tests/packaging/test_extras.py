"""Each extra on its own, as a user installs it: what it is for works, and what it does not bring is named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

pytestmark = pytest.mark.slow

ROLLING = """
import numpy as np
import slidewheel as sw
assert sw.rolling(np.arange(4.0), sw.max(), size=2).tolist() == [0.0, 1.0, 2.0, 3.0]
"""
STORE = """
import sys
import slidewheel as sw
query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=sw.sum("v"))
store = sw.create_store(sys.argv[1] + "/store", query)
store.append({"t": [0, 61_000_000], "v": [3.5, 2.0]})
assert store.query(0, 120_000_000).to_pylist() == [{"sum_v": 5.5}]
"""
SERVE = f"""
{STORE}
from slidewheel.serve.app import make_app
from slidewheel.serve.stores import Stores
assert make_app(Stores([store])).title == "slidewheel"
"""
SPARK = """
import slidewheel as sw
import slidewheel.spark
spark = slidewheel.spark.session("local[1]")
rows = spark.createDataFrame([(60, 1.0), (61, 2.0)], "t long, v double").selectExpr("timestamp_seconds(t) as t", "v")
query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=sw.sum("v"))
assert [row.sum_v for row in query.spark(rows).collect()] == [3.0]
spark.stop()
"""
NO_SPARK = """
import slidewheel as sw
sw.query(time='t', windows=sw.tumbling('1h'), aggregates=sw.count()).spark(None)
"""
COMMAND = "from slidewheel.cli.main import main; main()"
WORKS = {"": ROLLING, "spark": SPARK, "store": STORE, "serve": SERVE, "cli": ROLLING}
NEEDS = {"store": STORE, "serve": SERVE, "spark": NO_SPARK, "cli": COMMAND}
BRINGS = {"serve": {"serve", "store"}}
"""Which of these an extra brings, if it is not itself alone."""


@pytest.mark.parametrize("extra", WORKS, ids=lambda extra: extra or "core")
def test_an_extra_alone_is_enough_for_what_it_is_for(extra, published, tmp_path):
    python = installed(published.wheel, extra, tmp_path)
    if extra == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java here")
    done = run(python, tmp_path, WORKS[extra])
    assert done.returncode == 0, done.stderr
    if extra == "cli":
        helped = subprocess.run([python.with_name("slidewheel"), "--help"], capture_output=True, text=True)
        assert helped.returncode == 0 and "Commands" in helped.stdout
    for other, program in NEEDS.items():
        if other not in BRINGS.get(extra, {extra}):
            missing = run(python, tmp_path, program)
            wanted = NEEDED_FIRST.get((extra, other), other)
            assert missing.returncode, f"{other} is there without being asked for"
            assert f"pip install 'slidewheel[{wanted}]'" in missing.stderr, missing.stderr


NEEDED_FIRST = {(extra, "serve"): "store" for extra in ("", "spark", "cli")}
"""The server asks for a store before it asks for its own packages."""


def installed(wheel: Path, extra: str, folder: Path) -> Path:
    """The Python of a new environment with the wheel and one extra."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    what = f"slidewheel{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
    command = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "connection" in done.stderr.lower():
        pytest.skip("the packages that slidewheel needs can't be fetched here")
    assert done.returncode == 0, done.stderr
    return python


def run(python: Path, folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program in a folder of its own, so that the source tree is not found, with caches of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    place = folder / "here"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    known = {**kept, "SLIDEWHEEL_CACHE_DIR": str(folder / "cache")}
    command = [python, "-c", program, str(place)]
    return subprocess.run(command, cwd=place, env=known, capture_output=True, text=True)
