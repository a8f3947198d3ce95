"""Slices at rest: in chunks of time, with totals over them, so that a step reads little of a long window.

Time is cut into chunks of equal length. The slices of a chunk are one part of the store. Once a chunk is complete,
which is when the watermark has passed it, there is a total of it: one state for each key. Two totals that follow each
other make one of double length, and so on (the dyadic intervals of B-Int). What lies between two instants is then a few
totals, and the slices of the chunks in which these instants are.

Rows that come behind the watermark, and still count in open windows, do not change complete chunks. They are kept
beside them, and folded in when there are many.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.windows.slicing import Slicing

CHUNKS = 512
"""About how many chunks the longest window has at most."""
STRETCHES = 2
"""About how many chunks the first rows may reach over. Those that come later will, too, and rewrite as many."""
FEWEST = 32
"""So many chunks in the longest window at least, or so many periods in a chunk at most: the first rows of a stream may
be a long past, and those that come later rewrite only the newest chunk."""
WORTH_TOTALS = 8
"""So many chunks in the longest window at least, and it is put together from totals; else from slices alone."""


@dataclass
class Chunks:
    """Which parts of one track are in the store, by name."""

    length: int
    edge: int
    """Where chunk 0 starts."""
    slices: dict[int, str] = field(default_factory=dict)
    totals: list[dict[int, str]] = field(default_factory=list)
    """By level: a total of level j is one of 2**j chunks, and number b is that of the chunks from b * 2**j on."""
    late: str | None = None
    """Slices of complete chunks that came behind the watermark."""
    held_from: int | None = None
    """The instant before which things have been forgotten."""
    newest: int | None = None
    """The end of the newest slice."""

    def of(self, ids: Any) -> Any:
        """The chunk of each slice."""
        return (ids - self.edge) // self.length

    def start(self, chunk: int) -> int:
        return self.edge + chunk * self.length

    def complete(self, watermark: int | None) -> int:
        """The first chunk that the watermark has not passed."""
        return -(1 << 62) if watermark is None else int(self.of(watermark))

    @property
    def names(self) -> list[str]:
        """All parts."""
        found = [*self.slices.values(), *(name for level in self.totals for name in level.values())]
        return found if self.late is None else [*found, self.late]

    def rename(self, names: dict[str, str]) -> None:
        """Parts have been written anew under these names."""
        for parts in (self.slices, *self.totals):
            parts.update({place: names[name] for place, name in parts.items()})
        self.late = None if self.late is None else names[self.late]

    def needed(self, cuts: Array, last: int) -> tuple[list[int], list[tuple[int, int]]]:
        """For windows that start and end at these instants: which chunks are needed, and which (level, total).

        Only what lies in chunks before `last`, which are complete.
        """
        cuts = np.unique(cuts)
        if len(cuts) == 0:
            return [], []
        numbers = self.of(cuts)
        whole = numbers * self.length + self.edge == cuts
        open_chunks = set(numbers[~whole].tolist())
        lo, hi = int(numbers[0]), min(last, int(numbers[-1]) + (not whole[-1]))
        present = sorted(chunk for chunk in self.slices if lo <= chunk < hi)
        borders = np.unique(np.concatenate([numbers, numbers[~whole] + 1]))
        known = self.totals[0] if self.totals else {}
        chunks = [chunk for chunk in present if chunk in open_chunks or chunk not in known]
        totals: dict[tuple[int, int], None] = {}
        for chunk in present:
            if chunk not in open_chunks and chunk in known:
                place = int(np.searchsorted(borders, chunk, side="right"))
                low = int(borders[place - 1]) if place else lo
                high = int(borders[place]) if place < len(borders) else hi
                totals[self._largest(chunk, max(low, lo), min(high, hi))] = None
        return chunks, list(totals)

    def _largest(self, chunk: int, low: int, high: int) -> tuple[int, int]:
        """The longest total that holds this chunk and nothing outside of low .. high - 1."""
        level = 0
        while level + 1 < len(self.totals):
            number = chunk >> (level + 1)
            inside = low <= number << (level + 1) and (number + 1) << (level + 1) <= high
            if not inside or number not in self.totals[level + 1]:
                break
            level += 1
        return level, chunk >> level

    def to_complete(self, until: int, longest: int) -> Iterable[tuple[int, int, list[tuple[int, int]]]]:
        """The totals that are to be made now that the chunks before `until` are complete: level, number, children."""
        if longest < WORTH_TOTALS * self.length:
            return
        level, made = 0, {number: [(-1, number)] for number in self.slices if number < until}
        while made:
            if level == len(self.totals):
                self.totals.append({})
            for number in sorted(made):
                if number not in self.totals[level] and (number + 1) << level <= until:
                    yield level, number, made[number]
            if self.length << (level + 1) > longest:
                return
            above: dict[int, list[tuple[int, int]]] = {}
            for number in sorted(self.totals[level]):
                above.setdefault(number >> 1, []).append((level, number))
            level, made = level + 1, above

    def drop(self, before: int, drop: Callable[[str], None]) -> None:
        """Forget what ends at this instant or before."""
        self.held_from = before if self.held_from is None else max(before, self.held_from)
        for chunk in [c for c in self.slices if self.start(c + 1) <= before]:
            drop(self.slices.pop(chunk))
        for level, totals in enumerate(self.totals):
            for number in [n for n in totals if self.start((n + 1) << level) <= before]:
                drop(totals.pop(number))


def chunks_for(slicing: Slicing, longest: int, ids: Array) -> Chunks:
    """Empty chunks for windows of this length, when these are the first slices."""
    reach = int(ids.max() - ids.min()) if len(ids) else 0
    wanted = min(max(longest // CHUNKS, reach // STRETCHES), max(longest // FEWEST, slicing.period * FEWEST))
    return Chunks(max(1, wanted // slicing.period) * slicing.period, slicing.edges[0])
