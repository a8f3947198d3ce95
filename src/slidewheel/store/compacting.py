"""Compaction: partials that were written since are folded into their slots, and all levels above follow.

A level's files are cut where slots of the level above begin, so each of those slots is made of rows of one stretch of
files. Only files that hold something near a new partial are written anew. All of it is one commit, which takes the old
files out and puts the new ones in: a reader sees everything before it or everything after it.
"""

from dataclasses import dataclass

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries
from slidewheel.store.files import Folder, Written, write_rows
from slidewheel.store.log import FOREVER, KEPT, DataFile, Snapshot
from slidewheel.store.partials import Partials
from slidewheel.store.reading import Reading
from slidewheel.wheel.levels import Level

TARGET = 1 << 18
"""Rows of a file, about."""


@dataclass
class Compacted:
    """What a compaction has done."""

    partials: int = 0
    """That were not folded before."""
    removed: int = 0
    """Files."""
    added: int = 0
    rows: int = 0
    """Of the files that were written."""
    too_old: int = 0
    """Partials that were older than all that is kept: they are in no level any more."""
    forgotten: int = 0
    """Files whose slots are not kept any more."""

    def __str__(self) -> str:
        text = (
            f"folded {self.partials:,} partials: {self.removed} files became {self.added} with {self.rows:,} rows; "
            f"{self.forgotten} files were let go by retention"
        )
        return text + (f"; {self.too_old:,} partials were older than all that is kept" if self.too_old else "")


class Compaction:
    """The work on one snapshot; `run` writes files, and says what to commit."""

    def __init__(self, snapshot: Snapshot, reading: Reading, folder: Folder, target: int = TARGET) -> None:
        self.snapshot, self.reading, self.folder, self.target = snapshot, reading, folder, target
        self.partials: Partials = reading.partials
        self.levels = snapshot.definition.levels
        self.added: list[Written] = []
        self.removed: list[DataFile] = []
        self.done = Compacted()

    def run(self) -> dict[str, int] | None:
        """Write what is to be added; the numbers to commit with it, None if there is nothing to do."""
        kept = self._kept()
        fresh = self._fresh()
        moved = any(kept[level.name] > self.snapshot.kept[level.name] for level in self.levels)
        if not self.snapshot.fresh and not moved:
            return None
        self.removed += self.snapshot.fresh
        below, finer = fresh, fresh
        for place, level in enumerate(self.levels):
            above = self.levels[place + 1].length if place + 1 < len(self.levels) else level.length
            if place:
                below = self.partials.rolled_up(below, level.length)
                since = kept[self.levels[place - 1].name]
                finer = self.partials.rolled_up(finer.take(finer.ids >= since), level.length)
            finer = self._renew(level, above, kept, place, below, finer)
        coarsest = min(kept.values())
        self.done.too_old = int((fresh.ids < coarsest).sum()) if coarsest > FOREVER else 0
        self.done.removed, self.done.added = len(self.removed), len(self.added)
        return {KEPT + name: since for name, since in kept.items() if since > FOREVER}

    def _fresh(self) -> Entries:
        parts = [self.reading.whole(file) for file in self.snapshot.fresh]
        self.done.partials = sum(map(len, parts))
        return self.partials.folded(parts)

    def _kept(self) -> dict[str, int]:
        """Since when each level is kept: a whole slot of the level above, so that none is half there."""
        kept = dict(self.snapshot.kept)
        if self.snapshot.span is None:
            return kept
        newest = self.snapshot.span[1]
        for place, level in enumerate(self.levels):
            above = self.levels[place + 1].length if place + 1 < len(self.levels) else level.length
            if level.kept is not None:
                since = (-(-newest // level.length) - level.kept) * level.length // above * above
                kept[level.name] = max(since, kept[level.name])
        return kept

    def _renew(
        self, level: Level, above: int, kept: dict[str, int], place: int, added: Entries, finer: Entries
    ) -> Entries:
        """Bring a level up to date; returns its rows near what is new, as the level above needs them.

        added: what is new, in slots of this level. finer: for a level above the first, what the level below holds in
        all slots near that, as far as it is kept.
        """
        since = kept[level.name]
        near = np.unique(added.ids // above) if len(added) else np.empty(0, dtype=np.int64)
        before, gone = [], []
        for file in self.snapshot.folded(level.name):
            if file.last < since:
                gone.append(file)
            elif _touches(file, near, above):
                before.append(file)
        self.done.forgotten += len(gone)
        self.removed += gone + before
        rows = [self.reading.whole(file) for file in before]
        if place == 0:
            found = self.partials.folded([*rows, added])
        else:
            # Slots whose rows below are all there are made anew of them; older ones take in what is new.
            whole = kept[self.levels[place - 1].name]
            finer = finer.take(np.isin(finer.ids // above, near))
            old = [_without(part, finer) for part in rows]
            found = self.partials.folded([*old, added.take(added.ids < whole), finer])
        found = found.take(found.ids >= since)
        self._write(place, above, found)
        return found

    def _write(self, place: int, above: int, entries: Entries) -> None:
        """Rows in files of about the same size, cut where slots of the level above begin."""
        if len(entries) == 0:
            return
        self.done.rows += len(entries)
        slots, counts = np.unique(entries.ids // above, return_counts=True)
        pieces = (np.cumsum(counts) - counts) // self.target
        piece = pieces[np.searchsorted(slots, entries.ids // above)]
        for _, part in entries.split(piece):
            table = self.partials.table(part, place)
            for first in range(0, table.num_rows, 2 * self.target):
                rows = table.slice(first, 2 * self.target)
                name, keys = self.levels[place].name, self.partials.keys.names
                self.added.append(write_rows(self.folder, name, True, rows, keys))


def _touches(file: DataFile, near: Array, above: int) -> bool:
    """Whether a file has rows in one of these slots of the level above."""
    place = int(np.searchsorted(near, file.first // above))
    return place < len(near) and int(near[place]) <= file.last // above


def _without(entries: Entries, others: Entries) -> Entries:
    """The entries whose key and slot none of the others has."""
    if not len(entries) or not len(others):
        return entries
    pairs = np.zeros(len(entries) + len(others), dtype=[("code", np.int64), ("id", np.int64)])
    pairs["code"] = np.concatenate([entries.codes, others.codes])
    pairs["id"] = np.concatenate([entries.ids, others.ids])
    numbers = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return entries.take(~np.isin(numbers[: len(entries)], numbers[len(entries) :]))
