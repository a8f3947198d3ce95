"""Windows of the last stretch of time, one for each row: slices of a microsecond."""

import numpy as np

from slidewheel.engine.arena import STAGGER, Arena, Undo, distinct
from slidewheel.engine.columns import Array, scattered
from slidewheel.engine.components import reader
from slidewheel.engine.track import Rows, Track
from slidewheel.windows.plan import trailing_shifts
from slidewheel.windows.specs import Trailing

States = list[Array]


class Trailed(Track):
    """All trailing windows of a query. `specs` are (place in the query, spec); rows with equal times are one entry."""

    forgets_keys = True

    def __init__(self, specs: list[tuple[int, Trailing]]) -> None:
        self.specs = specs
        self.shifts = trailing_shifts([spec for _, spec in specs])
        self.arena = Arena(sorted(set(self.shifts)))
        self.arena.stagger = STAGGER

    def add(self, rows: Rows, late: bool = False) -> Undo:
        if self.arena.scattered(rows.codes):
            rows = rows.take(self.arena.by_key(rows.codes))
        return self.arena.add(rows.codes, rows.times, len(rows), rows.inputs)[1]

    def answers(self, codes: Array, times: Array, frontier: int) -> dict[int, tuple[States, Array]]:
        """By the place of each spec: the states of the windows of these rows, and whether each holds a row."""
        arena = self.arena
        arena.extend(distinct(codes, arena.keys), frontier)
        by_key, places = (codes, times), None
        if arena.keys > 1:
            places = arena.by_key(codes)
            by_key = codes[places], times[places]
        found = {}
        for (place, spec), shift in zip(self.specs, self.shifts, strict=True):
            before, after = spec.reach
            known = arena.shifts.index(shift), shift, arena.ids, *arena.rings, *by_key, before, after
            states = arena.read(reader("trail", len(codes), *known), len(codes))
            if places is not None:
                states = [scattered(column, places) for column in states]
            filled = np.ones(len(codes), dtype=bool)
            if after == 0:  # else it holds its row
                filled = np.less(*arena.locate(codes, times - before, times))
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
