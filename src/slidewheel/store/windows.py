"""The windows of a store's query, put together from its slots: the rows that the query gives for the same events."""

from collections.abc import Sequence
from math import gcd

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries, fill
from slidewheel.engine.periodic import slice_starts
from slidewheel.engine.windowed import Windowed
from slidewheel.errors import InvalidArgument, PlanTooLarge, Unsupported
from slidewheel.store.asking import Question
from slidewheel.store.partials import Partials
from slidewheel.times import format_duration
from slidewheel.wheel.levels import Level
from slidewheel.windows.plan import Plan
from slidewheel.windows.specs import Sliding, Spec

MOST_SLOTS = 10_000_000


def chosen_windows(specs: Sequence[Spec], name: str | None) -> list[Sliding]:
    """The spec of this name, or all of them: those that slots can make up."""
    found = [spec for spec in specs if name is None or spec.name == name]
    if not found:
        raise InvalidArgument(f"there is no window {name!r}; there are {', '.join(spec.name for spec in specs)}")
    for spec in found:
        if not isinstance(spec, Sliding):
            raise Unsupported(f"a store has sliding and tumbling windows, but {spec.name} needs the rows themselves")
    return [spec for spec in found if isinstance(spec, Sliding)]


def level_for(specs: Sequence[Sliding], levels: Sequence[Level]) -> Level:
    """The coarsest level whose slots never cross the edge of a window."""
    unit = 0
    for spec in specs:
        unit = gcd(unit, spec.range, spec.every, spec.offset)
    fit = [level for level in levels if unit % level.length == 0]
    if not fit:
        raise Unsupported(
            f"windows begin and end every {format_duration(unit)}, which is not a whole number of ticks of "
            f"{format_duration(levels[0].length)}: make the store with a finer tick"
        )
    return fit[-1]


def slots_between(low: int, high: int, length: int) -> Array:
    count = (high - low) // length
    if count > MOST_SLOTS:
        raise PlanTooLarge(f"the range has {count:,} slots of {format_duration(length)}: ask for less")
    return np.arange(low, high + length, length, dtype=np.int64)


def windows_table(question: Question, specs: Sequence[Sliding], first: int | None, last: int | None) -> pa.Table:
    """The windows that hold a row, start at `first` or later, and end at `last` or before.

    The question is for the slots of their time, one bucket each.
    """
    partials: Partials = question.reading.partials
    found = question.partials()
    kind = partials.schema.field(partials.definition.query.time).type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    plan = Plan(specs, partials.definition.query.aggregates, "auto")
    tracks = Windowed(plan, partials.binding, partials.keys, pa.timestamp("us", zone))
    tracks.see_keys()
    starts = question.edges[found.ids]
    for track in tracks.tracks:
        fill(track.arena, Entries(found.codes, slice_starts(track.slicing, starts), found.states))
    latest = int(starts.max()) if len(starts) else None
    table = tracks.table(tracks.close(None, None if len(starts) else 0, latest))
    for name, limit, fits in (("window_start", first, pc.greater_equal), ("window_end", last, pc.less_equal)):
        if limit is not None:
            table = table.filter(fits(table[name].cast(pa.timestamp("us")).cast(pa.int64()), limit))
    return table
