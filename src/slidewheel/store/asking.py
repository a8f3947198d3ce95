"""Asking a store: any range of time, for some keys or all, whole or in buckets."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries
from slidewheel.engine.threads import each
from slidewheel.errors import InvalidArgument
from slidewheel.store.choosing import Chosen
from slidewheel.store.definition import UTC, Definition
from slidewheel.store.log import DataFile, Snapshot
from slidewheel.store.planning import StorePlan, planned
from slidewheel.store.reading import Reading
from slidewheel.times import DurationLike, InstantLike, duration, format_duration, format_instant
from slidewheel.wheel import calendar
from slidewheel.wheel.arguments import instant_of


def edges_of(
    snapshot: Snapshot,
    start: InstantLike | None,
    end: InstantLike | None,
    every: DurationLike | None,
    timezone: str | None,
) -> Array:
    """Where buckets begin, and where the last one ends; without `every` there is one."""
    tick = snapshot.definition.tick
    span = snapshot.span or (0, 0)
    low = span[0] if start is None else instant_of(start)
    high = max(span[1], low) if end is None else instant_of(end)
    text = f"[{format_instant(low)}, {format_instant(high)})"
    if high < low:
        raise InvalidArgument(f"the range {text} ends before it starts")
    if low % tick or high % tick:
        raise InvalidArgument(f"the range {text} is not one of whole ticks of {format_duration(tick)}: round its ends")
    if every is None:
        return np.array([low, high], dtype=np.int64)
    if start is None and every not in calendar.UNITS:
        low -= low % duration(every)
    return calendar.edges(low, high, every, timezone, tick)


def chosen_aggregates(definition: Definition, aggregates: Any) -> list[int]:
    """The numbers of the aggregates with these names; of all, unless some are named."""
    outputs = [aggregate.output for aggregate in definition.query.aggregates]
    if aggregates is None:
        return list(range(len(outputs)))
    names = [aggregates] if isinstance(aggregates, str) else list(aggregates)
    for name in names:
        if name not in outputs:
            raise InvalidArgument(f"there is no aggregate {name!r}; there are {', '.join(outputs)}")
    if not names:
        raise InvalidArgument(f"name an aggregate at least; there are {', '.join(outputs)}")
    return [outputs.index(name) for name in names]


Wanted = tuple[DataFile, list[tuple[int, int]], Callable[[Array], Array]]
"""A file, the time of it that is asked for, and what says in which bucket a slot is."""


class Question:
    """A question to one version of a store: what is read for it, and its answer."""

    def __init__(
        self, snapshot: Snapshot, reading: Reading, edges: Array, chosen: Chosen | None, numbers: Sequence[int]
    ) -> None:
        self.snapshot, self.reading, self.edges, self.chosen, self.numbers = snapshot, reading, edges, chosen, numbers
        binding = reading.partials.binding
        self.parts = sorted({binding.uses[number].part for number in numbers})
        self.components = reading.partials.components_of(self.parts)
        stretches = planned(snapshot.definition.levels, snapshot.kept, edges, self._mixed())
        self.plan = StorePlan(snapshot.version, int(edges[0]), int(edges[-1]), len(edges) - 1, stretches)
        self.plan.all_files = len(snapshot.files)
        self.plan.slots = {stretch.level.name: stretch.slots for stretch in reversed(stretches)}

    def _mixed(self) -> tuple[int, int] | None:
        """Where partials that are not folded yet lie among others, and their order matters."""
        definition = self.snapshot.definition
        if not definition.ordered or not self.snapshot.fresh:
            return None
        fresh, tick = self.snapshot.fresh, definition.tick
        return min(file.first for file in fresh), max(file.last for file in fresh) + tick

    def partials(self) -> Entries:
        """A state for each key and bucket that holds something; slots are the numbers of buckets."""
        began, edges = time.perf_counter(), self.edges
        low, high = int(edges[0]), int(edges[-1])

        def bucket(ids: Array) -> Array:
            return np.where((ids >= low) & (ids < high), np.searchsorted(edges, ids, side="right") - 1, -1)

        wanted: list[Wanted] = []
        for stretch in self.plan.stretches:
            spans = stretch.spans()
            for file in self.snapshot.folded(stretch.level.name):
                if any(file.first < end and file.last >= start for start, end in spans):
                    wanted.append((file, spans, stretch.place))
        for file in self.snapshot.fresh:
            if low < high and file.first < high and file.last >= low:
                wanted.append((file, [(low, high)], bucket))
        found: list[Entries] = []
        for (file, _, _), (entries, rows) in zip(wanted, each(self._taken, wanted), strict=True):
            found += entries
            self.plan.files += rows > 0
            self.plan.rows += rows
            self.plan.fresh += 0 if file.folded else rows
        result = self._grouped(found)
        self.plan.answers, self.plan.seconds = len(result), time.perf_counter() - began
        return result

    def _taken(self, wanted: "Wanted") -> tuple[list[Entries], int]:
        """The rows of a file that are in a bucket, each with its bucket behind the states; and how many were read."""
        found, read = [], 0
        for entries, rows in self.reading.entries(*wanted[:2], self.parts, self.chosen):
            read += rows
            buckets = wanted[2](entries.ids)
            inside = buckets >= 0
            if not inside.all():
                entries, buckets = entries.take(inside), buckets[inside]
            if len(entries):
                found.append(Entries(entries.codes, entries.ids, [*entries.states, buckets]))
        return found, read

    def _grouped(self, found: list[Entries]) -> Entries:
        """In the order of time for each key, whatever the level; then by bucket."""
        partials, count = self.reading.partials, len(self.components)
        nothing = np.empty(0, dtype=np.int64)
        if not found:
            empty = Entries(nothing, nothing, [])
            return partials.grouped(empty, nothing, self.components)
        codes, ids = (np.concatenate([getattr(part, name) for part in found]) for name in ("codes", "ids"))
        columns = [np.concatenate([part.states[k] for part in found]) for k in range(count + 1)]
        self.plan.combined = len(ids)
        order = np.lexsort((ids, codes))
        buckets = columns.pop()[order]
        ordered = Entries(codes[order], ids[order], [column[order] for column in columns])
        return partials.grouped(ordered, buckets, self.components)

    def table(self, with_times: bool) -> pa.Table:
        """The answers: start and end of each bucket if asked for, keys and aggregates, by bucket and key."""
        entries = self.partials()
        with self.reading.lock:
            ranks = self.reading.partials.keys.ranks()
        entries = entries.take(np.lexsort((ranks[entries.codes], entries.ids)))
        columns: dict[str, pa.Array] = {}
        if with_times:
            columns["start"] = pa.array(self.edges[entries.ids]).view(UTC)
            columns["end"] = pa.array(self.edges[entries.ids + 1]).view(UTC)
        return pa.table(columns | self.answered(entries.codes, entries.states))

    def answered(self, codes: Array, states: Sequence[Array]) -> dict[str, pa.Array]:
        """The columns of keys, and those of the aggregates that are asked for, from the states of components."""
        partials, query = self.reading.partials, self.snapshot.definition.query
        keys = dict(zip(query.keys, partials.keys.take(codes), strict=True))
        found = partials.binding.answers(dict(zip(self.components, states, strict=True)), None, self.numbers)
        names = [query.aggregates[number].output for number in self.numbers]
        return keys | dict(zip(names, found, strict=True))
