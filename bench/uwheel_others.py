"""What the wheels are compared with besides uwheel: FiBA, a segment tree, the rows in their order, and DuckDB."""

import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import duckdb
import numba
import numpy as np
import pyarrow as pa

import slidewheel as sw
from bench.uwheel_data import EVERY, SECOND, Stream

SUM = "select sum(v) from rows"
FILTERED = f"{SUM} where t >= ? and t < ?"


class FibaWindows:
    """Sliding windows by FiBA, as the library has it for single calls from Python: over slices of a second, or of a
    slide, which the paper calls coarse-grained. A `full` one begins with a window of slices, as in the middle of a
    stream; of its first answers nothing is known."""

    def __init__(self, source: Stream, window: tuple[int, int], *, coarse: bool, full: bool = False) -> None:
        self.tree = sw.swag.window(sw.sum(), algorithm="fiba", fifo=False)
        self.length, self.slide = (seconds * SECOND for seconds in window)
        self.slice = self.slide if coarse else SECOND
        self.watermark = source.start
        self.end = source.start + (self.slide if full else self.length)
        for at in range(source.start - self.length if full else source.start, source.start, self.slice):
            self.tree.insert(at, 1)

    def insert(self, at: int, value: float) -> None:
        if at >= self.watermark:
            self.tree.insert(at - at % self.slice, value)

    def advance_to(self, time: int) -> list[tuple[int, float]]:
        """Ends and sums of the windows that are complete now."""
        tree, found = self.tree, []
        self.watermark = max(self.watermark, time // SECOND * SECOND)
        while self.end <= self.watermark:
            found.append((self.end, tree.query(self.end - self.length, self.end) or 0))
            self.end += self.slide
            while tree.oldest is not None and tree.oldest < self.end - self.length:
                tree.evict()
        return found


def replay(source: Stream, rows: int, windows: FibaWindows) -> list[tuple[int, float]]:
    """One row at a time; after every hundred the watermark follows."""
    times, values = source.times[:rows].tolist(), source.values[:rows].tolist()
    greatest, found = source.start, []
    for first in range(0, rows, EVERY):
        for at, value in zip(times[first : first + EVERY], values[first : first + EVERY], strict=True):
            greatest = max(greatest, at)
            windows.insert(at, value)
        found += windows.advance_to(greatest - source.delay * SECOND)
    return found


def fiba_of(source: Stream) -> Any:
    tree = sw.swag.window(sw.sum(), algorithm="fiba", fifo=False)
    for at, value in zip(source.times.tolist(), source.values.tolist(), strict=True):
        tree.insert(at, value)
    return tree


class SegmentTree:
    """A plain one over the sums of seconds, compiled: the leaves behind the inner nodes, a range from both its ends."""

    def __init__(self, source: Stream) -> None:
        self.start, count = source.start, int(source.times.max() - source.start) // SECOND + 1
        self.nodes = np.zeros(2 * count, dtype=source.values.dtype)
        np.add.at(self.nodes, count + (source.times - source.start) // SECOND, source.values)
        _build(self.nodes)

    def query(self, low: int, high: int) -> Any:
        return _sum(self.nodes, low - self.start, high - self.start)[0]

    def query_many(self, pairs: np.ndarray) -> tuple[np.ndarray, int]:
        """The sums, and how many nodes were combined."""
        out = np.empty(len(pairs), dtype=self.nodes.dtype)
        return out, _sums(self.nodes, pairs, self.start, out)


@numba.njit(cache=True)
def _build(nodes):
    for k in range(len(nodes) // 2 - 1, 0, -1):
        nodes[k] = nodes[2 * k] + nodes[2 * k + 1]


@numba.njit(cache=True)
def _sum(nodes, low, high):
    low, high = low // 1_000_000 + len(nodes) // 2, high // 1_000_000 + len(nodes) // 2
    total, used = nodes[0] * 0, 0
    while low < high:
        if low & 1:
            total += nodes[low]
            low += 1
            used += 1
        if high & 1:
            high -= 1
            total += nodes[high]
            used += 1
        low >>= 1
        high >>= 1
    return total, used


@numba.njit(cache=True)
def _sums(nodes, pairs, start, out):
    all_used = 0
    for k in range(len(pairs)):
        out[k], used = _sum(nodes, pairs[k, 0] - start, pairs[k, 1] - start)
        all_used += used
    return all_used


class SortedRows:
    """The rows in the order of time, searched and summed when asked, in place of the paper's B-tree over raw rows."""

    def __init__(self, source: Stream) -> None:
        order = np.argsort(source.times, kind="stable")
        self.times, self.values = source.times[order], source.values[order]

    def query(self, low: int, high: int) -> Any:
        first, last = np.searchsorted(self.times, (low, high))
        return self.values[first:last].sum()

    @property
    def nbytes(self) -> int:
        return self.times.nbytes + self.values.nbytes


def load(database: Any, source: Stream) -> None:
    """The rows as a table of DuckDB."""
    database.register("given", pa.table({"t": source.times, "v": source.values}))
    database.execute("create table rows as select * from given")
    database.unregister("given")


def duckdb_file(source: Stream) -> int:
    """Bytes."""
    with tempfile.TemporaryDirectory(prefix="wheel-") as directory:
        path = Path(directory) / "rows.duckdb"
        with duckdb.connect(str(path)) as database:
            load(database, source)
            database.execute("checkpoint")
        return path.stat().st_size


def fiba_memory(source: Stream) -> int:
    """Bytes of Python's objects."""
    tracemalloc.start()
    try:
        tree = fiba_of(source)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del tree
    return used
