"""How long buckets are: for a number of points on a screen, and how many there will be."""

from collections.abc import Sequence

from slidewheel.errors import InvalidArgument
from slidewheel.times import duration
from slidewheel.wheel import calendar

STEPS = (1, 2, 5, 10, 15, 30)
UNITS = ("us", "ms", "s", "m", "h", "d", "w")
SHORTEST = {"hour": "1h", "day": "23h", "week": "6d", "month": "28d", "quarter": "89d", "year": "365d"}
"""Of the units of a calendar, so that no more buckets come than are counted here."""


def lengths(tick: int, levels: Sequence[int]) -> list[int]:
    """The lengths that buckets may have for a number of points, shortest first."""
    nice = {step * duration(f"1{unit}") for step in STEPS for unit in UNITS} | set(levels)
    return sorted(length for length in nice if length % tick == 0) or [tick]


def for_points(start: int, end: int, points: int, tick: int, levels: Sequence[int]) -> tuple[int, int, int]:
    """The shortest length that gives no more buckets than `points`, and the range in whole buckets.

    >>> second = 1_000_000
    >>> for_points(3 * second, 7200 * second, 100, second, [])
    (0, 7200000000, 120000000)
    """
    if end < start:
        raise InvalidArgument("the range ends before it starts")
    known = lengths(tick, levels)
    for length in known:
        if -(-end // length) - start // length <= points:
            break
    else:
        # One more than the quotient: a range that is not aligned touches one bucket more.
        length = known[-1] * max(1, -(-(end - start) // (known[-1] * max(points - 1, 1))))
        while -(-end // length) - start // length > points:
            length *= 2
            if length > 2**62:
                raise InvalidArgument("no bucket is long enough for one that holds all of this range: ask for 2 points")
    return start // length * length, -(-end // length) * length, length


def count(start: int, end: int, every: str | None) -> int:
    """How many buckets a range has, at most."""
    if every is None or end <= start:
        return 1
    length = duration(SHORTEST[every] if every in calendar.UNITS else every)
    return -(-(end - start) // length) + (every in calendar.UNITS)
