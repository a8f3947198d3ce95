"""A Spark session with the settings that slidewheel's streams need, on a Java that is found or brought along."""

import os
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from slidewheel.errors import InvalidArgument, SlidewheelError
from slidewheel.spark import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Setting = str | bool | int | float

BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
NO_LIMIT = (1 << 31) - 1
STATE_STORE = "spark.sql.streaming.stateStore"
FOR_QUERIES: dict[str, Setting] = {
    # What `transformWithState` keeps its state in; only changes are written at the end of a batch.
    f"{STATE_STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{STATE_STORE}.rocksdb.changelogCheckpointing.enabled": True,
    "spark.sql.execution.arrow.pyspark.enabled": True,
    # Rows go to Python in batches of 10,000. With a limit in bytes, too, Spark adds up the size of a batch after each
    # row of it, which takes longer than all else that it does to the row. This number is no limit.
    BATCH_BYTES: NO_LIMIT,
}
FOR_THE_PROCESS: dict[str, Setting] = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
}
FOR_LOCAL_FILES: dict[str, Setting] = {
    # Files of checkpoints are renamed into their place as by default, but not through that interface of Hadoop which
    # starts a process for each look at a file on a local disk: some hundred looks in a micro-batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
NAMED_SO_SINCE = (4, 3)
"""The version of Spark in which this class was found under this name."""
LOOPBACK = "127.0.0.1"


class NoSpark(SlidewheelError, ImportError):
    """The package pyspark, or one that it needs here, is not installed."""


def session(
    master: str | None = None,
    config: Mapping[str, Setting] | None = None,
    *,
    app_name: str = "slidewheel",
    remote: str | None = None,
) -> "SparkSession":
    """A Spark session, started if there is none yet.

    master: where to run, `"local[*]"` unless said: on all cores of this machine.
    config: Spark's settings; they win over slidewheel's.
    remote: instead of a master, a Spark Connect server: `"sc://host:15002"`, or `"local[2]"` to start one here.
    """
    if master is not None and remote is not None:
        raise InvalidArgument(f"a session has either a master ({master!r}) or a remote ({remote!r}), not both")
    elsewhere = remote is not None and remote.startswith("sc://")
    if not elsewhere:
        java.prepare()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise NoSpark(f"this needs Spark ({error}): pip install 'slidewheel[spark]'") from None
    where = remote or master or "local[*]"
    settings = {**settings_for(where), **(config or {})}
    if where.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    builder = SparkSession.builder.remote(where) if remote else SparkSession.builder.master(where)
    builder = builder.config("spark.app.name", app_name)
    for name, value in settings.items():
        builder = builder.config(name, str(value).lower() if isinstance(value, bool) else value)
    try:
        with warnings.catch_warnings():
            # A server that is started here has taken these; its client sets them again, in vain, and says so.
            warnings.filterwarnings("ignore", r"Failed to set spark\.(log|ui|driver)\.", UserWarning)
            return builder.getOrCreate()
    except ImportError as error:  # the client of Spark Connect has needs of its own
        raise NoSpark(f"this needs the client of Spark Connect ({error}): pip install 'pyspark[connect]'") from None


def installed() -> tuple[int, int]:
    """The first two numbers of the version of Spark that a local master is."""
    import pyspark

    first, second, *_ = pyspark.__version__.split(".")
    return int(first), int(second)


def settings_for(where: str) -> dict[str, Setting]:
    """What slidewheel sets for a master or a remote.

    >>> settings_for("local[4]")["spark.sql.shuffle.partitions"]
    4
    >>> [name for name in settings_for("sc://host:15002") if not name.startswith("spark.sql.")]
    []
    """
    if where.startswith("sc://"):
        return dict(FOR_QUERIES)  # the server's process is not ours to set up
    settings = {**FOR_QUERIES, **FOR_THE_PROCESS}
    threads = re.fullmatch(r"local(?:\[(\d+|\*)(?:,.*)?\])?", where)
    if threads:
        cores = threads[1] or "1"
        # A stream has a part of its state for each, however few cores there are to take care of them.
        settings["spark.sql.shuffle.partitions"] = (os.cpu_count() or 1) if cores == "*" else int(cores)
        if installed() >= NAMED_SO_SINCE:
            settings |= FOR_LOCAL_FILES
    if where.startswith("local"):
        settings |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    return settings
