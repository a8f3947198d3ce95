"""A finite DataFrame: the answers of `query.run`, and those of Spark's own windows."""

import random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F

import slidewheel as sw
from tests.engine.cases import KINDS, random_case
from tests.engine.harness import build
from tests.spark.support import as_spark, same_answers
from tests.support import AGGREGATES, GeoMean

RANDOM_CASES = 16


@pytest.mark.parametrize("seed", range(RANDOM_CASES))
def test_random_queries_give_what_run_gives(spark, tmp_path, seed):
    case = random_case(70_000 + seed, kinds=(KINDS[seed % len(KINDS)],), rows=200)
    case.time_type = ("us", "utc", "int64")[seed % 3]
    query, table = build(case)
    if query.plan.gives_rows and len(set(table.column_names)) < len(table.column_names):
        pytest.skip("a table with a column twice")
    df = as_spark(spark, table, tmp_path / "in")
    same_answers(query.spark(df).toArrow(), query.run(table), seed)


def measurements(rows: int = 3000, seed: int = 1) -> pa.Table:
    """Rows out of order, with nulls, of a few keys, before and after 1970."""
    dice = np.random.default_rng(seed)
    times = dice.integers(-3600, 3 * 3600, rows) * 1_000_000 + dice.integers(0, 2, rows) * 1234
    numbers = dice.integers(-1000, 1000, rows)
    return pa.table(
        {
            "t": pa.array(times).cast(pa.timestamp("us", "UTC")),
            "k": pa.array([None if n % 17 == 0 else f"key {n % 5}" for n in numbers.tolist()]),
            "i": pa.array(numbers, mask=dice.random(rows) < 0.1),
            "x": pa.array(numbers / 8, mask=dice.random(rows) < 0.1),
            "d": pa.array([f"{n}.25" for n in numbers.tolist()]).cast(pa.decimal128(10, 2)),
        }
    )


NATIVE: list[tuple[sw.Aggregate, str]] = [
    (sw.count(), "count(*)"),
    (sw.count("i"), "count(i)"),
    (sw.sum("i"), "sum(i)"),
    (sw.sum("x"), "sum(x)"),
    (sw.sum("d"), "sum(d)"),
    (sw.mean("i"), "avg(i)"),
    (sw.mean("x"), "avg(x)"),
    (sw.mean("d"), "avg(d)"),
    (sw.min("x"), "min(x)"),
    (sw.max("i"), "max(i)"),
    (sw.min("d"), "min(d)"),
    (sw.max("k"), "max(k)"),
    (sw.var("x"), "var_samp(x)"),
    (sw.var("i", ddof=0).alias("var_pop"), "var_pop(i)"),
    (sw.std("x"), "stddev_samp(x)"),
    (sw.std("i", ddof=0).alias("std_pop"), "stddev_pop(i)"),
]


