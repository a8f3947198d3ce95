"""Keys with most of the rows, cut into pieces: every row comes back once, with the answers of `query.run`."""

import random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F

import slidewheel as sw
from slidewheel.spark import batch, cutting
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.cutting import FIRST, LENGTH, PIECE, HotKeys, answered, hot_keys
from slidewheel.spark.sending import Sender, read_packet
from tests.spark.support import as_spark, same_answers

LAST = [sw.rows(1), sw.rows(7), sw.rows(40)]


@pytest.fixture
def few_are_hot(monkeypatch):
    monkeypatch.setattr(cutting, "HOT", 100)


def skewed(rows: int, seed: int = 1) -> pa.Table:
    """Most rows are of one key, some of another, a few of others; no two at the same time, and in no order."""
    dice = np.random.default_rng(seed)
    times = 7 * dice.permutation(rows) - 3 * rows
    codes = np.where(dice.random(rows) < 0.7, 0, np.where(dice.random(rows) < 0.5, 1, dice.integers(2, 9, rows)))
    return pa.table(
        {
            "t": pa.array(times, mask=dice.random(rows) < 0.01).cast(pa.timestamp("us", "UTC")),
            "k": pa.array([None if code == 1 else f"key {code}" for code in codes.tolist()], pa.string()),
            "i": pa.array(dice.integers(0, 1000, rows), mask=dice.random(rows) < 0.1),
        }
    )


@pytest.mark.parametrize("seed", range(60))
def test_any_cuts_any_senders(seed):
    """Senders that saw any part of the rows, and cuts at any place: the pieces together are the answers."""
    dice = random.Random(seed)
    table = skewed(dice.choice([1, 20, 300]), seed)
    windows = [*dice.sample(LAST, dice.randint(1, 3)), *[sw.trailing(90), sw.trailing(500, closed="both")][: seed % 3]]
    query = sw.query(time="t", keys="k", windows=windows, aggregates=[sw.count(), sw.sum("i"), sw.last("i")])
    chosen = hot_keys(query, 2)
    cut = HotKeys(chosen.before, chosen.longest, dice.choice([1, 2, 8]))
    facts = {None: (-700, dice.choice([1, 40, 300])), "key 0": (dice.randint(-900, 0), dice.choice([3, 100, 10_000]))}
    said = [facts.get(key, (None, None)) for key in table["k"].to_pylist()]
    for place, name in enumerate((FIRST, LENGTH)):
        table = table.append_column(name, pa.array([fact[place] for fact in said], pa.int64()))
    senders = [Sender(query, table.schema, bucket_ids(2), combines=False, cutting=cut) for _ in range(3)]
    whose = np.random.default_rng(seed).integers(0, 3, table.num_rows)
    sent: dict[int, list[pa.Table]] = {}
    for number, sender in enumerate(senders):
        for _ in sender.add(table.filter(pa.array(whose == number))):
            raise AssertionError("so few rows stay with the sender")
        for packet in sender.flush():
            sent.setdefault(packet.column(0)[0].as_py(), []).append(read_packet(packet.column(1)[0].as_py())[1])
    answers = pa.concat_tables(answered(query, pa.concat_tables(tables)) for tables in sent.values())
    same_answers(answers, query.run(table.drop_columns([FIRST, LENGTH])))
    if table.num_rows == 300 and cut.pieces > 1:
        assert len({piece for tables in sent.values() for t in tables for piece in t[PIECE].to_pylist()}) > 2


@pytest.mark.parametrize("keys", ["k", ["k", "j"], []])
def test_the_last_rows_are_frames_of_sparks(spark, tmp_path, few_are_hot, keys):
    table = skewed(3000)
    table = table.append_column("j", pa.array(np.arange(3000) % 2))
    df = as_spark(spark, table, tmp_path / "in").where("t is not null").repartition(3)
    query = sw.query(time="t", keys=keys, windows=LAST[1:], aggregates=[sw.count(), sw.sum("i")])
    frames = {n: Window.partitionBy(keys).orderBy("t").rowsBetween(1 - n, 0) for n in (7, 40)}
    native = df.select(
        "*",
        *(F.count("*").over(frame).alias(f"count_{n}rows") for n, frame in frames.items()),
        *(F.sum("i").over(frame).alias(f"sum_i_{n}rows") for n, frame in frames.items()),
    )
    mine = query.spark(df, hot_keys=True)
    same_answers(mine.select(*native.columns).toArrow(), native.toArrow())
    assert mine.columns == query.spark(df).columns


