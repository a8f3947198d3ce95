"""Partial states of (key, slot): made of rows, folded where two are of one slot, rolled up to longer slots."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.arena import Arena
from slidewheel.engine.batches import Batch, in_time_order, read_table, read_times, with_times_as
from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries, entries_of, fill, merged
from slidewheel.engine.inputs import Binding, whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.periodic import Periodic
from slidewheel.engine.track import Rows
from slidewheel.errors import InvalidArgument
from slidewheel.store.definition import START, UTC, Definition
from slidewheel.store.layout import Layout, as_given, storable
from slidewheel.windows.plan import Plan
from slidewheel.windows.specs import tumbling

AT_ONCE = 1 << 20
"""Rows that are lifted together."""
FAR = 2**60


class Partials:
    """What is needed to make, write and read partial states: the codes of keys and values in this process."""

    def __init__(self, definition: Definition, trusted: bool = False) -> None:
        assert definition.schema is not None
        self.definition, self.schema = definition, definition.schema
        self.binding: Binding = definition.binding()
        self.layout = Layout(self.binding, trusted)
        query = definition.query
        self.lock = threading.RLock()
        """For whoever meets new keys or values, or looks at all of them."""
        self.keys = Keys(query.keys, [self.schema.field(name).type for name in query.keys])
        self._plan = Plan((tumbling(definition.tick),), query.aggregates, "auto")

    # ---- from rows

    def lifted(self, data: Any) -> tuple[Entries, int]:
        """The partials of a table's rows, and how many of these had no time."""
        given = read_table(data)
        self.definition.query.check(given.schema)
        given, without, times = read_times(given, self.definition.query.time)
        table = self._like_schema(given)
        if len(times) and int(np.abs(times).max()) > FAR:
            raise InvalidArgument(f"the column {self.definition.query.time!r} holds times 36,000 years away from 1970")
        if self.definition.ordered:
            batch = Batch(table, times, self._codes(table, len(times)))
            batch = batch.take(in_time_order(batch, self.keys.ranks(), self._plan.peers))
            table, times = batch.table, batch.times
        found = []
        for first in range(0, len(times), AT_ONCE):
            found.append(self._lift(table.slice(first, AT_ONCE), times[first : first + AT_ONCE]))
        return self.folded(found), len(without)

    def _like_schema(self, table: pa.Table) -> pa.Table:
        table = with_times_as(table.select(self.schema.names), self.definition.query.time, self._time_type)
        try:
            return table.cast(self.schema)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidArgument(f"the columns are not of the types that the store was made with: {error}") from None

    @property
    def _time_type(self) -> pa.DataType:
        return self.schema.field(self.definition.query.time).type

    def _codes(self, table: pa.Table, rows: int) -> Array:
        return self.keys.encode([whole(table[name]) for name in self.definition.query.keys], rows)

    def _lift(self, table: pa.Table, times: Array) -> Entries:
        codes = self._codes(table, len(times))
        track = Periodic(self._plan.groups[0])
        for number in range(self.binding.components):
            track.arena.add_component(self.binding.component(number))
        track.reserve_keys(len(self.keys))
        track.add(Rows(codes, times, self.binding.read(table, times)))
        return entries_of(track.arena)

    # ---- folding

    def _arena(self, numbers: Sequence[int]) -> Arena:
        arena = Arena([])
        for number in numbers:
            arena.add_component(self.binding.component(number))
        return arena

    @property
    def every(self) -> range:
        """The numbers of all components."""
        return range(self.binding.components)

    def folded(self, parts: Sequence[Entries], numbers: Sequence[int] | None = None) -> Entries:
        """One state for each (key, slot), by key and slot; states of one slot are combined in the order of the parts.

        The states are those of these components, or of all.
        """
        some = [part for part in parts if len(part)]
        if len(some) == 1 and _rising(some[0]):
            return some[0]
        return merged(self._arena(self.every if numbers is None else numbers), some)

    def rolled_up(self, entries: Entries, length: int) -> Entries:
        """The same in longer slots."""
        return self.grouped(entries, entries.ids // length * length)

    def grouped(self, entries: Entries, groups: Array, numbers: Sequence[int] | None = None) -> Entries:
        """Entries of one key and group as one, in the order of their slots; groups rise with slots."""
        arena = self._arena(self.every if numbers is None else numbers)
        if len(entries) == 0:
            return Entries(entries.codes, groups, [component.entries[:0] for component in arena.components])
        arena.reserve_keys(1 + int(entries.codes.max()))
        fill(arena, Entries(entries.codes, groups, entries.states))
        return entries_of(arena)

    # ---- as tables

    def table(self, entries: Entries, level: int = 0) -> pa.Table:
        """Rows for a file of a level: keys, start and states.

        Slots of one slot of the level above lie together, those of a key side by side: what a question needs of a fine
        level is a short time, of few keys or of all.
        """
        levels = self.definition.levels
        above = levels[level].length * levels[level].slots
        entries = entries.take(np.lexsort((entries.ids, self.keys.ranks()[entries.codes], entries.ids // above)))
        names = self.definition.query.keys
        keys = [storable(column) for column in self.keys.take(entries.codes)]
        columns = dict(zip(names, keys, strict=True))
        columns[START] = pa.array(entries.ids).view(UTC)
        return pa.table({**columns, **self.layout.written(entries.states)})

    def entries(self, table: pa.Table, parts: Sequence[int] | None = None) -> Entries:
        """The rows of a file, with the states of these parts and of what counts their values."""
        chosen = range(len(self.binding.parts)) if parts is None else parts
        kinds = [self.schema.field(name).type for name in self.definition.query.keys]
        columns = [
            as_given(whole(table[name]), kind) for name, kind in zip(self.definition.query.keys, kinds, strict=True)
        ]
        codes = self.keys.encode(columns, table.num_rows)
        ids = whole(table[START]).cast(UTC).view(pa.int64()).to_numpy(zero_copy_only=False)
        found = self.layout.read(table, table.num_rows, chosen)
        return Entries(codes, np.ascontiguousarray(ids), [found[number] for number in sorted(found)])

    def components_of(self, parts: Sequence[int]) -> list[int]:
        """The components that `entries` gives for these parts, in its order."""
        aggregates = [self.binding.parts[number].aggregate for number in parts]
        held = {self.binding.held.get(self.binding.needed(aggregate)) for aggregate in aggregates}
        return sorted({*parts, *(number for number in held if number is not None)})


def _rising(entries: Entries) -> bool:
    """Whether entries are by key and slot, each once."""
    codes, ids = entries.codes, entries.ids
    return bool(((codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (ids[1:] > ids[:-1]))).all())