@pytest.mark.parametrize("window", [("1 hour", "5 minutes"), ("7 minutes", "7 minutes"), ("10 minutes", "4 minutes")])
def test_sliding_windows_are_sparks(spark, tmp_path, window):
    df = as_spark(spark, measurements(), tmp_path / "in")
    length, every = (w.replace(" hour", "h").replace(" minutes", "m") for w in window)
    query = sw.query(
        time="t", keys="k", windows=sw.sliding(length, every=every), aggregates=[ours for ours, _ in NATIVE]
    )
    mine = query.spark(df)
    grouped = df.groupBy("k", F.window("t", *window).alias("w"))
    native = grouped.agg(*(F.expr(theirs).alias(ours.output) for ours, theirs in NATIVE))
    outputs = [ours.output for ours, _ in NATIVE]
    native = native.select("k", F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"), *outputs)
    assert [(f.name, f.dataType) for f in mine.drop("window").schema] == [(f.name, f.dataType) for f in native.schema]
    same_answers(mine.drop("window").toArrow(), native.toArrow())


def test_sessions_are_sparks(spark, tmp_path):
    df = as_spark(spark, measurements(300), tmp_path / "in")
    query = sw.query(time="t", keys="k", windows=sw.session("90s"), aggregates=[sw.count(), sw.sum("i")])
    native = df.groupBy("k", F.session_window("t", "90 seconds").alias("w")).agg(
        F.count("*").alias("count"), F.sum("i").alias("sum_i")
    )
    native = native.select(
        "k", F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"), "count", "sum_i"
    )
    same_answers(query.spark(df).drop("window").toArrow(), native.toArrow())


@pytest.mark.parametrize("seconds", [60, 600, 3600])
def test_trailing_windows_are_frames_of_sparks(spark, tmp_path, seconds):
    """`seconds` of 3600 reach over several of the chunks of time that rows are spread by."""
    table = measurements()
    df = as_spark(spark, table, tmp_path / "in").repartition(3)
    query = sw.query(
        time="t", keys="k", windows=sw.trailing(f"{seconds}s"), aggregates=[sw.count(), sw.sum("i"), sw.max("x")]
    )
    micros = F.unix_micros("t")
    frame = Window.partitionBy("k").orderBy(micros).rangeBetween(-seconds * 1_000_000 + 1, 0)
    native = df.select(
        "*",
        F.count("*").over(frame).alias(f"count_{query.windows[0].name}"),
        F.sum("i").over(frame).alias(f"sum_i_{query.windows[0].name}"),
        F.max("x").over(frame).alias(f"max_x_{query.windows[0].name}"),
    )
    same_answers(query.spark(df).toArrow(), native.toArrow())


def test_one_hot_key_is_spread_over_partitions(spark):
    """Chunks of time of one key are answered apart, and every row comes back once."""
    df = spark.range(0, 20_000, numPartitions=4).select(
        F.timestamp_micros(F.col("id") * 1_000_000).alias("t"), F.lit("hot").alias("k"), F.col("id").alias("i")
    )
    query = sw.query(time="t", keys="k", windows=sw.trailing("10s"), aggregates=[sw.count(), sw.sum("i")])
    coalesces = "spark.sql.adaptive.coalescePartitions.enabled"
    spark.conf.set(coalesces, "false")  # so little would be one task
    answers = query.spark(df).select("i", "count_10s", "sum_i_10s", F.spark_partition_id().alias("where")).toArrow()
    spark.conf.unset(coalesces)
    assert sorted(answers["i"].to_pylist()) == list(range(20_000))
    for i, n, total in zip(*(answers[name].to_pylist() for name in ("i", "count_10s", "sum_i_10s")), strict=True):
        seen = range(max(0, i - 9), i + 1)
        assert (n, total) == (len(seen), sum(seen))
    assert len(set(answers["where"].to_pylist())) == 2


@pytest.mark.parametrize("commutative", [True, False])
def test_every_aggregate(spark, tmp_path, commutative):
    dice = random.Random(3)
    table = pa.table({"t": [dice.randrange(10**9) for _ in range(400)], "x": [dice.random() for _ in range(400)]})
    made = []
    for name in AGGREGATES.keys() - {"Words"}:
        columns = ("x", "t") if name in ("argmin", "argmax") else ("x",)
        options = {"bits": 128, "hashes": 2} if name == "bloom" else {}
        made.append(getattr(sw, name)(*columns, **options))
    chosen = [aggregate for aggregate in made if aggregate.commutative == commutative]
    assert len(chosen) > 5
    query = sw.query(time="t", windows=sw.sliding("100s", every="20s"), aggregates=chosen)
    same_answers(query.spark(as_spark(spark, table, tmp_path / "in")).toArrow(), query.run(table))


@sw.aggregate(state=object, commutative=True)
class Longest:
    """The longest text, an aggregate of one's own with Python objects as states."""

    identity = ""

    def lift(x):
        return x

    def combine(a, b):
        return max(a, b, key=lambda text: (len(text), text))

    def lower(s) -> str:
        return s


def test_aggregates_of_users(spark, tmp_path):
    table = measurements(500)
    df = as_spark(spark, table, tmp_path / "in")
    table = table.append_column("p", pa.compute.add(pa.compute.abs(table["x"]), 1.0))
    df = df.withColumn("p", F.abs("x") + 1)
    query = sw.query(
        time="t",
        keys="k",
        windows=sw.sliding("1h", every="5m"),
        aggregates=[GeoMean("p"), Longest("k").alias("longest")],
    )
    same_answers(query.spark(df).toArrow(), query.run(table))


@sw.aggregate(state=object)
class Untold:
    identity = ()

    def lift(x):
        return (x,)

    def combine(a, b):
        return a + b

    def lower(s):
        return len(s)


class TestMistakes:
    def test_a_column_that_is_not_there(self, spark):
        query = sw.query(time="t", windows=sw.tumbling("1m"), aggregates=[sw.sum("nothing")])
        with pytest.raises(sw.InvalidArgument, match="nothing"):
            query.spark(spark.range(3).withColumn("t", F.current_timestamp()))

    def test_a_type_that_spark_can_not_know(self, spark):
        query = sw.query(time="t", windows=sw.tumbling("1m"), aggregates=[Untold("id")])
        with pytest.raises(sw.Unsupported, match="lower returns"):
            query.spark(spark.range(3).withColumn("t", F.current_timestamp()))

    def test_a_folder_for_late_rows_in_a_batch(self, spark):
        query = sw.query(time="t", windows=sw.tumbling("1m"), aggregates=[sw.count()])
        with pytest.raises(sw.InvalidArgument, match="late_to"):
            query.spark(spark.range(3).withColumn("t", F.current_timestamp()), late_to="/tmp/nowhere")

    def test_a_sum_that_overflows(self, spark):
        df = spark.range(3).select(F.timestamp_micros("id").alias("t"), F.lit(2**62).alias("i"))
        query = sw.query(time="t", windows=sw.tumbling("1m"), aggregates=[sw.sum("i")])
        with pytest.raises(Exception, match=r"(?i)overflow"):
            query.spark(df).toArrow()


def test_no_rows_and_one(spark):
    df = spark.range(1).select(F.timestamp_micros("id").alias("t"), F.lit(1.5).alias("x"))
    for windows in (sw.tumbling("1m"), sw.session("1m"), sw.trailing("1m"), sw.rows(3)):
        query = sw.query(time="t", windows=windows, aggregates=[sw.sum("x")])
        assert query.spark(df).count() == 1
        assert query.spark(df.where("false")).count() == 0


def test_it_can_be_used_as_a_transformation(spark):
    df = spark.range(5).select(F.timestamp_micros(F.col("id") * 1_000_000).alias("t"))
    query = sw.query(time="t", windows=sw.tumbling("2s"), aggregates=[sw.count()])
    assert sorted(row["count"] for row in df.transform(query.spark).collect()) == [1, 2, 2]
