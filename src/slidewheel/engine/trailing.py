"""Windows of the last stretch of time, one for each row: slices of a microsecond."""

import numpy as np

from slidewheel.engine.arena import Arena, Undo, distinct
from slidewheel.engine.columns import Array, scattered
from slidewheel.engine.periodic import Rows
from slidewheel.windows.specs import Trailing

States = list[Array]


class Trailed:
    """All trailing windows of a query. `specs` are (place in the query, spec); rows with equal times are one entry."""

    def __init__(self, specs: list[tuple[int, Trailing]]) -> None:
        self.specs = specs
        self.arena = Arena(sorted({self._shift(spec) for _, spec in specs}))

    @staticmethod
    def _shift(spec: Trailing) -> int:
        return max(sum(spec.reach).bit_length() - 1, 0)

    def add(self, rows: Rows, late: bool = False) -> Undo:
        return self.arena.add(rows.codes, rows.times, len(rows), rows.inputs)[1]

    def answers(self, codes: Array, times: Array, frontier: int) -> dict[int, tuple[States, Array]]:
        """By the place of each spec: the states of the windows of these rows, and whether each holds a row."""
        self.arena.extend(distinct(codes, self.arena.keys), frontier)
        by_key = self.arena.by_key(codes) if self.arena.keys > 1 else None  # neighbours in memory after each other
        if by_key is not None:
            codes, times = codes[by_key], times[by_key]
        found = {}
        for place, spec in self.specs:
            before, after = spec.reach
            starts = times - before
            lo, hi = self.arena.follow(codes, times, before, after)
            levels = np.full(len(codes), self.arena.shifts.index(self._shift(spec)))
            states, filled = self.arena.answers(codes, lo, hi, starts, levels), lo < hi
            if by_key is not None:
                states, filled = [scattered(column, by_key) for column in states], scattered(filled, by_key)
            found[place] = states, filled
        return found

    def touched_by(self, codes: Array, times: Array, late_codes: Array, late_times: Array) -> Array:
        """Which of these rows have a late row in one of their windows."""
        touched = np.zeros(len(codes), dtype=bool)
        for key in np.unique(late_codes).tolist():
            came = np.sort(late_times[late_codes == key])
            rows = np.flatnonzero(codes == key)
            for _, spec in self.specs:
                before, after = spec.reach
                first = np.searchsorted(came, times[rows] - before, side="left")
                touched[rows] |= first < np.searchsorted(came, times[rows] + after, side="left")
        return touched

    def trim(self, until: int) -> bool:
        return self.arena.trim(until - max(spec.reach[0] for _, spec in self.specs)) > 0
