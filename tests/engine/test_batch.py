"""What the engine must not lose: digits, the trace-free past, and nothing to a second thread."""

import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.engine import batch
from slidewheel.swag.registry import ALGORITHMS
from tests.engine.reference import INT64, assert_same, rolled, rows_by_count

SIZE = 3
WAYS = {
    "blocks": lambda values, aggregate: sw.rolling(values, aggregate, size=SIZE),
    "nulls": lambda values, aggregate: sw.rolling([*values, None], aggregate, size=SIZE)[:-1],
    "time": lambda values, aggregate: sw.rolling(values, aggregate, over=SIZE, times=range(len(values))),
    "subtraction": lambda values, aggregate: sw.rolling(values, aggregate, size=SIZE, algorithm="subtract_on_evict"),
}

# What passes through the window and must be gone afterwards.
OUTLIERS = [[math.nan], [math.inf], [-math.inf], [math.inf, -math.inf], [math.nan, 1.0, math.inf], [math.nan] * 5]


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, "blocks") for name in ("sum", "mean", "std", "max")]
    + [(name, "nulls") for name in ("sum", "mean", "std", "max", "min")]
    + [(name, "time") for name in ("sum", "std", "max")]
    + [(name, "subtraction") for name in ("sum", "mean", "std")],
)
def test_nan_and_infinity_leave_no_trace(name, way):
    aggregate = getattr(sw, name)()
    before, after = [1.0, 2.0, 4.0, 8.0], [3.0, -1.0, 5.0, 5.0, 0.5, 7.0, 1.0]
    clean = WAYS[way](after, aggregate)
    for outlier in OUTLIERS:
        values = [*before, *outlier, *after]
        got = WAYS[way](values, aggregate)
        full = slice(SIZE - 1, None)  # windows that hold nothing older than `after`
        np.testing.assert_allclose(got[-len(after) :][full], clean[full], rtol=1e-13)
        assert_same(got, rolled(name, values, rows_by_count(len(values), SIZE)), absolute=1e-13)


@pytest.mark.parametrize("way", ["blocks", "time", "nulls"])
def test_a_large_number_leaves_no_trace_in_sums(way):
    """Kept by subtraction, the small ones would be lost: 1e16 + 1 is 1e16."""
    values = [1e16, 1.0, -1e16, 1.0, 2.0, 3.0, 4.0, -1e16, 5.0, 6.0, 7.0]
    got = WAYS[way](values, sw.sum())
    assert got[[5, 6, 10]].tolist() == [6.0, 9.0, 18.0]
    wanted = [math.fsum(values[max(k - 2, 0) : k + 1]) for k in range(len(values))]
    np.testing.assert_allclose(got, wanted, rtol=1e-15, atol=2.0)


@pytest.mark.parametrize("way", ["blocks", "time", "nulls"])
@pytest.mark.parametrize("shift", [1e9, -1e9])
def test_a_large_mean_costs_the_deviation_no_digits(way, shift):
    chance = random.Random(3)
    values = [shift + chance.uniform(-1, 1) for _ in range(60)]
    got = WAYS[way](values, sw.std())
    for k in range(SIZE - 1, len(values)):
        window = [Fraction(v) for v in values[k - SIZE + 1 : k + 1]]
        mean = sum(window) / SIZE
        exact = math.sqrt(sum((v - mean) ** 2 for v in window) / (SIZE - 1))
        assert got[k] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("constant", [0.1, 1e9 + 0.1, -1e300, 5e-324, 1 / 3])
def test_a_constant_does_not_deviate(way, constant):
    got = WAYS[way]([constant] * 50, sw.std())
    assert np.isnan(got[0]) and (got[1:] == 0.0).all()


# Integers. All the algorithms go through the same sums in `make fuzz`; these are the forms that "auto" takes, and one
# that runs interpreted.
EVERY = [
    pytest.param(name, marks=() if name in ("blocks", "subtract_on_evict", "foa") else pytest.mark.slow)
    for name in ("blocks", *ALGORITHMS)
    if name != "slickdeque"
]


@pytest.mark.parametrize("algorithm", EVERY)
def test_partial_sums_may_overflow(algorithm):
    big, small = INT64.max, INT64.min
    values = [big, small, big, small, big, -5, small, 10, big, -big, big, small, 1, 0, -1, big]
    for size in (2, 4, 7):
        wanted = rolled("sum", values, rows_by_count(len(values), size))
        rows = wanted.index(sw.Overflow) if sw.Overflow in wanted else len(values)
        got = sw.rolling(np.array(values[:rows]), sw.sum(), size=size, algorithm=algorithm)
        assert got.tolist() == wanted[:rows]


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize(
    "values", [[INT64.max, 1], [INT64.min, -1], [INT64.max] * 9, [5, INT64.min, INT64.min, INT64.min, INT64.min]]
)
def test_sums_that_overflow_are_errors(algorithm, values):
    with pytest.raises(sw.Overflow, match="does not fit in 64 bits"):
        sw.rolling(np.array(values), sw.sum(), size=4, algorithm=algorithm)


