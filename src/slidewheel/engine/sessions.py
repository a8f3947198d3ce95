"""Session windows: rows that follow each other within a gap."""

from typing import Any

import numpy as np

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup, slots
from slidewheel.engine.arena import Arena, Undo
from slidewheel.engine.columns import Array
from slidewheel.engine.keys import Keys
from slidewheel.engine.track import Closed, Rows, WindowTrack
from slidewheel.windows.specs import Session


class Sessions(WindowTrack):
    """The sessions of all keys: an entry is a stretch of time without a gap in it."""

    forgets_keys = True

    def __init__(self, place: int, spec: Session) -> None:
        self.place, self.gap = place, spec.gap
        self.arena = Arena([], extras=2)
        self._run: Any = compiled(slots)
        self._look: Any = compiled(lookup)
        self._done: tuple[Array, Array] | None = None
        self.waiting = np.empty(0, dtype=np.int64)
        """Keys that have a row at the watermark which is not added yet: it belongs to a session that ends there."""

    def add(self, rows: Rows, late: bool = False) -> Undo:
        if not self._run.in_order(rows.times):
            rows = rows.take(np.argsort(rows.times, kind="stable"))
        arena, count = self.arena, len(rows)
        keys, before, moves = arena.make_room(rows.codes, count)
        placed, touched, first_rows, old_firsts, old_lasts = (np.empty(count, dtype=np.int64) for _ in range(5))
        shifts = np.empty((count, 4), dtype=np.int64)
        shifted, changed = self._run.place_sessions(
            rows.codes, rows.times, self.gap, *arena.rings, arena.ids, *arena.extras, arena.listed, placed, shifts,
            touched, first_rows, old_firsts, old_lasts
        )  # fmt: skip
        old = [old_firsts[:changed], old_lasts[:changed]]
        undo = Undo(keys, before, moves, shifts[:shifted].copy(), touched[:changed], first_rows[:changed], extras=old)
        arena.fill(placed, rows.inputs, undo)
        return undo

    def close(self, before: int | None, watermark: int, known: Keys) -> list[Closed]:
        arena, ranks = self.arena, known.ranks()
        keys = arena.live(watermark, known.in_order())
        out = np.empty((5, int((arena.end[keys] - arena.front[keys]).sum())), dtype=np.int64)
        until = np.full(arena.keys, watermark)
        until[self.waiting] -= 1
        count = self._look.closed_sessions(keys, self.gap, until, *arena.rings, *arena.extras, out)
        key, lo, hi, starts, ends = out[:, :count]
        self._done = key, hi
        order = np.lexsort((ranks[key], ends))
        key, lo, hi, starts, ends = (part[order] for part in (key, lo, hi, starts, ends))
        return [Closed(key, np.full(count, self.place), starts, ends, arena.runs(key, lo, hi))]

    def trim(self, until: int) -> bool:
        if self._done is None:
            return False
        arena = self.arena
        self._run.drop_before(*self._done, arena.ids, *arena.rings, arena.free, arena.settled, arena.dirty)
        self._done = None
        return True

    def lateness(self, late: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        missed = late.times + self.gap <= watermark
        return missed, ~missed, np.zeros(len(missed), dtype=bool)

    def final(self, latest: int | None) -> int:
        return 0 if latest is None else latest + self.gap
