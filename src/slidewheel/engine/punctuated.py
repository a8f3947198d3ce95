"""Punctuated windows: each ends with a row whose column is true."""

from typing import Any

import numpy as np
import pyarrow.compute as pc

from slidewheel.algebra.extremes import min as smallest
from slidewheel.algebra.sums import count
from slidewheel.compiler.fixed import compiled
from slidewheel.engine import slots
from slidewheel.engine.arena import Arena, Undo
from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.components import Component
from slidewheel.engine.inputs import whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.track import Closed, Rows, WindowTrack
from slidewheel.windows.specs import Punctuated as Spec

NEVER = np.iinfo(np.int64).min


class Punctuated(WindowTrack):
    """An entry is a window, by its number; the last one of each key is open."""

    in_order = reads_columns = True

    def __init__(self, place: int, spec: Spec) -> None:
        self.place, self.spec = place, spec
        self.arena = Arena([])
        # Two components of its own come first: when the window began, and how many rows it has.
        first = smallest().monoid("i")
        self.arena.add_component(Component(first, ("i8",)))
        self.arena.add_component(Component(count().monoid(), ("i8",)))
        self.numbers, self.last_end = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._run: Any = compiled(slots)
        self._new: tuple[Array, Array, Array] | None = None

    def reserve_keys(self, count: int) -> None:
        more = count - len(self.numbers)
        if more > 0:
            self.numbers = np.concatenate([self.numbers, np.zeros(more, dtype=np.int64)])
            self.last_end = np.concatenate([self.last_end, np.full(more, NEVER)])
        self.arena.reserve_keys(count)

    def saved(self) -> tuple[Array, ...]:
        return self.numbers.copy(), self.last_end.copy()

    def restore(self, saved: tuple[Array, ...]) -> None:
        self.numbers, self.last_end = saved
        self._new = None

    def flags(self, table: Any) -> Array:
        column = whole(table[self.spec.column])
        return pc.fill_null(column, False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def add(self, rows: Rows, late: bool = False) -> Undo:
        flags = self.flags(rows.table) if not late else np.zeros(len(rows), dtype=bool)
        ids = np.empty(len(rows), dtype=np.int64)
        self._run.number_punctuated(rows.codes, flags, self.numbers, ids)
        times = read_only(rows.times)
        inputs = [((times,), None), ((times,), None), *rows.inputs]
        placed, undo = self.arena.add(rows.codes, ids, len(rows), inputs)
        if not late:
            ends = np.flatnonzero(flags)
            self._new = rows.codes[ends], rows.times[ends], np.where(placed[ends] < 0, ~placed[ends], placed[ends])
            self.last_end[rows.codes[ends]] = rows.times[ends]
        return undo

    def close(self, before: int | None, watermark: int, known: Keys) -> list[Closed]:
        ranks = known.ranks()
        nothing = np.empty(0, dtype=np.int64)
        codes, times, slots = self._new or (nothing, nothing, nothing)
        self._new = None
        order = np.lexsort((np.arange(len(codes)), ranks[codes], times))
        codes, times, slots = codes[order], times[order], slots[order]
        states = [component.entries[slots] for component in self.arena.components]
        return [Closed(codes, np.full(len(codes), self.place), states[0], times, states[2:])]

    def trim(self, until: int) -> bool:
        arena = self.arena
        keys = np.flatnonzero(arena.end[: arena.keys] > arena.front[: arena.keys])
        lo, _ = arena.locate(keys, self.numbers[keys], self.numbers[keys])
        self._run.drop_before(keys, lo, arena.ids, *arena.rings, arena.free, arena.settled, arena.dirty)
        return True

    def lateness(self, late: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        missed = self.flags(late.table) | (late.times <= self.last_end[late.codes])
        return missed, ~missed, np.zeros(len(missed), dtype=bool)

    def unfinished(self) -> int:
        arena = self.arena
        keys = np.flatnonzero(arena.end[: arena.keys] > arena.front[: arena.keys])
        return int(arena.components[1].entries[arena.slots_of(keys, arena.end[keys] - 1)].sum())

    def final(self, latest: int | None) -> int:
        return 0 if latest is None else latest + 1
