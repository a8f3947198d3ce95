"""States as columns that others can read, and back: one column for each field of a state.

A state that holds no value is null in all of its columns. What states know only as codes of this process, such as the
argument of an argmax, is written as the value itself.
"""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.compiler import layout
from slidewheel.engine.columns import Array
from slidewheel.engine.inputs import Binding, decoded, number_of, whole
from slidewheel.engine.parts import unpickled
from slidewheel.errors import InvalidArgument, Unsupported

STORED = {"f8": pa.float64(), "f4": pa.float32(), "b1": pa.bool_(), "i8": pa.int64(), "u8": pa.int64()}
STORED |= {"u4": pa.int64(), "i4": pa.int32(), "u2": pa.int32(), "i2": pa.int32(), "u1": pa.int32(), "i1": pa.int32()}
"""How numbers of a state are stored; a Delta table has no unsigned ones."""
FORBIDDEN = " ,;{}()\n\t="
"""What the name of a column in a Delta table can't contain."""


@dataclass(frozen=True)
class Stored:
    """A column of the table: field `field` of part number `part`, or all of its state."""

    name: str
    type: pa.DataType
    part: int
    field: str | None = None
    coded: str | None = None
    """The input column whose values are stored instead of their codes."""


class Layout:
    """The columns that the states of a binding are stored in."""

    def __init__(self, binding: Binding, trusted: bool = False) -> None:
        self.binding, self.trusted = binding, trusted
        self.parts = [self._columns(number) for number in range(len(binding.parts))]

    @property
    def columns(self) -> list[Stored]:
        return [column for part in self.parts for column in part]

    def _columns(self, number: int) -> list[Stored]:
        part, binding = self.binding.parts[number], self.binding
        aggregate, state = part.aggregate, part.monoid.state if part.compiled else None
        name = aggregate.output
        if state is None or layout.is_array(state):
            return [Stored(name, pa.binary(), number)]
        if state.names is None:
            return [Stored(name, STORED[state.str[1:]], number)]
        by_code = binding.by_code(aggregate, len(aggregate.columns) - 1)
        coded = {"arg" if aggregate.positional else "value": aggregate.columns[-1]} if by_code else {}
        found = []
        for field in state.names:
            source = coded.get(field)
            kind = STORED[state[field].str[1:]] if source is None else stored_type(self.binding.schema, source)
            found.append(Stored(_named(name, field, state), kind, number, field, source))
        return found

    def written(self, states: Sequence[Array]) -> dict[str, pa.Array]:
        """The columns of these states, one array of them for each component of the binding."""
        found: dict[str, pa.Array] = {}
        for number, columns in enumerate(self.parts):
            own, ok = states[number], self.filled(number, states)
            mask = None if ok.all() else ~ok
            for column in columns:
                found[column.name] = self._written(column, own, ok, mask)
        return found

    def filled(self, number: int, states: Sequence[Array]) -> Array:
        """Which states of a part hold a value."""
        binding, part = self.binding, self.binding.parts[number]
        needed = binding.needed(part.aggregate)
        if not part.aggregate.skips_nulls or part.monoid.least == 0:
            return np.ones(len(states[number]), dtype=bool)
        if binding.counts_itself(number):
            return number_of(states[number]) > 0
        return np.asarray(states[binding.held[needed]] > 0)

    def _written(self, column: Stored, states: Array, ok: Array, mask: Array | None) -> pa.Array:
        part = self.binding.parts[column.part]
        if column.coded is not None:
            known = self.binding.codes(column.coded).values()
            codes = np.where(ok, states[column.field], 0).astype(np.int64)
            return storable(known.take(pa.array(codes, mask=mask)))
        if states.dtype == object:
            return pa.array([self._pickled(part, state) if k else None for state, k in zip(states, ok, strict=True)])
        if states.ndim > 1:
            size = states.dtype.itemsize * states.shape[1]
            raw = np.ascontiguousarray(states).tobytes()
            fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(states), [None, pa.py_buffer(raw)])
            cells = fixed.cast(pa.binary())
            return cells if mask is None else pc.if_else(pa.array(ok), cells, pa.scalar(None, pa.binary()))
        values = states if column.field is None else states[column.field]
        if column.field == "high" and _wide(states.dtype):
            values = values + (states["low"].view(np.int64) < 0)
        if values.dtype == np.uint64:
            values = np.ascontiguousarray(values).view(np.int64)
        return pa.array(np.ascontiguousarray(values), mask=mask).cast(column.type)

    def _pickled(self, part: Any, state: Any) -> bytes:
        """An object as bytes; a code in it as its value."""
        if self.binding.by_code(part.aggregate, 1):
            value, code, present = state
            known = self.binding.codes(part.aggregate.columns[1]).values()
            state = value, known[code].as_py() if present else None, present
        return pickle.dumps(state, protocol=5)

    def read(self, table: Mapping[str, Any], rows: int, parts: Sequence[int]) -> dict[int, Array]:
        """The states of these parts, and of the components that count their values."""
        found: dict[int, Array] = {}
        for number in parts:
            states, ok = self._read(number, table, rows)
            found[number] = states
            held = self.binding.held.get(self.binding.needed(self.binding.parts[number].aggregate))
            if held is not None:
                found[held] = ok.astype(np.int64)
        return found

    def _read(self, number: int, table: Mapping[str, Any], rows: int) -> tuple[Array, Array]:
        part, columns = self.binding.parts[number], self.parts[number]
        arrays = [whole(table[column.name]) for column in columns]
        sure = next(array for array, column in zip(arrays, columns, strict=True) if column.coded is None)
        ok = np.ones(rows, dtype=bool)
        if sure.null_count:
            ok = np.asarray(sure.is_valid().to_numpy(zero_copy_only=False))
        if not part.compiled:
            return self._unpickled(part, arrays[0]), ok
        state = part.monoid.state
        assert state is not None
        states = layout.allocate(state, rows, part.monoid.identity) if not ok.all() else np.empty(rows, dtype=state)
        for array, column in zip(arrays, columns, strict=True):
            values = self._values(array, column, state)
            if column.field is None:
                states[ok] = values[ok]
            else:
                states[column.field][ok] = values[ok]
        if _wide(state):
            states["high"] -= states["low"].view(np.int64) < 0
            states["high"][~ok] = 0
        return states, ok

    def _values(self, array: pa.Array, column: Stored, state: Any) -> Array:
        if column.coded is not None:
            kind = self.binding.schema.field(column.coded).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            return self.binding.codes(column.coded).encode(array.cast(kind))
        if layout.is_array(state):
            size = state.itemsize
            if array.null_count:
                array = array.fill_null(bytes(size))
            cells = array.cast(pa.binary(size))
            data = cells.buffers()[1]
            raw = np.frombuffer(data, dtype=np.uint8, count=size * len(cells), offset=size * cells.offset)
            return np.asarray(raw.view(state.base).reshape(len(cells), *state.shape))
        field = state if column.field is None else state[column.field]
        if array.null_count:
            array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
        values = np.asarray(array.to_numpy(zero_copy_only=False))
        return values.view(np.uint64) if field == np.uint64 else values.astype(field, copy=False)

    def _unpickled(self, part: Any, array: pa.Array) -> Array:
        by_code = self.binding.by_code(part.aggregate, 1)
        states = np.empty(len(array), dtype=object)
        found = [part.monoid.identity if cell is None else unpickled(cell, self.trusted) for cell in array.to_pylist()]
        if by_code:
            name = part.aggregate.columns[1]
            given = decoded(pa.chunked_array([pa.array([s[1] for s in found], self.binding.schema.field(name).type)]))
            codes = self.binding.codes(name).encode(given)
            found = [(s[0], int(c), s[2]) if s[2] else s for s, c in zip(found, codes, strict=True)]
        states[:] = found
        return states


