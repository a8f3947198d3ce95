"""Sliding and tumbling windows: rows into slices, closed windows out of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup, slots
from slidewheel.engine.arena import Arena, Inputs, Undo
from slidewheel.engine.columns import Array, scattered
from slidewheel.engine.keys import Keys
from slidewheel.windows.plan import Group
from slidewheel.windows.slicing import Slicing
from slidewheel.windows.specs import Sliding

MANY_KEYS = 1 << 13
"""Keys from which what is known of them is too much for a cache."""
FEW_WINDOWS = 1 << 16
"""Instants at which windows may end that are counted one by one, however few windows hold rows."""


@dataclass
class Closed:
    """Windows to be given out, with a state of each component for each of them."""

    keys: Array
    specs: Array
    starts: Array
    ends: Array
    states: list[Array]

    def placed(self, places: Array) -> "Closed":
        """The same windows, the k-th at places[k]."""
        columns = (self.keys, self.specs, self.starts, self.ends)
        keys, specs, starts, ends = (scattered(column, places) for column in columns)
        return Closed(keys, specs, starts, ends, [scattered(column, places) for column in self.states])


@dataclass
class Rows:
    """Rows to be added: the code of each key, the time, and the columns of each component."""

    codes: Array
    times: Array
    inputs: list[Inputs]
    table: Any = None
    """The columns that windows read, where they read any."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, which: Array) -> "Rows":
        def taken(column: Array) -> Array:
            found = column[which]
            found.flags.writeable = False
            return found

        inputs = [
            (tuple(map(taken, columns)), None if valid is None else taken(valid)) for columns, valid in self.inputs
        ]
        table = None if self.table is None else self.table.take(pa.array(which))
        return Rows(self.codes[which], self.times[which], inputs, table)


def slice_starts(slicing: Slicing, times: Array) -> Array:
    """The start of the slice of each time, which names the slice."""
    out = np.empty(len(times), dtype=np.int64)
    if slicing.regular:
        compiled(slots).regular_starts(times, slicing.period, slicing.edges[0], out)
    else:
        edges = np.array([*slicing.edges, slicing.edges[0] + slicing.period], dtype=np.int64)
        compiled(slots).irregular_starts(times, slicing.period, edges, out)
    return out