def test_one_key_uses_every_partition(spark, few_are_hot):
    df = spark.range(0, 20_000, numPartitions=4).select(
        F.timestamp_micros(F.col("id") * 1_000_000).alias("t"), F.lit("hot").alias("k"), F.col("id").alias("i")
    )
    query = sw.query(time="t", keys="k", windows=sw.rows(10), aggregates=[sw.count(), sw.sum("i")])
    coalesces = "spark.sql.adaptive.coalescePartitions.enabled"
    spark.conf.set(coalesces, "false")  # so little would be one task
    where = F.spark_partition_id().alias("where")
    answers = query.spark(df, hot_keys=True).select("i", "count_10rows", "sum_i_10rows", where).toArrow()
    alone = query.spark(df).select(where).distinct().count()
    spark.conf.unset(coalesces)
    assert sorted(answers["i"].to_pylist()) == list(range(20_000))
    for i, n, total in zip(*(answers.column(place).to_pylist() for place in range(3)), strict=True):
        seen = range(max(0, i - 9), i + 1)
        assert (n, total) == (len(seen), sum(seen))
    rows = np.bincount(answers["where"].to_numpy())
    assert alone == 1
    assert len(rows) == 2
    assert rows.min() > 9_000


def test_without_rows(spark, tmp_path):
    query = sw.query(time="t", keys="k", windows=sw.rows(5), aggregates=sw.count())
    assert query.spark(as_spark(spark, skewed(0), tmp_path / "in"), hot_keys=True).count() == 0


def test_long_windows_are_cut_less():
    def pieces(rows: int) -> int:
        return hot_keys(sw.query(time="t", windows=sw.rows(rows), aggregates=sw.count()), 100).pieces

    assert [pieces(1), pieces(1000), pieces(50_000), pieces(10**9)] == [400, 65, 1, 1]


def test_what_can_not_be_cut_is_refused(spark, tmp_path):
    df = as_spark(spark, skewed(10), tmp_path / "in")
    query = sw.query(time="t", keys="k", windows=[sw.session("1m")], aggregates=sw.count())
    with pytest.raises(sw.Unsupported, match="windows like session_1m"):
        query.spark(df, hot_keys=True)
    stream = spark.readStream.schema(df.schema).parquet(str(tmp_path / "in"))
    query = sw.query(time="t", keys="k", windows=sw.rows(5), aggregates=sw.count())
    with pytest.raises(sw.InvalidArgument, match="finite DataFrame"):
        query.spark(stream, hot_keys=True)


def test_explain_says_it(spark, tmp_path):
    df = as_spark(spark, skewed(10), tmp_path / "in")
    query = sw.query(time="t", keys="k", windows=sw.rows(5), aggregates=sw.count())
    assert "query.spark(df, hot_keys=True)" in query.explain(df)
    assert "keys of 262,144 rows and more are cut into 8 pieces" in query.explain(df, hot_keys=True)
    query = sw.query(time="t", keys="k", windows=sw.rows(50_000), aggregates=sw.count())
    assert "for windows as long as these" in query.explain(df, hot_keys=True)


def test_spark_is_asked_for_cuts_only_where_there_will_be_some(spark, tmp_path, monkeypatch):
    def ask(*_):
        raise LookupError

    monkeypatch.setattr(batch, "with_cuts", ask)
    table = skewed(300)
    df = as_spark(spark, table, tmp_path / "in")
    long, short = (sw.query(time="t", keys="k", windows=sw.rows(n), aggregates=sw.count()) for n in (50_000, 5))
    same_answers(long.spark(df, hot_keys=True).toArrow(), long.run(table))
    with pytest.raises(LookupError):
        short.spark(df, hot_keys=True)
