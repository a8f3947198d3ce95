"""From an Arrow table to what components take, and from states back to Arrow columns."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.sums import count
from slidewheel.engine.arena import Inputs
from slidewheel.engine.columns import Array, Column, column_of, read_only
from slidewheel.engine.components import Change, CompiledWork, Component, InterpretedWork
from slidewheel.engine.keys import Codes, codes_for
from slidewheel.errors import Unsupported
from slidewheel.windows.sharing import Part, part_of, parts_of

LIST_OF_INPUT = ("collect", "collect_distinct")
SKETCHES = ("bloom", "count_min")
"""Their answers are objects of their own, which columns hold as bytes."""
BY_CODE = ("first", "last")
DECIMAL_DIGITS = {"sum": (10, 0), "span": (1, 0), "mean": (4, 4)}
"""Digits that an aggregate of decimals has more than its column, in all and behind the point, as in Spark."""
MOST_DIGITS = 38
PLAIN_TYPES: dict[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    date: pa.date32(),
    datetime: pa.timestamp("us", "UTC"),
    timedelta: pa.duration("us"),
}
"""Arrow types of what Python functions say that they return."""


def _inner(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: pa.ChunkedArray) -> pa.Array:
    """One array of plain values."""
    found = whole(column)
    return found.dictionary_decode() if pa.types.is_dictionary(found.type) else found


def kind_of(kind: pa.DataType) -> str:
    """How values of this type are kept: "i" as integers, "f" as floats, "O" as Python objects."""
    if pa.types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if pa.types.is_floating(kind):
        return "f"
    whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    timely = pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_date(kind)
    return "i" if whole or timely else "O"


class Binding:
    """The aggregates of a query over tables of one schema."""

    def __init__(self, aggregates: Sequence[Aggregate], schema: pa.Schema, final: str = "auto") -> None:
        self.aggregates, self.schema = tuple(aggregates), schema
        self.counting = part_of(count(), ("i",), final)
        """Counts the values that are not null, where a null has been seen."""
        self.coded: dict[str, Codes] = {}
        """Codes for columns whose values are only handed through."""
        kinds = [self._kinds(aggregate) for aggregate in aggregates]
        self.parts, self.uses = parts_of(aggregates, kinds, final)
        self.held: dict[tuple[str, ...], int] = {}
        """Columns in which a null has been seen, and the component that counts their values."""
        self._lowering: list[Any] = []
        for use in self.uses:
            part = self.parts[use.part]
            compiled = part.compiled and use.monoid.state is not None
            work = CompiledWork(use.monoid, self._dtypes(part)) if compiled else InterpretedWork(use.monoid)
            self._lowering.append(work)
        self.types = [self._type(k) for k in range(len(self.aggregates))]

    def _kinds(self, aggregate: Aggregate) -> tuple[str, ...]:
        types = [_inner(self.schema.field(name).type) for name in aggregate.columns if name is not None]
        kinds = tuple(kind_of(kind) for kind in types)
        if aggregate.arithmetic and not (
            kinds[0] == "f" or pa.types.is_integer(types[0]) or pa.types.is_decimal(types[0])
        ):
            raise _no_numbers(aggregate, types[0])
        if aggregate.name == "count":
            return (kinds[0] if kinds and kinds[0] != "O" else "i",)
        if aggregate.prepare is not None:
            return ("hash",)
        if aggregate.verbatim and not (kinds[0] == "f" or pa.types.is_integer(types[0])):
            return ("O",)
        if aggregate.positional:
            return (kinds[0], "i")
        if aggregate.name in BY_CODE and kinds == ("O",) and not pa.types.is_nested(types[0]):
            return ("i",)
        return kinds

    def _dtypes(self, part: Part) -> tuple[str, ...]:
        return tuple("i8" if kind in ("i", "hash") else "f8" for kind in part.kinds)

    def component(self, number: int, capacity: int = 0) -> Component:
        """An empty component for this part; from len(parts) on, for the values that are not null."""
        part = self.parts[number] if number < len(self.parts) else self.counting
        return Component(part.monoid, self._dtypes(part) if part.compiled else None, capacity, part.form)

    @property
    def components(self) -> int:
        return len(self.parts) + len(self.held)

    def note_nulls(self, table: pa.Table) -> bool:
        """Whether nulls have come up in columns that had none before; `held` has a component more for each."""
        return self._hold(lambda names: any(table[name].null_count for name in names))

    def hold_all(self) -> None:
        """Count values as if nulls had come up everywhere."""
        self._hold(lambda names: True)

    def _hold(self, is_due: Callable[[tuple[str, ...]], bool]) -> bool:
        before = len(self.held)
        for use, aggregate in zip(self.uses, self.aggregates, strict=True):
            needed = self.needed(aggregate)
            counts = use.monoid.least and aggregate.skips_nulls and not self.counts_itself(use.part)
            if counts and needed not in self.held and is_due(needed):
                self.held[needed] = len(self.parts) + len(self.held)
        return len(self.held) > before

    def needed(self, aggregate: Aggregate) -> tuple[str, ...]:
        """The columns that must not be null for a row to count."""
        names = tuple(name for name in aggregate.columns if name is not None)
        return names[:1] if aggregate.positional else names

    def counts_itself(self, part: int) -> bool:
        held = self.parts[part]
        return held.compiled and held.monoid.state is not None and "n" in (held.monoid.state.names or ())

    def read(self, table: pa.Table, times: Array) -> list[Inputs]:
        """The columns of each component, and which rows of them are not null."""
        columns: dict[str, Column] = {}

        def column(name: str) -> Column:
            if name not in columns:
                columns[name] = column_of(decoded(table[name]))
            return columns[name]

        inputs: list[Inputs] = []
        for part in self.parts:
            aggregate = part.aggregate
            valid = self._valid(table, self.needed(aggregate)) if aggregate.skips_nulls else None
            if aggregate.name == "count" and aggregate.built_in:
                inputs.append(((read_only(times),), valid))
                continue
            if aggregate.prepare is not None:
                inputs.append(((read_only(aggregate.prepare(column(part.columns[0]).as_given())),), valid))
                continue
            data = []
            for position, name in enumerate(part.columns):
                if self.by_code(aggregate, position):
                    data.append(read_only(self.codes(name).encode(decoded(table[name]))))
                elif part.compiled:
                    data.append(column(name).data)
                else:
                    data.append(_objects(decoded(table[name]), column(name), aggregate))
            inputs.append((tuple(data), valid))
        for names in self.held:
            inputs.append(((read_only(times),), self._valid(table, names)))
        return inputs

    def try_out(self, table: pa.Table, times: Array) -> None:
        """Lift rows that are to wait, where that may fail: not when they are due, and the batch long gone."""
        doubtful = [n for n, part in enumerate(self.parts) if not part.aggregate.built_in or not part.compiled]
        if not doubtful or not len(times):
            return
        inputs = self.read(table, times)
        for number in doubtful:
            component = self.component(number, len(times))
            component.add(*inputs[number], ~np.arange(len(times)), Change(np.empty(0, dtype=np.int64)))

    def by_code(self, aggregate: Aggregate, position: int) -> bool:
        """Whether states hold codes of this column of the aggregate instead of its values."""
        if aggregate.positional:
            return position == 1
        if aggregate.name not in BY_CODE:
            return False
        kind = _inner(self.schema.field(aggregate.columns[0]).type)
        return kind_of(kind) == "O" and not pa.types.is_nested(kind)

    def codes(self, name: str) -> Codes:
        if name not in self.coded:
            self.coded[name] = codes_for(self.schema.field(name).type)
        return self.coded[name]

    def _valid(self, table: pa.Table, names: tuple[str, ...]) -> Array | None:
        masks = [pc.is_valid(whole(table[n])).to_numpy(zero_copy_only=False) for n in names if table[n].null_count]
        return read_only(np.logical_and.reduce(masks)) if masks else None

    def _type(self, number: int) -> pa.DataType | None:
        """The Arrow type of an aggregate's answers; None where only the answers tell."""
        aggregate, use = self.aggregates[number], self.uses[number]
        types = [self.schema.field(name).type for name in aggregate.columns if name is not None]
        types = [_inner(kind) for kind in types]
        if aggregate.positional:
            return types[1]
        if use.monoid.result == "like0":
            return types[0]
        if not aggregate.built_in:
            return _declared(use.monoid.lower) if use.monoid.state is None else None
        if aggregate.name == "concat":
            return pa.string()
        if aggregate.name in LIST_OF_INPUT:
            return pa.list_(types[0])
        if aggregate.name in SKETCHES:
            return pa.binary()
        if aggregate.name == "top_k":
            return pa.list_(pa.struct([("value", types[0]), ("count", pa.int64())]))
        if types and pa.types.is_decimal(types[0]) and aggregate.name in DECIMAL_DIGITS:
            digits, behind = DECIMAL_DIGITS[aggregate.name]
            kind = types[0]
            return pa.decimal128(min(kind.precision + digits, MOST_DIGITS), min(kind.scale + behind, MOST_DIGITS))
        return {"i8": pa.int64(), "f8": pa.float64()}.get(use.monoid.result)

    def answers(
        self,
        states: Sequence[Array] | Mapping[int, Array],
        filled: Array | None = None,
        which: Sequence[int] | None = None,
    ) -> list[pa.Array]:
        """The columns of all aggregates, or of these, from the states of components; `filled` is False for empty
        windows."""
        found = []
        for number in range(len(self.aggregates)) if which is None else which:
            aggregate, use = self.aggregates[number], self.uses[number]
            own = use.of(states[use.part])
            ok = np.ones(len(own), dtype=bool)
            if aggregate.skips_nulls and use.monoid.least:
                if self.counts_itself(use.part):
                    ok = number_of(states[use.part]) >= use.monoid.least
                elif self.needed(aggregate) in self.held:
                    ok = states[self.held[self.needed(aggregate)]] > 0
                if filled is not None:
                    ok = ok & filled
            found.append(self._column(number, self._lowering[number].lowered(own, ok), ok))
        return found

    def _column(self, number: int, values: Array, ok: Array) -> pa.Array:
        aggregate, kind = self.aggregates[number], self.types[number]
        if self.by_code(aggregate, len(aggregate.columns) - 1):
            codes = np.where(ok, values, 0).astype(np.int64)
            known = self.codes(aggregate.columns[-1] or "").values()
            return known.take(pa.array(codes, mask=~ok))
        if aggregate.finish is not None and values.dtype != object:
            finished = aggregate.finish(values)
            values = np.empty(len(finished), dtype=object)
            values[:] = list(finished)
        if values.dtype == object:
            return _from_objects(values, ok, kind)
        if kind is None:
            return pa.array(values if values.ndim == 1 else list(values), mask=~ok if values.ndim == 1 else None)
        return from_numbers(values, ok, kind)


