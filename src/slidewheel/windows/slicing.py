"""Slices: the stretches of time that no window cuts, so that each is aggregated once for all windows.

An edge is an instant at which some window starts or ends. A slice reaches from one edge to the next and is named by
its start. The edges repeat with a period: `Slicing` holds those of one period.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slidewheel.windows.specs import Sliding

MOST_EDGES = 4096
"""Edges in a period from which windows get slices of their own rather than shared ones."""


@dataclass(frozen=True)
class Slicing:
    period: int
    edges: tuple[int, ...]
    """Edges in [0, period), sorted."""

    @property
    def regular(self) -> bool:
        return len(self.edges) == 1

    def end(self, start: int) -> int:
        """The end of the slice that starts there.

        >>> Slicing(10, (2, 7)).end(12), Slicing(10, (2, 7)).end(17)
        (17, 22)
        """
        turn, rest = divmod(start - self.edges[0], self.period)
        later = [edge - self.edges[0] for edge in self.edges if edge - self.edges[0] > rest]
        return self.edges[0] + turn * self.period + (later[0] if later else self.period)

    def most_between(self, first: int, last: int) -> int:
        """No fewer than the slices from one that starts at `first` to one that starts at `last`."""
        return ((last - first) // self.period + 1) * len(self.edges) + 1

    def inside(self, length: int) -> int:
        """About how many slices a window of this length holds."""
        return max(1, round(length * len(self.edges) / self.period))


def panes(window: Sliding) -> Slicing:
    """Slices of equal length, the greatest that divides both range and slide (Li et al., Panes)."""
    length = math.gcd(window.range, window.every)
    return Slicing(length, (window.offset % length,))


def panes_of(windows: Sequence[Sliding]) -> Slicing:
    """Slices of equal length for several windows."""
    shifts = (w.offset - windows[0].offset for w in windows)
    length = math.gcd(*(w.range for w in windows), *(w.every for w in windows), *shifts)
    return Slicing(length, (windows[0].offset % length,))


def pairs(window: Sliding) -> Slicing:
    """At most two slices in a slide: an edge where windows start, one where they end (Krishnamurthy et al., Pairs)."""
    return union([window])


def cutty(window: Sliding) -> Slicing:
    """One slice in a slide: an edge only where windows start (Carbone et al., Cutty).

    A window may end inside a slice, so that rows must come in order and the answer be taken in the middle of it.
    """
    return Slicing(window.every, (window.offset % window.every,))


def union(windows: Sequence[Sliding]) -> Slicing:
    """The edges of all windows over the least common multiple of their slides; the shortest period of them."""
    period = math.lcm(*(w.every for w in windows))
    starts = ((edge, w.every) for w in windows for edge in _edges(w))
    edges = sorted({(edge + k * every) % period for edge, every in starts for k in range(period // every)})
    return _shortest(period, edges)


def _shortest(period: int, edges: list[int]) -> Slicing:
    """The same edges over the shortest period with which they repeat."""
    for count in range(1, len(edges)):
        times, rest = divmod(len(edges), count)
        turn = edges[count] - edges[0]
        if (
            rest == 0
            and turn * times == period
            and all(b - a == turn for a, b in zip(edges, edges[count:], strict=False))
        ):
            return Slicing(turn, tuple(sorted(edge % turn for edge in edges[:count])))
    return Slicing(period, tuple(edges))


def edges_of_union(windows: Sequence[Sliding]) -> int:
    """The edges that `union` would have; no fewer where there are too many to make them."""
    period = math.lcm(*(w.every for w in windows))
    most = sum(period // w.every * len(_edges(w)) for w in windows)
    return most if most > 16 * MOST_EDGES else len(union(windows).edges)


def shared(windows: Sequence[Sliding], most: int = MOST_EDGES) -> list[list[int]]:
    """The windows, by position, in groups that share slices: all in one unless their edges would be too many."""
    groups: list[list[int]] = []
    for position in sorted(range(len(windows)), key=lambda k: windows[k].every):
        for group in groups:
            if edges_of_union([windows[k] for k in (*group, position)]) <= most:
                group.append(position)
                break
        else:
            groups.append([position])
    return [sorted(group) for group in groups]


def _edges(window: Sliding) -> set[int]:
    return {window.offset % window.every, (window.offset + window.range) % window.every}
