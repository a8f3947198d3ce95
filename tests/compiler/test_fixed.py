"""Kernels without an aggregate: they work where nothing can be kept, too."""

import os
import subprocess
import sys

import pytest

CODE = """
import slidewheel as sw
query = sw.query(time="t", keys=["k"], windows=[sw.sliding("2s", every="1s")], aggregates=[sw.count()])
print(query.run({"t": [0, 500_000, 1_500_000], "k": ["a", "b", "a"]})["count"].to_pylist())
"""


@pytest.mark.parametrize("broken", ["no directory", "no rights"])
def test_where_nothing_can_be_kept(tmp_path, broken):
    place = tmp_path / "cache"
    if broken == "no directory":
        place.write_text("a file stands in the way")
    else:
        if os.geteuid() == 0:
            place = "/proc/slidewheel"  # where not even root may write
        else:
            place.mkdir(mode=0o500)
    environment = os.environ | {"SLIDEWHEEL_CACHE_DIR": str(place)}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[1, 1, 2, 1, 1]", done.stderr