@pytest.mark.parametrize(
    ("values", "how", "wanted"),
    [
        ([-1, INT64.min], {"size": 2, "closed": "left"}, [None, -1]),
        ([5, -1, INT64.min], {"size": 3, "closed": "neither"}, [None, 5, 4]),
        ([INT64.max, 1, -5], {"size": 3, "min_count": 3}, [None, None, INT64.max - 4]),
        ([INT64.max, 1, None, -5], {"size": 4, "min_count": 3}, [None, None, None, INT64.max - 4]),
    ],
    ids=["left", "neither", "min_count", "min_count with nulls"],
)
def test_a_sum_that_nobody_asks_for_may_overflow(values, how, wanted):
    assert_same(sw.rolling(values, sw.sum(), **how), wanted)


def test_a_span_that_overflows_is_an_error():
    column = [INT64.min, None, INT64.max]
    with pytest.raises(sw.Overflow, match="span does not fit"):
        sw.rolling(column, sw.span(), size=3)
    assert sw.rolling([0, None, INT64.max], sw.span(), size=3).tolist() == [0, 0, INT64.max]


# Two threads.


@pytest.fixture
def threads(monkeypatch):
    """How many second threads were used since the last look."""
    started = []
    submit = ThreadPoolExecutor.submit

    def counted(self, *arguments):
        started.append(self)
        return submit(self, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)

    def used():
        count = len(started)
        started.clear()
        return count

    return used


def in_one_and_two(monkeypatch, threads, call):
    monkeypatch.setattr(batch, "ENOUGH_FOR_TWO", 1 << 60)
    one = call()
    assert threads() == 0
    monkeypatch.setattr(batch, "ENOUGH_FOR_TWO", 1)
    two = call()
    assert threads() >= 1
    return one, two


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize("name", ["sum", "std", "max", "argmax"])
def test_two_threads_give_the_same_bits_for_fixed_windows(monkeypatch, threads, name, nulls):
    draw = np.random.default_rng(5)
    for rows, size in ((64, 1), (400, 7), (401, 100), (1000, 3), (997, 9)):
        values = draw.normal(size=rows) * 10.0 ** draw.integers(-5, 5, size=rows)
        mask = draw.random(rows) < 0.3 if nulls else None
        for closed in ("right", "neither"):

            def call(values=values, size=size, closed=closed, mask=mask):
                return sw.rolling(values, getattr(sw, name)(), size=size, closed=closed, mask=mask)

            if size == 1 and (closed == "neither" or name == "std"):
                continue  # windows too short for any answer
            one, two = in_one_and_two(monkeypatch, threads, call)
            np.testing.assert_array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(two))
            assert np.ma.filled(one, 0).tobytes() == np.ma.filled(two, 0).tobytes()


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize(
    ("name", "dtype"), [("sum", "i8"), ("first", "i8"), ("max", "f8"), ("sum", "f8"), ("std", "f8")]
)
def test_two_threads_agree_for_windows_of_time(monkeypatch, threads, name, dtype, nulls):
    draw = np.random.default_rng(6)
    rows = 800
    values = (draw.normal(size=rows) * 100).astype(dtype)
    mask = draw.random(rows) < 0.3 if nulls else None
    times = np.cumsum(draw.choice([0, 1, 2, 90], size=rows))
    for closed in ("right", "left"):

        def call(closed=closed):
            return sw.rolling(values, getattr(sw, name)(), over=40, times=times, closed=closed, mask=mask)

        one, two = in_one_and_two(monkeypatch, threads, call)
        np.testing.assert_array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(two))
        np.testing.assert_allclose(np.ma.filled(one, 0), np.ma.filled(two, 0), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("place", [5, 995], ids=["first part", "second part"])
@pytest.mark.parametrize("by_time", [False, True], ids=["blocks", "time"])
def test_an_error_in_either_thread_is_an_error(monkeypatch, threads, place, by_time):
    monkeypatch.setattr(batch, "ENOUGH_FOR_TWO", 1)
    values = np.zeros(1000, dtype=np.int64)
    values[[place - 1, place]] = INT64.max
    how = {"over": 4, "times": np.arange(1000)} if by_time else {"size": 4}
    with pytest.raises(sw.Overflow):
        sw.rolling(values, sw.sum(), **how)
    assert threads() >= 1
    values[place] = 0
    assert sw.rolling(values, sw.sum(), **how)[-1] in (0, INT64.max)


@pytest.mark.parametrize("fresh", [False, True], ids=["warm", "cold"])
def test_calls_from_many_threads(fresh):
    """Each thread with data of its own; cold, all four of them need the same kernel at once."""
    aggregate = _fresh() if fresh else sw.sum()
    ready = threading.Barrier(4)

    def work(seed):
        values = np.random.default_rng(seed).integers(-9, 9, size=500).astype(float)
        wanted = np.convolve(values, np.ones(5))[:500]
        ready.wait()
        return all(
            np.array_equal(sw.rolling(values, aggregate, size=5, algorithm="recalc" if fresh else "auto"), wanted)
            for _ in range(20)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def _fresh():
    @sw.aggregate(state="f8")
    class Total:
        identity = 0.0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

    return Total()
