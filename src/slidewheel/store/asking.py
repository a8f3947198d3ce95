"""Asking a store: any range of time, for some keys or all, whole or in buckets."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries
from slidewheel.engine.threads import each
from slidewheel.errors import InvalidArgument
from slidewheel.store.definition import UTC, Definition
from slidewheel.store.log import DataFile, Snapshot
from slidewheel.store.planning import StorePlan, planned
from slidewheel.store.reading import Chosen, Reading
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


def chosen_keys(reading: Reading, keys: Any) -> Chosen | None:
    """The keys that a user names: a value or a tuple, a list of them, or a mapping from key columns to values."""
    partials = reading.partials
    names, schema = partials.definition.query.keys, partials.schema
    if keys is None:
        return None
    if isinstance(keys, dict):
        return _by_column(reading, keys)
    single = isinstance(keys, tuple) if len(names) > 1 else not isinstance(keys, (list, np.ndarray, pa.Array))
    rows = [key if isinstance(key, tuple) else (key,) for key in ([keys] if single else list(keys))]
    if any(len(row) != len(names) for row in rows):
        raise InvalidArgument(f"a key is a tuple of {len(names)}, one value for each of {', '.join(names)}")
    columns = {name: [_plain(row[k]) for row in rows] for k, name in enumerate(names)}
    arrays = [_column(name, columns[name], schema) for name in names]
    return Chosen(np.unique(partials.keys.encode(arrays, len(rows))), columns)


def keys_from_text(definition: Definition, keys: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
    """Values of key columns that somebody has typed, in the types of these columns."""
    found = {}
    for name, texts in keys.items():
        if name not in definition.query.keys:
            names = ", ".join(definition.query.keys) or "none"
            raise InvalidArgument(f"there is no key column {name!r}; there are {names}")
        found[name] = list(texts)
        if definition.schema is not None:
            kind = definition.schema.field(name).type
            try:
                found[name] = pa.array(list(texts), pa.string()).cast(kind).to_pylist()
            except (pa.ArrowException, ValueError) as error:
                raise InvalidArgument(f"these are no values of the key column {name!r}: {error}") from None
    return found


def _by_column(reading: Reading, keys: dict[str, Any]) -> Chosen:
    partials = reading.partials
    names = partials.definition.query.keys
    lists = {}
    for name, given in keys.items():
        if name not in names:
            raise InvalidArgument(f"there is no key column {name!r}; there are {', '.join(names) or 'none'}")
        values = [_plain(value) for value in (given if isinstance(given, (list, tuple, set)) else [given])]
        lists[name] = values, _column(name, values, partials.schema)
    return ByColumn(partials, lists)


class ByColumn(Chosen):
    """Keys by values of some of their columns; which these are is known when they have been read."""

    def __init__(self, partials: Any, lists: dict[str, tuple[list[Any], pa.Array]]) -> None:
        super().__init__(np.empty(0, dtype=np.int64), {name: values for name, (values, _) in lists.items()})
        self._partials, self._lists, self._known = partials, lists, -1

    @property
    def codes(self) -> Array:
        keys = self._partials.keys
        if self._known != len(keys):
            count = len(keys)
            columns = dict(zip(keys.names, keys.take(np.arange(count)), strict=True))
            fit = np.ones(count, dtype=bool)
            for name, (_, values) in self._lists.items():
                found = pa.compute.is_in(columns[name], value_set=values.cast(columns[name].type))
                fit &= np.asarray(found.to_numpy(zero_copy_only=False))
            self._codes, self._known = np.flatnonzero(fit), count
        return self._codes

    @codes.setter
    def codes(self, value: Array) -> None:
        """They follow from what has been read."""


def _plain(value: Any) -> Any:
    return value.as_py() if isinstance(value, pa.Scalar) else value.item() if isinstance(value, np.generic) else value


def _column(name: str, values: list[Any], schema: pa.Schema) -> pa.Array:
    try:
        return pa.array(values, schema.field(name).type)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgument(f"these are no values of the key column {name!r}: {error}") from None


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
