"""The suites over stores, on tiny inputs: that all give the same answers, and that a wrong one is found."""

import io

import pytest

from bench import __main__ as command
from bench import serve, store
from bench.harness import Report

TINY = {
    store: store.Settings(days=2, keys=3, batch_days=1, questions=2),
    serve: serve.Settings(keys=5, hours=8, rows=500, batch=50, pause=0.05, connections=2, seconds=0.3),
}


def report() -> Report:
    return Report(rounds=1, out=io.StringIO())


@pytest.mark.parametrize("suite", TINY, ids=lambda suite: suite.__name__.removeprefix("bench."))
def test_suite(suite):
    made = report()
    suite.run(made, TINY[suite])
    assert made.errors == []
    assert made.results and made.targets


def test_a_wrong_answer_is_found(monkeypatch):
    asked = store._asked
    monkeypatch.setattr(store, "_asked", lambda *given: asked(*given)[:-1])
    monkeypatch.setattr(store, "_memory", lambda *given: None)
    made = report()
    store.run(made, TINY[store])
    assert any("DuckDB" in error for error in made.errors)


def test_every_suite_over_stores_is_tested():
    needing = [name for name, package in command.NEEDS.items() if package != "pyspark"]
    assert [suite.__name__ for suite in TINY] == [f"bench.{name}" for name in needing]
