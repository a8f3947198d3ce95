"""Slices that travel: made of rows in one process, packed, and joined with those of others in another.

Only for queries whose slices can be joined in any order: sliding and tumbling windows of commutative aggregates.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import slots
from slidewheel.engine.arena import Arena
from slidewheel.engine.batches import Batch, read_times
from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries, concatenated, entries_of, fill, nothing
from slidewheel.engine.inputs import whole
from slidewheel.engine.parts import in_one, pieces_of, read_states, states_bytes
from slidewheel.engine.stream import tracks_for
from slidewheel.windows.specs import Sliding

if TYPE_CHECKING:
    from slidewheel.engine.query import Query

AT_ONCE = 1 << 20
"""Rows and slices that wait before they are put into their places together."""
OF_SOME_KEYS = 1 << 15
"""About so many slices, of some keys, are put together into windows in one step."""
COUNTED = np.dtype(np.int64)
"""The state that counts values which are not null."""


def joinable(query: "Query") -> bool:
    """Whether slices of this query can be joined in any order."""
    periodic = all(isinstance(spec, Sliding) for spec in query.windows)
    return periodic and query.plan.commutative and query.final == "auto"


def homes(hashes: Array, count: int) -> Array:
    """Which of so many buckets each hash belongs to."""
    return (hashes.view(np.uint64) % np.uint64(count)).astype(np.int64)


def sorted_by(places: Array, count: int) -> tuple[Array, Array]:
    """A stable order by place, and where each place begins in it; one entry more than there are places."""
    order = np.empty(len(places), dtype=np.int64)
    compiled(slots).counting_sort(places, np.zeros(count + 1, dtype=np.int64), order)
    return order, np.searchsorted(places[order], np.arange(count + 1))


class Slices:
    """The slices of all keys, in the state that a stream has."""

    def __init__(self, query: "Query", schema: pa.Schema) -> None:
        self.query = query
        self.tracks, self.schema = tracks_for(query, schema)
        self.without_time = 0
        """Rows that had no time."""
        self._tables: list[pa.Table] = []
        self._packed: list[list[Entries]] = [[] for _ in self.tracks.tracks]
        self._waiting = 0

    @property
    def entries(self) -> int:
        self.settle()
        return sum(track.arena.entries for track in self.tracks.tracks)

    def add(self, table: pa.Table) -> None:
        """Rows into slices."""
        self._tables.append(table.select(self.schema.names))
        self._wait(table.num_rows)

    def _wait(self, more: int) -> None:
        self._waiting += more
        held = sum(arena.entries for arena in self._arenas())
        if self._waiting >= max(AT_ONCE, held // 2):
            self.settle()

    def settle(self) -> None:
        """Put what is waiting into slices: all at once and in order, so that no entry of an arena has to move."""
        arenas = self._arenas()
        parts = self._packed
        tables, self._tables, self._packed, self._waiting = self._tables, [], [[] for _ in arenas], 0
        if tables:
            self._take_out(parts)
            self._add(pa.concat_tables(tables))
        if any(parts):
            self._take_out(parts)
            for arena, found in zip(arenas, parts, strict=True):
                fill(arena, _all_of(found, arena))

    def _take_out(self, parts: list[list[Entries]]) -> None:
        """What the arenas hold, in front of these parts."""
        for arena, found in zip(self._arenas(), parts, strict=True):
            if arena.entries:
                found.insert(0, entries_of(arena))
                arena.clear()

    def _add(self, table: pa.Table) -> None:
        table, without, times = read_times(table, self.query.time)
        self.without_time += len(without)
        tracks = self.tracks
        codes = tracks.keys.encode([whole(table[name]) for name in self.query.keys], len(times))
        tracks.begin()
        tracks.see_nulls(table)
        tracks.see_keys()
        batch = Batch(table, times, codes)
        tracks.merge(batch, batch.take(np.zeros(len(times), dtype=bool)), np.zeros((len(tracks.tracks), 0), dtype=bool))
        tracks.commit()

    def pack(self, buckets: int, at_most: int = 0) -> Iterator[tuple[int, bytes]]:
        """The slices of each bucket that has any, in pieces of about so many bytes at most, but of whole keys.

        A key's bucket is decided by its hash; so is the piece.
        """
        self.settle()
        tracks = self.tracks
        packed = [entries_of(arena) for arena in self._arenas()]
        size = sum(8 * len(entries) + sum(column.nbytes for column in entries.states) for entries in packed)
        homes_there = buckets * (1 + size // (buckets * at_most) if at_most else 1)
        home = homes(tracks.keys.hashes(), homes_there)
        members, begins = sorted_by(home, homes_there)
        local = np.empty(len(home), dtype=np.int64)
        local[members] = np.arange(len(home)) - begins[home[members]]
        keys = tracks.keys.take(members)
        found = []
        for entries in packed:
            order, firsts = sorted_by(home[entries.codes], homes_there)
            found.append((entries.take(order), firsts))
        facts = json.dumps({"held": [list(names) for names in tracks.binding.held]}).encode()
        for place in np.flatnonzero(np.diff(begins)).tolist():
            lo, hi = int(begins[place]), int(begins[place + 1])
            pieces = [facts, keys_bytes([column.slice(lo, hi - lo) for column in keys], hi - lo)]
            for entries, firsts in found:
                part = slice(int(firsts[place]), int(firsts[place + 1]))
                pieces += [local[entries.codes[part]].astype(np.int32).tobytes(), entries.ids[part].tobytes()]
                pieces += [states_of(column[part]) for column in entries.states]
            yield place % buckets, in_one(pieces)

    def join(self, packed: bytes | memoryview) -> None:
        """Slices that `pack` has packed, into these."""
        tracks = self.tracks
        head, keys, *rest = pieces_of(memoryview(packed))
        held = [tuple(names) for names in json.loads(bytes(head))["held"]]
        self.see_held(held)
        columns, count = read_keys(keys)
        codes_of = tracks.keys.encode(columns, count)
        tracks.see_keys()
        pieces, parts = iter(rest), len(tracks.binding.parts)
        for track, waiting in zip(tracks.tracks, self._packed, strict=True):
            codes = codes_of[np.frombuffer(next(pieces), dtype=np.int32)]
            ids = np.frombuffer(next(pieces), dtype=np.int64)
            dtypes = [component.dtype for component in track.arena.components[:parts]] + [COUNTED] * len(held)
            given = [read_of(next(pieces), dtype) for dtype in dtypes]
            counted = dict(zip(held, given[parts:], strict=True))
            ones = np.ones(len(ids), dtype=COUNTED)
            states = given[:parts] + [counted.get(names, ones) for names in tracks.binding.held]
            if len(ids):
                waiting.append(Entries(codes, ids, states))
        self._wait(len(ids))

    def see_held(self, held: Sequence[tuple[str, ...]]) -> None:
        """Count values in columns where another process has seen a null."""
        binding = self.tracks.binding
        new = [names for names in held if names not in binding.held]
        if new:
            self.settle()
            known = binding.components
            for names in new:
                binding.held[names] = binding.components
            self.tracks.count_more(known)

    def latest(self) -> int | None:
        """The start of the last slice."""
        found = [int(arena.ids[arena.slots_of(keys, arena.end[keys] - 1)].max()) for arena, keys in self._filled()]
        return max(found, default=None)

    def _arenas(self) -> list[Arena]:
        return [track.arena for track in self.tracks.tracks]

    def _filled(self) -> Iterator[tuple[Arena, Array]]:
        """The arenas that hold anything, and the keys that do."""
        for arena in self._arenas():
            keys = np.flatnonzero(arena.end[: arena.keys] > arena.front[: arena.keys])
            if len(keys):
                yield arena, keys

    def windows(self) -> Iterator[pa.Table]:
        """All windows that hold a row, of some keys at a time: so caches hold them, and memory is used again."""
        if self._tables:
            self.settle()
        parts, self._packed, self._waiting = self._packed, [[] for _ in self.tracks.tracks], 0
        self._take_out(parts)
        arenas = self._arenas()
        wholes = [_all_of(found, arena) for arena, found in zip(arenas, parts, strict=True)]
        latest = max((int(whole.ids.max()) for whole in wholes if len(whole)), default=None)
        for some in in_groups(wholes, len(self.tracks.keys), OF_SOME_KEYS):
            for arena, entries in zip(arenas, some, strict=True):
                arena.clear()
                fill(arena, entries)
            yield self.tracks.table(self.tracks.close(None, None, latest))


def _all_of(parts: list[Entries], arena: Arena) -> Entries:
    """The entries of all parts, with a state of each component of the arena."""
    whole = concatenated(parts) if parts else nothing(arena)
    return Entries(whole.codes, whole.ids, whole.with_states(len(arena.components)))


def in_groups(wholes: Sequence[Entries], keys: int, size: int) -> Iterator[list[Entries]]:
    """Of entries by key, those of some keys at a time: about so many, or more where a step looks at more keys."""
    counts = np.sum([np.bincount(whole.codes, minlength=keys) for whole in wholes], axis=0)
    groups = np.cumsum(counts) // max(size, 4 * keys)
    firsts = np.flatnonzero(np.diff(groups, prepend=-1)).tolist()
    for first, end in pairwise([*firsts, keys]):
        places = [np.searchsorted(whole.codes, (first, end)).tolist() for whole in wholes]
        yield [whole.part(lo, hi) for whole, (lo, hi) in zip(wholes, places, strict=True)]


def keys_bytes(columns: list[pa.Array], count: int) -> bytes:
    """Key columns, as Arrow writes them."""
    batch = pa.record_batch([pa.nulls(count), *columns], names=[str(k) for k in range(len(columns) + 1)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def read_keys(data: bytes | memoryview) -> tuple[list[pa.Array], int]:
    """The key columns, and how many keys there are."""
    table = pa.ipc.open_stream(data).read_all()
    return [whole(column) for column in table.columns[1:]], table.num_rows


def states_of(states: Array) -> bytes:
    """As they are; objects are pickled."""
    return states_bytes(states) if states.dtype == object else states.tobytes()


def read_of(data: memoryview, dtype: Any) -> Array:
    if dtype.hasobject:
        return read_states(bytes(data), dtype, trusted=True)
    return np.frombuffer(data, dtype=dtype.base).reshape(-1, *dtype.shape)
