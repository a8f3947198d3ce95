"""What tests of Spark share: tables to and from Spark, streams of files, and what a stream should give."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import slidewheel as sw
from tests.engine.harness import alike, listed
from tests.engine.oracle import rank


def as_spark(spark: Any, table: pa.Table, folder: Path) -> Any:
    """The table as a DataFrame, by a file in two parts: what reaches Spark is what a user would have."""
    os.makedirs(folder, exist_ok=True)
    half = (table.num_rows + 1) // 2
    for number, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))


def same_answers(got: pa.Table, wanted: pa.Table, where: Any = "") -> None:
    """The same rows, in any order."""
    assert got.column_names == wanted.column_names, where
    mine, theirs = (sorted(listed(t), key=lambda row: [rank(v) for v in row.values()]) for t in (got, wanted))
    assert len(mine) == len(theirs), (where, len(mine), len(theirs))
    for a, b in zip(mine, theirs, strict=True):
        assert all(alike(a[name], b[name]) for name in b), (where, a, b)


def write_batches(folder: Path, batches: Sequence[pa.Table]) -> None:
    """A file for each batch, in the order in which Spark will take them."""
    os.makedirs(folder, exist_ok=True)
    for number, batch in enumerate(batches):
        path = folder / f"{number:04}.parquet"
        pq.write_table(batch, path)
        os.utime(path, (1_000_000 + 10 * number,) * 2)


def read_stream(spark: Any, folder: Path, schema: Any) -> Any:
    """A stream that takes one file in each micro-batch."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def drained(df: Any, name: str, checkpoint: Path, mode: str = "append") -> tuple[pa.Table, list[Any]]:
    """All that a stream gives until its source is empty, and the progress of its micro-batches."""
    running = (
        df.writeStream.format("memory")
        .queryName(name)
        .outputMode(mode)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    return df.sparkSession.table(name).toArrow(), list(running.recentProgress)


def replayed(query: sw.Query, batches: Iterable[pa.Table]) -> tuple[pa.Table, Any]:
    """What Spark should give: rows are judged and windows closed by the watermarks of the batches before.

    Spark's watermark is 1970 at first, counts milliseconds, and rises when a micro-batch is over; one without rows
    follows the last.
    """
    stream = query.stream()
    watermark, results = 0, []
    for batch in batches:
        results.append(stream._step(stream._read(batch), at_least=watermark))
        latest = stream._latest
        if latest is not None:
            watermark = max(watermark, (latest // 1000 - query.lateness // 1000) * 1000)
    results.append(stream.advance_to(watermark))
    return pa.concat_tables([r for r in results if r.num_columns]), stream


def total(progress: Iterable[Any], name: str) -> int:
    """The sum of an observed metric over all micro-batches."""
    found = [p.observedMetrics["slidewheel"][name] for p in progress if "slidewheel" in p.observedMetrics]
    return sum(n or 0 for n in found)
