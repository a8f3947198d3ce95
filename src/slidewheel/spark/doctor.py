"""What Spark needs on this machine: each check is a function that says what it found and how to mend it.

Nothing here needs pyspark to be installed: that it is missing is one of the findings.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from slidewheel.compiler.module import cache_directory
from slidewheel.spark import java
from slidewheel.spark.failures import cause_of
from slidewheel.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

State = Literal["ok", "warn", "fail"]

INSTALL = "pip install 'slidewheel[spark]'"
CONNECT = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")


@dataclass(frozen=True)
class Check:
    """One finding."""

    name: str
    state: State
    found: str
    mend: str = ""


def examine(*, with_spark: bool = False) -> Iterator[Check]:
    """All checks, one after the other; with_spark also starts a session and runs something in it.

    >>> [check.name for check in examine()]
    ['java', 'python of the workers', 'pyspark', 'pandas', 'pyarrow', 'numba', 'protobuf', 'connect', 'cache directory']
    """
    for check in (
        check_java,
        check_workers,
        check_pyspark,
        check_pandas,
        check_pyarrow,
        check_numba,
        check_protobuf,
        check_connect,
        check_cache,
    ):
        yield check()
    if with_spark:
        yield from check_running()


def check_java() -> Check:
    name = "java"
    try:
        found = java.find()
        command = java.java_command()
    except java.NoJava as error:
        return Check(name, "fail", str(error).partition(". To mend it")[0], java.MEND)
    through = "" if command == found.command else f", started through {command}"
    return Check(name, "ok", f"version {found.version} of {found.origin}: {found.command}{through}")


def check_workers() -> Check:
    """The Python that Spark starts on this machine: the same version as this one, with slidewheel in it."""
    name, chosen = "python of the workers", os.environ.get("PYSPARK_PYTHON")
    if chosen is None:
        return Check(name, "ok", f"this one, {sys.executable}")
    mend = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    ask = "import sys; print(*sys.version_info[:2], sep='.')"
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    try:
        version = _answer(chosen, ask).strip()
    except (OSError, subprocess.SubprocessError):
        return Check(name, "fail", f"PYSPARK_PYTHON is {chosen}, which does not run", mend)
    if version != here:
        return Check(name, "fail", f"PYSPARK_PYTHON is {chosen} of version {version}, but this is {here}", mend)
    try:
        _answer(chosen, "import slidewheel.engine.query")
    except (OSError, subprocess.SubprocessError):
        mend = f"call slidewheel.spark.ship(spark), and install numpy, pyarrow and numba there, or {mend}"
        return Check(name, "warn", f"PYSPARK_PYTHON is {chosen}, which has no slidewheel that can be imported", mend)
    return Check(name, "ok", f"PYSPARK_PYTHON, {chosen}")


def check_pyspark() -> Check:
    return _package("pyspark", oldest=(4, 0))


def check_pandas() -> Check:
    check = _package("pandas", oldest=(2, 2))
    if check.state == "ok" and (_version("pandas") or (0,)) >= (3,):
        return Check("pandas", "warn", f"{check.found}, which PySpark does not fully support", "pip install 'pandas<3'")
    return check


def check_pyarrow() -> Check:
    return _package("pyarrow", oldest=(18,))


def check_numba() -> Check:
    return _package("numba", oldest=(0, 61))


def check_protobuf() -> Check:
    """Spark's streams with a state of their own talk to the workers in its messages."""
    return _package("protobuf", oldest=_protobuf_of_pyspark())


def check_connect() -> Check:
    missing = [package for package in CONNECT if _version(package) is None]
    if missing:
        found = f"without {', '.join(missing)}, which only Spark Connect (remote=) needs"
        return Check("connect", "ok", found, "pip install 'pyspark[connect]'")
    return Check("connect", "ok", ", ".join(f"{package} {metadata.version(package)}" for package in CONNECT))


def check_cache() -> Check:
    """Where compiled kernels are kept from one process to the next."""
    name, mend = "cache directory", "set SLIDEWHEEL_CACHE_DIR to a folder that can be written to"
    try:
        directory = cache_directory()
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        return Check(name, "warn", f"can't be written to ({error}): every process compiles anew", mend)
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    return Check(name, "ok", f"{directory}, {size / 1e6:.1f} MB")


def check_running() -> Iterator[Check]:
    """A session, a table there and back through Arrow, and a stream with a state in RocksDB."""
    try:
        from pyspark.sql import SparkSession

        before = SparkSession.getActiveSession()
        spark = session("local[2]", app_name="slidewheel doctor")
    except Exception as error:
        yield Check("session", "fail", cause_of(error), "see the lines on java and pyspark above")
        return
    try:
        yield Check("session", "ok", f"Spark {spark.version}")
        yield _tried("arrow", _there_and_back, spark, "see the lines on pandas and pyarrow above")
        yield _tried("state store", _stateful_stream, spark, "see the lines on java and protobuf above")
    finally:
        if before is None:
            spark.stop()


def _tried(name: str, run: Callable[["SparkSession"], str], spark: "SparkSession", mend: str) -> Check:
    try:
        return Check(name, "ok", run(spark))
    except Exception as error:
        return Check(name, "fail", cause_of(error), mend)


def _there_and_back(spark: "SparkSession") -> str:
    rows = spark.range(1000).mapInArrow(lambda batches: batches, "id long").toArrow().num_rows
    if rows != 1000:
        raise RuntimeError(f"1000 rows went to the workers, but {rows} came back")
    return "1000 rows went to the workers and back"


def _stateful_stream(spark: "SparkSession") -> str:
    name = f"slidewheel_doctor_{os.getpid()}"
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).load()
    counted = rows.groupBy("value").count()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        writer = counted.writeStream.format("memory").queryName(name).outputMode("complete")
        stream = writer.option("checkpointLocation", folder).trigger(availableNow=True).start()
        stream.awaitTermination()
        kept = list(Path(folder).rglob("state/**/*.zip")) + list(Path(folder).rglob("state/**/*.changelog"))
    groups = spark.table(name).count()
    spark.catalog.dropTempView(name)
    if groups != 100 or not kept:
        raise RuntimeError(f"a stream of 100 groups gave {groups}, and {len(kept)} files of RocksDB")
    return "a stream kept its state in RocksDB"


def _answer(python: str, program: str) -> str:
    return subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=120, check=True).stdout


def _package(name: str, oldest: tuple[int, ...]) -> Check:
    version, wanted = _version(name), ".".join(map(str, oldest))
    if version is None:
        return Check(name, "fail", "not installed", INSTALL)
    if version < oldest:
        return Check(name, "fail", f"{metadata.version(name)}, but {wanted} or newer is needed", INSTALL)
    return Check(name, "ok", metadata.version(name))


def _version(name: str) -> tuple[int, ...] | None:
    try:
        return _numbers(metadata.version(name))
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _protobuf_of_pyspark() -> tuple[int, ...]:
    """The version that pyspark's messages were made with, as their first lines say: an older one refuses them."""
    spark = find_spec("pyspark")
    for folder in (spark.submodule_search_locations or ()) if spark else ():
        for file in Path(folder, "sql", "streaming", "proto").glob("*_pb2.py"):
            said = re.search(r"^# Protobuf Python Version: (.+)$", file.read_text(), re.MULTILINE)
            if said:
                return _numbers(said[1])
    return (5,)
