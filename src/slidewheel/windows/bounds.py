"""Which rows belong to the window of each row. No values are touched here.

A frame is a kind of window over rows that are in order. Three small functions say all of it: does a row of the window
`leave` before row i is answered, does a row that has not come yet `enter`, and is row i `in_order`. Whatever has left
or entered stays so for all later rows.
"""

from typing import Any

import numpy as np

Rows = np.ndarray[Any, np.dtype[np.int64]]


class ByCount:
    """frame = (length, shift): the `length` rows that end `shift` rows before row i (0: with it)."""

    @staticmethod
    def leaves(frame, row, i):
        length, shift = frame
        return row < i + 1 - shift - length

    @staticmethod
    def enters(frame, row, i):
        length, shift = frame
        return row < i + 1 - shift

    @staticmethod
    def in_order(frame, i):
        return True


class ByTime:
    """frame = (times, reach, peers): the rows at most `reach` microseconds older than row i.

    With `peers`, the rows of the same time belong to it, also those that stand behind row i; else none of them does.
    """

    @staticmethod
    def leaves(frame, row, i):
        times, reach, peers = frame
        now = times[np.uint64(i)]
        # now - reach, unless that is earlier than any int64
        return now >= -9223372036854775807 - 1 + reach and times[np.uint64(row)] < now - reach

    @staticmethod
    def enters(frame, row, i):
        times, reach, peers = frame
        if peers:
            return times[np.uint64(row)] <= times[np.uint64(i)]
        return times[np.uint64(row)] < times[np.uint64(i)]

    @staticmethod
    def in_order(frame, i):
        times = frame[0]
        return i == 0 or times[np.uint64(i - 1)] <= times[np.uint64(i)]


def time_frame(times: Rows, span: int, closed: str) -> tuple[Rows, int, bool]:
    """The frame of ByTime for windows of the last `span` microseconds, closed at one end, both or neither."""
    reach = span if closed in ("left", "both") else span - 1
    return times, reach, closed in ("right", "both")


def earliest_row(times: Rows, reach: int, row: int) -> int:
    """The first row that is at most `reach` microseconds older than this one."""
    earliest = max(int(times[row]) - reach, np.iinfo(np.int64).min)
    return int(np.searchsorted(times, earliest, side="left"))


def likely_length(times: Rows, reach: int) -> int:
    """About how many rows the longest window holds, from some of them."""
    rows = np.linspace(0, len(times) - 1, min(len(times), 64)).astype(np.int64)
    ends = np.searchsorted(times, times[rows], side="right")
    starts = [earliest_row(times, reach, row) for row in rows]
    return int(max(np.max(ends - starts), 1))
