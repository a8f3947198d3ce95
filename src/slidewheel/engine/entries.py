"""Entries outside of an arena: keys, slices and states, to be stored, split and joined."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slidewheel.engine.arena import Arena
from slidewheel.engine.columns import Array
from slidewheel.engine.components import taken
from slidewheel.engine.parts import columns_bytes, in_one, pieces_of, read_columns, read_states, states_bytes, steps


@dataclass
class Entries:
    """A state of each component for every (key, slice); the slices of a key rise."""

    codes: Array
    ids: Array
    states: list[Array]

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, which: Array) -> "Entries":
        """These entries, by position or as a mask."""
        if which.dtype == bool:
            which = np.flatnonzero(which)
        return Entries(self.codes[which], self.ids[which], [taken(column, which) for column in self.states])

    def part(self, lo: int, hi: int) -> "Entries":
        """The entries from `lo` up to `hi`."""
        return Entries(self.codes[lo:hi], self.ids[lo:hi], [column[lo:hi] for column in self.states])

    def with_states(self, count: int) -> list[Array]:
        """The states of so many components. Those that came up later count values, and every entry had one."""
        return [*self.states, *(np.ones(len(self), dtype=np.int64) for _ in range(count - len(self.states)))]

    def at(self, id: int) -> "Entries":
        """The same states, all in one slice."""
        return Entries(self.codes, np.full(len(self), id), self.states)

    def split(self, places: Array) -> Iterator[tuple[int, "Entries"]]:
        """The entries of each place, with the number of the place."""
        order = np.argsort(places, kind="stable")
        numbers = places[order]
        firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
        for first, part in zip(firsts.tolist(), np.split(order, firsts[1:]), strict=len(order) > 0):
            yield int(numbers[first]), self.take(part)

    def to_bytes(self) -> bytes:
        """Compressed."""
        return in_one([columns_bytes(steps(self.codes), steps(self.ids)), *map(states_bytes, self.states)])


def entries_of(arena: Arena) -> Entries:
    """All entries of an arena."""
    codes, positions = arena.live_entries()
    places = arena.slots_of(codes, positions)
    return Entries(codes, arena.ids[places], [taken(component.entries, places) for component in arena.components])


def read_entries(data: bytes, dtypes: Sequence[Any]) -> Entries:
    """What `to_bytes` wrote, with a state of every component that there is now."""
    head, *rest = pieces_of(data)
    codes, ids = (np.cumsum(column) for column in read_columns(head, 2))
    states = [read_states(piece, dtype, trusted=True) for piece, dtype in zip(rest, dtypes, strict=False)]
    found = Entries(codes, ids, states)
    found.states = found.with_states(len(dtypes))
    return found


def concatenated(parts: Sequence[Entries]) -> Entries:
    """All entries of several parts, by key and slice; where two are alike, the first part's comes first."""
    if len(parts) == 1:
        return parts[0]
    most = max(len(part.states) for part in parts)
    columns = zip(*(part.with_states(most) for part in parts), strict=True)
    codes, ids = (np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "ids"))
    return Entries(codes, ids, [np.concatenate(column) for column in columns]).take(_order(codes, ids))


def _order(codes: Array, ids: Array) -> Array:
    """A stable order by key and slice. As one number, entries of a part are in order, which makes sorting fast."""
    if len(ids) == 0:
        return np.empty(0, dtype=np.int64)
    first, reach = int(ids.min()), 1 + int(ids.max()) - int(ids.min())
    if (1 + int(codes.max())) * reach >= 1 << 63:
        return np.lexsort((ids, codes))
    return np.argsort(codes * reach + (ids - first), kind="stable")


def fill(arena: Arena, entries: Entries) -> None:
    """These entries into an empty arena, by key and slice, so that none has to move; equal ones are combined."""
    if len(entries) == 0:
        return
    placed, undo = arena.place(entries.codes, entries.ids, len(entries))
    for component, given in zip(arena.components, entries.states, strict=True):
        component.join(given, placed)
    arena.commit(undo)


def nothing(like: Arena) -> Entries:
    """No entries of the components of this arena."""
    none = np.empty(0, dtype=np.int64)
    return Entries(none, none, [component.entries[:0] for component in like.components])


def merged(like: Arena, parts: Sequence[Entries]) -> Entries:
    """The entries of several parts as those of one, by the components of this arena."""
    some = [part for part in parts if len(part)]
    if not some:
        return nothing(like)
    whole = concatenated(some)
    arena = Arena([])
    for component in like.components:
        arena.add_component(component.empty())
    arena.reserve_keys(1 + int(whole.codes.max()))
    fill(arena, whole)
    return entries_of(arena)
