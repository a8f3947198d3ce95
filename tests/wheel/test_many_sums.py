"""Many ranges at once by prefix sums: the answers and the refusals that each range has alone, wherever it stands."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel import many
from slidewheel.wheel.reader import BATCH
from tests.wheel.test_together import HOUR, MINUTE, SECOND, filled, listed, moments, one_by_one, ranges

WHOLE = -(-1_700_000_007 // 3600) * HOUR
LEAST, GREATEST = -(2**63), 2**63 - 1


def wheel_of(character, kind="i8", aggregate=None, rows=30_000):
    times = moments(character, rows, np.random.default_rng(rows))
    return filled(aggregate or sw.sum(), kind, times, prefix=True)


@pytest.mark.parametrize("count", [0, 1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 7])
@pytest.mark.parametrize("character", ["dense", "holes", "gaps"])
@pytest.mark.parametrize("kind", ["i8", "f8"])
def test_as_one_by_one(kind, character, count):
    dice = np.random.default_rng(count)
    wheel = wheel_of(character, kind)
    for unit in (SECOND, MINUTE, HOUR):
        low, high = (column[:count] for column in ranges(wheel, unit, count or 1, dice))
        assert listed(wheel.query_many(low, high)) == one_by_one(wheel, low, high)
        full = low < high
        found = wheel.query_many(low[full], high[full], plan="prefix")
        assert listed(found) == one_by_one(wheel, low[full], high[full])


def test_finer_ranges_behind_coarse_ones():
    wheel, dice = wheel_of("dense"), np.random.default_rng(1)
    low = np.concatenate([np.full(2 * BATCH + 9, WHOLE), WHOLE + SECOND * dice.integers(0, 3000, 2 * BATCH)])
    high = low + np.where(np.arange(len(low)) < 2 * BATCH + 9, HOUR, 7 * SECOND)
    assert listed(wheel.query_many(low, high)) == one_by_one(wheel, low, high)


def test_in_two_threads(monkeypatch):
    monkeypatch.setattr(many, "MANY_SUMS", 1)
    wheel, dice = wheel_of("holes"), np.random.default_rng(2)
    low, high = ranges(wheel, SECOND, 1000, dice)
    assert listed(wheel.query_many(low, high)) == one_by_one(wheel, low, high)
    low[700], high[700] = high[700] + SECOND, low[700]
    with pytest.raises(sw.SlidewheelError, match="before"):
        wheel.query_many(low, high)


@pytest.mark.parametrize("place", [0, BATCH - 1, BATCH, 2 * BATCH + 5])
@pytest.mark.parametrize(
    "wrong",
    [
        (WHOLE + MINUTE, WHOLE),
        (WHOLE - 1, WHOLE + MINUTE),
        (WHOLE, WHOLE + 1),
        (WHOLE - 365 * 24 * HOUR, WHOLE),
        (WHOLE, WHOLE + 365 * 24 * HOUR),
        (-SECOND, WHOLE),
        (WHOLE, -SECOND),
        (LEAST, WHOLE),
        (LEAST // SECOND * SECOND + SECOND, WHOLE),
        (WHOLE, LEAST),
        (WHOLE, GREATEST),
        (GREATEST, GREATEST),
        (WHOLE, GREATEST // SECOND * SECOND),
        (LEAST, GREATEST),
        (GREATEST, LEAST),
    ],
)
def test_refused_as_alone(wrong, place):
    wheel = wheel_of("dense")
    low, high = np.full(3 * BATCH, WHOLE), np.full(3 * BATCH, WHOLE + MINUTE)
    low[place], high[place] = wrong
    with pytest.raises(sw.SlidewheelError) as alone:
        wheel.query(*wrong)
    with pytest.raises(type(alone.value)) as among:
        wheel.query_many(low, high)
    assert str(among.value) == str(alone.value)


def test_states_that_count_tell_which_ranges_are_empty():
    wheel = wheel_of("holes", aggregate=sw.var(ddof=1), kind="i8", rows=3000)
    low = wheel.start + SECOND * np.arange(2 * BATCH + 1)
    for length in (1, 10):  # one value at most, which has no variance, and some
        high = low + length * SECOND
        found, alone = wheel.query_many(low, high), one_by_one(wheel, low, high)
        assert np.isnan(found).tolist() == [value is None for value in alone]
        assert np.allclose(found[~np.isnan(found)], [value for value in alone if value is not None])


def test_counts_of_nothing_are_zero():
    wheel = wheel_of("gaps", aggregate=sw.count(), kind="i8")
    low = np.arange(wheel.start, wheel.watermark - MINUTE, MINUTE)[: 2 * BATCH]
    found = wheel.query_many(low, low + MINUTE)
    assert found.tolist() == one_by_one(wheel, low, low + MINUTE) and 0 in found.tolist()


@pytest.mark.parametrize(
    "wrong", [(LEAST, LEAST // 2), (LEAST, LEAST), (LEAST, 1005), (LEAST // 2, 1005), (-1, 1005), (1000, GREATEST)]
)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prefix", [True, False])
def test_times_that_wrap_around_are_refused(wrong, prefix):
    begin = 1024
    wheel = sw.Wheel(sw.sum(), start=begin, tick=1, levels={"all": 10_000}, prefix=prefix, dtype="i8", write_ahead=5000)
    wheel.insert_many(begin + np.arange(4000), np.arange(4000))
    wheel.advance_to(begin + 4000)
    low, high = np.full(2 * BATCH, begin), np.full(2 * BATCH, begin + 100)
    assert wheel.query_many(low, high).tolist() == [4950] * len(low)
    low[7], high[7] = wrong
    with pytest.raises(sw.SlidewheelError):
        wheel.query_many(low, high)
    for plan in ("auto", "combined"):
        with pytest.raises(sw.SlidewheelError):
            wheel.query(*wrong, plan=plan)
