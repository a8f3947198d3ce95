"""Structured Streaming: what Spark's own windows give where it has them, and else what a stream in process gives."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import slidewheel as sw
from tests.spark.support import drained, read_stream, replayed, same_answers, total, write_batches

SCHEMA = "t timestamp, k string, i long, x double"


def disorder(batches: int = 6, rows: int = 600, seed: int = 1, keys: int = 20) -> list[pa.Table]:
    """Rows of which a fifth are up to three hours behind, and one key that falls silent."""
    dice = np.random.default_rng(seed)
    count = batches * rows
    behind = np.where(dice.random(count) < 0.2, dice.integers(0, 3 * 3600, count), dice.integers(0, 60, count))
    seconds = np.sort(dice.integers(0, 4 * 3600, count)) - behind + 1_700_000_000
    key = dice.integers(0, keys, count)
    key[(key == 0) & (seconds > 1_700_000_000 + 3600)] = 1
    table = pa.table(
        {
            "t": pa.array(seconds * 1_000_000 + dice.integers(0, 10**6, count)).cast(pa.timestamp("us", "UTC")),
            "k": [f"key {k}" for k in key.tolist()],
            "i": pa.array(dice.integers(-100, 100, count), mask=dice.random(count) < 0.05),
            "x": dice.integers(0, 1000, count) / 8,
        }
    )
    return [table.slice(first, rows) for first in range(0, count, rows)]


@pytest.mark.parametrize(("sizes", "window"), [((6, 600), ("1 hour", "5 minutes")), ((3, 1200), ("30 minutes",) * 2)])
def test_windows_and_late_rows_are_sparks(spark, tmp_path, sizes, window):
    batches = disorder(*sizes)
    batches.insert(2, batches[0].slice(0, 0))  # an empty batch
    write_batches(tmp_path / "in", batches)
    lengths = [w.replace(" hour", "h").replace(" minutes", "m") for w in window]
    query = sw.query(
        time="t",
        keys="k",
        windows=sw.sliding(lengths[0], every=lengths[1]),
        aggregates=[sw.count(), sw.sum("i"), sw.mean("x"), sw.max("x"), sw.std("x")],
        lateness="10m",
    )
    df = read_stream(spark, tmp_path / "in", SCHEMA)
    mine, progress = drained(query.spark(df).drop("window"), f"mine{len(batches)}", tmp_path / "mine")
    native = df.withWatermark("t", "10 minutes").groupBy("k", F.window("t", *window).alias("w"))
    outputs = {"count": "count(*)", "sum_i": "sum(i)", "mean_x": "avg(x)", "max_x": "max(x)", "std_x": "stddev(x)"}
    native = native.agg(*(F.expr(made).alias(name) for name, made in outputs.items()))
    native = native.select("k", F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"), *outputs)
    theirs, _ = drained(native, f"theirs{len(batches)}", tmp_path / "theirs")
    assert theirs.num_rows > 200
    same_answers(mine, theirs)
    expected, stream = replayed(query, batches)
    same_answers(mine, expected.drop_columns(["window"]))
    assert stream.late.rows > 100
    assert total(progress, "late_rows") == stream.late.rows
    assert total(progress, "dropped_rows") == stream.late.dropped


QUERIES = {
    "many windows": (
        [sw.sliding("1h", every="5m"), sw.tumbling("20m"), sw.sliding("10m", every="4m"), sw.sliding("2h", every="1h")],
        [sw.sum("i"), sw.quantile("x", 0.5)],
    ),
    "in order": ([sw.sliding("1h", every="20m")], [sw.first("x"), sw.last("i"), sw.argmax("x", "k").alias("where")]),
    "session": ([sw.session("3m")], [sw.count(), sw.sum("i")]),
    "trailing": ([sw.trailing("10m"), sw.trailing("1h", closed="left")], [sw.count(), sw.max("x")]),
    "rows": ([sw.rows(5)], [sw.sum("x")]),
    "every third row": ([sw.rows(5, every=3)], [sw.sum("x")]),
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_kind_of_window_gives_what_a_stream_gives(spark, tmp_path, name):
    windows, aggregates = QUERIES[name]
    batches = disorder(4, 300, seed=7)
    write_batches(tmp_path / "in", batches)
    query = sw.query(time="t", keys="k", windows=windows, aggregates=aggregates, lateness="20m")
    df = query.spark(read_stream(spark, tmp_path / "in", SCHEMA))
    mine, progress = drained(df, "kind_" + name.replace(" ", "_"), tmp_path / "state")
    expected, stream = replayed(query, batches)
    assert expected.num_rows > 100
    same_answers(mine, expected)
    assert total(progress, "late_rows") == stream.late.rows


def test_late_rows_are_kept_aside(spark, tmp_path):
    batches = disorder(4, 300, seed=3)
    without = batches[1].set_column(0, "t", pa.nulls(300, pa.timestamp("us", "UTC"))).slice(0, 7)
    batches[1] = pa.concat_tables([batches[1], without])
    write_batches(tmp_path / "in", batches)
    query = sw.query(
        time="t", keys="k", windows=sw.sliding("1h", every="5m"), aggregates=[sw.count()], lateness="5m", late="keep"
    )
    df = query.spark(read_stream(spark, tmp_path / "in", SCHEMA), late_to=str(tmp_path / "late"))
    mine, progress = drained(df, "kept", tmp_path / "state")
    expected, stream = replayed(query, batches)
    same_answers(mine, expected)
    late = pq.read_table(tmp_path / "late" / "late", partitioning=None)
    assert stream.late.table is not None
    same_answers(late, stream.late.table.select(late.column_names))
    assert pq.read_table(tmp_path / "late" / "without-time", partitioning=None).num_rows == 7
    assert total(progress, "rows_without_time") == 7


def test_corrections_come_in_update_mode(spark, tmp_path):
    batches = disorder(4, 300, seed=5)
    write_batches(tmp_path / "in", batches)
    query = sw.query(
        time="t",
        keys="k",
        windows=sw.sliding("1h", every="20m"),
        aggregates=[sw.count(), sw.sum("i")],
        lateness="5m",
        late="update",
        repair="2h",
    )
    df = query.spark(read_stream(spark, tmp_path / "in", SCHEMA))
    mine, _ = drained(df, "corrected", tmp_path / "state", mode="update")
    expected, stream = replayed(query, batches)
    assert stream.late.updates > 100
    same_answers(mine, expected)


@pytest.mark.parametrize("kind", ["timestamp_ntz", "bigint", "date"])
def test_kinds_of_time(spark, tmp_path, kind):
    batches = disorder(3, 200, seed=9)
    write_batches(tmp_path / "in", batches)
    df = read_stream(spark, tmp_path / "in", SCHEMA)
    micros = "unix_micros(t)"
    made = {"timestamp_ntz": "cast(t as timestamp_ntz)", "bigint": micros, "date": "cast(t as date)"}[kind]
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count()], lateness="5m")
    mine, _ = drained(query.spark(df.withColumn("t", F.expr(made))), f"time_{kind}", tmp_path / "state")
    arrow = {"timestamp_ntz": pa.timestamp("us"), "bigint": pa.int64(), "date": pa.date32()}[kind]
    whole = [b.set_column(0, "t", b["t"].cast(pa.timestamp("us")).cast(arrow, safe=False)) for b in batches]
    expected, _ = replayed(query, whole)
    assert expected.num_rows > 0
    same_answers(mine, expected)


def test_no_rows_at_all(spark, tmp_path):
    write_batches(tmp_path / "in", [disorder(1, 10)[0].slice(0, 0)])
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count()])
    mine, _ = drained(query.spark(read_stream(spark, tmp_path / "in", SCHEMA)), "nothing", tmp_path / "state")
    assert mine.num_rows == 0


class TestMistakes:
    def test_another_state_store(self, spark, tmp_path):
        write_batches(tmp_path / "in", disorder(1, 10))
        query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=[sw.count()])
        provider = "spark.sql.streaming.stateStore.providerClass"
        rocks = spark.conf.get(provider)
        spark.conf.set(provider, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
        try:
            with pytest.raises(sw.Unsupported, match="RocksDB"):
                query.spark(read_stream(spark, tmp_path / "in", SCHEMA))
        finally:
            spark.conf.set(provider, rocks)

    def test_late_rows_without_a_folder_and_a_folder_without_late_rows(self, spark, tmp_path):
        write_batches(tmp_path / "in", disorder(1, 10))
        df = read_stream(spark, tmp_path / "in", SCHEMA)
        known = {"time": "t", "windows": sw.tumbling("1h"), "aggregates": [sw.count()]}
        with pytest.raises(sw.InvalidArgument, match="late_to"):
            sw.query(**known, late="keep").spark(df)
        with pytest.raises(sw.InvalidArgument, match="keep"):
            sw.query(**known).spark(df, late_to=str(tmp_path))
