"""Which plan is taken, what `explain` says of it, and that all of them give the same."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import slidewheel as sw
from slidewheel.spark.plans import SEGMENT_TREE
from slidewheel.spark.session import BATCH_BYTES
from tests.spark.support import as_spark, read_stream, same_answers, write_batches
from tests.spark.test_batch import measurements
from tests.spark.test_streaming import SCHEMA, disorder


def query_of(windows, *aggregates, **more):
    return sw.query(time="t", keys="k", windows=windows, aggregates=list(aggregates) or [sw.mean("x")], **more)


@pytest.fixture(scope="module")
def table(spark, tmp_path_factory):
    return as_spark(spark, measurements(), tmp_path_factory.mktemp("table"))


@pytest.mark.parametrize(
    ("query", "plan", "why"),
    [
        (query_of(sw.tumbling("10m")), "native", "a row is in 1 window"),
        (query_of(sw.sliding("30m", every="10m")), "native", "a row is in 3 window"),
        (query_of(sw.sliding("1h", every="1m")), "slices", "combined before they are shuffled"),
        (query_of(sw.tumbling("10m"), sw.quantile("x", 0.5)), "slices", "combined"),
        (query_of([sw.tumbling("10m"), sw.tumbling("1h")]), "slices", "combined"),
        (query_of(sw.tumbling("10m"), sw.first("x")), "rows", "order of rows decides first_x"),
        (query_of(sw.session("10m")), "rows", "session"),
        (query_of(sw.trailing("10m")), "rows", "every row has a window of its own"),
    ],
)
def test_the_plan_and_why(table, query, plan, why):
    said = query.explain(table)
    assert f"plan {plan}" in said
    assert why in said
    assert said.startswith(query.explain())


def test_a_stream_says_what_its_state_is(spark, tmp_path):
    write_batches(tmp_path / "in", disorder(1, 10))
    df = read_stream(spark, tmp_path / "in", SCHEMA)
    assert "slices in chunks of time" in query_of(sw.tumbling("1h")).explain(df)
    assert "all of it is read" in query_of(sw.session("1h")).explain(df)
    with pytest.raises(sw.Unsupported, match="no frames over streams"):
        query_of(sw.tumbling("1h")).spark(df, plan="frames")
    for windows, keys, plan in [
        (sw.sliding("1h", every="20m"), 100, "native"),
        (sw.sliding("1h", every="20m"), 10_000, "slices"),
        (sw.sliding("1h", every="20m"), None, "slices"),
        (sw.sliding("1h", every="15m"), 100, "slices"),
    ]:
        assert f"a stream: plan {plan}" in query_of(windows).explain(df, expected_keys=keys), (windows, keys)


@pytest.mark.parametrize("limit", ["67108864", "64m"])
def test_a_limit_that_makes_spark_slow_is_said(table, limit):
    query = query_of(sw.session("10m"))
    assert "adds up the size" not in query.explain(table), "our own session has none"
    before = table.sparkSession.conf.get(BATCH_BYTES)
    table.sparkSession.conf.set(BATCH_BYTES, limit)
    try:
        assert f'spark.conf.set("{BATCH_BYTES}", 2147483647)' in query.explain(table)
    finally:
        table.sparkSession.conf.set(BATCH_BYTES, before)


def test_a_long_trailing_window_is_cut_into_pieces_of_time(table):
    assert "pieces of 16h" in query_of(sw.trailing("1h")).explain(table)


@pytest.mark.parametrize("windows", [sw.tumbling("10m"), sw.sliding("30m", every="7m")], ids=str)
def test_all_plans_give_the_same(table, windows):
    query = query_of(windows, sw.count(), sw.sum("i"), sw.mean("x"), sw.min("k"), sw.std("x"))
    answers = {plan: query.spark(table, plan=plan) for plan in ("slices", "rows", "native")}
    wanted = query.run(measurements())
    for plan, found in answers.items():
        types = [(f.name, f.dataType) for f in found.schema]
        assert types == [(f.name, f.dataType) for f in answers["slices"].schema], plan
        same_answers(found.toArrow(), wanted, plan)


FOR_FRAMES = [
    sw.count(),
    sw.count("x"),
    sw.sum("i"),
    sw.sum("x").alias("total"),
    sw.mean("x"),
    sw.mean("i"),
    sw.min("k"),
    sw.max("x"),
    sw.min("d"),
]


@pytest.mark.parametrize(
    ("kind", "zone"),
    [("timestamp", "UTC"), ("timestamp", "America/St_Johns"), ("timestamp_ntz", "America/St_Johns")],
)
@pytest.mark.parametrize(
    ("keys", "windows"),
    [
        ([], sw.sliding("4s", every="2s")),
        ("k", sw.tumbling("1s")),
        (["j", "k"], sw.sliding("30m", every="10m", offset="3m")),
    ],
    ids=["4s", "1s", "30m+3m"],
)
def test_frames_over_slices_give_the_same(spark, tmp_path, zone, kind, keys, windows):
    """Rows that leave gaps, of many keys and of none, before and after 1970, with nulls in all columns."""
    dice = np.random.default_rng(3)
    table = measurements(400).append_column("j", pa.array(dice.integers(0, 3, 400)))
    times = pc.if_else(pa.array(dice.random(400) < 0.1), None, table["t"])
    table = table.set_column(0, "t", times if kind == "timestamp" else times.cast(pa.timestamp("us")))
    query = sw.query(time="t", keys=keys, windows=windows, aggregates=FOR_FRAMES)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        df = as_spark(spark, table, tmp_path / "in")
        assert df.schema["t"].dataType.simpleString() == kind
        found, slices = (query.spark(df, plan=plan) for plan in ("frames", "slices"))
        assert found.schema.simpleString() == slices.schema.simpleString()
        same_answers(found.toArrow(), query.run(table))
        nothing = df.where("i > 100000")
        assert query.spark(nothing, plan="frames").count() == 0
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("tree", [False, True])
def test_frames_are_taken_where_keys_are_very_few(spark, table, tree):
    query = query_of(sw.sliding("1h", every="1m"), sw.count(), sw.mean("x"))
    assert "plan slices" in query.explain(table, expected_keys=11)
    assert "plan slices" in query_of(sw.sliding("2h", every="1m")).explain(table, expected_keys=10)
    assert "plan slices" in query_of(sw.sliding("1h", every="1m"), sw.std("x")).explain(table, expected_keys=10)
    spark.conf.set(SEGMENT_TREE, tree)
    try:
        said = query.explain(table, expected_keys=10)
        assert "plan frames, since rows of 10 key(s) are few slices" in said
        assert ("a frame looks at all slices" in said) is not tree
        found = query.spark(table, expected_keys=10)
        same_answers(found.toArrow(), query.run(measurements()))
    finally:
        spark.conf.unset(SEGMENT_TREE)


@pytest.mark.parametrize(
    ("query", "plan", "why"),
    [
        (query_of([sw.tumbling("10m"), sw.tumbling("1h")]), "native", "one kind of window"),
        (query_of(sw.sliding("30m", every="7m")), "frames", "whole slides"),
        (query_of(sw.tumbling("10m"), sw.std("x")), "frames", "std_x of a window together"),
        (query_of(sw.tumbling("10m"), sw.sum("d")), "frames", "sum_d is typed otherwise"),
        (query_of(sw.session("10m")), "frames", "no windows like"),
        (query_of(sw.session("10m")), "native", "no windows like"),
        (query_of(sw.tumbling("10m"), sw.quantile("x", 0.5)), "native", "no quantile"),
        (query_of(sw.session("10m")), "slices", "can't be put together"),
        (query_of(sw.session("10m")), "fastest", "one of auto"),
    ],
)
def test_a_plan_that_would_not_be_right_is_refused(table, query, plan, why):
    with pytest.raises(sw.SlidewheelError, match=why):
        query.spark(table, plan=plan)


def test_one_shuffle(table, capsys):
    query_of(sw.sliding("1h", every="1m")).spark(table).explain()
    assert capsys.readouterr().out.count("Exchange") == 1
