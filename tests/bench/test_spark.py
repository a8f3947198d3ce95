"""The suites on Spark, on tiny inputs: that all plans give the same answers, and that a wrong one is found."""

import io
import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from bench import spark, spark_peers, stream
from bench.harness import Report, Timing
from bench.spark_data import BEGIN, SECOND, affordable, difference, rate, short, started
from bench.stream_data import Drained, Files

SUITES = (spark, stream)


def report() -> Report:
    return Report(rounds=1, out=io.StringIO())


@pytest.fixture(scope="module")
def one_session():
    """For all suites: each would start one of its own."""
    with started(report()) as made:
        yield made


@pytest.mark.usefixtures("one_session")
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__.removeprefix("bench."))
def test_all_plans_of_a_suite_give_the_same_answers(suite):
    made = report()
    suite.run(made, suite.SMOKE)
    assert made.errors == []
    plans = {result["plan"] for result in made.results}
    assert plans == {spark: ALL_PLANS, stream: {"ours", "native"}}[suite]
    assert all(result["median"] > 0 for result in made.results)
    assert len(made.targets) >= {spark: 8, stream: 2}[suite]
    json.dumps(made.results + made.targets)


def test_a_stream_that_only_gives_gives_as_many_answers(one_session, tmp_path):
    files = Files(one_session, tmp_path, 2, 30, 5, 60)
    given = stream.answers(stream.giving(stream.query_of(3), 20, 4), files)
    assert given.columns == ["k", "window_start", "window_end", "window", "mean_x"]
    assert given.count() == 2 * 20


def test_the_windows_that_end_in_the_last_micro_batch(one_session, tmp_path):
    files = Files(one_session, tmp_path, 3, 1000, 5, 60)
    assert stream.answers_of(3, files, 60) == 5 * 6


ALL_PLANS = {
    *("ours", "F.window", "by slices", "by frames", "frames", "frames, tree", "ten F.window"),
    *("pandas UDAF", "by key", "SQL"),
}


@pytest.mark.usefixtures("one_session")
@pytest.mark.slow
def test_a_plan_with_wrong_answers_is_an_error_and_is_not_timed(monkeypatch):
    """Here, one whose windows are twice as long."""
    made = report()

    def wrong(ratio: int) -> spark_peers.Plan:
        return replace(spark_peers.window(2 * ratio), name="by slices")

    monkeypatch.setattr(spark_peers, "by_slices", wrong)
    for others in ("trailing", "last_rows", "ten_windows", "aggregates"):
        monkeypatch.setattr(spark, others, lambda *_: [])
    spark.run(made, spark.SMOKE)
    assert len(made.errors) == 1 and "by slices: " in made.errors[0] and "answers, not" in made.errors[0]
    assert {result["plan"] for result in made.results} == {"ours", "F.window", "by frames"}


@pytest.mark.usefixtures("one_session")
@pytest.mark.slow
def test_a_stream_with_wrong_answers_is_an_error_and_is_not_timed(monkeypatch):
    made = report()
    longer = stream.ours(61)
    monkeypatch.setattr(stream, "ours", lambda ratio, keys=None: longer)
    stream.run(made, replace(stream.SMOKE, ratios=(60,)))
    assert len(made.errors) == 1 and made.errors[0].startswith(": ratio 60: ours: ")
    assert made.results == [] and made.targets == []


@pytest.mark.usefixtures("one_session")
@pytest.mark.slow
def test_the_most_keys_are_compared_with_the_next_fewer():
    made = report()
    stream.run(made, replace(stream.SMOKE, keys=(1, 2, 4), ratios=(3,), crowded=(3,), event_time=20, full=()))
    assert made.errors == []
    names = [target["target"] for target in made.targets]
    assert [name for name in names if "keys over" in name] == ["ratio 3: 4 keys over 2 keys"]
    assert [name for name in names if ", over" in name] == ["ratio 3: 4 keys, 10 s, over 2 keys, 20 s"]


def test_answers_differ_by_what_tells_them_apart_or_by_their_values():
    right = np.array([[1.0, 10.0, 5.0], [2.0, 20.0, 7.0]])
    assert difference(right, right, 2) is None
    assert difference(right * [1, 1, 1.001], right, 2, within=0.01) is None
    assert "2 of 2 answers differ" in difference(right * [1, 1, 1.001], right, 2)
    assert "2 of 2 answers differ" in difference(right * [1, 1.001, 1], right, 2, within=0.01)
    assert difference(right[:1], right, 2) == "1 answers, not 2"
    assert difference(right[:0], right[:0], 2) == "there are no answers to compare"


def test_a_plan_gets_the_rows_that_it_does_in_its_time():
    tried = []

    def taken(rows: int) -> float:
        tried.append(rows)
        return 0.5 + rows / 1000

    found = affordable(10, 100, 1_000_000, taken)
    assert tried[:2] == [100, 1000] and found == tried[-1] and 5000 < found < 20_000
    assert affordable(10, 100, 2000, taken) == 2000
    assert affordable(0.1, 100, 2000, taken) == 1000


def test_a_slow_start_does_not_leave_a_plan_with_few_rows():
    assert affordable(10, 100, 5000, lambda rows: 20 + rows / 1000) == 5000


def test_rates_are_rows_a_second():
    assert [short(n) for n in (1_234_567, 250_000, 10_000, 999)] == ["1.23M", "250k", "10k", "999"]
    assert rate(Timing((1000.0, 1000.0))) == "1M ±0%"
    assert rate(Timing((4_000_000.0,))) == "250 ±0%"


def test_a_history_is_one_row_or_so_of_each_key_in_each_slide_before_the_second_micro_batch(tmp_path):
    files = Files(None, tmp_path, batches=2, rows=500, keys=3, seconds=60, history=100)
    paths = sorted(files.folder.iterdir())
    assert [path.stat().st_mtime for path in paths] == [1_000_000, 1_000_001, 1_000_010, 1_000_011]
    before, after = (pq.read_table(paths[place : place + 2]) for place in (0, 2))
    assert (before.num_rows, after.num_rows) == (300, 500)
    seconds = [np.asarray(table["ts"].cast("int64")) / SECOND - BEGIN / SECOND for table in (before, after)]
    assert -942 <= seconds[0].min() < -900 and 50 < seconds[0].max() < 60
    assert 58 <= seconds[1].min() < 62 and 110 < seconds[1].max() < 120


class Batch:
    def __init__(self, millis: int, rows: int) -> None:
        self.batchDuration, self.numInputRows = millis, rows


def test_the_first_micro_batches_do_not_count():
    drained = Drained([Batch(9000, 10), Batch(8000, 10), Batch(1, 10), Batch(3, 10), Batch(2, 10)], written=100)
    assert drained.ns_per_row == 2e6 / 10
    assert drained.checkpoint == 2