def _wide(state: Any) -> bool:
    """Whether a state has a sum of 128 bits, which is stored as its low half and what a signed one lacks."""
    return bool(state.names) and "low" in state.names and state["low"] == np.uint64 and "high" in state.names


def _named(name: str, field: str, state: Any) -> str:
    if not _wide(state):
        return f"{name}__{field}"
    if len(state.names) == 2:
        return name if field == "low" else f"{name}__carry"
    return f"{name}__{ {'low': 'sum', 'high': 'carry'}.get(field, field) }"


def stored_type(schema: pa.Schema, name: str) -> pa.DataType:
    """The type in which values of an input column are stored."""
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_unsigned_integer(kind):
        return {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}[kind.bit_width]
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        if kind.unit == "ns":
            raise Unsupported(f"{name!r} is {kind}, which a Delta table has no type for: cast it to microseconds")
        return pa.timestamp("us", "UTC")
    plain = pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
    plain = plain or pa.types.is_boolean(kind) or pa.types.is_binary(kind)
    if plain or pa.types.is_date32(kind) or pa.types.is_decimal128(kind):
        return kind
    raise Unsupported(f"{name!r} is {kind}, which a Delta table has no type for: cast it, or write it as text")


def storable(column: pa.Array) -> pa.Array:
    """Values in the type in which they are stored."""
    kind = stored_type(pa.schema([("", column.type)]), "")
    if pa.types.is_timestamp(kind) and column.type.tz is None:
        column = column.cast(pa.timestamp("us")).view(pa.int64()).view(kind)
    return column.cast(kind)


def as_given(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Stored values in the type that the input had."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return column.view(pa.int64()).view(pa.timestamp("us")).cast(kind)
    return column.cast(kind)


def check_names(names: Sequence[str]) -> None:
    """That columns have different names which a Delta table takes."""
    for place, name in enumerate(names):
        lower = [other.lower() for other in names[:place]]
        if name.lower() in lower:
            raise InvalidArgument(
                f"two columns of the store would be called {name!r}: Delta tables do not tell upper from lower case, "
                f"and level, folded and start are its own; use alias(), or rename the key"
            )
        if any(mark in name for mark in FORBIDDEN):
            raise InvalidArgument(f"a Delta table has no column {name!r}: use alias(), without any of {FORBIDDEN!r}")
