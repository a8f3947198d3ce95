"""Cases from public test-suites, read from beside the checkout where they are, and small ones of our own."""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.swag.registry import ALGORITHMS, lacking
from tests.swag.test_compiled import EVICT, INSERT, QUERY, replayed

CASES = Path(__file__).parents[3] / "shared" / "conformance" / "fifo_cases.json"
needs_cases = pytest.mark.skipif(not CASES.exists(), reason="the shared conformance cases are not beside this checkout")


@cache
def case(name):
    return json.loads(CASES.read_text())[name]


@cache
def sums(name, kept=0):
    """All sums of the last w (and `kept` more) of 0 .. n - 1, by a formula."""
    known = case(name)
    steps = np.arange(known["n"])
    oldest = np.maximum(steps - known["w"] - kept + 1, 0)
    return (steps * (steps + 1) - oldest * (oldest - 1)) // 2


@cache
def means():
    known = case("fifo_mean_float")
    return sums("fifo_mean_float") / np.minimum(np.arange(known["n"]) + 1, known["w"])


def digest(answers) -> str:
    return hashlib.sha256("\n".join(map(str, answers)).encode()).hexdigest()[:16]


@needs_cases
def test_the_formulas_are_the_cases():
    known, answers = case("fifo_sum"), sums("fifo_sum").tolist()
    assert answers[:5] == known["first"] and answers[-1] == known["last"] and sum(answers) == known["total"]
    assert digest(answers) == known["sha"]
    known, answers = case("fifo_mean_float"), means().tolist()
    assert answers[:5] == known["first"] and answers[-1] == known["last"]
    assert digest(answers) == known["sha"]


def able(aggregate):
    return [name for name, module in ALGORITHMS.items() if not any(lacking(module.CARD, aggregate))]


def slid(algorithm, aggregate, values, size):
    """Query after every insert, with at most `size` items: compiled, or item by item where that is the only way.

    Item by item only a tenth is asked for.
    """
    values = np.asarray(values)
    if ALGORITHMS[algorithm].CARD.compiled:
        full = np.tile([INSERT, EVICT, QUERY], len(values)).astype(np.int8)
        full = full[np.repeat(np.arange(len(values)) < 0, 3) | (full != EVICT) | (np.arange(len(full)) // 3 >= size)]
        # insert first, then evict what is too old: the window holds size + 1 items for a moment
        return replayed(algorithm, aggregate, (values.dtype.kind,), (values,), full)
    window, answers = sw.swag.window(aggregate, algorithm, capacity=size), []
    for k, value in enumerate(values[: len(values) // 10].tolist()):
        if k >= size:
            window.evict()
        window.insert(value)
        answers.append(window.query())
    return np.array(answers)


def same(answers, wanted):
    assert len(answers) >= len(wanted) // 10
    assert np.array_equal(answers, wanted[: len(answers)])


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.sum()))
def test_fifo_sum(algorithm):
    known = case("fifo_sum")
    same(slid(algorithm, sw.sum(), range(known["n"]), known["w"]), sums("fifo_sum"))


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.mean()))
def test_fifo_mean(algorithm):
    known = case("fifo_mean_float")
    same(slid(algorithm, sw.mean(), np.arange(float(known["n"])), known["w"]), means())


@needs_cases
@pytest.mark.parametrize("aggregate", ["sum", "mean", "max", "min_count"])
def test_fifo_by_blocks(aggregate):
    known = case({"mean": "fifo_mean_float", "min_count": "fifo_mincount"}.get(aggregate, f"fifo_{aggregate}"))
    wanted = {
        "sum": lambda: sums("fifo_sum"),
        "mean": means,
        "max": lambda: np.arange(known["n"]),
        "min_count": lambda: np.ones(known["n"]),
    }[aggregate]
    same(sw.rolling(np.arange(known["n"]), getattr(sw, aggregate)(), size=known["w"]), wanted())


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.max()))
def test_fifo_max(algorithm):
    known = case("fifo_max")
    assert known["last"] == known["n"] - 1
    same(slid(algorithm, sw.max(), range(known["n"]), known["w"]), np.arange(known["n"]))


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.min_count()))
def test_fifo_and_timestamped_min_count(algorithm):
    known, timed = case("fifo_mincount"), case("timestamped_fifo")
    same(slid(algorithm, sw.min_count(), range(known["n"]), known["w"]), np.ones(known["n"]))
    # youngest - oldest <= w: so w + 1 items stay
    same(slid(algorithm, sw.min_count(), range(timed["n"] // 10), timed["w"] + 1), np.ones(timed["n"] // 10))


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.sum()))
def test_timestamped_sum(algorithm):
    known = case("timestamped_fifo")
    same(slid(algorithm, sw.sum(), range(known["n"]), known["w"] + 1), sums("timestamped_fifo", kept=1))


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.collect()))
def test_fifo_collect(algorithm):
    known = case("fifo_collect")
    n, w = known["n"] if algorithm != "recalc" else 500, known["w"]
    window = sw.swag.window(sw.collect(), algorithm)
    for k in range(n):
        window.insert(k)
        if k >= w:
            window.evict()
        assert window.query() == list(range(max(0, k - w + 1), k + 1))


@needs_cases
@pytest.mark.parametrize("algorithm", able(sw.collect()))
def test_sawtooth(algorithm):
    known = case("sawtooth")
    for w in known["w"]:
        if algorithm == "recalc":
            w = w // 10  # the square of the window, twice: the reference is not made for this
        collected, counted = sw.swag.window(sw.collect(), algorithm), sw.swag.window(sw.min_count(), algorithm)
        for _ in range(known["rep"] if w < 1000 else 1):
            for k in range(w):
                collected.insert(k)
                counted.insert(k)
                assert collected.query() == list(range(k + 1))
                assert counted.query() == 1
            for k in range(w):
                collected.evict()
                counted.evict()
                assert collected.query() == (list(range(k + 1, w)) or None)
                assert counted.query() == (1 if k + 1 < w else None)
