"""sw.rolling against its meaning, written down in reference.py.

A kernel takes a second or two to compile, and there is one for each aggregate, algorithm, type, and with or without
nulls. So a few aggregates, one for each way to be computed, go through everything; the others are passed over once
here, and go through everything in `make fuzz`.
"""

import itertools
import math
import random

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slidewheel as sw
from slidewheel.algebra.bloom import hash64, positions
from slidewheel.swag.registry import ALGORITHMS
from tests.engine.reference import (
    CLOSED,
    FIXED_WIDTH,
    INT64,
    assert_same,
    rolled,
    rows_by_count,
    rows_by_time,
    tolerance,
)

# Wide integers, plain floats, comparison, moments, a second column, order.
CORE = [("sum", "i8"), ("sum", "f8"), ("max", "f8"), ("std", "f8"), ("argmax", "f8"), ("first", "i8")]
BY_COUNT_ONCE = [("count", "f8"), ("product", "f8"), ("mean", "f8"), ("var", "i8"), ("min", "f8"), ("span", "i8")]
BY_TIME_ONCE = [("geomean", "f8"), ("min_count", "f8"), ("max_count", "i8"), ("argmin", "i8"), ("last", "f8")]
ALL = list(itertools.product(FIXED_WIDTH, ("i8", "f8")))
OBJECTS = ["collect", "collect_distinct", "concat"]

ROWS = 41
SIZES = (1, 2, 3, 7, 20, ROWS, 100)
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0]


def aggregate(name):
    return sw.count("value") if name == "count" else getattr(sw, name)()


def columns(dtype, name=""):
    """Columns that a window may get wrong: random, falling, all equal, full of special values."""
    chance = random.Random(f"{dtype} {name}")
    yield [chance.randint(-9, 9) for _ in range(ROWS)]
    yield list(range(ROWS, 0, -1))
    yield [3] * ROWS
    if dtype == "f8":
        yield [chance.choice([*SPECIAL, 1.0, -2.5]) for _ in range(ROWS)]
        yield [chance.gauss(0, 1) for _ in range(ROWS)]
    elif name in ("min", "max", "first", "last", "argmin", "argmax", "min_count", "max_count"):
        yield [chance.choice([INT64.min, INT64.max, -1, 0]) for _ in range(ROWS)]


def with_nulls(values, seed=0):
    chance = random.Random(seed)
    return [None if chance.random() < 0.3 else value for value in values]


