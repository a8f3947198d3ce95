"""Buckets of time: of equal length, or those of a calendar in a time zone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument, PlanTooLarge
from slidewheel.times import DurationLike, duration, format_duration, instant

MOST_BUCKETS = 50_000_000
UNITS = ("hour", "day", "week", "month", "quarter", "year")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def edges(start: int, end: int, every: DurationLike, zone: str | None, tick: int) -> Array:
    """The edges of the buckets of [start, end), all in microseconds; every one must be a whole number of ticks."""
    if isinstance(every, str) and every in UNITS:
        return _checked(np.append(_of_calendar(start, end, every, _zone(zone)), end), every, tick)
    if zone is not None:
        raise InvalidArgument(f"timezone goes with every= one of {', '.join(UNITS)}, not with {every!r}")
    length = duration(every)
    if length % tick:
        raise InvalidArgument(
            f"every={format_duration(length)} is not a whole number of ticks of {format_duration(tick)}"
        )
    count = -(-(end - start) // length)
    if count > MOST_BUCKETS:
        raise PlanTooLarge(f"there would be {count:,} buckets: take a longer every=")
    found = np.arange(start, start + (count + 1) * length, length, dtype=np.int64)
    found[-1] = end
    return found


def _checked(found: Array, every: str, tick: int) -> Array:
    """Edges of a calendar that are whole ticks, without an empty bucket."""
    if found[0] == found[-1]:
        return found[:1]
    if (found % tick).any():
        raise InvalidArgument(f"a {every} does not begin with a tick of {format_duration(tick)}: make a finer wheel")
    return found


def _zone(name: str | None) -> Any:
    try:
        return ZoneInfo("UTC" if name is None else name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise InvalidArgument(f"unknown time zone {name!r}: use a name such as Europe/Stockholm") from None


def _of_calendar(start: int, end: int, unit: str, zone: Any) -> Array:
    """`start`, and all begins of units after it and before `end`."""
    try:
        local = (_EPOCH + timedelta(microseconds=start)).astimezone(zone)
        if unit == "hour":
            local = local.replace(minute=0, second=0, microsecond=0)
            first, hour = instant(local), 3_600_000_000
            hours = np.arange(first + hour, end, hour, dtype=np.int64)
            return np.concatenate([[start], hours[hours > start]])
        begin = _begin(datetime(local.year, local.month, local.day), unit)
        found = [start]
        while True:
            begin = _next(begin, unit)
            at = instant(begin.replace(tzinfo=zone))
            if at >= end:
                return np.array(found, dtype=np.int64)
            if at > found[-1]:
                found.append(at)
    except OverflowError:
        raise InvalidArgument("calendars go from year 1 to 9999: use every= with a duration beyond that") from None


def _begin(day: datetime, unit: str) -> datetime:
    if unit == "day":
        return day
    if unit == "week":
        return day - timedelta(days=day.weekday())
    month = 1 if unit == "year" else day.month if unit == "month" else (day.month - 1) // 3 * 3 + 1
    return datetime(day.year, month, 1)


def _next(begin: datetime, unit: str) -> datetime:
    if unit in ("day", "week"):
        return begin + timedelta(days=1 if unit == "day" else 7)
    months = begin.year * 12 + begin.month - 1 + {"month": 1, "quarter": 3, "year": 12}[unit]
    return datetime(months // 12, months % 12 + 1, 1)
