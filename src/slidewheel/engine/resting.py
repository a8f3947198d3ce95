"""A stream whose state rests in a store between two steps, in parts that are read and written only where needed.

This is what a Spark executor does with one bucket of keys in a micro-batch: merge the slices that have come, judged by
the watermark of the step before; close windows up to the new one; write what has changed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.changed import carry_over, said_of
from slidewheel.engine.container import MANIFEST, manifest, read_manifest
from slidewheel.engine.keys import Keys
from slidewheel.engine.parts import Writer
from slidewheel.engine.shelf import Parts, Shelf, Store
from slidewheel.engine.slices import Slices
from slidewheel.engine.snapshot import read_keys, write_keys
from slidewheel.engine.upkeep import FEW

if TYPE_CHECKING:
    from slidewheel.engine.query import Query


@dataclass
class Counts:
    """What did not count, or not everywhere, since the beginning."""

    rows: int = 0
    dropped: int = 0
    without_time: int = 0


class Resting:
    """One step of a stream: load, merge, close, save. A new one is made for every step.

    The last aggregate of the query counts rows, so that late ones can be counted. It is not among the answers.
    """

    def __init__(self, query: "Query", schema: pa.Schema, store: Store) -> None:
        self.query, self.parts = query, Parts(store)
        self.slices = Slices(query, schema)
        self.watermark: int | None = None
        self.counts = Counts()
        self._counting = self._hide_count()
        self._key_parts: list[str] = []
        self._few_keys = FEW
        """Keys up to which there is nothing to gain by looking for idle ones."""
        data = store.get(MANIFEST)
        shelves = [None] * len(self.slices.tracks.tracks) if data is None else self._load(data)
        self.shelves = [
            Shelf(str(number), track, store, said)
            for number, (track, said) in enumerate(zip(self.slices.tracks.tracks, shelves, strict=True))
        ]

    def _hide_count(self) -> int:
        """The component that counts rows; what windows hold of it is read only if another aggregate needs it."""
        *shown, last = (use.part for use in self.slices.tracks.binding.uses)
        self.slices.tracks.shown = tuple(range(len(shown)))
        for track in self.slices.tracks.tracks:
            track.arena.components[last].silent = last not in shown
        return int(last)

    def _load(self, data: bytes) -> list[Any]:
        said, self._key_parts = read_manifest(data)
        carry_over(self.query, self.slices.schema, self.slices.tracks.tracks, said)
        self.watermark, self.counts = said["watermark"], Counts(**said["counts"])
        self.slices.see_held([tuple(names) for names in said["held"]])
        self._few_keys = said["few_keys"]
        named = {name.rpartition("-")[0]: name for name in self._key_parts}
        tracks = self.slices.tracks
        read_keys(lambda name: self.parts.read(named[name]) if name in named else None, "keys", tracks.keys)
        tracks.see_keys()
        return list(said["tracks"])

    def step(self, packets: Iterable[Any], watermark: int) -> pa.Table:
        """Merge slices (bytes) and rows (tables), close windows up to the watermark, and save. Gives the windows."""
        return pa.concat_tables(self.steps(packets, watermark))

    def steps(self, packets: Iterable[Any], watermark: int) -> Iterator[pa.Table]:
        """The same; the windows come some at a time, and the state is saved after the last of them."""
        for given in packets:
            if isinstance(given, pa.Table):
                self.slices.add(given)
            else:
                self.slices.join(given)
        self.slices.settle()
        self.counts.without_time += self.slices.without_time
        before = self.watermark
        self.watermark = until = watermark if before is None else max(before, watermark)
        late = [shelf.merge(before, until, self._counting) for shelf in self.shelves]
        self.counts.rows += max(rows for rows, _ in late)
        self.counts.dropped += min(dropped for _, dropped in late)
        if until != before:
            for shelf in self.shelves:
                shelf.fetch(before, until)
        tracks = self.slices.tracks
        yield from tracks.tables(before, until, self.slices.latest())
        if until != before:
            for shelf in self.shelves:
                shelf.age(until)
        self._forget_idle()
        self._save()

    @property
    def open(self) -> bool:
        """Whether there is anything that a later watermark could close."""
        return any(shelf.chunks is not None and shelf.chunks.slices for shelf in self.shelves)

    def open_windows(self) -> tuple[int, int]:
        """How many open windows start before the end of the newest slice; and how many sessions: none."""
        if self.watermark is None:
            return 0, 0
        specs = [
            (spec, shelf.chunks.newest)
            for shelf in self.shelves
            if shelf.chunks is not None and shelf.chunks.newest is not None
            for _, spec in shelf.track.specs
        ]
        return sum(spec.open_between(self.watermark, newest) for spec, newest in specs), 0

    def _forget_idle(self) -> None:
        """Once the keys have doubled, drop those without slices, and give the others new codes."""
        keys = self.slices.tracks.keys
        if len(keys) <= 2 * self._few_keys:
            return
        none = np.empty(0, dtype=np.int64)
        used = np.unique(np.concatenate([none, *(codes for shelf in self.shelves for codes in shelf.used_keys())]))
        self._few_keys = max(FEW, len(used))
        if 2 * len(used) > len(keys):
            return
        kept = Keys(keys.names, [column.type for column in keys.columns])
        renamed = np.full(len(keys), -1, dtype=np.int64)
        renamed[used] = kept.encode(keys.take(used), len(used))
        for shelf in self.shelves:
            shelf.rename_keys(renamed)
        self.slices.tracks.keys = kept

    def _save(self) -> None:
        writer = Writer(self._key_parts)
        write_keys(writer, "keys", self.slices.tracks.keys)
        for name, data in writer.parts.items():
            self.parts.store.put(name, data)
        for name in set(self._key_parts) - set(writer.names):
            self.parts.store.delete(name)
        facts = {
            **said_of(self.query, self.slices.schema, self.slices.tracks.tracks),
            "watermark": self.watermark,
            "counts": asdict(self.counts),
            "held": [list(names) for names in self.slices.tracks.binding.held],
            "few_keys": self._few_keys,
            "tracks": [shelf.saved() for shelf in self.shelves],
        }
        self.parts.store.put(MANIFEST, manifest(facts, writer.names))
