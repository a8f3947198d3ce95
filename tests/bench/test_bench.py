"""The machinery of the benchmarks on tiny inputs: who runs, and that answers are compared. Never how long it takes."""

import io
import json

import numpy as np
import pytest

from bench import __main__ as command
from bench import (
    algorithms,
    daba,
    latency,
    one_by_one,
    reactive,
    rolling,
    slickdeque,
    start,
    user,
    uwheel_peer,
    wheel,
    windows,
)
from bench.harness import Contestant, Report, Timing, disagreement

FEW = ("two_stacks", "daba", "foa")


def report() -> Report:
    return Report(rounds=1, out=io.StringIO())


TINY = {
    algorithms: algorithms.Settings(windows=(4, 8), rounds=16, flat=(4, 8), aggregates=("sum",), algorithms=FEW),
    latency: latency.Settings(window=8, rounds=64, runs=2, aggregates=("sum",), algorithms=FEW[:2]),
    rolling: rolling.Settings(rows=300, duckdb_rows=100, windows=(10,), aggregates=("max",)),
    windows: windows.Settings(
        rows=400,
        keys=(1, 2, 4),
        ratios=(1, 60),
        aggregates=(5,),
        trailing=(3,),
        batch=100,
        sample=200,
        seconds=0.001,
        rounds=1,
    ),
    user: user.Settings(rows=100, pandas_work=500, windows=(10,)),
    one_by_one: one_by_one.Settings(window=20, rounds=50, aggregates=("max", "std")),
    start: start.Settings(answers=("max by count",)),
    slickdeque: slickdeque.Settings(
        windows=(1, 16, 32),
        rounds=64,
        recalc=16,
        ranges=(1, 4, 16),
        answers=64,
        window=16,
        latency_rounds=256,
        runs=1,
        memory=(16, 24),
    ),
    reactive: reactive.Settings(
        even=(4, 16),
        table_3=("max, float", "collect"),
        short=(1, 16),
        long=(1, 16, 64),
        tumbling=(1, 16),
        dynamic=(16,),
        coarse=(64, 128),
        table_4=(8, 64),
        rounds=64,
        tuples=256,
    ),
    daba: daba.Settings(
        aggregates=("sum", "collect"),
        window=16,
        latency_rounds=512,
        runs=1,
        even=(2, 16),
        rounds=64,
        windows=(1, 16, 64),
    ),
    wheel: wheel.Settings(
        rows=2000,
        slow_rows=1000,
        window_rows=20_000,
        slow_window_rows=1000,
        fiba_rows=500,
        windows=((15, 5), (60, 20), (180, 1)),
        latency_windows=((180, 1),),
        latency_rows=500,
        spans=((1, "f8"),),
        ranges=200,
        singles=50,
        queries=5,
        explained=20,
        repeat=1,
        flights=0,
        uwheel=uwheel_peer.BINARY.exists(),  # nothing is built for a test
    ),
}


LONG = dict.fromkeys((wheel, slickdeque, reactive), pytest.mark.slow)
"""Suites that compile for long."""


@pytest.mark.parametrize(
    "suite",
    [pytest.param(suite, marks=LONG.get(suite, ())) for suite in TINY],
    ids=lambda suite: suite.__name__.removeprefix("bench."),
)
def test_all_contestants_of_a_suite_give_the_same_answers(suite):
    made = report()
    suite.run(made, TINY[suite])
    assert made.errors == []
    assert len(made.results) >= 3
    json.dumps(made.results + made.targets)


def test_every_suite_is_listed_and_tested():
    here = [name for name in command.SUITES if name not in command.NEEDS]
    assert [suite.__name__ for suite in TINY] == [f"bench.{name}" for name in here]


def test_a_suite_whose_package_is_missing_is_skipped_with_a_word(monkeypatch, capsys):
    monkeypatch.setitem(command.NEEDS, "latency", "no_such_package")
    assert command.main(["latency", "--quick"]) == 0
    assert "skipped, as no_such_package is not installed" in capsys.readouterr().out


def test_a_wrong_answer_is_an_error_and_is_not_timed():
    made, calls = report(), []

    def wrong():
        calls.append("wrong")
        return np.array([1.0, 2.5])

    contestants = [Contestant("right", lambda: np.array([1.0, 2.0]), 2), Contestant("wrong", wrong, 2)]
    times = made.race({"two rows": contestants})
    assert list(times["two rows"]) == ["right"] and calls == ["wrong"]
    assert made.errors == [": two rows: wrong: 1 of 2 answers differ, first at (1,): 2.5, not 2.0"]


def test_only_the_rows_that_a_contestant_has_are_compared():
    made = report()
    every = Contestant("every", lambda: np.array([1.0, 2.0, 3.0]), 3)
    fewer = Contestant("fewer", lambda: np.array([9.0, 2.0]), 2, compared_from=1)
    other = Contestant("other", lambda: np.array([7.0]), 1, expected=lambda: np.array([7.0]))
    assert list(made.race({"": [every, fewer, other]})[""]) == ["every", "fewer", "other"]


def test_null_and_nan_are_the_same_answer():
    masked = np.ma.MaskedArray([1, 2], mask=[True, False])
    assert disagreement(masked, np.array([np.nan, 2.0])) is None
    assert disagreement(masked, np.array([1.0, 2.0])) is not None
    assert disagreement(np.zeros(2), np.zeros(3)) is not None


def test_ratios_are_taken_within_rounds():
    assert Timing((2.0, 20.0, 200.0)).over(Timing((1.0, 10.0, 100.0))) == 2.0


def test_a_missed_target_says_by_how_much():
    made = report()
    assert made.judge("fast", 5.0, 10, " ns") == "met"
    assert made.judge("fast", 12.0, 10, " ns") == "missed by 2.00 ns"


def test_an_unknown_suite_is_told_which_there_are(capsys):
    with pytest.raises(SystemExit):
        command.main(["latencies"])
    message = capsys.readouterr().err
    assert "did you mean latency?" in message and "one_by_one" in message


def test_what_was_measured_before_an_interruption_is_kept(monkeypatch, tmp_path, capsys):
    def interrupted(made, settings):
        made.keep("ns", Timing((1.0,)), what="something")
        raise KeyboardInterrupt

    monkeypatch.setattr(one_by_one, "run", interrupted)
    path = tmp_path / "results.json"
    assert command.main(["one_by_one", "--quick", "--json", str(path)]) == 130
    found = json.loads(path.read_text())
    assert not found["complete"] and found["results"][0]["median"] == 1.0
    assert found["quick"] and found["machine"]["versions"]["numba"]


def test_windows_that_start_elsewhere_are_another_answer():
    case = windows.Case("sliding", keys=1, ratio=3, windows=1, aggregates=1)
    data = windows.Data.made(100, 1)
    right = windows.plain(case, case.query.run(data.part(100)))
    shifted = right + np.array([0, 0, 1, 0])
    assert windows.difference(right, right) is None
    assert windows.difference(shifted, right) is not None
    assert windows.difference(right[1:], right) == f"{len(right) - 1} answers, not {len(right)}"
