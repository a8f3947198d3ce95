"""sw.rolling: one answer for every row of a finished array, over the rows before it."""

from datetime import timedelta
from typing import Any

import numpy as np

from slidewheel import times as clock
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.batch import CountFrame, Frame, TimeFrame, answers
from slidewheel.engine.columns import Array, Column, columns_of, row_numbers
from slidewheel.errors import InvalidArgument
from slidewheel.swag import registry

CLOSED = ("right", "left", "both", "neither")


def rolling(
    values: Any,
    aggregate: Aggregate | AggregateType,
    *,
    size: int | None = None,
    over: str | int | timedelta | None = None,
    times: Any = None,
    closed: str = "right",
    mask: Any = None,
    min_count: int | None = None,
    algorithm: str = "auto",
) -> Array:
    """The aggregate of the last `size` rows, or of the rows of the last `over` time, for every row.

    values: an array, a list, an Arrow column, or a table for aggregates that name their columns; for argmin and argmax
        also a pair of columns. Nulls come from `mask` (True = null), from Arrow, from None in lists; NaN is a value.
    times: with `over`, the time of each row, sorted; rows with equal times see each other.
    closed: which ends belong to the window: "right" (t - over, t], "left" [t - over, t), "both", "neither".
    min_count: the fewest non-null values that have an answer; 1 unless the aggregate needs more.

    Nulls in the answer are NaN, None, NaT, or masked where the type has nothing of the kind.

    >>> import slidewheel as sw
    >>> sw.rolling([1.0, 5.0, 2.0, 4.0], sw.max(), size=2)
    array([1., 5., 5., 4.])
    >>> when = ["2024-01-01T00:00:00", "2024-01-01T00:00:05", "2024-01-01T00:00:12"]
    >>> sw.rolling([1, 5, 2], sw.sum(), over="10s", times=when)
    array([1, 6, 7])
    """
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"rolling needs an aggregate such as sw.max(), not {aggregate!r}")
    if algorithm not in ("auto", "blocks"):
        registry.require(registry.algorithm(algorithm).CARD, aggregate)
    columns = columns_of(values, aggregate, mask)
    frame = _frame(len(columns[0]), size, over, times, closed)
    least = _whole("min_count", 0 if min_count is None else min_count, at_least=0)
    if size is not None and least > size + (closed == "both"):
        raise InvalidArgument(f"min_count={least} can't be reached in a window of size={size}")
    if not aggregate.positional:
        found = answers(aggregate, columns, frame, least, algorithm)
        return _with_nulls(found.values, found.ok, columns[0].dtype if found.like_input else found.values.dtype)
    # Which row wins is computed; what stands in its second column is looked up.
    found = answers(aggregate, (columns[0], row_numbers(len(columns[0]))), frame, least, algorithm)
    rows = found.values if found.ok is None else np.where(found.ok, found.values, 0)
    rows = rows.astype(np.int64)
    if len(columns) == 1:
        return _with_nulls(rows, found.ok, rows.dtype)
    return _looked_up(columns[1], rows, found.ok)


def _frame(rows: int, size: int | None, over: Any, times: Any, closed: str) -> Frame:
    if closed not in CLOSED:
        raise InvalidArgument(f"closed must be one of {', '.join(CLOSED)}, not {closed!r}")
    if (size is None) == (over is None):
        raise InvalidArgument('rolling needs either size=..., a number of rows, or over=..., a duration such as "1h"')
    if size is not None:
        if times is not None:
            raise InvalidArgument("times goes with over=...; a window of size=... rows has no use for it")
        length = _whole("size", size, at_least=1)
        # Every closed form is a window that is closed on the right, some rows earlier.
        length += {"right": 0, "left": 0, "both": 1, "neither": -1}[closed]
        return CountFrame(rows, min(length, max(rows, 1)), 1 if closed in ("left", "neither") else 0)
    if times is None:
        raise InvalidArgument("over=... needs times=..., the time of each row")
    instants = clock.instants(times)
    if len(instants) != rows:
        raise InvalidArgument(f"there are {rows} values but {len(instants)} times")
    return TimeFrame(rows, instants, clock.duration(over), closed)


def _whole(name: str, value: Any, at_least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < at_least:
        raise InvalidArgument(f"{name} must be a whole number of at least {at_least}, not {value!r}")
    return int(value)


def _with_nulls(values: Array, ok: Array | None, dtype: np.dtype[Any]) -> Array:
    """The answers in their final type, with nulls in the way of that type."""
    if dtype.kind in "mM":
        values = values.astype(np.int64).view(dtype.newbyteorder("=")).astype(dtype)
    elif dtype.kind not in "USOT":
        values = values.astype(dtype, copy=False)
    if ok is None or ok.all():
        return values
    if dtype.kind in "mM":
        values[~ok] = np.array("NaT", dtype=dtype)
    elif values.dtype.kind == "f":
        values[~ok] = np.nan
    elif values.dtype == object:
        values[~ok] = None
    else:
        hidden = (~ok).reshape(-1, *[1] * (values.ndim - 1))
        return np.ma.MaskedArray(values, mask=np.broadcast_to(hidden, values.shape))
    return values


def _looked_up(column: Column, rows: Array, ok: Array | None) -> Array:
    inside = rows if ok is None else np.where(ok, rows, 0)
    if column.valid is not None:
        ok = column.valid[inside] if ok is None else ok & column.valid[inside]
    taken = column.data[inside] if len(column) else column.data.copy()
    return _with_nulls(taken, ok, column.dtype)
