"""Times and steps as Prometheus' clients give them."""

import math
import re
import time

from slidewheel.errors import InvalidArgument, InvalidTime
from slidewheel.serve.prometheus.evaluating import MOST_POINTS
from slidewheel.serve.prometheus.lexing import duration_of, words
from slidewheel.times import instant

FAR = 2**50 // 1000
"""Seconds from 1970: 35,000 years."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def time_from(name: str, text: str | None) -> int:
    """Seconds since 1970 or RFC 3339, in microseconds that are whole milliseconds; now, if it is not given."""
    if text is None:
        return int(time.time() * 1000) * 1000
    if _NUMBER.fullmatch(text):
        return _microseconds(name, float(text))
    try:
        found = instant(text)
    except InvalidTime:
        raise InvalidArgument(f"invalid parameter {name!r}: {text!r} is neither seconds nor RFC 3339") from None
    return found // 1000 * 1000


def _microseconds(name: str, seconds: float) -> int:
    if not math.isfinite(seconds) or abs(seconds) > FAR:
        raise InvalidArgument(f"invalid parameter {name!r}: {seconds:g} is too far from 1970")
    return round(seconds * 1000) * 1000


def step_from(text: str) -> int:
    """Seconds, or a duration such as 1h30m."""
    if _NUMBER.fullmatch(text):
        found = _microseconds("step", float(text))
    else:
        listed = words(text)
        if [word.kind for word in listed] != ["duration", "end"]:
            raise InvalidArgument(f"invalid parameter 'step': {text!r} is neither seconds nor a duration")
        found = duration_of(listed[0])
    if found <= 0:
        raise InvalidArgument("invalid parameter 'step': zero or negative steps are not accepted")
    return found


def times_from(start: str, end: str, step: str) -> tuple[range, int]:
    """All times of a range query, and their distance."""
    first, last, length = time_from("start", start), time_from("end", end), step_from(step)
    if last < first:
        raise InvalidArgument("invalid parameter 'end': end timestamp must not be before start time")
    if (last - first) // length + 1 > MOST_POINTS:
        raise InvalidArgument(
            f"exceeded maximum resolution of {MOST_POINTS:,} points per timeseries: "
            "try decreasing the query resolution (?step=XX)"
        )
    return range(first, last + 1, length), length
