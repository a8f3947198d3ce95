"""A stream from files to files, for tests that kill it: python -m tests.spark.stream_job QUERY FOLDER."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import slidewheel as sw
from tests.spark.jobs import started
from tests.spark.support import read_stream

SCHEMA = "t timestamp, k string, i long, x double"
KNOWN: dict[str, Any] = {"time": "t", "keys": "k", "lateness": "10m"}
QUERIES = {
    "sliding": sw.query(
        **KNOWN, windows=sw.sliding("1h", every="10m"), aggregates=[sw.count(), sw.mean("x"), sw.max("i")]
    ),
    "ten windows": sw.query(
        **KNOWN,
        windows=[sw.sliding(f"{5 * n}m", every="5m") for n in range(1, 11)],
        aggregates=[sw.sum("i"), sw.max("x")],
    ),
    "session": sw.query(**KNOWN, windows=sw.session("4m"), aggregates=[sw.count(), sw.sum("i")]),
    "trailing": sw.query(**KNOWN, windows=sw.trailing("20m"), aggregates=[sw.count(), sw.max("x")]),
    "late rows kept": sw.query(
        **KNOWN, windows=sw.sliding("1h", every="10m"), aggregates=[sw.count(), sw.sum("i")], late="keep"
    ),
}


def start(spark: Any, query: sw.Query, folder: Path, prepare: Callable[[Any], Any] = lambda df: df) -> Any:
    """The stream, on its way until the files in `in` are used up. Answers go to `out`, late rows to `late`."""
    late_to = str(folder / "late") if query.late == "keep" else None
    answers = query.spark(prepare(read_stream(spark, folder / "in", SCHEMA)), late_to=late_to)
    writer = answers.writeStream.format("parquet").outputMode("append").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start(str(folder / "out"))


if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    start(started("local[2]", folder), QUERIES[name], folder).awaitTermination()
