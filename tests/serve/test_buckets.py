"""The lengths of buckets for a number of points."""

from hypothesis import given
from hypothesis import strategies as st

from slidewheel.serve.buckets import count, for_points, lengths
from slidewheel.times import duration, format_duration

TICKS = st.sampled_from([1, 1000, 1_000_000, 7_000_000, 60_000_000, 3_600_000_000])
TIMES = st.integers(0, 2**55)


@given(TIMES, TIMES, st.integers(2, 2000), TICKS)
def test_the_shortest_that_fits(a, b, points, tick):
    start, end = min(a, b), max(a, b)
    levels = [tick, tick * 60]
    low, high, length = for_points(start, end, points, tick, levels)
    assert low % length == high % length == length % tick == 0
    assert low <= start < low + length and high - length < end <= high
    assert (high - low) // length <= points
    shorter = [x for x in lengths(tick, levels) if x < length]
    assert all(-(-end // x) - start // x > points for x in shorter)
    assert count(low, high, format_duration(length)) == max(1, (high - low) // length)


@given(st.sampled_from([1, 2, 5, 10, 15, 30]), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_round_lengths_are_used(step, unit):
    length = duration(f"{step}{unit}")
    assert for_points(0, 100 * length, 100, 1, [])[2] == length


def test_buckets_of_the_calendar_are_not_more_than_counted():
    year = duration("366d")
    assert count(0, year, "day") >= 367
    assert count(0, year, "month") >= 13
    assert count(0, 0, "day") == count(0, year, None) == 1
