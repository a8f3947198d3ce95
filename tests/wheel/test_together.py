"""Many ranges at once: what they share gives the answers that each of them has alone."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.compiler.loops import interpreted
from slidewheel.wheel import loops, many
from tests.wheel.harness import Counted
from tests.wheel.model import SECOND

MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
START = 1_700_000_000 * SECOND + 7 * SECOND  # in the middle of a minute


@sw.aggregate(state={"low": "f8", "rise": "f8", "high": "f8"})
class Rise:
    """The greatest rise from a value to a later one: the order of rows matters."""

    identity = (float("inf"), 0.0, -float("inf"))

    def lift(x):
        return x, 0.0, x

    def combine(a, b):
        return min(a[0], b[0]), max(a[1], b[1], b[2] - a[0]), max(a[2], b[2])

    def lower(s):
        return s[1]


AGGREGATES = {
    "sum of integers": (sw.sum(), "i8"),
    "sum of floats": (sw.sum(), "f8"),
    "count": (sw.count(), "i8"),
    "last": (sw.last(), "i8"),
    "rise": (Rise(), "f8"),
}

LONG = ("count", "last", "rise")  # what has to be compiled for these alone


@pytest.fixture
def shared(monkeypatch):
    """Whether ranges were answered by what they share, for each call."""
    outcomes, ask = [], many._ask_shared

    def spy(*arguments):
        missing = ask(*arguments)
        outcomes.append(missing is not None)
        return missing

    monkeypatch.setattr(many, "_ask_shared", spy)
    return outcomes


def filled(aggregate, kind, times, **settings):
    wheel = sw.Wheel(aggregate, start=START, write_ahead=4096, dtype=kind, **settings)
    values = np.random.default_rng(len(times)).integers(-50, 50, len(times)).astype(kind)
    wheel.insert_many(times, values)
    wheel.advance_to(int(times.max()) + 5000 * SECOND)
    return wheel


def moments(character, ticks, dice):
    """One row in every second, in every tenth, or hours of them with days between."""
    seconds = np.arange(ticks)
    if character == "holes":
        seconds = seconds[dice.random(ticks) < 0.1]
    if character == "gaps":
        seconds = seconds % 3000 + seconds // 3000 * 100_000
    return START + seconds * SECOND


def ranges(wheel, unit, count, dice):
    """Whole units, the wheel's own start, and empty ones among them."""
    first, last = -(-wheel.start // unit), wheel.watermark // unit
    both = np.sort(dice.integers(first, last + 1, (count, 2)), axis=1) * unit
    both[::50, 0] = wheel.start
    both[::31, 1] = both[::31, 0]
    both[::31] = np.maximum(both[::31], first * unit)
    return both[:, 0].copy(), both[:, 1].copy()


def one_by_one(wheel, low, high):
    return [wheel.query(start, end) for start, end in zip(low.tolist(), high.tolist(), strict=True)]


def listed(found):
    values = np.ma.filled(found.astype(float), np.nan) if isinstance(found, np.ma.MaskedArray) else found.astype(float)
    return [None if value != value else value for value in values.tolist()]


@pytest.mark.parametrize("unit", [SECOND, MINUTE, HOUR], ids=["seconds", "minutes", "hours"])
@pytest.mark.parametrize("character", ["dense", "holes", "gaps"])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in AGGREGATES])
def test_as_one_by_one(name, character, unit, shared):
    dice = np.random.default_rng(unit + len(name))
    aggregate, kind = AGGREGATES[name]
    wheel = filled(aggregate, kind, moments(character, 20_000, dice))
    low, high = ranges(wheel, unit, 1500, dice)
    found = wheel.query_many(low, high)
    assert shared == [True]
    assert listed(found) == one_by_one(wheel, low, high)  # whole numbers, so that floats are exact


def test_in_blocks_of_one_row(shared, monkeypatch):
    dice = np.random.default_rng(3)
    wheel = filled(sw.sum(), "i8", moments("holes", 30_000, dice))
    low, high = ranges(wheel, SECOND, 3000, dice)
    wanted = one_by_one(wheel, low, high)
    assert listed(wheel.query_many(low, high)) == wanted
    monkeypatch.setattr(many, "BITS", 0)
    assert listed(wheel.query_many(low, high)) == wanted
    assert shared == [True, True]


def test_few_ranges_over_many_rows_are_planned_each(shared):
    wheel = filled(sw.sum(), "i8", moments("dense", 20_000, None))
    low = np.full(many.WORTH_SHARING, wheel.start)
    assert wheel.query_many(low, low + 19_000 * SECOND)[0] == wheel.query(wheel.start, wheel.start + 19_000 * SECOND)
    assert shared == [False]
    wheel.query_many(low[1:], low[1:] + MINUTE)
    assert shared == [False]  # it was not even tried


