"""A stream that only gives answers out: the least that one takes whose answers come from a worker in Python."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import slidewheel as sw
from bench.spark_peers import SLIDE
from bench.stream_data import Stream
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.results import MEASURES, Results, in_common
from slidewheel.spark.types import arrow_schema, output_type


def giving(query: sw.Query, answers: int, windows: int) -> Stream:
    """So many answers of so many windows in every micro-batch, made once, on the way that ours take."""

    def of(df: DataFrame) -> DataFrame:
        ids = bucket_ids(int(df.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200))
        results = Results(output_type(query, arrow_schema(df)), in_common(query))
        asked = df.mapInArrow(Asking(ids), "bucket int").groupBy("bucket")
        giver = Giver(results, answers // len(ids), windows)
        rows = asked.transformWithStateInPandas(giver, results.type, "Append", "None")
        return results.answers(rows)

    return of


class Asking:
    """One row for every bucket, whatever the rows."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield pa.record_batch([pa.array(self.ids, pa.int32())], names=["bucket"])


class Giver(StatefulProcessor):
    def __init__(self, results: Results, answers: int, windows: int) -> None:
        self.results, self.answers, self.windows = results, answers, windows

    def init(self, handle: Any) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        for _ in rows:
            pass
        yield from self.results.frames(made(self.answers, self.windows))
        yield self.results.counted([0] * len(MEASURES))

    def close(self) -> None:
        pass


@cache
def made(answers: int, windows: int) -> pa.Table:
    """Answers of a sliding mean, window by window."""
    keys = np.arange(answers)
    starts = keys // -(-answers // windows) * SLIDE * 1_000_000
    bounds = [pa.array(times).cast(pa.timestamp("us", "UTC")) for times in (starts, starts + SLIDE * 1_000_000)]
    names = ["k", "window_start", "window_end", "window", "mean_x"]
    return pa.table([pa.array(keys), *bounds, pa.repeat("window", answers), pa.array(keys * 0.5)], names=names)
