"""From a store to memory: a keyed wheel that answers in microseconds."""

import numpy as np

from slidewheel.engine.entries import Entries
from slidewheel.engine.threads import each
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.store.choosing import Chosen
from slidewheel.store.layout import Layout
from slidewheel.store.log import DataFile, Snapshot
from slidewheel.store.partials import Partials
from slidewheel.store.planning import planned
from slidewheel.store.reading import Reading
from slidewheel.wheel.keyed import KeyedWheel
from slidewheel.wheel.levels import Level

LARGEST = 8 << 30
"""Bytes of a wheel that is loaded without a word."""


def slots_between(
    snapshot: Snapshot, reading: Reading, chosen: Chosen | None, low: int, high: int, level: Level
) -> Entries:
    """All slots of a level from `low` to `high`: those that are folded, and what is not yet."""
    partials, levels = reading.partials, snapshot.definition.levels
    # Where order matters, what is not folded can only be put in its place among the finest slots.
    source = levels[0] if snapshot.definition.ordered and snapshot.fresh else level
    planned([source], snapshot.kept, np.array([low, high], dtype=np.int64))
    files = [
        file
        for file in (*snapshot.folded(source.name), *snapshot.fresh)
        if file.first < high and file.last >= low and (chosen is None or chosen.possible(file.lows, file.highs))
    ]

    def read(file: DataFile) -> Entries:
        entries = reading.whole(file)
        inside = (entries.ids >= low) & (entries.ids < high)
        if chosen is not None:
            inside &= chosen.holds(entries.codes)
        entries = entries.take(inside)
        return entries if file.folded else partials.rolled_up(entries, source.length)

    found = each(read, files)
    whole = partials.folded(found)
    return whole if source is level else partials.rolled_up(whole, level.length)


def wheel_of(partials: Partials, entries: Entries, levels: list[Level], low: int, high: int) -> KeyedWheel:
    """A wheel from `low` to `high` with these partials, whose slots are those of its finest level."""
    query = partials.definition.query
    if not query.keys:
        raise Unsupported("a keyed wheel needs keys, and this store has none: ask it with query()")
    tick = levels[0].length
    wheel = KeyedWheel(query.aggregates, query.keys, time=query.time, start=low, tick=tick, levels=levels)
    wheel._begin(partials.schema)
    put(wheel, partials, entries, high)
    return wheel


def put(wheel: KeyedWheel, partials: Partials, entries: Entries, until: int) -> None:
    """Partials behind a wheel's watermark into it, and the watermark to `until`."""
    slots, rows = np.unique(entries.ids // wheel.tick, return_inverse=True)
    used, own = np.unique(entries.codes, return_inverse=True)
    codes = wheel._known.encode(partials.keys.take(used), len(used))[own.reshape(-1)]
    count = len(wheel._known)
    _refuse_too_large(wheel, len(slots), count)
    wheel._widen(count)
    table = partials.layout.written(entries.states)
    parts = range(len(partials.binding.parts))
    theirs = Layout(wheel._binding, trusted=True).read(table, len(entries), parts)
    places = rows.reshape(-1) * count + codes
    for number, core in enumerate(wheel._cores):
        states = np.empty(len(slots) * count, dtype=core.dtype)
        core.values.work.run("empty_states", states)
        filled = np.zeros(len(slots) * count, dtype=np.uint8)
        states[places], filled[places] = theirs[number], partials.layout.filled(number, entries.states)
        core.put_finished(slots, states, filled, until // wheel.tick)
    wheel._watermark = max(until // wheel.tick, wheel._watermark)
    wheel._publish()


def _refuse_too_large(wheel: KeyedWheel, slots: int, keys: int) -> None:
    size = slots * keys * sum(core.dtype.itemsize for core in wheel._cores)
    if size > LARGEST:
        raise InvalidArgument(
            f"the wheel would take {size / 2**30:.0f} GiB, for {slots:,} slots of {keys:,} keys: load fewer keys=, a "
            f"shorter range, or a coarser level="
        )
