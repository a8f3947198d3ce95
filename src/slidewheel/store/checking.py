"""Checking a store: every file is as it was written, and every level is the sum of the one below."""

from dataclasses import dataclass, field

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries
from slidewheel.errors import InvalidStore
from slidewheel.store.log import FOREVER, DataFile, Snapshot
from slidewheel.store.partials import Partials
from slidewheel.store.reading import Reading
from slidewheel.times import format_instant


@dataclass
class Checked:
    """What was looked at, and what is wrong."""

    files: int = 0
    rows: int = 0
    slots: int = 0
    """Slots of coarser levels that were compared with those below."""
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        head = f"{self.files} files, {self.rows:,} rows, {self.slots:,} slots compared with the level below: "
        return head + ("all is well" if self.ok else "\n  ".join([f"{len(self.problems)} problems", *self.problems]))


def check(snapshot: Snapshot, reading: Reading) -> Checked:
    """Read all of a version."""
    done, partials = Checked(files=len(snapshot.files)), reading.partials
    found: dict[str, list[Entries]] = {level.name: [] for level in snapshot.definition.levels}
    lengths = {level.name: level.length for level in snapshot.definition.levels}
    for file in snapshot.files:
        try:
            entries = reading.whole(file)
        except InvalidStore as error:
            done.problems.append(str(error))
            continue
        done.rows += len(entries)
        done.problems += _problems(file, entries, lengths)
        if file.folded and file.level in found:
            found[file.level].append(entries)
    if done.ok:
        _compare(snapshot, partials, found, done)
    return done


def _problems(file: DataFile, entries: Entries, lengths: dict[str, int]) -> list[str]:
    """What is wrong with a file by itself."""
    if file.level not in lengths:
        return [f"{file.path}: the store has no level {file.level!r}"]
    said = []
    if len(entries) != file.rows:
        said.append(f"{file.path}: the log says {file.rows:,} rows, and there are {len(entries):,}")
    if len(entries) and (int(entries.ids.min()) < file.first or int(entries.ids.max()) > file.last):
        said.append(f"{file.path}: it has slots outside of what the log says")
    if (entries.ids % lengths[file.level]).any():
        said.append(f"{file.path}: it has a slot that begins inside of another")
    return said


def _compare(snapshot: Snapshot, partials: Partials, found: dict[str, list[Entries]], done: Checked) -> None:
    """That what is folded is there once, and adds up from level to level."""
    levels, below = snapshot.definition.levels, None
    for place, level in enumerate(levels):
        parts = found[level.name]
        here = partials.folded(parts)
        if len(here) < sum(map(len, parts)):
            done.problems.append(f"{level.name}: a slot of a key is there twice, though folded")
        if below is not None:
            since = snapshot.kept[levels[place - 1].name]
            made = partials.rolled_up(below.take(below.ids >= since), level.length)
            made = made.take(made.ids >= snapshot.kept[level.name])
            own = here.take(here.ids >= since) if since > FOREVER else here
            own = own.take(own.ids >= snapshot.kept[level.name])
            done.slots += len(own)
            done.problems += _differences(partials, level.name, own, made)
        below = here


def _differences(partials: Partials, level: str, own: Entries, made: Entries) -> list[str]:
    same = len(own) == len(made) and (own.codes == made.codes).all() and (own.ids == made.ids).all()
    if not same:
        return [f"{level}: it has {len(own):,} slots, and the level below makes {len(made):,}"]
    said = []
    for number, columns in enumerate(partials.layout.parts):
        at = _first_difference(own.states[number], made.states[number])
        if at is not None:
            key = [part[0].as_py() for part in partials.keys.take(own.codes[at : at + 1])]
            what = f"{columns[0].name} of {key} at {format_instant(int(own.ids[at]))}"
            mine, theirs = own.states[number][at], made.states[number][at]
            said.append(f"{level}: {what} is {mine}, but the level below makes {theirs}")
    return said


def _first_difference(mine: Array, theirs: Array) -> int | None:
    """Where states begin to differ. NaN is itself here, and sets are equal whatever their order."""
    if len(mine) == 0:
        return None
    if mine.dtype == object:
        pairs = zip(mine.tolist(), theirs.tolist(), strict=True)
        return next((k for k, (a, b) in enumerate(pairs) if not (a == b or repr(a) == repr(b))), None)
    differs = np.zeros(len(mine), dtype=bool)
    for name in mine.dtype.names or (None,):
        a, b = (states if name is None else states[name] for states in (mine, theirs))
        unlike = (a != b) & ~((a != a) & (b != b))
        differs |= unlike.reshape(len(mine), -1).any(axis=1)
    return int(np.argmax(differs)) if differs.any() else None
