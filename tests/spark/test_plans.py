"""Which plan is taken, what `explain` says of it, and that all of them give the same."""

import pytest

import slidewheel as sw
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


@pytest.mark.parametrize(
    ("query", "plan", "why"),
    [
        (query_of([sw.tumbling("10m"), sw.tumbling("1h")]), "native", "one kind of window"),
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