def test_a_range_that_is_refused_is_named(shared):
    wheel = filled(sw.sum(), "i8", moments("dense", 2000, None))
    low = np.full(500, wheel.start)
    high = low + MINUTE
    for bad in (wheel.watermark + SECOND, wheel.start - SECOND, wheel.start + 1):
        ends = high.copy()
        ends[321] = bad
        with pytest.raises(sw.SlidewheelError) as alone:
            wheel.query(wheel.start, bad)
        with pytest.raises(type(alone.value)) as among:
            wheel.query_many(low, ends)
        assert str(among.value) == str(alone.value)
    assert shared == [False] * 3


def test_no_trace_of_what_lies_outside(shared):
    """Nothing is taken away, so that a NaN or a huge value is in the ranges that contain it and in no other."""
    wheel = sw.Wheel(sw.sum(), start=0, write_ahead=4096, dtype="f8")
    values = np.ones(4000)
    values[[1000, 2000]] = 1e17, np.nan
    wheel.insert_many(np.arange(4000) * SECOND, values)
    wheel.advance_to(4000 * SECOND)
    low, high = ranges(wheel, SECOND, 2000, np.random.default_rng(5))
    found = wheel.query_many(low, high)
    assert shared == [True]
    for start, end, value in zip(low // SECOND, high // SECOND, found.tolist(), strict=True):
        if start <= 2000 < end or start == end:
            assert value != value
        elif start <= 1000 < end:
            assert value == pytest.approx(1e17)
        else:
            assert value == end - start


def test_an_overflow_is_that_of_the_range(shared):
    wheel = sw.Wheel(sw.sum(), start=0, write_ahead=512, dtype="i8")
    values = np.ones(200, dtype=np.int64)
    values[[100, 101]] = 2**62
    wheel.insert_many(np.arange(200) * SECOND, values)
    wheel.advance_to(200 * SECOND)
    low = np.arange(100) * SECOND
    assert wheel.query_many(low, low + 2 * SECOND).tolist() == [2] * 99 + [2**62 + 1]
    with pytest.raises(sw.Overflow):
        wheel.query_many(low + 50 * SECOND, low + 60 * SECOND)
    assert shared[0] is True


class Joined(Counted):
    """All values in their order, and how often two states were joined."""

    def __init__(self):
        self.calls = 0

        class Values:
            identity = ()

            def lift(x):
                return (x,)

            def combine(a, b):
                self.calls += 1
                return a + b

        self.aggregate = sw.aggregate(state=object)(Values)()


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 128, 129, 500, 1000])
@pytest.mark.parametrize("bits", [0, 3, 6])
def test_combines(rows, bits):
    """Two for each row, one for each block and line of the table, and at most three for a range; in order."""
    counted = Joined()
    wheel = sw.Wheel(counted.aggregate, start=0, tick=1, write_ahead=1024, dtype=object)
    wheel.insert_many(range(rows), list(range(rows)))
    wheel.advance_to(rows)
    view = wheel._seen[0]
    run = interpreted(loops.FILES, wheel._core.values.monoid)
    blocks = -(-rows >> bits)
    lines = max((blocks - 1).bit_length(), 1)
    suffixes, prefixes, totals = (np.empty(size, dtype=object) for size in (rows, rows, blocks * lines))
    depth = np.zeros(1 << lines, dtype=np.uint8)
    made = view, 0, 0, rows, bits, blocks, suffixes, prefixes, totals
    assert counted.cost(run["share_blocks"], *made) == 2 * (rows - blocks)
    assert counted.cost(run["share_totals"], totals, blocks, depth) <= blocks * max(lines - 1, 0)
    shared = suffixes, prefixes, totals, depth
    pairs = [(a, b) for a in range(0, rows, max(rows // 40, 1)) for b in range(a + 1, rows + 1, max(rows // 40, 1))]
    for start, end in pairs:
        ok, out = np.zeros(1, dtype=bool), np.empty(1, dtype=object)
        cost = counted.cost(run["ask_shared"], view, 0, 0, bits, np.array([start, end]), shared, ok, out)
        assert ok[0] and out[0] == tuple(range(start, end))
        inside = (start + (1 << bits) - 1) >> bits > end >> bits
        assert cost <= (end - start - 1 if inside else 3)


@pytest.mark.parametrize("prefix", [False, True], ids=["plain", "prefix"])
@pytest.mark.parametrize("count", [20, 500])
def test_times_that_do_not_lie_side_by_side(prefix, count):
    """Columns of a table of pairs, before and behind arrays that do."""
    wheel = sw.Wheel(sw.sum(), start=0, dtype="i8", prefix=prefix)
    wheel.insert_many(np.arange(60) * SECOND, np.arange(60))
    wheel.advance_to(60 * SECOND)
    pairs = np.sort(np.random.default_rng(count).integers(0, 61, (count, 2)), axis=1)
    pairs[:, 1] += pairs[:, 0] == pairs[:, 1]
    pairs = np.minimum(pairs, 60) * SECOND
    wanted = [wheel.query(low, high) for low, high in pairs.tolist()]
    for low, high in (pairs.T.copy(), pairs.T, pairs.T.copy()):
        found = wheel.query_many(low, high)
        assert np.ma.filled(found, -1).tolist() == [-1 if answer is None else answer for answer in wanted]
