"""slidewheel for executors that do not have it: the package as a zip file, which Spark puts on their Python path.

All of slidewheel is Python source, and Python reads source out of a zip file as well: what the compiler writes kernels
from is there. Kernels are compiled on the executors, each into its own cache directory. What slidewheel itself needs,
numpy, pyarrow and Numba, is compiled code and has to be installed where the executors run.
"""

import hashlib
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import slidewheel
from slidewheel.compiler.module import cache_directory
from slidewheel.errors import SlidewheelError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that the same files give the same bytes."""


def ship(spark: "SparkSession") -> Path:
    """Give the executors of this session the slidewheel that runs here; the zip file that was sent.

    Call it once, before DataFrames are made: those that are there already do without. On executors that have a
    slidewheel of their own, this one is used.
    """
    path = package()
    spark.addArtifacts(str(path), pyfile=True)
    return path


def package() -> Path:
    """The package that runs here as a zip file in the cache directory, named by what is in it."""
    files = _files()
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    try:
        directory = cache_directory()
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"slidewheel-{slidewheel.__version__}-{digest.hexdigest()[:12]}.zip"
        if not path.exists():
            _write(path, files)
    except OSError as error:
        raise SlidewheelError(
            f"the package can't be written to the cache directory ({error}): set SLIDEWHEEL_CACHE_DIR to a folder that "
            f"can be written to"
        ) from None
    return path


def _files() -> dict[str, bytes]:
    """The files of the package by their names in the zip, in a fixed order."""
    root = Path(slidewheel.__file__).parent
    if not root.is_dir():
        raise SlidewheelError(f"{root} is no folder: a slidewheel that is in a zip file can't be shipped again")
    found = [path for path in root.rglob("*") if path.is_file() and path.suffix in (".py", ".typed")]
    return {path.relative_to(root.parent).as_posix(): path.read_bytes() for path in sorted(found)}


def _write(path: Path, files: dict[str, bytes]) -> None:
    # Complete before it has its name: another process may be about to ship it.
    draft = path.with_suffix(f".{os.getpid()}")
    with zipfile.ZipFile(draft, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    draft.replace(path)
