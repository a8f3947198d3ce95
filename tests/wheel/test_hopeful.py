"""Many rows with a watermark generator: their times are not all looked at before, and what is wrong is taken back."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel import wheel as wheels
from slidewheel.wheel.arguments import FARTHEST
from tests.wheel.test_lag import LEVELS, stream

ROWS = 700


@pytest.fixture(autouse=True)
def hopeful(monkeypatch):
    """However few rows there are, and only by the last of them."""
    monkeypatch.setattr(wheels, "MANY", 0)
    monkeypatch.setattr(wheels, "LAST", 1)


def begun(**settings):
    """A wheel with finished slots, gaps, rows ahead of the watermark, rows that wait, and room for many slots."""
    settings = {"start": 0, "tick": 1, "levels": LEVELS, "write_ahead": 30, "dtype": "i8", **settings}
    wheel = sw.Wheel(sw.sum(), **settings)
    wheel.window(sw.sliding(24, every=6))
    wheel.ingest([0, 3, 90, 500, 505, 531], [1, 2, 3, 4, 5, 6], every=6, delay=20)
    wheel.insert_many([9000], [7])
    assert wheel.watermark == 511
    wheel._core.reserve(8000, 2000)
    return wheel


def seen(wheel):
    """All that can be seen of it, and of what comes then."""
    before = wheel.snapshot()
    twin = sw.Wheel.restore(wheel.aggregate, before)
    closed = [tuple(result) for result in twin.advance_to(10_000)]
    return before, wheel.late, wheel.watermark, wheel.nbytes, closed, twin.to_arrow()


@pytest.mark.parametrize("settings", [{}, {"prefix": True}, {"keep": 40}, {"compress": True}], ids=str)
@pytest.mark.parametrize("place", [0, 1, 99, 100, ROWS // 2, ROWS - 2, ROWS - 1])
def test_a_time_that_is_out_of_bounds_leaves_all_as_it_was(place, settings):
    wheel = begun(**settings)
    was = seen(wheel)
    times = 511 + 2 * stream("sparse", ROWS, np.random.default_rng(place))
    times[place] = FARTHEST + 1 if place % 2 else 2**63 - 1
    with pytest.raises(sw.InvalidTime, match=f"row {place};"):
        wheel.ingest(times, np.ones(ROWS, dtype="i8"), every=100, delay=11)
    assert seen(wheel)[:-1] == was[:-1]
    assert seen(wheel)[-1].equals(was[-1])
    # Slots that were taken back have left nothing behind.
    fresh = begun(**settings)
    times = np.arange(600, 600 + 7 * ROWS, 7)
    for one in (wheel, fresh):
        one.ingest(times, np.ones(ROWS, dtype="i8"), every=100, delay=11)
        one.advance_to(30_000)
    assert wheel.to_arrow().equals(fresh.to_arrow())
    assert (wheel.late, wheel.landmark()) == (fresh.late, fresh.landmark())


def test_too_many_windows_leave_all_as_it_was():
    wheel = begun()
    was = seen(wheel)
    times = np.arange(600, 600 + ROWS)
    times[350] = 10**9
    with pytest.raises(sw.PlanTooLarge, match="advance in smaller steps"):
        wheel.ingest(times, np.ones(ROWS, dtype="i8"), every=100, delay=11)
    assert seen(wheel)[:-1] == was[:-1]


@pytest.mark.parametrize("size", [1, 2**62], ids=["narrow", "wide"])
def test_a_last_time_that_is_not_the_greatest(size, monkeypatch):
    """Room is made for more where it turns out that there is too little, and states get wide behind that."""
    times, values = np.arange(ROWS * 50), np.full(ROWS * 50, size)
    times[-1] = 5
    made = []
    for many in (0, 10**9):
        monkeypatch.setattr(wheels, "MANY", many)
        wheel = sw.Wheel(sw.sum(), start=0, tick=1, levels=LEVELS, write_ahead=8, dtype="i8")
        wheel.ingest(times, values, every=100, delay=3)
        made.append(wheel)
    hopeful, other = made
    assert hopeful.watermark == other.watermark == ROWS * 50 - 5
    assert hopeful.late == other.late == 1
    assert hopeful.query(4000, 4001) == other.query(4000, 4001) == size
    if size == 1:
        assert hopeful.to_arrow("b").equals(other.to_arrow("b"))
        assert hopeful.landmark() == ROWS * 50 - 5
    else:
        assert hopeful._core.dtype == other._core.dtype != np.int64
        with pytest.raises(sw.Overflow):
            hopeful.query(4000, 4002)


def test_fewer_rows_for_a_watermark_than_before():
    """More rows than that have come since the last one: it is due at once."""
    wheel = sw.Wheel(sw.count(), start=0, tick=1, dtype="i8")
    wheel.ingest(np.arange(500), np.arange(500), every=1000, delay=0)
    assert wheel.watermark == 0
    wheel.ingest(np.arange(490, 550), np.arange(60), every=100, delay=0)
    assert (wheel.watermark, wheel.late) == (499, 9)
    assert wheel.landmark() == 499


@pytest.mark.parametrize("last", [0, 1, 99])
@pytest.mark.parametrize("place", [1, 50, 99, 100, 250])
def test_a_great_time_shortly_before_the_end(place, last):
    """The watermark that is due behind the last row follows it, too: there was no room for that before."""
    times = np.arange(ROWS // 100 * 100 + last)
    times[-place] += 5000
    wheel = sw.Wheel(sw.count(), start=0, tick=1, levels=LEVELS, write_ahead=30, dtype="i8")
    wheel.ingest(times, times, every=100, delay=20)
    ends = np.maximum.accumulate(times)[99::100]
    assert wheel.watermark == ends[-1] - 20
    behind = np.concatenate([np.zeros(100), np.repeat(ends - 20, 100)])[: len(times)]
    assert wheel.late == (times < behind).sum()
    wheel.advance_to(10_000)
    assert wheel.landmark() == len(times) - wheel.late
