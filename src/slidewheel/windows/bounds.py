"""Which rows belong to the window of each row: `starts[i] .. ends[i]`, never going back. No values are touched here."""

from typing import Any

import numpy as np
from numba import njit

from slidewheel.compiler.runtime import OPTIONS
from slidewheel.errors import InvalidArgument, InvalidTime

Rows = np.ndarray[Any, np.dtype[np.int64]]
CLOSED = ("right", "left", "both", "neither")


def check_closed(closed: str) -> None:
    if closed not in CLOSED:
        raise InvalidArgument(f"closed must be one of {', '.join(CLOSED)}, not {closed!r}")


def by_count(rows: int, length: int, shift: int) -> tuple[Rows, Rows, int]:
    """Windows of the last `length` rows that end `shift` rows before each row, and the most rows in one."""
    ends = np.maximum(np.arange(1 - shift, rows + 1 - shift), 0)
    return np.maximum(ends - length, 0), ends, min(length, rows)


def by_time(times: Rows, span: int, closed: str) -> tuple[Rows, Rows, int]:
    """Windows of the last `span` microseconds, with all the peers of each row, and the most rows in one."""
    starts, ends = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    left, right = closed in ("left", "both"), closed in ("right", "both")
    back, most = _time_bounds(times, span, left, right, starts, ends)
    if back >= 0:
        raise InvalidTime(
            f"times must not go back, but row {back} is earlier than row {back - 1}; sort the rows by time first"
        )
    return starts, ends, most


def _cached(function: Any) -> Any:
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # nowhere to keep it: a read-only installation and no home
        return njit(**OPTIONS)(function)


@_cached
def _time_bounds(times, span, left, right, starts, ends):
    """Fill starts and ends; returns the first row whose time goes back, or -1, and the most rows in a window."""
    rows = len(times)
    reach = np.uint64(span) if left else np.uint64(span - 1)
    start = end = most = 0
    for i in range(rows):
        now = times[np.uint64(i)]
        if i > 0 and now < times[np.uint64(i - 1)]:
            return i, 0
        # Unsigned: now is never earlier, and the distance of two int64 fits only there.
        while start < i and np.uint64(now) - np.uint64(times[np.uint64(start)]) > reach:
            start += 1
        if right:
            while end < rows and times[np.uint64(end)] == now:
                end += 1
        else:
            while end < i and times[np.uint64(end)] < now:
                end += 1
        first = min(start, end)
        starts[np.uint64(i)] = first
        ends[np.uint64(i)] = end
        most = max(most, end - first)
    return -1, most
