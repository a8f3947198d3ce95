"""Where the slots of a wheel lie: one table for all levels and keys, and the book that says where each level is.

Rows are only appended, and where they must move, they move to a new table.
"""

import contextlib
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.engine.components import copy
from slidewheel.wheel import names as n
from slidewheel.wheel import slots
from slidewheel.wheel.blocks import BLOCK, Blocks
from slidewheel.wheel.levels import Level
from slidewheel.wheel.values import Values

SLACK = 16
"""A table has room for a sixteenth more than it holds."""
PAGE = 1 << 21
"""Bytes of a large page."""
SPARE = 1 << 16
"""Rows that may be reserved for nothing."""
UNPACKED = 1024
"""The newest rows of a compressed level that are left as they are."""


def _room(count: int, dtype: np.dtype[Any]) -> Array:
    """Memory for so many states. In small pages, to touch it for the first time takes longer than to fill it, so that
    large ones are asked for; what is never touched takes none."""
    size = count * dtype.itemsize
    if size >= PAGE and not dtype.hasobject and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # no large pages here, or no room, which NumPy says better
            memory = mmap.mmap(-1, -(-size // PAGE) * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            memory.madvise(mmap.MADV_HUGEPAGE)
            return np.frombuffer(memory, dtype=dtype, count=count)
    return np.empty(count, dtype=dtype)


class Memory:
    """The finished slots of all levels, each with a state for each of `width` keys."""

    def __init__(self, values: Values, levels: Sequence[Level], tick: int, start: int, width: int) -> None:
        self.values, self.levels, self.tick, self.width = values, tuple(levels), tick, width
        self.dtype = values.work.dtype
        self.book = np.zeros((len(levels), n.FIELDS), dtype=np.int64)
        self.lengths = [level.length // tick for level in levels]
        for line, level, length in zip(self.book, levels, self.lengths, strict=True):
            first = start // length
            line[[n.LENGTH, n.SLOTS]] = length, level.slots
            line[[n.ORIGIN, n.NEXT, n.KEPT]] = first
            line[[n.OPEN, n.PREFIX]] = n.NONE
        self.rates = 1.0 / self.book[:, n.LENGTH]
        self.totals = self._states(len(levels) * width)
        self.held = np.zeros(len(levels) * width, dtype=np.uint8)
        self.table, self.packed = self._states(0), np.zeros(0, dtype=np.int64)
        self.bits, self.gaps = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        words = max(self.dtype.itemsize // 8, 1)
        self.blocks = [Blocks(words) for _ in levels]
        """What is compressed of each level."""
        self.room = [0] * len(levels)
        """Rows that each level's region has room for."""
        self.gap_room = [0] * len(levels)
        self.compressed = any(level.layout == "compressed" for level in levels)
        self.prefixed = any(level.layout == "prefix" for level in levels)
        self.forgets = any(level.kept is not None for level in levels)
        self.wanted = 0
        """Ticks that windows need, whatever is kept otherwise."""

    def _states(self, count: int) -> Array:
        return np.zeros(count, dtype=self.dtype)

    def _move(
        self,
        sizes: list[int],
        gap_sizes: list[int],
        dropped: list[int],
        width: int = 0,
        packed: list[int] | None = None,
    ) -> None:
        """A new table with this much room for rows and gaps of each level, without so many of the oldest rows.

        `packed` rows of each level lie in compressed blocks now.
        """
        width = width or self.width
        older = self.table, self.bits, self.gaps, self.book.copy()
        lines, base, words, gap = self.book.tolist(), 0, 0, 0
        given = self.levels, self.blocks, sizes, gap_sizes, dropped, packed or [0] * len(sizes)
        for line, level, blocks, size, gaps, drop, more in zip(lines, *given, strict=True):
            blocks.drop(min(drop, line[n.PACKED]) // BLOCK)
            line[n.PACKED] = max(line[n.PACKED] + more - drop, 0)
            line[n.ROWS] -= drop
            line[n.BASE], line[n.MARKS], line[n.GAPS_AT] = base, 64 * words, gap
            base, words, gap = base + size, words + (size + line[n.PACKED]) * width // 64 + 2, gap + gaps
            if level.layout == "prefix":
                line[n.PREFIX], base = base, base + size + 1
        self.book[:] = lines
        self.table, self.gaps = _room(base * width, self.dtype), np.empty(2 * gap, dtype=np.int64)
        self.bits = np.zeros(words, dtype=np.uint64)
        for level, line in enumerate(lines):
            if line[n.ROWS] or line[n.GAPS] or dropped[level] or line[n.PREFIX] != n.NONE:
                self._carry(older, level, dropped[level], width)
        self.room, self.gap_room, self.width = sizes, gap_sizes, width
        self._place_blocks()

    def _carry(self, older: tuple[Array, ...], level: int, dropped: int, width: int) -> None:
        """Take a level over from an older table."""
        table, bits, gaps, book = older
        line, was = self.book[level], book[level]
        rows, inside = int(was[n.ROWS]), int(line[n.ROWS] - line[n.PACKED])
        gone = rows - int(was[n.PACKED]) - inside
        self._copy_rows(table, int(was[n.BASE]) + gone, int(line[n.BASE]), inside, width)
        if line[n.PREFIX] != n.NONE:
            if was[n.PREFIX] == n.NONE:
                self.table[int(line[n.PREFIX]) * width : (int(line[n.PREFIX]) + 1) * width] = self._identity()
            else:
                self._copy_rows(table, int(was[n.PREFIX]) + dropped, int(line[n.PREFIX]), rows - dropped + 1, width)
        self._copy_marks(bits, int(was[n.MARKS]), int(line[n.MARKS]), dropped, rows, width)
        if dropped or was[n.GAPS]:
            self._copy_gaps(gaps, was, line, dropped)

    def _identity(self) -> Any:
        identity = self.values.monoid.identity
        if self.dtype == object:
            made = np.empty(1, dtype=object)
            made[0] = identity
            return made
        return identity

    def _copy_rows(self, table: Array, source: int, target: int, count: int, width: int) -> None:
        if width == self.width:
            copy(
                table[source * width : (source + count) * width], self.table[target * width : (target + count) * width]
            )
            return
        wider = self.table[target * width : (target + count) * width].reshape(count, width, *self.table.shape[1:])
        wider[:, : self.width] = table[source * self.width : (source + count) * self.width].reshape(
            count, self.width, *table.shape[1:]
        )
        wider[:, self.width :] = self._identity()

    def _copy_marks(self, bits: Array, source: int, target: int, dropped: int, rows: int, width: int) -> None:
        first, last = source + dropped * self.width, source + rows * self.width
        if first >= last:
            return
        if width == self.width and first % 64 == 0:
            count = (last - first + 63) // 64
            self.bits[target // 64 : target // 64 + count] = bits[first // 64 : first // 64 + count]
            return
        flags = np.unpackbits(bits.view(np.uint8), bitorder="little", count=last)[first:]
        wider = np.zeros((rows - dropped, width), dtype=np.uint8)
        wider[:, : self.width] = flags.reshape(rows - dropped, self.width)
        made = np.packbits(wider.reshape(-1), bitorder="little")
        self.bits.view(np.uint8)[target // 8 : target // 8 + len(made)] = made

    def _copy_gaps(self, gaps: Array, was: Array, line: Array, dropped: int) -> None:
        """Gaps, but not those before the rows that are left: they become part of the origin."""
        listed = gaps[2 * int(was[n.GAPS_AT]) :][: 2 * int(was[n.GAPS])].reshape(-1, 2)
        before = (
            listed[:, 0] - was[n.ORIGIN] - listed[:, 1] <= dropped if dropped else np.zeros(len(listed), dtype=bool)
        )
        passed = int(before.sum())
        skipped = int(listed[passed - 1, 1]) if passed else 0
        line[n.ORIGIN] += dropped + skipped
        line[n.GAPS] = len(listed) - passed
        left = listed[passed:].copy()
        left[:, 1] -= skipped
        at = 2 * int(line[n.GAPS_AT])
        self.gaps[at : at + left.size] = left.reshape(-1)

    def _forget(self, watermark: int) -> None:
        """Say what is kept, and let go of rows that are not, once there are enough of them."""
        if not self.forgets:
            return
        dropped = []
        for level, line in zip(self.levels, self.book, strict=True):
            drop = 0
            if level.kept is not None:
                kept = max(level.kept, self.wanted) if line[n.LENGTH] == 1 else level.kept
                line[n.KEPT] = max(int(line[n.KEPT]), watermark // int(line[n.LENGTH]) - kept)
                row = self.row_of(line, int(line[n.KEPT]))
                drop = max(row - 1, 0) // BLOCK * BLOCK  # the sums up to the first row that is left are needed, too
                drop = 0 if drop * SLACK < line[n.ROWS] else drop
            dropped.append(drop)
        if any(dropped):
            self._move(self._tight(dropped), [int(count) + 1 for count in self.book[:, n.GAPS]], dropped)

    def _tight(self, dropped: list[int]) -> list[int]:
        """Room for the rows that are left, and a little more."""
        sizes = []
        for line, drop in zip(self.book, dropped, strict=True):
            inside = int(line[n.ROWS] - line[n.PACKED]) - max(drop - int(line[n.PACKED]), 0)
            sizes.append(inside + inside // SLACK + 1)
        return sizes

    def row_of(self, line: Array, slot: int) -> int:
        find: Any = slots._row
        return int(find(self.gaps, line.reshape(1, -1), 0, slot))

    def _pack(self) -> None:
        """Compress rows of the levels that are to be compressed, once there are enough of them."""
        if not self.compressed:
            return
        added = [0] * len(self.levels)
        for number, (level, line) in enumerate(zip(self.levels, self.book, strict=True)):
            unpacked = int(line[n.ROWS] - line[n.PACKED])
            if level.layout == "compressed" and unpacked >= 2 * UNPACKED:
                added[number] = (unpacked - UNPACKED) // BLOCK * BLOCK
                states = self.table[int(line[n.BASE]) : int(line[n.BASE]) + added[number]]
                self.blocks[number].add(states.view(np.int64).reshape(added[number], -1))
        if any(added):
            sizes = [size - more for size, more in zip(self._tight([0] * len(added)), added, strict=True)]
            self._move(sizes, [int(count) + 1 for count in self.book[:, n.GAPS]], [0] * len(added), packed=added)

    def _place_blocks(self) -> None:
        """All blocks in one array, and where each level's are."""
        if not self.compressed:
            return
        parts, place = [], 0
        for line, blocks in zip(self.book, self.blocks, strict=True):
            line[n.BLOCKS_AT], line[n.WORDS_AT] = place, place + len(blocks.directory)
            parts += [blocks.directory, blocks.words]
            place += len(blocks.directory) + len(blocks.words)
        self.packed = np.concatenate(parts)

    def _trim(self) -> None:
        """Give back what was reserved for empty slots that turned out to be gaps."""
        rows = int((self.book[:, n.ROWS] - self.book[:, n.PACKED]).sum())
        if sum(self.room) > 2 * rows + SPARE:
            none = [0] * len(self.levels)
            self._move(self._tight(none), [int(count) + 1 for count in self.book[:, n.GAPS]], none)