def clock(kind, rows=ROWS):
    """Times in microseconds, sorted."""
    chance = random.Random(kind)
    match kind:
        case "even":
            return [10 * k for k in range(rows)]
        case "peers":
            return sorted(chance.randint(0, 40) for _ in range(rows))
        case "gaps":
            return list(itertools.accumulate(chance.choice([1, 2, 1000]) for _ in range(rows)))
        case "bursts":
            return sorted(1000 * (k // 17) + chance.choice([0, 3, 30]) for k in range(rows))
        case "equal":
            return [5] * rows
        case "before 1970":
            return [7 * k - 3_600_000_000 for k in range(rows)]


CLOCKS = ("even", "peers", "gaps", "bursts", "equal", "before 1970")


def numeric(values, dtype):
    """The column as Python numbers of the type, and as what is passed to sw.rolling."""
    cast = float if dtype == "f8" else int
    plain = [None if v is None else cast(v) for v in values]
    hidden = [v is None for v in plain]
    data = np.array([0 if v is None else v for v in plain], dtype=dtype)
    return plain, data, np.array(hidden) if any(hidden) else None


def check(name, dtype, values, windows, min_count=0, **how):
    plain, data, mask = numeric(values, dtype)
    wanted = rolled(name, plain, windows, min_count)
    if sw.Overflow in wanted:
        with pytest.raises(sw.Overflow):
            sw.rolling(data, aggregate(name), mask=mask, min_count=min_count, **how)
        return
    got = sw.rolling(data, aggregate(name), mask=mask, min_count=min_count, **how)
    assert_same(got, wanted, tolerance(name, plain))


def check_by_count(name, dtype, nulls, closed, **how):
    for values in columns(dtype, name):
        rows = with_nulls(values) if nulls else values
        for size in SIZES:
            check(name, dtype, rows, rows_by_count(ROWS, size, closed), size=size, closed=closed, **how)


def check_by_time(name, dtype, nulls, closed, **how):
    for kind in CLOCKS:
        times = clock(kind)
        for values, over in itertools.product(columns(dtype, name), (1, 10, 35)):
            rows = with_nulls(values) if nulls else values
            windows = rows_by_time(times, over, closed)
            check(name, dtype, rows, windows, over=over, times=times, closed=closed, **how)


both_ways = pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
every_end = pytest.mark.parametrize("closed", CLOSED)


@every_end
@both_ways
@pytest.mark.parametrize(("name", "dtype"), CORE)
def test_by_count(name, dtype, nulls, closed):
    check_by_count(name, dtype, nulls, closed)


@every_end
@both_ways
@pytest.mark.parametrize(("name", "dtype"), CORE)
def test_by_time(name, dtype, nulls, closed):
    check_by_time(name, dtype, nulls, closed)


@pytest.mark.parametrize(("name", "dtype"), BY_COUNT_ONCE)
def test_the_others_by_count(name, dtype):
    for closed in CLOSED:
        check_by_count(name, dtype, nulls=True, closed=closed)


@pytest.mark.parametrize(("name", "dtype"), BY_TIME_ONCE)
def test_the_others_by_time(name, dtype):
    for closed in CLOSED:
        check_by_time(name, dtype, nulls=True, closed=closed)


@pytest.mark.slow
@both_ways
@pytest.mark.parametrize(("name", "dtype"), ALL)
def test_everything(name, dtype, nulls):
    for closed in CLOSED:
        check_by_count(name, dtype, nulls, closed)
        check_by_time(name, dtype, nulls, closed)


@pytest.mark.slow
@both_ways
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm(algorithm, nulls):
    name, dtype = ("max", "f8") if algorithm == "slickdeque" else ("sum", "i8")
    for closed in CLOSED:
        check_by_count(name, dtype, nulls, closed, algorithm=algorithm)
        check_by_time(name, dtype, nulls, closed, algorithm=algorithm)


@every_end
@pytest.mark.parametrize("name", OBJECTS)
def test_states_that_are_objects(name, closed):
    columns = [["b", None, "a", "b", None, None, "c"], [2, 1, None, 2, 3, 3, 1], [0.5, math.nan, None, math.nan, 1.0]]
    for values in columns:
        for size in (1, 2, 3, len(values), 20):
            windows = rows_by_count(len(values), size, closed)
            assert_same(sw.rolling(values, aggregate(name), size=size, closed=closed), rolled(name, values, windows))
        for kind in CLOCKS:
            times = clock(kind, len(values))
            got = sw.rolling(values, aggregate(name), over=10, times=times, closed=closed)
            assert_same(got, rolled(name, values, rows_by_time(times, 10, closed)))


def test_concat_with_a_separator():
    values = ["a", None, "b", "c"]
    got = sw.rolling(values, sw.concat(sep=" + "), size=3)
    assert_same(got, rolled("concat", values, rows_by_count(4, 3), sep=" + "))


@pytest.mark.parametrize(
    "values", [[3, None, -1, 3, None, None, 8], ["x", "y", None, "x"], [0.5, None, math.nan, -0.0]]
)
def test_bloom(values):
    """Compiled or not, the bits are those of the values in the window."""
    bits, hashes = 128, 3
    got = sw.rolling(values, sw.bloom(bits=bits, hashes=hashes), size=2)
    for k, window in enumerate(rows_by_count(len(values), 2)):
        held = [values[row] for row in window if values[row] is not None]
        if not held:
            assert got[k] is None
            continue
        assert all(value in got[k] for value in held)
        assert got[k].bits == _union(positions(hash64(value), bits, hashes) for value in held)


def _union(places):
    return sum(1 << p for p in set(itertools.chain.from_iterable(places)))


# Random values. Floats stay within 1e100, so that what is squared or added up does not overflow.
floats = st.floats(-1e100, 1e100) | st.sampled_from([*SPECIAL, 1.0, 1.0, -1.0])
integers = st.integers(-3, 3) | st.integers(INT64.min, INT64.max)
VALUES = {"f8": floats, "i8": integers}


@st.composite
def windows_by_count(draw, dtype):
    values = draw(st.lists(st.none() | VALUES[dtype], min_size=1, max_size=40))
    size = draw(st.integers(1, 12) | st.integers(1, 50))
    return values, size, draw(st.sampled_from(CLOSED)), draw(st.integers(0, size))


@st.composite
def windows_by_time(draw, dtype):
    values = draw(st.lists(st.none() | VALUES[dtype], min_size=1, max_size=40))
    steps = draw(st.lists(st.sampled_from([0, 0, 1, 2, 50]), min_size=len(values), max_size=len(values)))
    start = draw(st.integers(-100, 100))
    times = [start + t for t in itertools.accumulate(steps)]
    return values, times, draw(st.integers(1, 60)), draw(st.sampled_from(CLOSED)), draw(st.integers(0, 5))


@pytest.mark.parametrize(("name", "dtype"), CORE)
def test_any_values_by_count(name, dtype):
    @settings(max_examples=60, deadline=None)
    @given(windows_by_count(dtype))
    def run(drawn):
        values, size, closed, least = drawn
        windows = rows_by_count(len(values), size, closed)
        check(name, dtype, values, windows, least, size=size, closed=closed)

    run()


@pytest.mark.parametrize(("name", "dtype"), CORE)
def test_any_values_by_time(name, dtype):
    @settings(max_examples=60, deadline=None)
    @given(windows_by_time(dtype))
    def run(drawn):
        values, times, over, closed, least = drawn
        windows = rows_by_time(times, over, closed)
        check(name, dtype, values, windows, least, over=over, times=times, closed=closed)

    run()


def test_nulls_in_the_answer_need_no_nulls_in_the_input():
    got = sw.rolling([1, 2, 3, 4], sw.sum(), size=3, min_count=2)
    assert np.ma.is_masked(got) and got.tolist() == [None, 3, 6, 9]


@pytest.mark.parametrize("how", [{"size": 4}, {"over": 4, "times": list(range(9))}], ids=["count", "time"])
@pytest.mark.parametrize("least", [0, 1, 2, 4])
def test_min_count_counts_values_not_rows(how, least):
    values = [1.0, None, None, 2.0, None, 3.0, 4.0, 5.0, None]
    windows = rows_by_count(9, 4)
    for name in ("sum", "std"):
        assert_same(sw.rolling(values, aggregate(name), min_count=least, **how), rolled(name, values, windows, least))


def test_count_counts_rows_and_count_of_a_column_values():
    values = [1.0, None, None, 2.0]
    assert sw.rolling(values, sw.count(), size=2).tolist() == [1, 2, 2, 2]
    assert sw.rolling(values, sw.count("value"), size=2).tolist() == [1, 1, 0, 1]
    assert sw.rolling(values, sw.count("value"), size=2, min_count=1).tolist() == [1, 1, None, 1]


@pytest.mark.parametrize("values", [[1.0, None, 2.0], ["a", None, "b"]], ids=["numbers", "texts"])
def test_count_of_rows_does_not_depend_on_the_type_of_the_values(values):
    assert sw.rolling(values, sw.count(), size=1, min_count=1).tolist() == [1, 1, 1]


def test_products_that_overflow_come_back():
    values = [1e300, 1e300, 2.0, 3.0, -1e300, 1e300, 0.5, None]
    wanted = [1e300, math.inf, 2e300, 6.0, -3e300, -math.inf, 5e299, 0.5]
    assert_same(sw.rolling(values, sw.product(), size=2), wanted)


@pytest.mark.parametrize("nulls", [0, 1])
def test_a_variance_that_overflows_is_infinite_as_in_spark(nulls):
    values = [0.0, 1e200, 1.0, 2.0] + [None] * nulls
    assert_same(sw.rolling(values, sw.std(), size=2), [None, math.inf, math.inf, 0.5**0.5] + [None] * nulls)


# Other people's answers.


@pytest.mark.parametrize("closed", CLOSED)
def test_pandas_agrees_by_count(closed):
    values = np.random.default_rng(1).normal(size=200)
    theirs = pd.Series(values).rolling(9, min_periods=1, closed=closed)
    np.testing.assert_allclose(sw.rolling(values, sw.sum(), size=9, closed=closed), theirs.sum(), atol=1e-12)
    np.testing.assert_allclose(sw.rolling(values, sw.std(), size=9, closed=closed), theirs.std(), atol=1e-12)
    np.testing.assert_array_equal(sw.rolling(values, sw.max(), size=9, closed=closed), theirs.max())


FRAMES = {"right": (29, 0), "left": (30, 1), "both": (30, 0), "neither": (29, 1)}


@pytest.mark.parametrize("closed", CLOSED)
def test_duckdb_agrees_by_time(closed):
    """SQL's RANGE sees peers, and for DuckDB too NaN is the greatest."""
    chance = random.Random(7)
    times = sorted(chance.randint(-200, 200) for _ in range(200))
    values = with_nulls([chance.choice([math.nan, 1.0, 2.0, -3.0, 4.5]) for _ in times])
    start, end = FRAMES[closed]
    connection = duckdb.connect()
    connection.execute("create table rows (k int, t bigint, v double)")
    connection.executemany("insert into rows values (?, ?, ?)", list(zip(range(200), times, values, strict=True)))
    found = connection.execute(
        f"""select sum(v) over w, max(v) over w from rows
        window w as (order by t range between {start} preceding and {end} preceding) order by k"""
    ).fetchall()
    for name, wanted in zip(("sum", "max"), zip(*found, strict=True), strict=True):
        got = sw.rolling(values, aggregate(name), over=30, times=times, closed=closed)
        assert_same(got, list(wanted), absolute=1e-9)
