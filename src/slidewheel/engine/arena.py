"""Many keys in one arena: entries by (key, id), their components, and a way back from a batch that failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup, slots
from slidewheel.engine.columns import Array
from slidewheel.engine.components import Change, Component, lengthened, reader, taken
from slidewheel.engine.threads import in_parallel

ENOUGH_FOR_TWO = 1 << 16
"""Rows from which a second thread pays."""
COST_OF_A_WINDOW = 8
"""In rows."""
ENTRIES_OF_A_KEY = 4
"""A guess: how many are new when windows close."""
MANY_KEYS = 1 << 13
"""Keys from which what is known of them is too much for a cache."""
STAGGER = 5
"""Slots between the first positions of two keys: more than a line of a cache, and no power of two."""
NEVER = int(np.iinfo(np.int64).max)
PER_KEY = ("base", "mask", "front", "end", "settled", "dirty", "listed", "_counts")
Inputs = tuple[tuple[Array, ...], Array | None]
"""The columns of a component, and which of their rows are not null."""


def _zeros(count: int) -> Array:
    return np.zeros(count, dtype=np.int64)


def _no_facts(count: int) -> Array:
    """What is known of keys without entries."""
    facts = np.zeros((count, len(PER_KEY)), dtype=np.int64)
    facts[:, PER_KEY.index("mask")], facts[:, PER_KEY.index("dirty")] = -1, NEVER
    return facts


def distinct(codes: Array, keys: int) -> Array:
    """The keys that occur."""
    if len(codes) < keys // 8:
        return np.unique(codes)
    occurs = np.zeros(keys, dtype=bool)
    occurs[codes] = True
    return np.flatnonzero(occurs)


@dataclass
class Undo:
    """What a batch has changed."""

    keys: Array
    before: Array
    """What was known of these keys."""
    moves: Array
    shifts: Array
    touched: Array
    first_rows: Array
    changes: list[Change] = field(default_factory=list)
    """Of each component."""
    extras: list[Array] = field(default_factory=list)
    """What the extra arrays held in touched slots."""


class Arena:
    """Entries of many keys. `shifts` are the lengths of blocks, as powers of two; `ranked` ones are cut by position."""

    base: Array
    mask: Array
    front: Array
    end: Array
    settled: Array
    dirty: Array
    listed: Array
    _counts: Array

    def __init__(self, shifts: list[int], *, merging: bool = True, ranked: bool = False, extras: int = 0) -> None:
        self.shifts, self.merging, self.ranked = list(shifts), merging, ranked
        self.extras = [_zeros(0) for _ in range(extras)]
        """More integers for each slot, which a placement of its own keeps."""
        self.components: list[Component] = []
        self.least = 2
        """Slots of the shortest ring."""
        self.stagger = 0
        """How far apart the first positions of keys are."""
        self.keys = 0
        self._spread(np.zeros((0, len(PER_KEY)), dtype=np.int64))
        self.prefixed, self.suffixed = np.zeros((2, len(shifts), 0), dtype=np.int64)
        self.capacity = 0
        self.ids, self.ranks = _zeros(0), _zeros(0)
        self.top = 0
        self.free = np.full(64, -1, dtype=np.int64)
        self._run: Any = compiled(slots)
        self._look: Any = compiled(lookup)

    @property
    def entries(self) -> int:
        return int((self.end - self.front).sum())

    @property
    def rings(self) -> tuple[Array, Array, Array, Array]:
        return self.base, self.mask, self.front, self.end

    def add_component(self, component: Component) -> None:
        component.resize(self.capacity, len(self.shifts), component.capacity)
        self.components.append(component)

    def add_level(self, shift: int) -> None:
        """Blocks of another length, for entries that are already there too."""
        self.shifts.append(shift)
        more = np.zeros((1, len(self.base)), dtype=np.int64)
        self.prefixed, self.suffixed = np.vstack([self.prefixed, more]), np.vstack([self.suffixed, more])
        for component in self.components:
            component.resize(self.capacity, len(self.shifts), self.top)

    def _spread(self, facts: Array) -> None:
        """What is known of a key lies side by side, as all of it is needed at once."""
        self._facts = facts
        for place, name in enumerate(PER_KEY):
            setattr(self, name, facts[:, place])

    def reserve_keys(self, count: int) -> None:
        known = len(self._facts)
        if count > known:
            size = max(count, 2 * known, 16)
            self._spread(np.concatenate([self._facts, _no_facts(size - known)]))
            for name in ("prefixed", "suffixed"):
                wider = np.zeros((len(self.shifts), size), dtype=np.int64)
                wider[:, :known] = getattr(self, name)
                setattr(self, name, wider)
        self.keys = max(self.keys, count)

    def _reserve_slots(self, count: int) -> None:
        if count > self.capacity:
            size = max(count, 2 * self.capacity, 64)
            self.ids = lengthened(self.ids, size, self.top)
            if self.ranked:
                self.ranks = lengthened(self.ranks, size, self.top)
            self.extras = [lengthened(extra, size, self.top) for extra in self.extras]
            for component in self.components:
                component.resize(size, len(self.shifts), self.top)
            self.capacity = size

    def place(self, codes: Array, ids: Array, span: int) -> tuple[Array, Undo]:
        """The slot of each row, ~slot where it begins an entry. Rows of a key come with rising ids."""
        keys, before, moves = self.make_room(codes, span)
        rows = len(codes)
        placed, touched, first_rows = (np.empty(rows, dtype=np.int64) for _ in range(3))
        shifts = np.empty((rows, 4), dtype=np.int64)
        shifted, changed = self._run.place(
            codes, ids, self.merging, *self.rings, self.ids, self.ranks, self.settled, self.dirty, self.listed, placed,
            shifts, touched, first_rows
        )  # fmt: skip
        return placed, Undo(keys, before, moves, shifts[:shifted].copy(), touched[:changed], first_rows[:changed])

    def make_room(self, codes: Array, span: int) -> tuple[Array, Array, Array]:
        """Rings that are long enough for these rows. Returns their keys, what these were before, and the moves."""
        found = np.empty(min(len(codes), self.keys), dtype=np.int64)
        count, need = self._run.touched_keys(codes, span, self.least, self._counts, found, *self.rings, self.listed)
        keys = found[:count]
        before = np.empty((count, len(PER_KEY)), dtype=np.int64)
        self._run.gather(self._facts, keys, before)
        self._reserve_slots(self.top + need)
        moves = np.empty((count if need else 0, 6), dtype=np.int64)
        self.top, moved = self._run.grow(
            keys, self._counts, self.stagger, *self.rings, self.ids, self.ranks, self.free, self.top, moves
        )
        moves = moves[:moved]
        self._for_all(lambda component: component.follow(self._run.copy_rings, moves), len(moves) * COST_OF_A_WINDOW)
        for extra in self.extras:
            self._run.copy_rings(extra.reshape(-1, 1), moves)
        return keys, before, moves

    def add(self, codes: Array, ids: Array, span: int, inputs: list[Inputs]) -> tuple[Array, Undo]:
        """Place rows, and add their values to the entries: all of it or nothing."""
        placed, undo = self.place(codes, ids, span)
        return self.fill(placed, inputs, undo), undo

    def fill(self, placed: Array, inputs: list[Inputs], undo: Undo) -> Array:
        """Add the rows' values to the entries in their slots; where that fails, the placing is undone as well."""
        try:
            self._fill(placed, inputs, undo)
        except BaseException:
            self.undo(undo)
            raise
        return placed

    def _fill(self, placed: Array, inputs: list[Inputs], undo: Undo) -> None:
        undo.changes = [Change(undo.first_rows) for _ in self.components]

        def work(number: int) -> None:
            component, change = self.components[number], undo.changes[number]
            component.follow(self._run.shift_rings, undo.shifts)
            change.shifted = True
            component.add(*inputs[number], placed, change)

        self._for_all(work, len(placed), range(len(self.components)))

    def commit(self, undo: Undo) -> None:
        self._run.release_rings(undo.moves, self.ids, self.free)

    def undo(self, undo: Undo) -> None:
        """Back to where things were before `place`."""
        for component, change in zip(self.components, undo.changes, strict=False):
            if done := int(change.done[0]):
                component.restore(undo.touched[:done], change.saved[:done])
            if change.shifted:
                component.follow(self._run.unshift_rings, undo.shifts)
        for extra, values in zip(self.extras, undo.extras, strict=False):
            extra[undo.touched] = values
        for array in (self.ids, *self.extras):
            self._run.unshift_rings(array.reshape(-1, 1), undo.shifts)
        # The rings that were left are as they were: states change only in the new ones.
        self._run.release_rings(undo.moves[:, [2, 3, 2, 3, 4, 5]], self.ids, self.free)
        self._facts[undo.keys] = undo.before
        self._counts[undo.keys] = 0
        self.forget()

    def forget(self) -> None:
        """Prefixes and suffixes are to be made anew."""
        self.prefixed[:], self.suffixed[:], self.settled[:], self.dirty[:] = 0, 0, 0, NEVER

    def live(self, before: int, order: Array) -> Array:
        """The keys, in this order, that have an entry earlier than this id."""
        keys = np.empty(len(order), dtype=np.int64)
        count = self._look.live_keys(order, *self.rings, self.ids, before, keys)
        return keys[:count]

    def extend(self, keys: Array, frontier: int) -> None:
        """Bring the prefixes and suffixes of these keys up to the frontier: entries at or after it may still change."""
        ids = self.ranks if self.ranked else self.ids
        base, mask, front, end = self.rings
        lacking = np.empty((len(self.shifts), 4, len(keys)), dtype=np.int64)
        for level, shift in enumerate(self.shifts):
            self._look.stretches(
                keys, frontier, self.ranked, level, shift, ids, base, mask, front, end, self.dirty, self.prefixed,
                self.suffixed, lacking[level]
            )  # fmt: skip

        def work(component: Component) -> None:
            for level, shift in enumerate(self.shifts):
                component.extend(level, ids, shift, keys, base, mask, front, *lacking[level])

        self._for_all(work, len(keys) * ENTRIES_OF_A_KEY * COST_OF_A_WINDOW * len(self.shifts))
        self._look.settle(keys, frontier, ids, *self.rings, self.settled, self.dirty)

    def answers(self, keys: Array, lo: Array, hi: Array, starts: Array, levels: Array) -> list[Array]:
        """For each component the states of these windows: positions lo .. hi - 1, and where each starts (an id)."""
        ids = self.ranks if self.ranked else self.ids
        known = keys, lo, hi, starts, levels, self.block_shifts, self.ranked, ids, self.base, self.mask
        return self.read(reader("answers", len(keys), *known), len(keys))

    def runs(self, keys: Array, lo: Array, hi: Array) -> list[Array]:
        """For each component the states of the entries lo .. hi - 1, combined one by one."""
        known = keys, lo, hi, self.base, self.mask
        return self.read(reader("runs", len(keys), *known), len(keys))

    def read(
        self, read: Callable[[Component], Array], size: int, beside: Callable[[], None] | None = None
    ) -> list[Array]:
        """What is read of each component; `beside` that, something else is done that takes as long."""
        work: list[Callable[[], Any]] = [partial(read, component) for component in self.components]
        if beside is not None:
            work.append(beside)
        found: list[Any] = [None] * len(work)

        def do(place: int) -> None:
            found[place] = work[place]()

        self._for_all(do, size * COST_OF_A_WINDOW, range(len(work)))
        return found[: len(self.components)]

    @property
    def block_shifts(self) -> Array:
        """The lengths of blocks by level; the last one, which is also level -1, where there is none."""
        return np.array([*self.shifts, 0], dtype=np.int64)

    def _for_all(self, run: Callable[[Any], None], size: int, parts: Sequence[Any] | None = None) -> None:
        """Every component, or every part, by two threads where that pays."""
        parts = self.components if parts is None else parts
        if size >= ENOUGH_FOR_TWO:
            return in_parallel(run, parts)
        for part in parts:
            run(part)

    def scattered(self, codes: Array) -> bool:
        """Whether it pays to put rows in the order of memory first: so many keys that no cache holds them."""
        return self.keys >= MANY_KEYS and 4 * len(codes) >= self.keys

    def by_key(self, codes: Array) -> Array:
        """A stable order by key."""
        order = np.empty(len(codes), dtype=np.int64)
        if len(codes) * 4 < self.keys:
            return np.argsort(codes, kind="stable")
        self._run.counting_sort(codes, np.zeros(self.keys + 1, dtype=np.int64), order)
        return order

    def locate(self, keys: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
        """The positions of the entries with ids in [start, end) of each key."""
        lo, hi = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
        self._look.locate(keys, starts, ends, self.ids, *self.rings, lo, hi)
        return lo, hi

    def load(
        self, codes: Array, ids: Array, extras: list[Array], states: list[Array], ends: Array | None = None
    ) -> None:
        """Fill an empty arena with these entries; `ends` are the positions behind the last entry of each key."""
        order = np.lexsort((ids, codes)) if ends is None else np.arange(len(codes))
        counts = np.bincount(codes, minlength=self.keys)
        sizes = np.where(counts > 0, 1 << np.ceil(np.log2(np.maximum(counts, 2))).astype(np.int64), 0)
        last = counts + self.stagger * np.arange(self.keys) if ends is None else ends
        self.base[: self.keys] = np.where(sizes > 0, np.cumsum(sizes) - sizes, 0)
        self.mask[: self.keys], self.front[: self.keys], self.end[: self.keys] = sizes - 1, last - counts, last
        total = int(sizes.sum())
        self._reserve_slots(total)
        self.top = total
        codes = codes[order]
        first = np.cumsum(counts) - counts
        positions = np.arange(len(codes)) - first[codes] + self.front[codes]
        slots = self.slots_of(codes, positions)
        self.ids[slots] = ids[order]
        if self.ranked:
            self.ranks[slots] = positions
        for extra, values in zip(self.extras, extras, strict=True):
            extra[slots] = values[order]
        for component, values in zip(self.components, states, strict=True):
            component.entries[slots] = taken(values, order)

    def slots_of(self, keys: Array, positions: Array) -> Array:
        return self.base[keys] + (positions & self.mask[keys])

    def live_entries(self) -> tuple[Array, Array]:
        """The key and position of every entry, key after key."""
        counts = (self.end - self.front)[: self.keys]
        codes = np.repeat(np.arange(self.keys), counts)
        first = np.repeat(self.front[: self.keys] - (np.cumsum(counts) - counts), counts)
        return codes, np.arange(len(codes)) + first

    def keep_keys(self, kept: Array) -> None:
        """Only these keys, which get the codes 0, 1, ...; all others have no entries."""
        self._spread(self._facts[kept])
        self.prefixed, self.suffixed = self.prefixed[:, kept].copy(), self.suffixed[:, kept].copy()
        self.keys = len(kept)

    def clear(self) -> None:
        """No entries any more, and no rings."""
        self._facts[:] = _no_facts(len(self._facts))
        self.prefixed[:], self.suffixed[:] = 0, 0
        self.top, self.free[:] = 0, -1

    def keep_last(self, count: int) -> None:
        """Keep this many entries of each key."""
        np.maximum(self.front, self.end - count, out=self.front)

    def trim(self, keep: int) -> int:
        """Drop the entries before `keep`."""
        return int(
            self._run.trim(
                keep, self.ids, *self.rings, self.free, self.settled, self.dirty, self.prefixed, self.suffixed
            )
        )
