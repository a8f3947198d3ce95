"""Sliding and tumbling windows: rows into slices, closed windows out of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup, slots
from slidewheel.engine.arena import STAGGER, Arena, Undo
from slidewheel.engine.columns import Array
from slidewheel.engine.components import Component, taken
from slidewheel.engine.ends import Ends
from slidewheel.engine.keys import Keys
from slidewheel.engine.threads import each
from slidewheel.engine.track import Closed, Rows, WindowTrack
from slidewheel.windows.plan import Group
from slidewheel.windows.slicing import Slicing
from slidewheel.windows.specs import Sliding

FEW_WINDOWS = 1 << 18
"""Instants at which windows may end that are counted one by one, however few windows hold rows."""
FEW_FOR_EACH = 2
"""The same for each key and slice."""
AT_ONCE = 1 << 18
"""Windows that are put together in one step: what is only needed on the way stays in a cache."""
NONE = np.empty(0, dtype=np.int64)


def slice_starts(slicing: Slicing, times: Array) -> Array:
    """The start of the slice of each time, which names the slice."""
    out = np.empty(len(times), dtype=np.int64)
    if slicing.regular:
        compiled(slots).regular_starts(times, slicing.period, slicing.edges[0], out)
    else:
        edges = np.array([*slicing.edges, slicing.edges[0] + slicing.period], dtype=np.int64)
        compiled(slots).irregular_starts(times, slicing.period, edges, out)
    return out


class Periodic(WindowTrack):
    """The windows of one slicing."""

    forgets_keys = True

    def __init__(self, group: Group, in_panes: bool = False) -> None:
        """`in_panes` leaves it to the components to put windows together from slices of equal length."""
        specs, self.slicing, self.in_panes = group.specs, group.slicing, in_panes
        self.specs = specs
        shifts = [None if in_panes or group.single(spec) else group.shift(spec) for _, spec in specs]
        self.arena = Arena(sorted({shift for shift in shifts if shift is not None}))
        self.arena.least, self.arena.stagger = 4 if self.arena.shifts else 2, STAGGER
        levels = [-1 if shift is None else self.arena.shifts.index(shift) for shift in shifts]
        self._levels = np.array(levels, dtype=np.int64)
        self._lengths, self._everys, self._offsets = (
            np.array([getattr(spec, name) for _, spec in specs], dtype=np.int64)
            for name in ("range", "every", "offset")
        )
        self.since: list[int | None] = [None] * len(specs)
        """Windows of a spec that start before are not given out: not all that they hold is known."""
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
        if self.arena.scattered(rows.codes):
            order = self.arena.by_key(rows.codes)
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

    def close(self, before: int | None, watermark: int, known: Keys) -> list[Closed]:
        return each(lambda piece: piece(), self.closing(before, watermark, known))

    def closing(self, before: int | None, watermark: int, known: Keys) -> list[Callable[[], Closed]]:
        """The same piece by piece, in the order of time; a piece is put together when it is called."""
        arena = self.arena
        keys = np.empty(0, dtype=np.int64)
        if before is None or any(
            spec.first_end_after(before) <= spec.last_end_until(watermark) for _, spec in self.specs
        ):
            keys = arena.live(watermark, known.in_order())
        if len(keys) == 0:
            nothing = Closed(keys, keys, keys, keys, [component.entries[:0] for component in arena.components])
            return [lambda: nothing]
        if before is None:
            before = self._earliest(keys)
        firsts = np.array([spec.first_end_after(before) for _, spec in self.specs], dtype=np.int64)
        for place, since in enumerate(self.since):
            if since is not None:
                firsts[place] = max(firsts[place], -((self._offsets[place] - since) // self._everys[place]))
        lasts = np.array([spec.last_end_until(watermark) for _, spec in self.specs], dtype=np.int64)
        arena.extend(keys, watermark)
        ends = Ends(self._offsets + self._lengths, self._everys, firsts, lasts)
        few = ends.count <= FEW_WINDOWS or ends.count <= FEW_FOR_EACH * (len(keys) + arena.entries)
        changes = np.zeros(ends.count + len(firsts) if few else 0, dtype=np.int64)
        total = self._look.count_windows(keys, *self._frames(ends), *arena.rings, ends.begins, changes)
        pieces = ends.pieces(changes, AT_ONCE) if few and total else [(ends, total, NONE, NONE)]
        return [partial(self._closed, keys, *piece) for piece in pieces]

    def _frames(self, ends: Ends) -> tuple[Array, ...]:
        return self._lengths, self._everys, self._offsets, ends.firsts, ends.lasts, self.arena.ids

    def _earliest(self, keys: Array) -> int:
        return int(self.arena.ids[self.arena.slots_of(keys, self.arena.front[keys])].min())

    def _closed(self, keys: Array, ends: Ends, total: int, buckets: Array, places: Array) -> Closed:
        """The windows of these keys and ends, by end, key and spec; `places` are those of the first in each bucket."""
        arena = self.arena
        codes, which, starts = (np.zeros(total, dtype=np.int64) for _ in range(3))
        frames = keys, *self._frames(ends), *arena.rings, ends.begins, buckets
        levels = self._levels, arena.block_shifts

        def listing() -> None:
            self._look.list_windows(*frames, places.copy(), codes, which, starts)

        def states_of(component: Component) -> Array:
            return component.read("windows", total, *frames, places.copy(), *levels)

        if self.in_panes:
            listing()
            states = self._by_items(codes, which, starts)
        else:
            states = arena.read(states_of, total, listing)
        if len(buckets) == 0:
            order = np.argsort(starts + self._lengths[which], kind="stable")
            codes, which, starts = codes[order], which[order], starts[order]
            states = [taken(column, order) for column in states]
        return self._given(codes, which, starts, states)

    def _given(self, keys: Array, which: Array, starts: Array, states: list[Array]) -> Closed:
        if len(self.specs) > 1:
            return Closed(keys, self._places[which], starts, starts + self._lengths[which], states)
        specs = which + self._places[0] if self._places[0] else which
        return Closed(keys, specs, starts, starts + self._lengths[0], states)

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

    def lateness(self, late: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        times = late.times
        missed, counts, again = (np.zeros(len(times), dtype=bool) for _ in range(3))
        for _, spec in self.specs:
            first, last, closed, repaired = self._containing(spec, times, watermark, repair)
            missed |= first <= np.minimum(last, np.minimum(closed, repaired - 1))
            mended = np.maximum(first, repaired) <= np.minimum(last, closed)
            counts |= (np.maximum(first, closed + 1) <= last) | mended
            again |= mended
        return missed, counts, again

    @staticmethod
    def _containing(spec: Sliding, times: Array, watermark: int, repair: int) -> tuple[Array, Array, int, int]:
        """The first and last window of each time; the last one closed, and the first that can be repaired."""
        first = (times - spec.offset - spec.range) // spec.every + 1
        last = (times - spec.offset) // spec.every
        closed = spec.last_end_until(watermark)
        return first, last, closed, spec.first_end_after(watermark - repair)

    def repaired(self, codes: Array, times: Array, watermark: int, repair: int, ranks: Array) -> Closed:
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
        keys, which, starts = keys[order], which[order], starts[order]
        self.arena.extend(np.unique(keys), watermark)
        lo, hi = self.arena.locate(keys, starts, starts + self._lengths[which])
        if self.in_panes:
            states = self._by_items(keys, which, starts)
        else:
            states = self.arena.answers(keys, lo, hi, starts, self._levels[which])
        return self._given(keys, which, starts, states)

    def trim(self, until: int) -> bool:
        keep = min(spec.start(spec.first_end_after(until)) for _, spec in self.specs)
        if keep == self._kept:
            return False
        self._kept = keep
        return self.arena.trim(keep) > 0

    def final(self, latest: int | None) -> int:
        if latest is None:
            return 0
        return max(spec.end((latest - spec.offset) // spec.every) for _, spec in self.specs)
