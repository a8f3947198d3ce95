"""A stream whose state rests in a store between two steps, in parts that are read and written only where needed.

This is what a Spark executor does with one bucket of keys in a micro-batch: merge the slices that have come, judged by
the watermark of the step before; close windows up to the new one; write what has changed.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from slidewheel.engine.chunks import Chunks, chunks_for
from slidewheel.engine.columns import Array
from slidewheel.engine.container import MANIFEST, checked, full_name, manifest, read_manifest
from slidewheel.engine.entries import Entries, entries_of, merged, read_entries
from slidewheel.engine.parts import Writer
from slidewheel.engine.slices import Slices
from slidewheel.engine.snapshot import fingerprint, read_keys, write_keys
from slidewheel.engine.upkeep import FEW
from slidewheel.errors import InvalidSnapshot

if TYPE_CHECKING:
    from slidewheel.engine.query import Query

FOLD = 4096
"""Late slices that are kept beside the chunks at least."""


class Store(Protocol):
    """Where parts rest."""

    def get(self, name: str) -> bytes | None: ...
    def put(self, name: str, data: bytes) -> None: ...
    def delete(self, name: str) -> None: ...


@dataclass
class Counts:
    """What did not count, or not everywhere, since the beginning."""

    rows: int = 0
    dropped: int = 0
    without_time: int = 0


class Resting:
    """One step of a stream: load, merge, close, save. A new one is made for every step.

    The last aggregate of the query counts rows, so that late ones can be counted.
    """

    def __init__(self, query: "Query", schema: pa.Schema, store: Store) -> None:
        self.query, self.store = query, store
        self.slices = Slices(query, schema)
        self.tracks = self.slices.tracks.tracks
        self.watermark: int | None = None
        self.counts = Counts()
        self.chunks: list[Chunks | None] = [None] * len(self.tracks)
        self._key_parts: list[str] = []
        self._few_keys = FEW
        """Keys up to which there is nothing to gain by looking for idle ones."""
        self._load()

    def _load(self) -> None:
        data = self.store.get(MANIFEST)
        if data is None:
            return
        said, self._key_parts = read_manifest(data)
        if said["query"] != fingerprint(self.query):
            raise InvalidSnapshot("the state was made by another query: go on with the one that it was made by")
        self.watermark, self.counts = said["watermark"], Counts(**said["counts"])
        self.slices.see_held([tuple(names) for names in said["held"]])
        self._few_keys = said["few_keys"]
        named = {name.rpartition("-")[0]: name for name in self._key_parts}
        read_keys(lambda name: self._part(named[name]) if name in named else None, "keys", self.slices.tracks.keys)
        self.slices.tracks.see_keys()
        self.chunks = [None if c is None else _chunks(c) for c in said["tracks"]]

    def _part(self, name: str) -> bytes:
        data = self.store.get(name)
        return checked({} if data is None else {name: data}, name)

    def step(self, packets: Iterable[Any], watermark: int) -> pa.Table:
        """Merge slices (bytes) and rows (tables), close windows up to the watermark, and save. Gives the windows."""
        for given in packets:
            if isinstance(given, pa.Table):
                self.slices.add(given)
            else:
                self.slices.join(given)
        self.counts.without_time += self.slices.without_time
        before = self.watermark
        until = watermark if before is None else max(before, watermark)
        late = [self._merge(number, until) for number in range(len(self.tracks))]
        self.counts.rows += max(rows for rows, _ in late)
        self.counts.dropped += min(dropped for _, dropped in late)
        result = self._close(before, until)
        self.watermark = until
        self._save()
        return result

    # Merging: rows go into the chunks that are not complete; late ones are kept beside those that are.

    def _merge(self, number: int, until: int) -> tuple[int, int]:
        track, arena = self.tracks[number], self.tracks[number].arena
        came = entries_of(arena)
        chunks = self.chunks[number]
        if chunks is None:
            chunks = self.chunks[number] = chunks_for(track.slicing, self._longest(track), came.ids)
        open_from = chunks.complete(self.watermark)
        missed, dropped = self._keep_late(number, came, open_from)
        numbers = chunks.of(came.ids)
        touched = set(np.unique(numbers[numbers >= open_from]).tolist())
        closing = int(chunks.of(until)) + 1
        for chunk in sorted(chunks.slices):
            if chunk >= open_from and (chunk in touched or chunk < closing):
                self.slices.put(track, self._read(number, chunks.slices[chunk]))
        whole = entries_of(arena)
        keep = self._horizon(track, until)
        for chunk, entries in _by_chunk(chunks, whole, max(keep, chunks.start(open_from))):
            if chunk in touched:
                self._replace(chunks.slices, chunk, f"{number}/slices/{chunk}", entries)
        self._complete(number, whole, int(chunks.of(until)))
        return missed, dropped

    def _keep_late(self, number: int, came: Entries, open_from: int) -> tuple[int, int]:
        """Store the late slices that count. Returns the rows that are late, and those that count nowhere."""
        watermark, chunks, track = self.watermark, self.chunks[number], self.tracks[number]
        assert chunks is not None
        self._stored_late = getattr(self, "_stored_late", {})
        stored = self._read(number, chunks.late) if chunks.late else came.take(np.zeros(0, dtype=np.int64))
        self._stored_late[number] = stored
        if watermark is None or len(came) == 0 or int(came.ids.min()) >= watermark:
            return 0, 0
        behind = came.take(came.ids < watermark)
        missed, counts, _ = track.lateness(_Times(behind.ids), watermark, 0)
        kept = behind.take(counts & (chunks.of(behind.ids) < open_from))
        if len(kept):
            self._late_part(number, merged(track.arena, [stored, kept]))
        rows = behind.states[self._counting()]
        return int(rows[missed].sum()), int(rows[missed & ~counts].sum())

    def _late_part(self, number: int, entries: Entries) -> None:
        chunks = self.chunks[number]
        assert chunks is not None
        if chunks.late:
            self.store.delete(chunks.late)
        chunks.late = self._write(f"{number}/late", entries) if len(entries) else None

    def _fold(self, number: int, late: Entries) -> None:
        """Late slices into the chunks that they belong to, and into all totals of these."""
        chunks, arena = self.chunks[number], self.tracks[number].arena
        assert chunks is not None
        for chunk, entries in late.split(chunks.of(late.ids)):
            known = [self._read(number, chunks.slices[chunk])] if chunk in chunks.slices else []
            self._replace(chunks.slices, chunk, f"{number}/slices/{chunk}", merged(arena, [*known, entries]))
            for level, totals in enumerate(chunks.totals):
                if chunk >> level in totals:
                    self._total(number, level, chunk >> level, [self._read(number, totals[chunk >> level]), entries])
        self._late_part(number, late.take(np.zeros(0, dtype=np.int64)))

    # Complete chunks have totals.

    def _complete(self, number: int, whole: Entries, until: int) -> None:
        chunks, track = self.chunks[number], self.tracks[number]
        assert chunks is not None
        numbers = chunks.of(whole.ids)
        for level, block, children in chunks.to_complete(until, self._longest(track)):
            if level == 0:
                inside = whole.take(numbers == block)
                parts = [inside] if len(inside) else [self._read(number, chunks.slices[block])]
            else:
                parts = [self._read(number, chunks.totals[below][child]) for below, child in children]
            self._total(number, level, block, parts)

    def _total(self, number: int, level: int, block: int, parts: list[Entries]) -> None:
        chunks = self.chunks[number]
        assert chunks is not None
        start = chunks.start(block << level)
        total = merged(self.tracks[number].arena, [part.at(start) for part in parts])
        self._replace(chunks.totals[level], block, f"{number}/total/{level}/{block}", total)

    # Closing: windows are put together from totals, the slices at their edges, and what is open.

    def _close(self, before: int | None, until: int) -> pa.Table:
        tracks = self.slices.tracks
        if before == until:
            return tracks.table(tracks.close(until, until, until))
        for number, track in enumerate(self.tracks):
            chunks = self.chunks[number]
            if chunks is None:
                continue
            if before is not None and chunks.slices:
                # Windows further back or ahead hold nothing of what is complete.
                first = max(before, chunks.start(min(chunks.slices)))
                last = min(until, chunks.start(max(chunks.slices) + 1) + self._longest(track))
                cuts = np.concatenate([_edges(spec, first, last) for _, spec in track.specs])
                slices, totals = chunks.needed(cuts, -(1 << 62), chunks.complete(before))
                earliest = self._horizon(track, before)
                for chunk in slices:
                    stored = self._read(number, chunks.slices[chunk])
                    self.slices.put(track, stored.take(stored.ids >= earliest))
                for level, block in totals:
                    self.slices.put(track, self._read(number, chunks.totals[level][block]))
            self.slices.put(track, self._stored_late[number])
            keep = self._horizon(track, until)
            chunks.drop(keep, self.store.delete)
            if chunks.late:
                self._age_late(number, keep)
        return tracks.table(tracks.close(before, until, self.slices.latest()))

    def _age_late(self, number: int, keep: int) -> None:
        """Late slices are forgotten from before `keep`; when there are many, the others are folded in."""
        chunks = self.chunks[number]
        assert chunks is not None and chunks.late is not None
        stored = self._read(number, chunks.late)
        alive = stored.take(stored.ids >= keep)
        if len(alive) > FOLD and len(alive) > len(self.slices.tracks.keys):
            self._fold(number, alive)
        elif len(alive) < len(stored):
            self._late_part(number, alive)

    # The store.

    def _read(self, number: int, name: str) -> Entries:
        dtypes = [component.dtype for component in self.tracks[number].arena.components]
        return read_entries(self._part(name), dtypes)

    def _write(self, name: str, entries: Entries) -> str:
        data = entries.to_bytes()
        full = full_name(name, data)
        self.store.put(full, data)
        return full

    def _replace(self, parts: dict[int, str], place: int, name: str, entries: Entries) -> None:
        old = parts.get(place)
        parts[place] = self._write(name, entries)
        if old is not None and old != parts[place]:
            self.store.delete(old)

    def _save(self) -> None:
        self._forget_idle()
        writer = Writer(self._key_parts)
        write_keys(writer, "keys", self.slices.tracks.keys)
        for name, data in writer.parts.items():
            self.store.put(name, data)
        for name in set(self._key_parts) - set(writer.names):
            self.store.delete(name)
        facts = {
            "query": fingerprint(self.query),
            "watermark": self.watermark,
            "counts": asdict(self.counts),
            "held": [list(names) for names in self.slices.tracks.binding.held],
            "few_keys": self._few_keys,
            "tracks": [None if chunks is None else asdict(chunks) for chunks in self.chunks],
        }
        self.store.put(MANIFEST, manifest(facts, writer.names))

    def _forget_idle(self) -> None:
        """Once the keys have doubled, drop those without slices, and give the others new codes."""
        keys = self.slices.tracks.keys
        if len(keys) <= 2 * self._few_keys:
            return
        parts = [
            (number, name, self._read(number, name))
            for number, chunks in enumerate(self.chunks)
            if chunks is not None
            for name in chunks.names
        ]
        used = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(entries.codes for _, _, entries in parts)]))
        self._few_keys = max(FEW, len(used))
        if 2 * len(used) > len(keys):
            return
        kept = type(keys)(keys.names, [column.type for column in keys.columns])
        renamed = np.full(len(keys), -1, dtype=np.int64)
        renamed[used] = kept.encode(keys.take(used), len(used))
        again: dict[str, str] = {}
        for _, name, entries in parts:
            order = np.argsort(renamed[entries.codes], kind="stable")
            entries.codes = renamed[entries.codes]
            again[name] = self._write(name.rpartition("-")[0], entries.take(order))
            if again[name] != name:
                self.store.delete(name)
        for chunks in self.chunks:
            if chunks is not None:
                chunks.rename(again)
        self.slices.tracks.keys = kept

    @property
    def open(self) -> bool:
        """Whether there is anything that a later watermark could close."""
        return any(chunks is not None and chunks.slices for chunks in self.chunks)

    # What windows say.

    def _longest(self, track: Any) -> int:
        return int(max(spec.range for _, spec in track.specs))

    def _horizon(self, track: Any, watermark: int) -> int:
        """The start of the first window that is open when the watermark is there."""
        return int(min(spec.start(spec.first_end_after(watermark)) for _, spec in track.specs))

    def _counting(self) -> int:
        return int(self.slices.tracks.binding.uses[-1].part)


@dataclass
class _Times:
    times: Array


def _by_chunk(chunks: Chunks, entries: Entries, first: int) -> Iterable[tuple[int, Entries]]:
    """The entries from this slice on, chunk by chunk."""
    wanted = entries.take(entries.ids >= first)
    return wanted.split(chunks.of(wanted.ids))


def _chunks(said: dict[str, Any]) -> Chunks:
    said["slices"] = {int(chunk): name for chunk, name in said["slices"].items()}
    said["totals"] = [{int(number): name for number, name in level.items()} for level in said["totals"]]
    return Chunks(**said)


def _edges(spec: Any, before: int, until: int) -> Array:
    """The starts and ends of the windows that end after `before`, up to `until`."""
    first, last = spec.first_end_after(before), spec.last_end_until(until)
    starts = spec.offset + spec.every * np.arange(first, last + 1)
    return np.concatenate([starts, starts + spec.range])
