"""Trailing windows over a finished table: the answers of `Trailed`, to the last bit, without a state to keep."""

from itertools import pairwise, product

import numpy as np

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import slots
from slidewheel.engine.columns import Array, read_only, scattered
from slidewheel.engine.components import Component
from slidewheel.engine.threads import in_parallel
from slidewheel.engine.track import Rows
from slidewheel.windows.specs import Trailing

PART = 1 << 16
"""Rows of a part: as many as a cache holds, if the windows that it has to catch up on are a small share of it."""
CATCH_UP = 1 / 8
"""That share."""


def by_key(rows: Rows, keys: int) -> tuple[Rows, Array | None]:
    """Rows in the order of time by key, then time; and the new place of each, or None where there is one key."""
    if keys == 1:
        return rows, None
    places = np.empty(len(rows), dtype=np.int64)
    compiled(slots).counting_places(rows.codes, np.zeros(keys + 1, dtype=np.int64), places)
    return rows.moved(lambda column: scattered(column, places)), places


def answers(rows: Rows, spec: Trailing, shift: int, components: list[Component]) -> tuple[list[Array], Array]:
    """The states of the windows of these rows, which lie by key and time, and whether each window holds a row."""
    before, after = spec.reach
    codes, times = read_only(rows.codes), read_only(rows.times)
    parts = _parts(codes, times, before, shift)
    states = [np.empty(len(rows), dtype=component.dtype) for component in components]

    def work(item: tuple[int, tuple[int, int, int]]) -> None:
        number, (first, lo, hi) = item
        component, room = components[number], hi - first
        ids, scratch = np.empty(room, dtype=np.int64), np.empty(room, dtype=component.dtype)
        known = codes, times, first, lo, hi, shift, before, after, ids, scratch, states[number]
        component.work.trail_all(*rows.inputs[number], *known)

    items = list(product(range(len(components)), parts))
    if len(parts) > 1:
        in_parallel(work, items)
    else:
        list(map(work, items))
    filled = np.ones(len(rows), dtype=bool)
    if after == 0:  # else it holds its row
        compiled(slots).holds_earlier(codes, times, before, filled)
    return states, filled


def _parts(codes: Array, times: Array, before: int, shift: int) -> list[tuple[int, int, int]]:
    """The rows in parts lo .. hi - 1, each with the first row that its windows and their blocks reach."""
    rows, size = len(times), PART

    def first_of(row: int, since: int) -> int:
        """The first row up to this one that has its key and is not earlier than `since`."""
        begin = int(np.searchsorted(codes, codes[row]))
        return begin + int(np.searchsorted(times[begin : row + 1], since))

    while True:
        cuts = [0, *(first_of(row, times[row]) for row in range(size, rows, size)), rows]
        parts = [(first_of(lo, (times[lo] - before) >> shift << shift), lo, hi) for lo, hi in pairwise(cuts) if lo < hi]
        if size >= rows or sum(lo - first for first, lo, _ in parts) <= CATCH_UP * rows:
            return parts
        size *= 2
