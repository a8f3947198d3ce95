"""When windows end: in which order they come out, and how many of them at a time."""

from collections.abc import Iterator
from math import gcd

import numpy as np

from slidewheel.engine.columns import Array


class Ends:
    """The ends of several specs' windows: of spec w those with the indices firsts[w] .. lasts[w]."""

    def __init__(self, zeros: Array, everys: Array, firsts: Array, lasts: Array) -> None:
        """`zeros` are the ends of the windows with index 0."""
        self._zeros, self._everys, self.firsts, self.lasts = zeros, everys, firsts, lasts
        self._sizes = np.maximum(lasts - firsts + 1, 0)
        self.count = int(self._sizes.sum())
        self.begins = np.cumsum(self._sizes + 1) - self._sizes - 1
        """Where the windows of each spec are, in arrays with one place more for each spec than it has windows."""

    def _of(self, spec: int) -> Array:
        first = int(self.firsts[spec])
        return np.asarray(self._zeros[spec] + self._everys[spec] * np.arange(first, first + int(self._sizes[spec])))

    def _in_order(self) -> tuple[Array, int]:
        """All instants at which windows end, maybe with some at which none does; the step between them, or 0."""
        some = self._sizes > 0
        least = int((self._zeros + self._everys * self.firsts)[some].min())
        most = int((self._zeros + self._everys * self.lasts)[some].max())
        step = gcd(*self._everys.tolist(), *(self._zeros - self._zeros[0]).tolist())
        if (most - least) // step <= 4 * self.count + 1024:
            return np.asarray(np.arange(least, most + 1, step)), step
        return np.unique(np.concatenate([self._of(spec) for spec in range(len(self.firsts))])), 0

    def _buckets(self, instants: Array, step: int) -> Array:
        """For the place of each window, which of these instants is its end."""
        found = np.zeros(self.count + len(self.firsts), dtype=np.int64)
        for spec, begin in enumerate(self.begins.tolist()):
            ends = self._of(spec)
            places = (ends - instants[0]) // step if step else np.searchsorted(instants, ends)
            found[begin : begin + len(ends)] = places
        return found

    def pieces(self, changes: Array, size: int) -> Iterator[tuple["Ends", int, Array, Array]]:
        """About `size` windows at a time: their ends, their number, the bucket of each, and where a bucket begins.

        `changes` says how many more windows come out at each place than at the one before; see count_windows.
        """
        instants, step = self._in_order()
        numbers = np.bincount(self._buckets(instants, step), np.cumsum(changes), len(instants)).astype(np.int64)
        behind = np.cumsum(numbers)
        lo = done = 0
        while done < behind[-1]:
            hi = max(lo + 1, int(np.searchsorted(behind, done + size, "right")))
            total = int(behind[hi - 1]) - done
            if total:
                part = self._between(instants[lo], instants[hi - 1])
                yield part, total, part._buckets(instants[lo:hi], step), behind[lo:hi] - numbers[lo:hi] - done
            lo, done = hi, done + total

    def _between(self, first: int, last: int) -> "Ends":
        firsts = np.maximum(self.firsts, -((self._zeros - first) // self._everys))
        lasts = np.minimum(self.lasts, (last - self._zeros) // self._everys)
        return Ends(self._zeros, self._everys, firsts, lasts)
