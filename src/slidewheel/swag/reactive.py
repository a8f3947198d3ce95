"""The Reactive Aggregator for windows that are not FIFO (Reactive Aggregator paper, section 5.1), over FlatFAT.

The leaves hold the items in the order of their times, in a circular buffer from front to end. An item that is evicted
from the middle leaves a hole, which is neutral, and which keeps its time so that the buffer can be searched. The item
at the front and the item before the end are no holes.

A late item goes to where its time belongs. What stands between that place and the nearest hole, or the nearer end,
moves by one: an item that is late by d writes at most d + 1 leaves, with the bound of theorem 4.2 for m writes.
"""

import contextlib
from bisect import bisect_left
from itertools import count
from types import SimpleNamespace
from typing import Any

from slidewheel.swag.card import Card
from slidewheel.swag.flatfat import tree
from slidewheel.swag.holes import HOLE, Join

CARD = Card(
    name="flatfat",
    paper="Tangwongsan, Hirzel, Schneider, Wu: General incremental sliding-window aggregation (VLDB 2015), 5.1",
    amortised="insert and evict log2 n, late by d items d more; query 0 or 2 log2 n + 1, as a range",
    worst="the same, and n - 1 more when it compacts or resizes",
    space="2n to 8n states, and a time each",
    use="many queries of ranges, over items that are hardly ever late",
    compiled=False,
    shrinks=True,
)
SMALLEST = 8


class Tree:
    """Items by time. Position p lies in leaf p & mask."""

    _states: list[Any]
    _times: list[int]
    _mask: int
    _front: int
    _end: int
    _present: set[int]

    def __init__(self, join: Join, capacity: int) -> None:
        self._join = join
        self._undo: list[tuple[int, Any]] = []
        ring = SimpleNamespace(load=list.__getitem__, store=self._store)
        parts = tree(SimpleNamespace(combine=join), ring, lambda function: function)
        self._new, self._update, self._update_many, self._aggregate, self._prefix, self._suffix = parts
        self._make(1 << (max(capacity, SMALLEST) - 1).bit_length(), [], [])

    def __len__(self) -> int:
        return len(self._present)

    def __contains__(self, time: int) -> bool:
        return time in self._present

    @property
    def oldest(self) -> int:
        return self._times[self._front & self._mask]

    @property
    def youngest(self) -> int:
        return self._times[(self._end - 1) & self._mask]

    def insert(self, time: int, state: Any) -> None:
        if time in self._present:
            position = self._place(time)
            self._write(range(position, position + 1), [self._join(self._leaf(position), state)])
            return
        place = self._place(time)
        hole = self._nearest_hole(place)
        capacity = self._mask + 1
        if hole not in range(self._front, self._end) and self._end - self._front == capacity:
            self._rebuild(capacity if 4 * len(self) <= 3 * capacity else 2 * capacity)
            place = self._place(time)
            hole = self._nearest_hole(place)
        if hole >= place:
            target, moved = range(place, hole + 1), range(place, hole)
            states, times = [state, *map(self._leaf, moved)], [time, *map(self._time, moved)]
        else:
            target, moved = range(hole, place), range(hole + 1, place)
            states, times = [*map(self._leaf, moved), state], [*map(self._time, moved), time]
        self._write(target, states)
        for position, moved_time in zip(target, times, strict=True):
            self._times[position & self._mask] = moved_time
        self._present.add(time)
        self._front, self._end = min(self._front, hole), max(self._end, hole + 1)

    def evict(self, time: int) -> None:
        capacity = self._mask + 1
        if capacity > SMALLEST and 4 * (len(self) - 1) < capacity:
            with contextlib.suppress(Exception):  # a combine that fails: then not now
                self._rebuild(capacity // 2, without=time)
                return
        position = self._place(time)
        self._write(range(position, position + 1), [HOLE])
        self._present.remove(time)
        while self._front < self._end and self._is_hole(self._front):
            self._front += 1
        while self._front < self._end and self._is_hole(self._end - 1):
            self._end -= 1

    def total(self) -> Any:
        if self._front == self._end:
            return HOLE
        first, last = self._front & self._mask, (self._end - 1) & self._mask
        return self._aggregate(self._states) if first <= last else self._inverted(first, last)

    def between(self, start: int | None, end: int | None) -> Any:
        """The aggregate of start <= time < end."""
        position = self._front if start is None else self._place(start)
        stop = self._end if end is None else self._place(end)
        if position >= stop:
            return HOLE
        first, last = position & self._mask, (stop - 1) & self._mask
        return self._leaves(first, last) if first <= last else self._inverted(first, last)

    def _inverted(self, first: int, last: int) -> Any:
        return self._join(self._suffix(self._states, self._mask, first), self._prefix(self._states, self._mask, last))

    def _leaves(self, first: int, last: int) -> Any:
        """The leaves first to last, from the fewest subtrees: up from both ends, taking what lies inside."""
        join, states = self._join, self._states
        low, high = self._mask + 1 + first, self._mask + 2 + last
        older = younger = HOLE
        while low < high:
            if low & 1:
                older = join(older, states[low])
                low += 1
            if high & 1:
                high -= 1
                younger = join(states[high], younger)
            low, high = low >> 1, high >> 1
        return join(older, younger)

    def _time(self, position: int) -> int:
        return self._times[position & self._mask]

    def _leaf(self, position: int) -> Any:
        return self._states[self._mask + 1 + (position & self._mask)]

    def _is_hole(self, position: int) -> bool:
        return self._time(position) not in self._present

    def _place(self, time: int) -> int:
        """The first position whose time, of an item or a hole, is not before this one."""
        return self._front + bisect_left(range(self._front, self._end), time, key=self._time)

    def _nearest_hole(self, place: int) -> int:
        """The nearest free position for an item that belongs before `place`; beyond the ends all are free."""
        for distance in count():
            right, left = place + distance, place - 1 - distance
            if right >= self._end or self._is_hole(right):
                return right
            if left < self._front or self._is_hole(left):
                return left
        raise AssertionError("positions have no end")

    def _store(self, states: list[Any], node: int, state: Any) -> None:
        self._undo.append((node, states[node]))
        states[node] = state

    def _write(self, positions: range, states: list[Any]) -> None:
        """Algorithm 2; if a combine fails, the tree stays as it was."""
        leaves = [position & self._mask for position in positions]
        try:
            if len(leaves) == 1:
                self._update(self._states, self._mask, leaves[0], states[0])
            else:
                self._update_many(self._states, self._mask, leaves, states)
        except BaseException:
            for node, before in reversed(self._undo):
                self._states[node] = before
            raise
        finally:
            self._undo.clear()

    def _rebuild(self, capacity: int, without: int | None = None) -> None:
        """Compact or resize: both are algorithm 1 over the items without the holes, in new memory."""
        items = [p for p in range(self._front, self._end) if not self._is_hole(p) and self._time(p) != without]
        self._make(capacity, [self._time(p) for p in items], [self._leaf(p) for p in items])

    def _make(self, capacity: int, times: list[int], states: list[Any]) -> None:
        spare = capacity - len(times)
        nodes = [HOLE] * capacity + states + [HOLE] * spare
        try:
            self._new(nodes, capacity - 1)
        finally:
            self._undo.clear()
        self._states, self._times, self._mask = nodes, times + [0] * spare, capacity - 1
        self._front, self._end, self._present = 0, len(times), set(times)
