"""Windows that count rows: the last n rows at every k-th row of a key."""

from typing import Any

import numpy as np

from slidewheel.engine.arena import Arena, Undo, distinct
from slidewheel.engine.columns import Array
from slidewheel.engine.keys import Keys
from slidewheel.engine.track import Closed, Rows, WindowTrack
from slidewheel.windows.specs import Rows as RowsSpec


class Counted(WindowTrack):
    """Every row is an entry; rows come in the order of their times, late ones take their place among them."""

    in_order = True

    def __init__(self, place: int, spec: RowsSpec) -> None:
        self.place, self.spec = place, spec
        self.level = spec.count.bit_length() - 1
        self.arena = Arena([self.level], merging=False, ranked=True)
        self._new: tuple[Array, Array, Array] | None = None

    def add(self, rows: Rows, late: bool = False) -> Undo:
        placed, undo = self.arena.add(rows.codes, rows.times, len(rows), rows.inputs)
        if not late:
            self._new = rows.codes, rows.times, ~placed
        return undo

    def restore(self, saved: tuple[Array, ...]) -> None:
        self._new = None

    def answers(self, codes: Array, positions: Array) -> list[Array]:
        """The states of the windows that end with these rows."""
        self.arena.extend(distinct(codes, self.arena.keys), np.iinfo(np.int64).max)
        starts = positions + 1 - self.spec.count
        lo = np.maximum(starts, self.arena.front[codes])
        return self.arena.answers(codes, lo, positions + 1, starts, np.zeros(len(codes), dtype=np.int64))

    def answers_of_new(self) -> list[Array]:
        """The states of the windows that end with the rows just added."""
        nothing = np.empty(0, dtype=np.int64)
        codes, _, slots = self._new or (nothing, nothing, nothing)
        self._new = None
        return self.answers(codes, self.arena.ranks[slots])

    def close(self, before: int | None, watermark: int, known: Keys) -> list[Closed]:
        ranks = known.ranks()
        arena = self.arena
        nothing = np.empty(0, dtype=np.int64)
        codes, times, slots = self._new or (nothing, nothing, nothing)
        self._new = None
        positions = arena.ranks[slots]
        ends = (positions + 1) % self.spec.every == 0
        codes, times, positions = codes[ends], times[ends], positions[ends]
        oldest = np.maximum(positions + 1 - self.spec.count, arena.front[codes])
        starts = arena.ids[arena.slots_of(codes, oldest)]
        order = np.lexsort((positions, ranks[codes], times))
        codes, times, positions, starts = codes[order], times[order], positions[order], starts[order]
        return [Closed(codes, np.full(len(codes), self.place), starts, times, self.answers(codes, positions))]

    def trim(self, until: int) -> bool:
        self.arena.keep_last(self.spec.count - 1)
        return True

    def lateness(self, late: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        """Late for its own window, but counted in those of later rows."""
        every = np.ones(len(late), dtype=bool)
        return every, every, ~every

    def final(self, latest: int | None) -> int:
        return 0 if latest is None else latest + 1
