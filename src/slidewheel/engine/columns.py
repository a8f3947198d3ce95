"""Columns: whatever a user passes, as a flat array of int64, float64 or objects, with the rows that are not null."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.compiler.fixed import compiled
from slidewheel.engine import lookup
from slidewheel.errors import InvalidArgument, Unsupported

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Column:
    data: Array
    valid: Array | None
    """True where there is a value; None where all rows have one."""
    dtype: np.dtype[Any]
    """The type that the user passed."""

    @property
    def kind(self) -> str:
        return str(self.data.dtype.kind)

    def __len__(self) -> int:
        return len(self.data)

    def as_given(self) -> Array:
        """In the type that the user passed, times as microseconds."""
        if self.dtype.kind not in "mM":
            return self.data
        return self.data.view(self.dtype.newbyteorder("=")).astype(f"{self.dtype.kind}8[us]")

    def values(self, plain: bool = False) -> list[Any]:
        """As Python values, None where there is none. `plain` leaves times the integers that they are inside."""
        found = self.data.tolist() if plain else self.as_given().tolist()
        if self.dtype.kind == "b" and not plain:
            found = [bool(v) for v in found]
        if self.valid is None:
            return found  # type: ignore[no-any-return]
        return [v if ok else None for v, ok in zip(found, self.valid.tolist(), strict=True)]


def columns_of(values: Any, aggregate: Aggregate, mask: Any) -> tuple[Column, ...]:
    """The columns that the aggregate reads, from bare values, a pair of columns, or a table."""
    found = [column_of(part) for part in _parts(values, aggregate)]
    if mask is not None:
        found[0] = _masked(found[0], mask)
    if len({len(column) for column in found}) > 1:
        lengths = " and ".join(str(len(column)) for column in found)
        raise InvalidArgument(f"{aggregate.name}: columns of different lengths: {lengths}")
    if aggregate.arity == 2 and len(found) == 1 and not aggregate.positional:
        raise InvalidArgument(f"{aggregate.name} takes two columns: pass a pair of them, or a table")
    if aggregate.arithmetic and not _numbers(found[0]):
        raise Unsupported(
            f"{aggregate.name} needs numbers, not {found[0].dtype}; cast the column to an integer or float type first"
        )
    return tuple(found)


def _numbers(column: Column) -> bool:
    if column.dtype != object:
        return column.dtype.kind in "iuf"
    some = next((v for v in column.data if v is not None), 0)
    return isinstance(some, (Number, Decimal)) and not isinstance(some, bool)


def _parts(values: Any, aggregate: Aggregate) -> list[Any]:
    names = aggregate.columns
    if _is_table(values):
        # A pandas frame by its own columns: as an Arrow table it would take NaN for null.
        own = isinstance(values, Mapping) or type(values).__module__.startswith("pandas")
        table = values if own else _arrow_table(values)
        wanted = [name for name in names if name is not None] or list(_names(table))[:1]
        if not wanted:
            raise InvalidArgument(f"{aggregate.name}: the table has no columns")
        for name in wanted:
            if name not in _names(table):
                raise InvalidArgument(f"{aggregate.name}: no column {name!r}; there are {', '.join(_names(table))}")
        return [table[name] for name in wanted]
    if aggregate.arity == 2 and isinstance(values, tuple):
        if len(values) != 2:
            raise InvalidArgument(f"{aggregate.name} takes one column or a pair of columns, not {len(values)}")
        return list(values)
    return [values]


def _is_table(values: Any) -> bool:
    return isinstance(values, Mapping) or (
        hasattr(values, "__arrow_c_stream__") and (hasattr(values, "column_names") or hasattr(values, "columns"))
    )


def _arrow_table(values: Any) -> Any:
    import pyarrow as pa

    return values if isinstance(values, pa.Table) else pa.table(values)


def _names(table: Any) -> list[str]:
    return list(table.column_names if hasattr(table, "column_names") else table)


def column_of(values: Any) -> Column:
    """Whatever a user passes for one column."""
    if isinstance(values, np.ma.MaskedArray):
        return _masked(_from_numpy(np.asarray(values.data)), np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray):
        return _from_numpy(values)
    if isinstance(getattr(values, "dtype", None), np.dtype):  # a pandas Series over numpy
        return _from_numpy(np.asarray(values))
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return _from_arrow(values)
    if type(values).__module__.startswith("pandas"):  # whose Series have Arrow's interface from version 3 on
        import pyarrow as pa

        return _from_arrow(pa.Array.from_pandas(values))
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence | range):
        raise InvalidArgument(f"values must be an array, a list or an Arrow column, not {type(values).__name__}")
    return _from_list(list(values))


def _from_list(values: list[Any]) -> Column:
    valid = np.array([v is not None for v in values], dtype=bool)
    if valid.all():
        return _from_numpy(_array(values))
    some = next((v for v in values if v is not None), 0.0)
    filled = _array([some if v is None else v for v in values])
    return _masked(_from_numpy(filled), ~valid)


def _array(values: list[Any]) -> Array:
    """A flat array; objects where the values have no common numpy type."""
    simple = all(isinstance(v, (bool, int, float, np.generic)) for v in values)
    if simple:
        try:
            found = np.asarray(values) if values else np.empty(0)
            # numpy makes floats of integers that have no common type
            exact = found.dtype.kind != "f" or any(isinstance(v, (float, np.floating)) for v in values)
            if found.dtype.kind in "biufmM" and found.dtype != np.uint64 and exact:
                return found
        except (OverflowError, ValueError):
            pass
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _from_arrow(values: Any) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.ChunkedArray):  # combine_chunks of no chunks
        values = pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        values = pa.array(values.to_pylist(), type=values.type.value_type)
    valid = None if values.null_count == 0 else pc.is_valid(values).to_numpy(zero_copy_only=False)
    kind = values.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    timely = pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_date(kind)
    if valid is not None and numeric:
        values = values.fill_null(False if pa.types.is_boolean(kind) else 0)
    if numeric or timely:
        data = values.to_numpy(zero_copy_only=False)
    else:
        data = np.empty(len(values), dtype=object)
        data[:] = values.to_pylist()
    column = _from_numpy(data)
    return column if valid is None else _masked(column, ~valid)


def _from_numpy(values: Array) -> Column:
    if values.ndim != 1:
        raise InvalidArgument(f"values must have one dimension, not {values.ndim}; pass one column at a time")
    dtype = values.dtype
    valid = None
    if dtype.kind in "mM":
        missing = np.isnat(values)
        valid = None if not missing.any() else ~missing
        data = np.ascontiguousarray(values, dtype=dtype.newbyteorder("=")).view(np.int64)
    elif dtype == np.uint64:
        if len(values) and values.max() > np.iinfo(np.int64).max:
            raise Unsupported("values above 2**63 - 1 do not fit in a signed 64-bit integer; cast to float64")
        data = values.astype(np.int64)
    elif dtype.kind in "biu":
        data = np.ascontiguousarray(values, dtype=np.int64)
    elif dtype.kind == "f" and dtype.itemsize <= 8:
        data = np.ascontiguousarray(values, dtype=np.float64)
    elif dtype.kind in "OUST":
        data = values.astype(object)
        dtype = np.dtype(object) if dtype.kind == "O" else dtype
        nulls = np.array([v is None for v in data], dtype=bool)
        valid = ~nulls if nulls.any() else None
    else:
        raise Unsupported(f"values of type {dtype} are not supported; cast them to float64 or to objects")
    return Column(read_only(data), valid, dtype)


def read_only(values: Array) -> Array:
    """A view that can't be written to: one compiled form for arrays that are read-only and those that are not."""
    values = values[...]
    values.setflags(write=False)
    return values


def _masked(column: Column, mask: Any) -> Column:
    hidden = np.asarray(mask)
    if hidden.dtype != bool or hidden.shape != (len(column),):
        raise InvalidArgument(
            f"mask must be one boolean per row (True = null), so {len(column)} of them; got {hidden.dtype} of "
            f"shape {hidden.shape}"
        )
    valid = ~hidden if column.valid is None else column.valid & ~hidden
    return replace(column, valid=None if valid.all() else valid)


def joined(columns: Sequence[Array]) -> Array:
    """One after the other; a single one as it is."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def scattered(column: Array, places: Array) -> Array:
    """The same rows, the k-th at places[k]."""
    found = np.empty_like(column)
    if len(places) and column.dtype != object and column.dtype.itemsize % 8 == 0:
        words = [array.view(np.int64).reshape(len(places), -1) for array in (column, found)]
        compiled(lookup).scatter(words[0], places, words[1])
    else:
        found[places] = column
    return found


def row_numbers(rows: int) -> Column:
    return _from_numpy(np.arange(rows))
