"""What is published, built once: as `python -m build` does, from the packages that are installed here."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_CHARTS = "needs npm"
"""What hatch_build.py says where the page's chart library is not here and can't be had."""


@dataclass(frozen=True)
class Published:
    wheel: Path
    archive: Path


def build(source: Path, folder: Path, *options: str, **known: str) -> None:
    """`known` is the environment, if it is to be another one."""
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, env=known or None)
    said = done.stdout + done.stderr
    if done.returncode and (NO_CHARTS in said or "npm could not fetch" in said):
        pytest.skip("the page's chart library is not in the source tree, and npm can't fetch it here: make page")
    assert done.returncode == 0, said


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The source archive, and the wheel of this tree."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("published")
    build(ROOT, folder, "--sdist", "--wheel")
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Published(wheel, archive)
