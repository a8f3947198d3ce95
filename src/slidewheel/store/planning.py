"""Which slots answer a range: coarse ones inside, finer ones at its edges, as in a wheel (Meldrum, Carbone: uWheel)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument
from slidewheel.times import format_duration, format_instant
from slidewheel.wheel.levels import Level


@dataclass
class Stretch:
    """Slots of one level that are asked for: [low, high) for each bucket, in the order of time."""

    level: Level
    lows: Array
    highs: Array
    buckets: Array

    @property
    def slots(self) -> int:
        return int((self.highs - self.lows).sum()) // self.level.length

    def spans(self, most: int = 64) -> list[tuple[int, int]]:
        """The time that is asked for, in a few pieces: the widest gaps stay out."""
        if not len(self.lows):
            return []
        gaps = self.lows[1:] - self.highs[:-1]
        wide = np.sort(np.argsort(gaps)[::-1][: most - 1])
        wide = wide[gaps[wide] > 0]
        lows, highs = self.lows[[0, *(wide + 1)]], self.highs[[*wide, -1]]
        return list(zip(lows.tolist(), highs.tolist(), strict=True))

    def place(self, ids: Array) -> Array:
        """The bucket of each slot, -1 where it is not asked for."""
        at = np.searchsorted(self.lows, ids, side="right") - 1
        inside = (at >= 0) & (ids < self.highs[np.maximum(at, 0)]) if len(self.lows) else np.zeros(len(ids), dtype=bool)
        return np.where(inside, self.buckets[np.maximum(at, 0)] if len(self.lows) else -1, -1)


@dataclass
class StorePlan:
    """How a question is answered."""

    version: int
    """Of the store that was asked."""
    start: int
    end: int
    buckets: int
    stretches: list[Stretch]
    files: int = 0
    """Files that are read, and all that there are."""
    all_files: int = 0
    rows: int = 0
    """Partial states that are read."""
    fresh: int = 0
    """Of these, the ones that compaction has not folded."""
    combined: int = 0
    """Partial states that are combined."""
    answers: int = 0
    seconds: float = 0.0
    slots: dict[str, int] = field(default_factory=dict)
    """Slots of each level that the range is made of."""

    def __str__(self) -> str:
        cut = "" if self.buckets == 1 else f", in {self.buckets:,} buckets"
        lines = [f"[{format_instant(self.start)}, {format_instant(self.end)}){cut}"]
        lines += [f"  + {count:,} of {name}" for name, count in self.slots.items()]
        lines.append(
            f"  {self.rows:,} states read from {self.files} of {self.all_files} files, {self.fresh:,} of them not "
            f"folded yet; {self.combined:,} combined to {self.answers:,} answers in {1000 * self.seconds:.1f} ms"
        )
        return "\n".join(lines)


def planned(
    levels: Sequence[Level], kept: Mapping[str, int], edges: Array, mixed: tuple[int, int] | None = None
) -> list[Stretch]:
    """The slots for the buckets between edges: of each level those that fit and that no coarser one has covered.

    In the time `mixed`, the finest level alone is used, as far as it is kept.
    """
    lows, highs, buckets = edges[:-1], edges[1:], np.arange(len(edges) - 1)
    finest = levels[0]
    apart = [np.empty(0, dtype=np.int64)] * 3
    if mixed is not None:
        low, high = max(mixed[0], kept[finest.name]), mixed[1]
        pieces = [(lows, np.minimum(highs, low)), (np.maximum(lows, low), np.minimum(highs, high))]
        pieces.append((np.maximum(lows, high), highs))
        (before, apart, after) = ([a[a < b], b[a < b], buckets[a < b]] for a, b in pieces)
        lows, highs, buckets = _in_order(before, after)
    found = []
    for level in reversed(levels):
        length = level.length
        first = np.maximum(-(-lows // length) * length, kept[level.name])
        last = highs // length * length
        has = first < last
        own = [first[has], last[has], buckets[has]]
        found.append(Stretch(level, *(_in_order(own, apart) if level is finest else own)))
        # What is left lies before and behind; where no slot fits, all of it.
        until = np.where(has, first, highs)
        left, right = lows < until, has & (last < highs)
        lows, highs, buckets = _in_order(
            [lows[left], until[left], buckets[left]], [last[right], highs[right], buckets[right]]
        )
    if len(lows):
        since = [
            f"{level.name} ({format_duration(level.length)}) since {format_instant(kept[level.name])}"
            for level in levels
            if kept[level.name] > np.iinfo(np.int64).min
        ]
        raise InvalidArgument(
            f"the time from {format_instant(int(lows[0]))} to {format_instant(int(highs[0]))} is older than what is "
            f"kept: {', '.join(since)}"
        )
    return [stretch for stretch in reversed(found) if len(stretch.lows)]


def _in_order(*pieces: Sequence[Array]) -> list[Array]:
    """Columns of several pieces as one, by the first of them."""
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]