def _declared(lower: Any) -> pa.DataType | None:
    """The type of answers, from the annotation of the function that makes them."""
    try:
        returned = get_type_hints(lower).get("return")
    except (NameError, TypeError):
        return None
    if get_origin(returned) is list and get_args(returned)[0] in PLAIN_TYPES:
        return pa.list_(PLAIN_TYPES[get_args(returned)[0]])
    return PLAIN_TYPES.get(returned)


def number_of(states: Array) -> Array:
    """How many values went into states that count them; those that are not finite may have a count of their own."""
    return np.asarray(states["n"] + states["odd"] if "odd" in (states.dtype.names or ()) else states["n"])


def _no_numbers(aggregate: Aggregate, kind: pa.DataType) -> Unsupported:
    return Unsupported(
        f"{aggregate.output}: {aggregate.name} needs numbers, but the column {aggregate.columns[0]!r} is {kind}; "
        f"cast it to an integer or float type first"
    )


def whole(column: pa.ChunkedArray) -> pa.Array:
    """One array, whatever the chunks."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks or [pa.array([], column.type)])


def _objects(given: pa.Array, column: Column, aggregate: Aggregate) -> Array:
    """Python values, as users of object states expect them; times that are only handed through stay integers."""
    through = aggregate.name in LIST_OF_INPUT and aggregate.built_in and column.dtype.kind in "mM"
    values = np.empty(len(column), dtype=object)
    values[:] = given.to_pylist() if pa.types.is_date(given.type) and not through else column.values(plain=through)
    return values


def _from_objects(values: Array, ok: Array, kind: pa.DataType | None) -> pa.Array:
    listed = [_storable(value) if present else None for value, present in zip(values, ok.tolist(), strict=True)]
    if kind is not None and pa.types.is_decimal(kind):
        smallest = Decimal(1).scaleb(-kind.scale)
        listed = [None if value is None else Decimal(value).quantize(smallest, ROUND_HALF_UP) for value in listed]
    return pa.array(listed, kind)


def _storable(value: Any) -> Any:
    """Sketches as bytes."""
    return value.to_bytes() if hasattr(value, "to_bytes") and not isinstance(value, (int, np.integer)) else value


def from_numbers(values: Array, ok: Array | None, kind: pa.DataType) -> pa.Array:
    """Integers and floats as they are kept inside, in the type of a column."""
    mask = None if ok is None or ok.all() else ~ok
    if pa.types.is_temporal(kind):
        return pa.array(values.astype(np.int64 if kind.bit_width == 64 else np.int32), mask=mask).view(kind)
    made = pa.array(values, mask=mask)
    return made if made.type == kind else made.cast(kind)
