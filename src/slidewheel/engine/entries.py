"""Entries outside of an arena: keys, slices and states, to be stored, split and joined."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slidewheel.engine.arena import Arena
from slidewheel.engine.columns import Array
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
        return Entries(self.codes[which], self.ids[which], [column[which] for column in self.states])

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
    return Entries(codes, arena.ids[places], [component.entries[places] for component in arena.components])


def read_entries(data: bytes, dtypes: Sequence[Any]) -> Entries:
    """What `to_bytes` wrote. Components that have come up since then count values, and every entry had one."""
    head, *rest = pieces_of(data)
    codes, ids = (np.cumsum(column) for column in read_columns(head, 2))
    states = [read_states(piece, dtype, trusted=True) for piece, dtype in zip(rest, dtypes, strict=False)]
    states += [np.ones(len(ids), dtype=dtype) for dtype in dtypes[len(rest) :]]
    return Entries(codes, ids, states)


def concatenated(parts: Sequence[Entries]) -> Entries:
    """All entries of several parts, by key and slice; where two are alike, the first part's comes first."""
    if len(parts) == 1:
        return parts[0]
    whole = Entries(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.ids for part in parts]),
        [np.concatenate(columns) for columns in zip(*(part.states for part in parts), strict=True)],
    )
    return whole.take(np.lexsort((whole.ids, whole.codes)))


def join(arena: Arena, entries: Entries, span: int) -> None:
    """Entries into an arena; `span` is no fewer than those that a key has."""
    if len(entries) == 0:
        return
    placed, undo = arena.place(entries.codes, entries.ids, span)
    for component, given in zip(arena.components, entries.states, strict=True):
        component.follow(arena._run.shift_rings, undo.shifts)
        component.join(given, placed)
    arena.commit(undo)


def merged(like: Arena, parts: Sequence[Entries]) -> Entries:
    """The entries of several parts as those of one, by the components of this arena."""
    some = [part for part in parts if len(part)]
    if not some:
        return Entries(
            np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), [c.entries[:0] for c in like.components]
        )
    arena = Arena([])
    for component in like.components:
        arena.add_component(component.empty())
    arena.reserve_keys(1 + max(int(part.codes.max()) for part in some))
    for part in some:
        join(arena, part, len(np.unique(part.ids)))
    return entries_of(arena)
