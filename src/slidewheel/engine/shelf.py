"""The slices of one track at rest: what a step takes down from the store, and what it puts back."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from slidewheel.engine.chunks import Chunks, chunks_for
from slidewheel.engine.columns import Array
from slidewheel.engine.container import checked, full_name
from slidewheel.engine.entries import Entries, concatenated, entries_of, fill, merged, read_entries
from slidewheel.engine.periodic import Periodic
from slidewheel.windows.specs import Sliding

FOLD = 4096
"""Late slices that are kept beside the chunks at least."""


class Store(Protocol):
    """Where parts rest."""

    def get(self, name: str) -> bytes | None: ...
    def put(self, name: str, data: bytes) -> None: ...
    def delete(self, name: str) -> None: ...


class Parts:
    """Parts of a store whose names tell what is in them."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self, name: str) -> bytes:
        data = self.store.get(name)
        return checked({} if data is None else {name: data}, name)

    def write(self, name: str, data: bytes) -> str:
        full = full_name(name, data)
        self.store.put(full, data)
        return full


class Shelf:
    """One track between two steps. Its arena holds the slices that came, and then those that windows are made of."""

    def __init__(self, name: str, track: Periodic, store: Store, said: dict[str, Any] | None) -> None:
        self.name, self.track, self.parts = name, track, Parts(store)
        self.chunks = None if said is None else _chunks(said)
        self._late = self._none()
        """The late slices as they were stored before the step."""
        self._open = self._none()
        """The slices that came, and those of chunks which are not complete."""

    def saved(self) -> dict[str, Any] | None:
        return None if self.chunks is None else asdict(self.chunks)

    # Merging: slices go into the chunks that are not complete; late ones are kept beside those that are.

    def merge(self, before: int | None, until: int, counting: int) -> tuple[int, int]:
        """Store the slices that came, which lie in the arena, judged by the watermark before.

        Returns how many rows were late, and how many of them count nowhere. Component `counting` counts rows.
        """
        came = entries_of(self.track.arena)
        if self.chunks is None:
            self.chunks = chunks_for(self.track.slicing, self.longest, came.ids)
        chunks = self.chunks
        open_from = chunks.complete(before)
        late = self._keep_late(came, before, open_from, counting)
        if len(came):
            newest = self.track.slicing.end(int(came.ids.max()))
            chunks.newest = newest if chunks.newest is None else max(newest, chunks.newest)
        numbers = chunks.of(came.ids)
        touched = set(np.unique(numbers[numbers >= open_from]).tolist())
        passed = int(chunks.of(until))
        stored = [
            self._read(chunks.slices[chunk])
            for chunk in sorted(chunks.slices)
            if chunk >= open_from and (chunk in touched or chunk <= passed)
        ]
        self._open = merged(self.track.arena, [*stored, came]) if stored else came
        for chunk, entries in self._by_chunk(self._open, max(self.horizon(until), chunks.start(open_from))):
            if chunk in touched:
                self._replace(chunks.slices, chunk, f"slices/{chunk}", entries)
        self._complete(self._open, passed)
        return late

    def _keep_late(self, came: Entries, watermark: int | None, open_from: int, counting: int) -> tuple[int, int]:
        chunks = self.chunks
        assert chunks is not None
        if chunks.late is not None:
            self._late = self._read(chunks.late)
        if watermark is None or len(came) == 0 or int(came.ids.min()) >= watermark:
            return 0, 0
        behind = came.take(came.ids < watermark)
        missed, counts, _ = self.track.lateness(_Late(behind.ids), watermark, 0)
        kept = behind.take(counts & (chunks.of(behind.ids) < open_from))
        if len(kept):
            self._write_late(merged(self.track.arena, [self._late, kept]))
        rows = behind.states[counting]
        return int(rows[missed].sum()), int(rows[missed & ~counts].sum())

    def _write_late(self, entries: Entries) -> None:
        assert self.chunks is not None
        if self.chunks.late is not None:
            self.parts.store.delete(self.chunks.late)
        self.chunks.late = self._write("late", entries) if len(entries) else None

    def _by_chunk(self, entries: Entries, first: int) -> Iterable[tuple[int, Entries]]:
        """The entries from this slice on, chunk by chunk."""
        assert self.chunks is not None
        wanted = entries.take(entries.ids >= first)
        return wanted.split(self.chunks.of(wanted.ids))

    # Complete chunks have totals.

    def _complete(self, whole: Entries, until: int) -> None:
        chunks = self.chunks
        assert chunks is not None
        numbers = chunks.of(whole.ids)
        for level, block, children in chunks.to_complete(until, self.longest):
            if level == 0:
                parts = [whole.take(numbers == block)]
                if len(parts[0]) == 0:
                    parts = [self._read(chunks.slices[block])]
            else:
                parts = [self._read(chunks.totals[below][child]) for below, child in children]
            self._total(level, block, parts)

    def _total(self, level: int, block: int, parts: list[Entries]) -> None:
        chunks = self.chunks
        assert chunks is not None
        start = chunks.start(block << level)
        total = merged(self.track.arena, [part.at(start) for part in parts])
        self._replace(chunks.totals[level], block, f"total/{level}/{block}", total)

    # Closing: windows are put together from totals, the slices at their edges, and what is open.

    def fetch(self, before: int | None, until: int) -> None:
        """Into the arena, what windows hold that end after `before`, up to `until`."""
        chunks = self.chunks
        parts = [self._open, self._late]
        if chunks is not None and before is not None and chunks.slices:
            # Windows further back or ahead hold nothing of what is complete.
            first = max(before, chunks.start(min(chunks.slices)))
            last = min(until, chunks.start(max(chunks.slices) + 1) + self.longest)
            cuts = np.concatenate([_edges(spec, first, last) for _, spec in self.track.specs])
            slices, totals = chunks.needed(cuts, chunks.complete(before))
            parts += [self._read(chunks.slices[chunk]) for chunk in slices]
            parts += [self._read(chunks.totals[level][block]) for level, block in totals]
            earliest = self.horizon(before)
            parts = [part.take(part.ids >= earliest) for part in parts]
        self.track.arena.clear()
        fill(self.track.arena, concatenated(parts))

    def age(self, until: int) -> None:
        """Forget what no window needs any more; when there are many late slices, fold them in."""
        chunks = self.chunks
        if chunks is None:
            return
        keep = self.horizon(until)
        chunks.drop(keep, self.parts.store.delete)
        if chunks.late is not None:
            stored = self._read(chunks.late)
            alive = stored.take(stored.ids >= keep)
            if len(alive) > max(FOLD, self.track.arena.keys):
                self._fold(alive)
            elif len(alive) < len(stored):
                self._write_late(alive)

    def _fold(self, late: Entries) -> None:
        """Late slices into the chunks that they belong to, and into all totals of these."""
        chunks = self.chunks
        assert chunks is not None
        for chunk, entries in late.split(chunks.of(late.ids)):
            known = [self._read(chunks.slices[chunk])] if chunk in chunks.slices else []
            self._replace(chunks.slices, chunk, f"slices/{chunk}", merged(self.track.arena, [*known, entries]))
            for level, totals in enumerate(chunks.totals):
                if chunk >> level in totals:
                    self._total(level, chunk >> level, [self._read(totals[chunk >> level]), entries])
        self._write_late(self._none())

    # Keys.

    def used_keys(self) -> list[Array]:
        """The codes of all keys that have slices."""
        return [] if self.chunks is None else [self._read(name).codes for name in self.chunks.names]

    def rename_keys(self, renamed: Array) -> None:
        """Write all parts anew, with these codes instead of those that they have."""
        if self.chunks is None:
            return
        again: dict[str, str] = {}
        for name in self.chunks.names:
            entries = self._read(name)
            entries.codes = renamed[entries.codes]
            again[name] = self.parts.write(
                name.rpartition("-")[0], entries.take(np.argsort(entries.codes, kind="stable")).to_bytes()
            )
            if again[name] != name:
                self.parts.store.delete(name)
        self.chunks.rename(again)

    # The store.

    def _read(self, name: str) -> Entries:
        return read_entries(self.parts.read(name), [component.dtype for component in self.track.arena.components])

    def _write(self, name: str, entries: Entries) -> str:
        return self.parts.write(f"{self.name}/{name}", entries.to_bytes())

    def _replace(self, names: dict[int, str], place: int, name: str, entries: Entries) -> None:
        old = names.get(place)
        names[place] = self._write(name, entries)
        if old is not None and old != names[place]:
            self.parts.store.delete(old)

    def _none(self) -> Entries:
        return merged(self.track.arena, [])

    # What windows say.

    @property
    def longest(self) -> int:
        return int(max(spec.range for _, spec in self.track.specs))

    def horizon(self, watermark: int) -> int:
        """The start of the first window that is open when the watermark is there."""
        return int(min(spec.start(spec.first_end_after(watermark)) for _, spec in self.track.specs))


class _Late:
    """Rows as `lateness` reads them."""

    def __init__(self, times: Array) -> None:
        self.times = times


def _chunks(said: dict[str, Any]) -> Chunks:
    said["slices"] = {int(chunk): name for chunk, name in said["slices"].items()}
    said["totals"] = [{int(number): name for number, name in level.items()} for level in said["totals"]]
    return Chunks(**said)


def _edges(spec: Sliding, before: int, until: int) -> Array:
    """The starts and ends of the windows that end after `before`, up to `until`."""
    first, last = spec.first_end_after(before), spec.last_end_until(until)
    starts = spec.offset + spec.every * np.arange(first, last + 1)
    return np.concatenate([starts, starts + spec.range])
