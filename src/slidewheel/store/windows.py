"""Sliding and tumbling windows of a store, put together from its slots: what a query gives for the same events."""

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.sums import count
from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries, fill
from slidewheel.engine.periodic import Periodic, slice_starts
from slidewheel.engine.track import Closed
from slidewheel.errors import InvalidArgument, PlanTooLarge, Unsupported
from slidewheel.store.asking import Question
from slidewheel.times import format_duration
from slidewheel.windows.plan import Group, Plan
from slidewheel.windows.slicing import Slicing
from slidewheel.windows.specs import Sliding, Spec

MOST_SLICES = 10_000_000


def chosen_windows(specs: Sequence[Spec], window: Any, tick: int) -> list[Sliding]:
    """All windows of a query, the one of this name, or one of the user's own: those that slots can make up."""
    found = [window] if isinstance(window, Spec) else [spec for spec in specs if window in (None, spec.name)]
    if not found:
        raise InvalidArgument(
            f"there is no window {window!r}: give one such as sw.sliding('1h', every='5m'), or the name of one of "
            f"{', '.join(spec.name for spec in specs)}"
        )
    unit = 0
    for spec in found:
        if not isinstance(spec, Sliding):
            raise Unsupported(f"a store has sliding and tumbling windows, but {spec.name} needs the rows themselves")
        unit = gcd(unit, spec.range, spec.every, spec.offset)
    if unit % tick:
        raise Unsupported(
            f"windows begin and end every {format_duration(unit)}, which is not a whole number of ticks of "
            f"{format_duration(tick)}: make the store with a finer tick"
        )
    return [spec for spec in found if isinstance(spec, Sliding)]


def windows_table(
    ask: Callable[[Array], Question], specs: Sequence[Sliding], low: int, high: int, first: int | None, last: int | None
) -> pa.Table:
    """The windows that hold a row of [low, high), start at `first` or later, and end at `last` or before.

    ask: the question for buckets between these edges.
    """
    plan, closed = Plan(specs, (count(),)), []
    for group in plan.groups:
        question = ask(_edges(group.slicing, low, high))
        closed += _closed(question, group)
    inside = [_inside(one, first, last) for one in closed]
    keys, which, starts, ends = (
        np.concatenate([getattr(one, name)[some] for one, some in zip(closed, inside, strict=True)])
        for name in ("keys", "specs", "starts", "ends")
    )
    states = [
        np.concatenate([one.states[k][some] for one, some in zip(closed, inside, strict=True)])
        for k in range(len(question.components))
    ]
    with question.reading.lock:
        ranks = question.reading.partials.keys.ranks()
    order, kind = np.lexsort((which, ranks[keys], ends)), _time_type(question)
    bounds = [pa.array(times[order]).view(pa.timestamp("us")).cast(kind) for times in (starts, ends)]
    names = pa.array(plan.names).take(pa.array(which[order]))
    answers = question.answered(keys[order], [column[order] for column in states])
    about = dict(zip(("window_start", "window_end", "window"), (*bounds, names), strict=True))
    count_of_keys = len(question.snapshot.definition.query.keys)
    listed = list(answers.items())
    return pa.table({**dict(listed[:count_of_keys]), **about, **dict(listed[count_of_keys:])})


def _time_type(question: Question) -> pa.DataType:
    partials = question.reading.partials
    kind = partials.schema.field(partials.definition.query.time).type
    return pa.timestamp("us", kind.tz if pa.types.is_timestamp(kind) else None)


def _edges(slicing: Slicing, low: int, high: int) -> Array:
    """Where slices begin from `low` to `high`, and these two."""
    turns = (high - low) // slicing.period + 2
    if turns * len(slicing.edges) > MOST_SLICES:
        raise PlanTooLarge(f"the range has {turns * len(slicing.edges):,} slices of windows: ask for less")
    begin = low // slicing.period * slicing.period
    found = (begin + slicing.period * np.arange(turns)[:, None] + np.array(slicing.edges)[None, :]).reshape(-1)
    return np.concatenate([[low], found[(found > low) & (found < high)], [max(high, low)]]).astype(np.int64)


def _closed(question: Question, group: Group) -> list[Closed]:
    """All windows of a group that hold a row."""
    partials, found = question.reading.partials, question.partials()
    track = Periodic(group)
    for number in question.components:
        track.arena.add_component(partials.binding.component(number))
    nothing = np.empty(0, dtype=np.int64)
    if len(found) == 0:
        return [Closed(nothing, nothing, nothing, nothing, found.states)]
    track.reserve_keys(len(partials.keys))
    starts = question.edges[found.ids]
    fill(track.arena, Entries(found.codes, slice_starts(group.slicing, starts), found.states))
    return track.close(None, track.final(int(starts.max())), partials.keys)


def _inside(closed: Closed, first: int | None, last: int | None) -> Array:
    fits = np.ones(len(closed.keys), dtype=bool)
    if first is not None:
        fits &= closed.starts >= first
    if last is not None:
        fits &= closed.ends <= last
    return fits
