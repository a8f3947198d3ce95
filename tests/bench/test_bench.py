"""The machinery of the benchmarks on tiny inputs: who runs, and that answers are compared. Never how long it takes."""

import io

import numpy as np
import pytest

from bench import __main__ as command
from bench import one_by_one, results, suites, windows
from bench.harness import Contestant, Report, Timing, disagreement

ELSEWHERE = ("store", "serve", "spark", "stream")
"""Suites with tests of their own, as they need more than the core."""


def report() -> Report:
    return Report(rounds=1, out=io.StringIO())


@pytest.mark.parametrize("suite", [suite for suite in suites.SUITES if suite not in ELSEWHERE])
def test_all_contestants_of_a_suite_give_the_same_answers_and_its_page_is_made(suite, tmp_path):
    assert command.main([suite, "--smoke", "--results", str(tmp_path), "--pages", str(tmp_path)]) == 0
    found = results.load(tmp_path, suite)
    assert found.errors == [] and len(found.records) >= 3 and found.kind == "smoke"
    assert (tmp_path / "index.md").exists() and (tmp_path / f"{suite}.md").read_text().startswith("# ")


def test_a_suite_whose_package_is_missing_is_skipped_with_a_word(monkeypatch, capsys):
    monkeypatch.setitem(suites.NEEDS, "latency", ("no_such_package",))
    assert command.main(["latency", "--quick", "--no-report"]) == 0
    assert "skipped, as these are not installed: no_such_package" in capsys.readouterr().out


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


def test_an_interrupted_suite_leaves_the_results_of_an_earlier_run(monkeypatch, tmp_path):
    def finished(made, settings):
        made.keep("ns", Timing((1.0,)), what="something")

    def interrupted(made, settings):
        raise KeyboardInterrupt

    arguments = ["one_by_one", "--quick", "--no-report", "--results", str(tmp_path)]
    monkeypatch.setattr(one_by_one, "run", finished)
    assert command.main(arguments) == 0
    monkeypatch.setattr(one_by_one, "run", interrupted)
    assert command.main(arguments) == 130
    found = results.load(tmp_path, "one_by_one")
    assert found.records[0]["median"] == 1.0 and found.kind == "quick" and found.machine["versions"]["numba"]


def test_a_suite_that_breaks_does_not_take_the_others_with_it(monkeypatch, tmp_path, capsys):
    def broken(made, settings):
        raise ValueError("no such luck")

    def finished(made, settings):
        made.keep("ns", Timing((1.0,)), what="something")

    monkeypatch.setattr(one_by_one, "run", broken)
    monkeypatch.setattr(windows, "run", finished)
    assert command.main(["one_by_one", "windows", "--quick", "--no-report", "--results", str(tmp_path)]) == 1
    assert results.load(tmp_path, "one_by_one").errors == ["one_by_one: ValueError: no such luck"]
    assert results.load(tmp_path, "windows").errors == []
    assert "ERROR one_by_one: ValueError: no such luck" in capsys.readouterr().out


def test_a_smoke_run_never_replaces_what_was_measured(capsys):
    with pytest.raises(SystemExit):
        command.main(["latency", "--smoke"])
    assert "--results DIR" in capsys.readouterr().err


def test_a_smoke_run_never_replaces_the_pages(capsys, tmp_path):
    with pytest.raises(SystemExit):
        command.main(["latency", "--smoke", "--results", str(tmp_path)])
    assert "--pages DIR" in capsys.readouterr().err


def test_windows_that_start_elsewhere_are_another_answer():
    case = windows.Case("sliding", keys=1, ratio=3, windows=1, aggregates=1)
    data = windows.Data.made(100, 1)
    right = windows.plain(case, case.query.run(data.part(100)))
    shifted = right + np.array([0, 0, 1, 0])
    assert windows.difference(right, right) is None
    assert windows.difference(shifted, right) is not None
    assert windows.difference(right[1:], right) == f"{len(right) - 1} answers, not {len(right)}"
