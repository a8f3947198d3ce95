"""Batches: reading what a user pushes, checking it before anything changes, putting rows in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import slots
from slidewheel.engine.columns import Array
from slidewheel.engine.inputs import whole
from slidewheel.engine.keys import ordered
from slidewheel.errors import InvalidArgument, InvalidTime
from slidewheel.times import instants

PLAIN_LAYOUT = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.float16(): pa.float32()}
"""Types for which Arrow lacks functions, and those that hold the same."""


@dataclass
class Batch:
    """Rows with their times and the codes of their keys."""

    table: pa.Table
    times: Array
    codes: Array

    def __len__(self) -> int:
        return len(self.times)

    def take(self, which: Array) -> "Batch":
        """These rows, by position or as a mask."""
        if which.dtype == bool:
            if which.all():
                return self
            which = np.flatnonzero(which)
        elif len(which) == len(self) and (which[1:] > which[:-1]).all():
            return self
        return Batch(self.table.take(pa.array(which)), self.times[which], self.codes[which])


def join(batches: Sequence[Batch]) -> Batch:
    """One batch of several."""
    filled = [batch for batch in batches if len(batch)] or list(batches[:1])
    if len(filled) == 1:
        return filled[0]
    return Batch(
        pa.concat_tables([batch.table for batch in filled]),
        np.concatenate([batch.times for batch in filled]),
        np.concatenate([batch.codes for batch in filled]),
    )


Piece = tuple[pa.Table, pa.Table, Array]
"""Rows, those without a time, and the times of the former."""


def rows_behind(pieces: Sequence[Array]) -> int:
    """How many times are earlier than one of a piece before."""
    count, newest = 0, np.iinfo(np.int64).min
    for times in pieces:
        count += int(np.count_nonzero(times < newest))
        newest = max(newest, times.max(initial=newest))
    return count


def about_sorted(pieces: Sequence[Piece]) -> list[Piece]:
    """The same rows in pieces of the same sizes, about in the order of their times: sorted by the first 16 bits."""
    times = np.concatenate([times for _, _, times in pieces])
    table = pa.concat_tables([rows for rows, _, _ in pieces]).combine_chunks()
    unit = (int(times.max()) - int(times.min()) >> 16) + 1
    order = np.argsort(((times - times.min()) // unit).astype(np.uint16), kind="stable")
    found, first = [], 0
    for rows, without, _ in pieces:
        which = order[first : first + len(rows)]
        found.append((table.take(pa.array(which)), without, times[which]))
        first += len(rows)
    return found


def read_table(data: Any) -> pa.Table:
    """Anything with Arrow's interface, or a dict of columns."""
    return _plain_layout(_read_table(data))


def _plain_layout(table: pa.Table) -> pa.Table:
    """Values in layouts that all of Arrow's functions take."""
    for place, field in enumerate(table.schema):
        kind, column = field.type, table.column(place)
        if pa.types.is_dictionary(kind) and kind.value_type in PLAIN_LAYOUT:
            values = PLAIN_LAYOUT[kind.value_type]
            parts = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(values)) for c in column.chunks]
            kind = pa.dictionary(kind.index_type, values)
            table = table.set_column(place, field.with_type(kind), pa.chunked_array(parts, kind))
        elif pa.types.is_decimal(kind) and kind.bit_width < 128:
            kind = pa.decimal128(kind.precision, kind.scale)
            table = table.set_column(place, field.with_type(kind), column.cast(kind))
        elif kind in PLAIN_LAYOUT:
            kind = PLAIN_LAYOUT[kind]
            table = table.set_column(place, field.with_type(kind), column.cast(kind))
    return table


def _read_table(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        if type(data).__module__.startswith("pandas"):
            return pa.Table.from_pandas(data, preserve_index=False)
        if isinstance(data, dict) or hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            return pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgument(f"this {type(data).__name__} can't be read as a table: {error}") from None
    raise InvalidArgument(
        f"a batch is a table: pyarrow, polars, pandas, DuckDB, or a dict of columns, not {type(data).__name__}"
    )


def check_columns(schema: pa.Schema, needed: dict[str, str]) -> None:
    """That the table has these columns, each once; `needed` says what each is for."""
    for name, purpose in needed.items():
        found = schema.names.count(name)
        if found == 0:
            raise InvalidArgument(f"no column {name!r}, which {purpose} reads; there are {', '.join(schema.names)}")
        if found > 1:
            raise InvalidArgument(f"{found} columns are called {name!r}, which {purpose} reads: rename all but one")


def read_times(table: pa.Table, name: str) -> tuple[pa.Table, pa.Table, Array]:
    """The rows that have a time, those that have none, and the times."""
    column = table[name]
    kind = column.type
    timely = pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind)
    if not timely and not (pa.types.is_null(kind) and len(column) == column.null_count):
        raise InvalidTime(
            f"the time column {name!r} is {kind}; cast it to a timestamp, a date, or whole microseconds since 1970"
        )
    without = table.slice(0, 0)
    if column.null_count:
        present = column.is_valid()
        table, without = table.filter(present), table.filter(column.is_null())
    return table, without, instants(whole(table[name]))


def with_times_as(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """The table with its time column in the type of an earlier batch: the same instants."""
    if table.schema.field(name).type == kind:
        return table
    micros = pa.array(instants(whole(table[name])))
    times = micros if pa.types.is_integer(kind) else micros.view(pa.timestamp("us", getattr(kind, "tz", None)))
    return table.set_column(table.schema.get_field_index(name), name, times.cast(kind))


def in_time_order(batch: Batch, ranks: Array, peers: Sequence[str]) -> Array:
    """Rows by time, then key, then the columns `peers`: an order that does not depend on how they came in."""
    times = batch.times
    order = np.arange(len(times))
    if not compiled(slots).in_order(times):
        order = np.argsort(times)
        times = times[order]
    same = times[1:] == times[:-1]
    if not same.any():
        return order
    tied = np.zeros(len(order), dtype=bool)
    tied[1:] = same
    tied[:-1] |= same
    places = np.flatnonzero(tied)
    rows = order[places]
    order[places] = rows[np.lexsort((rows, ranks[batch.codes[rows]], times[places]))]
    return _peers_in_order(batch, order, times, ranks, peers)


def _peers_in_order(batch: Batch, order: Array, times: Array, ranks: Array, peers: Sequence[str]) -> Array:
    """The same order, but rows of one key and time by the columns `peers`."""
    near = np.flatnonzero(times[1:] == times[:-1])
    near = near[ranks[batch.codes[order[near]]] == ranks[batch.codes[order[near + 1]]]]
    if len(near) and peers:
        places = np.unique(np.concatenate([near, near + 1]))
        begins = np.ones(len(places), dtype=bool)
        begins[np.searchsorted(places, near + 1)] = False
        group = np.cumsum(begins)
        rows = batch.table.take(pa.array(order[places])).select(list(dict.fromkeys(peers)))
        sortable = [name for name in rows.column_names if not pa.types.is_nested(rows[name].type)]
        names = [f"c{k}" for k in range(len(sortable))]
        columns = [pa.array(group), *(rows[name] for name in sortable), pa.array(order[places])]
        keyed = pa.table(columns, names=["group", *names, "row"])
        order[places] = order[places][ordered(keyed, ["group", *names, "row"])]
    return order
