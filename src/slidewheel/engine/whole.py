"""A stream whose whole state is loaded for every step: for queries whose state has no slices that could rest apart."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from slidewheel.engine.container import MANIFEST, read_manifest
from slidewheel.engine.resting import Counts
from slidewheel.engine.sessions import Sessions
from slidewheel.engine.shelf import Store
from slidewheel.engine.stream import Stream, tracks_for
from slidewheel.errors import InvalidSnapshot
from slidewheel.windows.specs import Sliding

if TYPE_CHECKING:
    from slidewheel.engine.query import Query


class Whole:
    """One step of a stream. Its state is the parts of a snapshot; those that have not changed stay as they are."""

    def __init__(self, query: "Query", schema: pa.Schema, store: Store) -> None:
        self.query, self.store = query, store
        self._names: list[str] = []
        manifest = store.get(MANIFEST)
        if manifest is None:
            self.stream = Stream(query)
            self.stream._start(schema)
            return
        _, self._names = read_manifest(manifest)
        parts = {name: store.get(name) or b"" for name in self._names}
        self.stream = Stream.restore(query, {MANIFEST: manifest, **parts}, trusted=True)
        made = self.stream._schema
        if made is not None and not made.equals(tracks_for(query, schema)[1]):
            raise InvalidSnapshot("the state was made with columns of other types: go on with those, or start anew")

    @property
    def watermark(self) -> int | None:
        return self.stream.watermark

    @property
    def counts(self) -> Counts:
        late = self.stream.late
        return Counts(late.rows, late.dropped, late.null_times)

    @property
    def open(self) -> bool:
        """Whether there is anything that a later watermark could close."""
        engine = self.stream._engine
        return any(batch is not None and len(batch) for batch in (engine.pending,)) or any(
            track.arena.entries for track in engine.tracks
        )

    def open_windows(self) -> tuple[int, int]:
        """How many open windows start at the newest row or before it; and how many open sessions all keys have."""
        latest, watermark = self.stream._latest, self.watermark
        sessions = sum(track.arena.entries for track in self.stream._engine.tracks if isinstance(track, Sessions))
        if latest is None or watermark is None:
            return 0, sessions
        periodic = [spec for spec in self.query.windows if isinstance(spec, Sliding)]
        return sum(spec.open_between(watermark, latest + 1) for spec in periodic), sessions

    def step(self, packets: Iterable[pa.Table], watermark: int) -> pa.Table:
        """Take rows in, judged by the watermark of the step before; close windows up to this one; save."""
        stream = self.stream
        assert stream._schema is not None
        table = pa.concat_tables([stream._schema.empty_table(), *packets], promote_options="permissive")
        result = stream._step(stream._read(table), at_least=watermark)
        self.late_rows, self.rows_without_time = stream.take_late()
        self._save()
        return result

    def steps(self, packets: Iterable[pa.Table], watermark: int) -> Iterator[pa.Table]:
        """The same, as `Resting` gives it."""
        yield self.step(packets, watermark)

    def _save(self) -> None:
        parts = self.stream.snapshot_parts(known=self._names)
        _, names = read_manifest(parts[MANIFEST])
        for name, data in parts.items():
            self.store.put(name, data)
        for name in set(self._names) - set(names):
            self.store.delete(name)
