"""The same queries on whatever Spark is named: python -m tests.spark.everywhere_job MASTER|connect FOLDER."""

import math
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import slidewheel as sw
from tests.spark.jobs import started
from tests.spark.support import drained, read_stream

SCHEMA = "t timestamp, k string, x double"


@sw.aggregate(state={"n": "i8", "logs": "f8"}, commutative=True)
class GeometricMean:
    """An aggregate of the user's own, in the script that is run: executors have no module to import it from."""

    identity = (0, 0.0)

    def lift(x):
        return 1, math.log(x)

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    def lower(s):
        return math.exp(s[1] / s[0])


@sw.aggregate(state=object, commutative=True)
class Letters:
    """Another one, whose states are Python objects."""

    identity = frozenset()

    def lift(x):
        return frozenset(x)

    def combine(a, b):
        return a | b

    def lower(s) -> str:
        return "".join(sorted(s))


def batch_query() -> sw.Query:
    return sw.query(
        time="t",
        keys="k",
        windows=[sw.sliding("1h", every="5m"), sw.tumbling("20m")],
        aggregates=[sw.count(), sw.mean("x"), GeometricMean("x"), Letters("k").alias("letters")],
    )


def frames_query() -> sw.Query:
    """What Spark's own frames over slices answer."""
    return sw.query(
        time="t", keys="k", windows=sw.sliding("1h", every="5m"), aggregates=[sw.count(), sw.mean("x"), sw.min("x")]
    )


def stream_query() -> sw.Query:
    return sw.query(
        time="t",
        keys="k",
        windows=sw.sliding("30m", every="10m"),
        aggregates=[sw.count(), sw.max("x"), GeometricMean("x")],
        lateness="5m",
    )


def run(spark: Any, folder: Path) -> None:
    """Answer the files in `rows` at once, and those in `batches` one by one."""
    rows = spark.read.schema(SCHEMA).parquet(str(folder / "rows"))
    pq.write_table(batch_query().spark(rows).toArrow(), folder / "batch.parquet")
    pq.write_table(frames_query().spark(rows, plan="frames").toArrow(), folder / "frames.parquet")
    batches = read_stream(spark, folder / "batches", SCHEMA)
    answers, _ = drained(stream_query().spark(batches), "answers", folder / "checkpoint")
    pq.write_table(answers, folder / "stream.parquet")


if __name__ == "__main__":
    where, folder = sys.argv[1], Path(sys.argv[2])
    spark = started(where, folder)
    run(spark, folder)
    (folder / "kind").write_text(type(spark).__module__)
    spark.stop()