class Periodic:
    """The windows of one slicing."""

    def __init__(self, group: Group, in_panes: bool = False) -> None:
        """`in_panes` leaves it to the components to put windows together from slices of equal length."""
        specs, self.slicing, self.in_panes = group.specs, group.slicing, in_panes
        self.specs = specs
        shifts = [None if in_panes or group.single(spec) else group.shift(spec) for _, spec in specs]
        self.arena = Arena(sorted({shift for shift in shifts if shift is not None}))
        levels = [-1 if shift is None else self.arena.shifts.index(shift) for shift in shifts]
        self._levels = np.array(levels, dtype=np.int64)
        self._lengths, self._everys, self._offsets = (
            np.array([getattr(spec, name) for _, spec in specs], dtype=np.int64)
            for name in ("range", "every", "offset")
        )
        self._kept: int | None = None
        self._places = np.array([place for place, _ in specs], dtype=np.int64)
        self._run: Any = compiled(slots)
        self._look: Any = compiled(lookup)

    def add(self, rows: Rows, late: bool = False) -> Undo:
        """Rows into their slices."""
        ids = slice_starts(self.slicing, rows.times)
        if not self._run.in_order(ids):
            order = self._order(ids)
            rows, ids = rows.take(order), ids[order]
        span = self.slicing.most_between(int(ids[0]), int(ids[-1])) if len(ids) else 0
        if self.arena.keys >= MANY_KEYS and 4 * len(ids) >= self.arena.keys:
            order = self.arena.by_key(rows.codes)  # in the order of memory
            rows, ids = rows.take(order), ids[order]
        return self.arena.add(rows.codes, ids, span, rows.inputs)[1]

    def _order(self, ids: Array) -> Array:
        least, most = int(ids.min()), int(ids.max())
        unit = self.slicing.period if self.slicing.regular else 1
        places = (most - least) // unit + 1
        if places > 4 * len(ids) + 1024:
            return np.argsort(ids, kind="stable")
        order = np.empty(len(ids), dtype=np.int64)
        self._run.counting_sort((ids - least) // unit, np.zeros(places + 1, dtype=np.int64), order)
        return order

    def close(self, before: int | None, watermark: int, known: Keys) -> Closed:
        """The windows that end after `before`, up to the watermark."""
        arena = self.arena
        keys = np.empty(0, dtype=np.int64)
        if before is None or any(
            spec.first_end_after(before) <= spec.last_end_until(watermark) for _, spec in self.specs
        ):
            keys = arena.live(watermark, known.in_order())
        if len(keys) == 0:
            return Closed(keys, keys, keys, keys, [component.entries[:0] for component in arena.components])
        if before is None:
            before = self._earliest(keys)
        firsts = np.array([spec.first_end_after(before) for _, spec in self.specs], dtype=np.int64)
        lasts = np.array([spec.last_end_until(watermark) for _, spec in self.specs], dtype=np.int64)
        arena.extend(keys, watermark)
        places, *listed = self._listed(keys, firsts, lasts)
        closed = self.windows(*listed)
        return closed if len(keys) == len(self.specs) == 1 else closed.placed(places)

    def _earliest(self, keys: Array) -> int:
        return int(self.arena.ids[self.arena.slots_of(keys, self.arena.front[keys])].min())

    def _listed(self, keys: Array, firsts: Array, lasts: Array) -> tuple[Array, ...]:
        """The windows that hold rows, key after key: place by end, key and spec; then key, spec, index, entries."""
        arena = self.arena
        known = keys, self._lengths, self._everys, self._offsets, firsts, lasts, arena.ids, *arena.rings
        indices = np.maximum(lasts - firsts + 1, 0)
        begins = np.concatenate([[0], np.cumsum(indices)])
        counted = int(begins[-1]) <= max(FEW_WINDOWS, 2 * len(keys) + 2 * arena.entries)
        counts = np.zeros(int(begins[-1]) if counted else 0, dtype=np.int64)
        nothing = np.empty(0, dtype=np.int64)
        total = self._look.list_windows(*known, False, counted, begins, counts, *[nothing] * 8)
        buckets = places = nothing
        if counted:
            ends = np.concatenate(
                [
                    self._offsets[w] + self._lengths[w] + self._everys[w] * np.arange(firsts[w], firsts[w] + indices[w])
                    for w in range(len(self.specs))
                ]
            )
            distinct, buckets = (
                np.unique(ends, return_inverse=True) if len(self.specs) > 1 else (ends, np.arange(len(ends)))
            )
            sizes = np.zeros(len(distinct) + 1, dtype=np.int64)
            np.add.at(sizes, buckets + 1, counts)
            places = np.cumsum(sizes)[:-1]
        out = [np.empty(total, dtype=np.int64) for _ in range(6)]
        self._look.list_windows(*known, True, counted, begins, counts, buckets, places, *out)
        if not counted:
            _, _, which, index, _, _ = out
            ends = self._offsets[which] + self._lengths[which] + self._everys[which] * index
            out[0][np.argsort(ends, kind="stable")] = np.arange(total)
        return tuple(out)

    def windows(self, keys: Array, which: Array, index: Array, lo: Array, hi: Array) -> Closed:
        """These windows, combined of their entries."""
        starts = self._offsets[which] + self._everys[which] * index
        if self.in_panes:
            states = self._by_items(keys, which, starts)
        else:
            states = self.arena.answers(keys, lo, hi, starts, self._levels[which])
        return Closed(keys, self._places[which], starts, starts + self._lengths[which], states)

    def _by_items(self, keys: Array, which: Array, starts: Array) -> list[Array]:
        """The states of windows, by an algorithm that takes one slice after the other."""
        length, edge = self.slicing.period, self.slicing.edges[0]
        ranges = np.unique(self._lengths // length)[::-1].copy()
        places = np.searchsorted(-ranges, -(self._lengths // length))[which]
        ends = (starts + self._lengths[which] - edge) // length
        order = np.lexsort((places, ends, keys))
        distinct, first = np.unique(keys[order], return_index=True)
        offsets = np.append(first, len(keys))
        arena = self.arena
        known = distinct, offsets, order, ends, places, arena.ids, length, edge, *arena.rings, ranges
        return [component.finals(*known) for component in arena.components]

    def lateness(self, late_rows: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        """For rows behind the watermark: whether each is late for a window, counts in one, and in a closed one anew."""
        times = late_rows.times
        late, counts, again = (np.zeros(len(times), dtype=bool) for _ in range(3))
        for _, spec in self.specs:
            first, last, closed, repaired = self._containing(spec, times, watermark, repair)
            late |= first <= np.minimum(last, np.minimum(closed, repaired - 1))
            mended = np.maximum(first, repaired) <= np.minimum(last, closed)
            counts |= (np.maximum(first, closed + 1) <= last) | mended
            again |= mended
        return late, counts, again

    @staticmethod
    def _containing(spec: Sliding, times: Array, watermark: int, repair: int) -> tuple[Array, Array, int, int]:
        """The first and last window of each time; the last one closed, and the first that can be repaired."""
        first = (times - spec.offset - spec.range) // spec.every + 1
        last = (times - spec.offset) // spec.every
        closed = spec.last_end_until(watermark)
        return first, last, closed, spec.first_end_after(watermark - repair)

    def repaired(self, codes: Array, times: Array, watermark: int, repair: int, ranks: Array) -> Closed:
        """The closed windows that these late rows belong to, corrected."""
        found: list[Array] = []
        for w, (_, spec) in enumerate(self.specs):
            first, last, closed, repaired = self._containing(spec, times, watermark, repair)
            first, last = np.maximum(first, repaired), np.minimum(last, closed)
            counts = np.maximum(last - first + 1, 0)
            rows = np.repeat(np.arange(len(times)), counts)
            steps = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            found.append(np.stack([codes[rows], np.full(len(rows), w), first[rows] + steps]))
        keys, which, index = np.unique(np.concatenate(found, axis=1), axis=1)
        starts = self._offsets[which] + self._everys[which] * index
        order = np.lexsort((which, ranks[keys], starts + self._lengths[which]))
        keys, which, index, starts = keys[order], which[order], index[order], starts[order]
        self.arena.extend(np.unique(keys), watermark)
        lo, hi = self.arena.locate(keys, starts, starts + self._lengths[which])
        return self.windows(keys, which, index, lo, hi)

    def trim(self, watermark: int) -> None:
        """Forget what no window that ends after the watermark holds."""
        keep = min(spec.start(spec.first_end_after(watermark)) for _, spec in self.specs)
        if keep != self._kept:
            self.arena.trim(keep)
            self._kept = keep

    def final(self, latest: int | None) -> int:
        """The end of the last window that holds a row of this time or earlier."""
        if latest is None:
            return 0
        return max(spec.end((latest - spec.offset) // spec.every) for _, spec in self.specs)
