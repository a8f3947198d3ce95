"""Queries that stop where a test wants them to: python -m tests.spark.gated_job FOLDER SCENARIO..."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import slidewheel as sw
from tests.spark.jobs import started
from tests.spark.stream_job import SCHEMA, start

PATIENCE = 300


def gated(folder: Path, at: str) -> Any:
    """A sum that waits, when it lifts or when it lowers, as long as the folder holds a file `gate`.

    Whoever waits says so by a file named by the number of its process.
    """
    gate = folder / "gate"

    def wait() -> None:
        if gate.exists():
            (folder / f"waiting-{os.getpid()}").touch()
            give_up = time.monotonic() + PATIENCE
            while gate.exists():
                if time.monotonic() > give_up:
                    raise TimeoutError(f"nobody took {gate} away")
                time.sleep(0.02)

    @sw.aggregate(state=object, commutative=True)
    class Gated:
        identity = 0

        def lift(x):
            if at == "lift":
                wait()
            return x

        def combine(a, b):
            return a + b

        def lower(s) -> int:
            if at == "lower":
                wait()
            return s

    return Gated


def query(folder: Path, at: str) -> sw.Query:
    aggregates = [sw.count(), sw.mean("x"), gated(folder, at)("i").alias("gated")]
    return sw.query(time="t", keys="k", windows=sw.sliding("1h", every="10m"), aggregates=aggregates, lateness="10m")


def run(spark: Any, folder: Path, scenario: str) -> None:
    """Answer the files in `in`; `scenario` is "batch-lift", "batch-lower" or "stream-lower", with anything behind."""
    kind, at = scenario.split("-")[:2]
    if kind == "stream":
        start(spark, query(folder, at), folder).awaitTermination()
        answers = spark.read.parquet(str(folder / "out"))
    else:
        answers = query(folder, at).spark(spark.read.schema(SCHEMA).parquet(str(folder / "in")))
    pq.write_table(answers.toArrow(), folder / "unfinished")
    (folder / "unfinished").rename(folder / "answers.parquet")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    spark = started("local-cluster[2,1,1024]", folder)
    for scenario in sys.argv[2:]:
        run(spark, folder / scenario, scenario)
    spark.stop()
