"""Windows of the rows whose column is within a distance of the newest row's."""

from typing import Any

import numpy as np

from slidewheel.algebra.extremes import max as largest
from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup
from slidewheel.engine.arena import Arena, Undo, distinct
from slidewheel.engine.columns import Array, column_of, read_only
from slidewheel.engine.components import Component
from slidewheel.engine.track import Rows, Track
from slidewheel.windows.specs import Delta


class Deltas(Track):
    """Every row is an entry; the oldest one in the window of each key moves on and never back.

    Windows are of any length, so there are blocks of every power of two that has been met.
    """

    def __init__(self, place: int, spec: Delta) -> None:
        self.place, self.spec = place, spec
        self.arena = Arena([], merging=False, ranked=True)
        self.arena.add_component(Component(largest().monoid("f"), ("f8",)))  # the column itself
        self.oldest = np.zeros(0, dtype=np.int64)
        self._look: Any = compiled(lookup)

    def reserve_keys(self, count: int) -> None:
        more = count - len(self.oldest)
        if more > 0:
            self.oldest = np.concatenate([self.oldest, np.zeros(more, dtype=np.int64)])
        self.arena.reserve_keys(count)

    def saved(self) -> tuple[Array, ...]:
        return (self.oldest.copy(),)

    def restore(self, saved: tuple[Array, ...]) -> None:
        [self.oldest] = saved

    def add(self, rows: Rows, late: bool = False) -> Undo:
        """Rows whose column is not null."""
        marks = column_of(rows.table[self.spec.column])
        numbers = read_only(marks.data.astype(np.float64))
        inputs = [((numbers,), None), *rows.inputs]
        placed, undo = self.arena.add(rows.codes, rows.times, len(rows), inputs)
        self._positions = self.arena.ranks[~placed]
        if late:
            for key, position in zip(rows.codes.tolist(), self._positions.tolist(), strict=True):
                self.oldest[key] += position < self.oldest[key]
        return undo

    def answers(self, codes: Array) -> list[Array]:
        """The states of the windows that end with the rows just added."""
        arena, positions = self.arena, self._positions
        lo = np.empty(len(codes), dtype=np.int64)
        marks = arena.components[0].entries
        self._look.delta_starts(
            codes, positions, self.spec.size, marks, arena.base, arena.mask, arena.front, self.oldest, lo
        )
        powers = np.frexp((positions + 1 - lo).astype(np.float64))[1] - 1  # floor(log2(length))
        for power in np.unique(powers).tolist():
            if power not in arena.shifts:
                arena.add_level(power)
        levels = np.array(
            [arena.shifts.index(power) for power in range(max(arena.shifts) + 1) if power in arena.shifts]
        )
        known = np.array(sorted(arena.shifts))
        levels = levels[np.searchsorted(known, powers)]
        arena.extend(distinct(codes, arena.keys), np.iinfo(np.int64).max)
        return arena.answers(codes, lo, positions + 1, lo, levels)[1:]

    def trim(self, until: int) -> bool:
        np.maximum(self.arena.front, np.minimum(self.oldest_of_all(), self.arena.end), out=self.arena.front)
        return True

    def oldest_of_all(self) -> Array:
        padded = np.zeros(len(self.arena.front), dtype=np.int64)
        padded[: len(self.oldest)] = self.oldest
        return padded
