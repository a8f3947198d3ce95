"""Streams for the suite `stream`: files that are micro-batches, and what Spark tells of how they went."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from bench.harness import SEED
from bench.spark_data import BEGIN, SECOND, table_of
from bench.spark_peers import SLIDE

FILES = 2
"""That a micro-batch is read from, as there are two cores."""
LATENESS = 2
"""Seconds by which a row may be behind."""
SKIPPED = 2
"""Micro-batches at the start of a stream that do not count."""
SCHEMA = "ts timestamp, k long, x double"


class Files:
    """So many micro-batches, in a few files each. A micro-batch has so many seconds of event time.

    With a history, the first of them is instead one row or so of each key in each of so many slides before.
    """

    def __init__(
        self, spark: SparkSession, folder: Path, batches: int, rows: int, keys: int, seconds: int, history: int = 0
    ) -> None:
        self.spark, self.rows, self.keys = spark, rows, keys
        self.folder = folder / f"{batches}-{rows}-{keys}-{seconds}-{history}"
        if self.folder.exists():
            return
        self.folder.mkdir(parents=True)
        random = np.random.default_rng(SEED)
        for number in range(batches):
            count, first, length = rows, number * seconds, seconds
            if history and number == 0:
                count, first, length = keys * history, seconds - history * SLIDE, history * SLIDE
            arrived = BEGIN + first * SECOND + np.sort(random.integers(0, length * SECOND, count))
            times = arrived - random.integers(0, LATENESS * SECOND, count)
            table = table_of(times, random.integers(0, keys, count), random.lognormal(3.0, 1.0, count))
            each = -(-count // FILES)
            for part in range(FILES):
                path = self.folder / f"{number:04}-{part}.parquet"
                pq.write_table(table.slice(part * each, each), path)
                os.utime(path, (1_000_000 + 10 * number + part,) * 2)  # Spark takes the oldest first

    def read(self) -> DataFrame:
        return self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES).parquet(str(self.folder))


@dataclass(frozen=True)
class Drained:
    """How it went until the last file was read."""

    progress: list[Any]
    """Of the micro-batches that had rows."""
    written: int
    """Bytes in the folder of the checkpoint that holds the state."""

    @property
    def ns_per_row(self) -> float:
        return median(1e6 * batch.batchDuration / batch.numInputRows for batch in self.progress[SKIPPED:])

    @property
    def checkpoint(self) -> float:
        """Bytes for each row."""
        return self.written / sum(batch.numInputRows for batch in self.progress)

    @property
    def state(self) -> int:
        """Bytes in the memory and in the files of RocksDB after the last micro-batch with rows."""
        stores = self.progress[-1].stateOperators
        return sum(store.memoryUsedBytes + store.customMetrics["rocksdbSstFileSize"] for store in stores)

    @property
    def state_rows(self) -> int:
        return sum(store.numRowsTotal for store in self.progress[-1].stateOperators)


Stream = Callable[[DataFrame], DataFrame]
"""A way from rows to answers."""


def drain(stream: Stream, files: Files, sink: str = "noop", name: str | None = None) -> Drained:
    """Run a stream to the end of the files.

    It ends by itself: one that is stopped can leave a job behind, which takes the time of the next.
    """
    checkpoint = files.folder.parent / f"checkpoint-{uuid4()}"
    writer = stream(files.read()).writeStream.format(sink).outputMode("append")
    if name is not None:
        writer = writer.queryName(name)
    running = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    running.awaitTermination()
    progress = [batch for batch in running.recentProgress if batch.numInputRows]
    written = sum(path.stat().st_size for path in (checkpoint / "state").rglob("*") if path.is_file())
    shutil.rmtree(checkpoint, ignore_errors=True)
    return Drained(progress, written)


def answers(stream: Stream, files: Files) -> DataFrame:
    """All that a stream gives."""
    name = f"answers_{uuid4().hex}"
    drain(stream, files, "memory", name)
    return files.spark.table(name)
