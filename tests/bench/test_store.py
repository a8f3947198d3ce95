"""The suites over stores, on tiny inputs: that all give the same answers, and that a wrong one is found."""

import io

import pytest

from bench import serve, store
from bench.harness import Report

SUITES = (store, serve)


def report() -> Report:
    return Report(rounds=1, out=io.StringIO())


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__.removeprefix("bench."))
def test_suite(suite):
    made = report()
    suite.run(made, suite.SMOKE)
    assert made.errors == []
    assert made.results and made.targets


@pytest.mark.slow  # as long as the suite itself
def test_a_wrong_answer_is_found(monkeypatch):
    asked = store._asked
    monkeypatch.setattr(store, "_asked", lambda *given: asked(*given)[:-1])
    monkeypatch.setattr(store, "_memory", lambda *given: None)
    made = report()
    store.run(made, store.SMOKE)
    assert any("DuckDB" in error for error in made.errors)
