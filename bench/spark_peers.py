"""The contestants of the suite `spark`: the same answers by query.spark and by Spark's own means."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

import slidewheel as sw
from bench.spark_data import SECOND
from slidewheel.spark.plans import SEGMENT_TREE

SLIDE = 10
"""Seconds."""
FIVE = {
    "count": sw.count(),
    "sum_x": sw.sum("x"),
    "mean_x": sw.mean("x"),
    "std_x": sw.std("x"),
    "max_x": sw.max("x"),
}
SQL = {"count": "count(*)", "sum_x": "sum(x)", "mean_x": "avg(x)", "std_x": "stddev_samp(x)", "max_x": "max(x)"}
ACCURACY = 0.01
MEDIAN = sw.quantile("x", 0.5, accuracy=ACCURACY, smallest=0.01, largest=1e6)
"""With bounds, its states are a third as wide as those that take any number."""


@dataclass(frozen=True)
class Plan:
    """A way to the answers."""

    name: str
    of: Callable[[DataFrame], DataFrame]
    segment_tree: bool = False

    def run(self, df: DataFrame) -> None:
        """All answers, made and thrown away. To write the plan down is a part of the work."""
        self._set(df)
        self.of(df).write.format("noop").mode("overwrite").save()

    def answers(self, df: DataFrame, read: Callable[[DataFrame], np.ndarray]) -> np.ndarray:
        self._set(df)
        return read(self.of(df))

    def _set(self, df: DataFrame) -> None:
        df.sparkSession.conf.set(SEGMENT_TREE, self.segment_tree)


def ours(query: sw.Query, keys: int | None = None, hot_keys: bool = False) -> Plan:
    return Plan("ours", partial(query.spark, expected_keys=keys, hot_keys=hot_keys))


def window(ratio: int) -> Plan:
    return Plan("F.window", lambda df: grouped(df, ratio, F.avg("x").alias("mean_x")))


def grouped(df: DataFrame, ratio: int, *aggregates: Column, times: int = 1) -> DataFrame:
    """Sliding windows as Spark's manual has them. `times`: the slide and the range are so many times as long."""
    found = F.window("ts", f"{ratio * times * SLIDE} seconds", f"{times * SLIDE} seconds").alias("w")
    return _bounds(df.groupBy("k", found).agg(*aggregates))


def _bounds(df: DataFrame) -> DataFrame:
    rest = [name for name in df.columns if name not in ("k", "w")]
    return df.select("k", F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"), *rest)


def by_slices(ratio: int) -> Plan:
    """Slides are aggregated first; then only slides, not rows, are in many windows."""

    def of(df: DataFrame) -> DataFrame:
        slices = df.groupBy("k", F.window("ts", f"{SLIDE} seconds").alias("slice"))
        sums = slices.agg(F.sum("x").alias("total"), F.count("x").alias("n"))
        sums = sums.select("k", F.col("slice.start").alias("ts"), "total", "n")
        return grouped(sums, ratio, (F.sum("total") / F.sum("n")).alias("mean_x"))

    return Plan("by slices", of)


def by_frames(ratio: int) -> Plan:
    """Slides are aggregated first; then a frame over them begins with each start of a window that is not empty.

    Those starts are put before the first slide that is in their windows: after the slide before it, if that is near.
    """
    slide, length = SLIDE * SECOND, SLIDE * SECOND * ratio

    def of(df: DataFrame) -> DataFrame:
        micros = F.unix_micros("ts")
        slices = df.groupBy("k", (micros - F.pmod(micros, F.lit(slide))).alias("at"))
        sums = slices.agg(F.sum("x").alias("total"), F.count("x").alias("n"))
        before = F.lag("at").over(Window.partitionBy("k").orderBy("at"))
        first = F.greatest(before + slide, F.col("at") - length + slide)  # the first slide has none before it: null
        starts = sums.withColumn("first", first).withColumn("start", F.explode(F.sequence("first", "at", F.lit(slide))))
        ahead = Window.partitionBy("k").orderBy("start").rangeBetween(0, length - 1)
        total, n = (F.sum(F.when(F.col("start") == F.col("at"), F.col(c))).over(ahead) for c in ("total", "n"))
        bounds = (F.timestamp_micros("start"), F.timestamp_micros(F.col("start") + length))
        return starts.select(
            "k", bounds[0].alias("window_start"), bounds[1].alias("window_end"), (total / n).alias("mean_x")
        )

    return Plan("by frames", of, segment_tree=True)


def frames(seconds: int, column: str, segment_tree: bool) -> Plan:
    """A frame for each row: (t - range, t], where SQL's ranges are closed at both ends."""

    def of(df: DataFrame) -> DataFrame:
        frame = Window.partitionBy("k").orderBy(F.unix_micros("ts")).rangeBetween(1 - seconds * SECOND, 0)
        return df.withColumn(column, F.avg("x").over(frame))

    return Plan("frames, tree" if segment_tree else "frames", of, segment_tree)


def last_rows(count: int, column: str, segment_tree: bool) -> Plan:
    def of(df: DataFrame) -> DataFrame:
        frame = Window.partitionBy("k").orderBy("ts").rowsBetween(1 - count, 0)
        return df.withColumn(column, F.avg("x").over(frame))

    return Plan("frames, tree" if segment_tree else "frames", of, segment_tree)


def ten(ratio: int) -> Plan:
    aggregates = [F.expr(SQL[name]).alias(name) for name in FIVE]
    return Plan(
        "ten F.window",
        lambda df: reduce(DataFrame.union, (grouped(df, ratio, *aggregates, times=times) for times in range(1, 11))),
    )


def pandas_udaf(ratio: int) -> Plan:
    def of(df: DataFrame) -> DataFrame:
        def geomean(x: pd.Series) -> float:
            return float(np.exp(np.log(x).mean()))

        return grouped(df, ratio, F.pandas_udf(geomean, "double")("x").alias("geomean"))

    return Plan("pandas UDAF", of)


def by_key(ratio: int) -> Plan:
    """All rows of a key at once in pandas, where the bounds of its windows are found in the sorted times."""
    slide, length = SLIDE * SECOND, SLIDE * SECOND * ratio

    def windows(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.sort_values("ts")
        times = rows["ts"].to_numpy().astype("datetime64[us]").astype(np.int64)
        logs = np.log(rows["x"].to_numpy())
        starts = np.arange(times[0] // slide * slide - length + slide, times[-1] + 1, slide)
        begins, ends = np.searchsorted(times, starts), np.searchsorted(times, starts + length)
        filled = begins < ends
        bounds = zip(begins[filled], ends[filled], strict=True)
        columns: dict[str, Any] = {
            "k": rows["k"].iloc[0],
            "window_start": starts[filled].astype("datetime64[us]"),
            "window_end": (starts[filled] + length).astype("datetime64[us]"),
            "geomean": [np.exp(logs[begin:end].mean()) for begin, end in bounds],
        }
        return pd.DataFrame(columns)

    schema = "k long, window_start timestamp, window_end timestamp, geomean double"
    return Plan("by key", lambda df: df.groupBy("k").applyInPandas(windows, schema))


def logarithms(ratio: int) -> Plan:
    return Plan("SQL", lambda df: grouped(df, ratio, F.exp(F.avg(F.ln("x"))).alias("geomean")))


def percentile(ratio: int) -> Plan:
    return Plan("F.window", lambda df: grouped(df, ratio, F.percentile_approx("x", 0.5).alias("median")))
