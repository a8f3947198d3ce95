"""A single range, asked with as few arguments as there can be: to take ten arrays from Python takes as long as to plan.

All that stays the same between two advances lies on a desk, an array of numbers: where the arrays of a view and the
memory for plans are, and what all questions share. Whoever asks holds these arrays, so that they stay where they are.
The loop keeps Python's lock, as all threads use the same desk.
"""

import numpy as np

from slidewheel.wheel.names import AUTO, BASE, FIELDS, ORIGIN, PACKED, STATE, Refused, array_at, enough, fetch, lower
from slidewheel.wheel.reader import _carry_out, _prepared

KEEPS_LOCK = ("ask_at",)
# Behind the addresses and lengths of the ten arrays of a view, on the desk, are:
ROOM = 20  # those of the memory for plans
TICK = 26
KNOWN = 27  # what all questions share
LINE = 8  # so many numbers are fetched together


def ask_at(desk, low, high):
    """A single range in microseconds, by the cheapest plan: its answer, or None if it is empty."""
    view = (
        array_at(desk[0], desk[1], STATE),
        array_at(desk[2], desk[3], np.uint64),
        array_at(desk[4], desk[5], np.int64),
        array_at(desk[6], desk[7], np.int64),
        array_at(desk[8], (desk[9] // FIELDS, FIELDS), np.int64),
        array_at(desk[10], desk[11], np.float64),
        array_at(desk[12], desk[13], STATE),
        array_at(desk[14], desk[15], np.uint8),
        array_at(desk[16], desk[17], STATE),
        array_at(desk[18], desk[19], np.int64),
    )
    parts, numbers = array_at(desk[ROOM], desk[ROOM + 1], np.int64), array_at(desk[ROOM + 2], desk[ROOM + 3], np.int64)
    room = parts, numbers, array_at(desk[ROOM + 4], desk[ROOM + 5], np.int64)
    allowed = desk[KNOWN + 2] != 0, desk[KNOWN + 3], desk[KNOWN + 4] != 0, desk[KNOWN + 5], desk[KNOWN + 6] != 0
    known = desk[KNOWN], desk[KNOWN + 1], *allowed, desk[KNOWN + 7]
    tick, rate = desk[TICK], 1.0 / desk[TICK]
    _fetch_ends(view, np.int64(low * rate), np.int64(high * rate))
    kind = _prepared(view, known, low, high, tick, rate, AUTO, room)
    if kind < 0:
        raise Refused
    if kind > 0:
        state = _carry_out(view, 1, 0, kind, parts, numbers)
        if enough(state):
            return lower(state)
    return None


def _fetch_ends(view, start, end):
    """Long levels are not near: what lies around both ends of a range is fetched while it is planned."""
    book = view[4]
    row = book[0, BASE] - book[0, PACKED] - book[0, ORIGIN]  # less, if there are gaps
    for place in (row + start, row + end - LINE):
        fetch(view[0], place)
        fetch(view[0], place + LINE)
