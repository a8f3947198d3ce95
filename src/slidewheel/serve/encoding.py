"""Answers as JSON and as Arrow streams. Columns are written as a whole: no object is made for a row."""

import base64
import datetime
import decimal
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ARROW = "application/vnd.apache.arrow.stream"
BOUNDS = ("start", "end", "window_start", "window_end")
"""Columns of times that are not keys."""
NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def listed(column: pa.ChunkedArray | pa.Array, times: str) -> list[Any]:
    """A column as what `json.dumps` writes; times are ISO text, or microseconds if `times` is "us"."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return listed(column.cast(kind.value_type), times)
    if pa.types.is_floating(kind):
        values: list[Any] = column.to_pylist()
        finite = pc.all(pc.is_finite(column)).as_py()
        return values if finite is not False else [_number(value) for value in values]
    if pa.types.is_timestamp(kind):
        return _times(column, times)
    values = column.to_pylist()
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_null(kind):
        return values
    return [plain(value) for value in values]


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return NOT_FINITE.get(value, "NaN")


def _times(column: pa.ChunkedArray | pa.Array, times: str) -> list[Any]:
    kind = column.type
    if times == "us":
        values: list[Any] = column.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64()).to_pylist()
        return values
    ticks = column.cast(pa.int64())
    missing = np.asarray(ticks.is_null())
    instants = np.asarray(ticks.fill_null(0)).view(f"datetime64[{kind.unit}]")
    # Whole seconds are the rule, and are easier to read without zeros behind.
    whole = kind.unit == "s" or (instants == instants.astype("datetime64[s]")).all()
    texts = np.datetime_as_string(instants, unit="s" if whole else kind.unit)
    if kind.tz is not None:
        texts = np.char.add(texts, "Z")
    return [None if gone else text for gone, text in zip(missing.tolist(), texts.tolist(), strict=True)]


def plain(value: Any) -> Any:
    """A value of any type as JSON has it."""
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, decimal.Decimal):
        return str(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def texts_of(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column of keys as text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_string(column.type):
        return column
    return pa.array([value if value is None else text_of(value) for value in listed(column, "iso")], pa.string())


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def json_table(table: pa.Table, times: str) -> str:
    """The members `columns`, `data` and `rows` of a JSON object; keys that are times stay text, as `/keys` has them."""
    forms = [times if name in BOUNDS else "iso" for name in table.column_names]
    lists = [listed(column, form) for column, form in zip(table.columns, forms, strict=True)]
    columns = ",".join(json.dumps(values, allow_nan=False) for values in lists)
    return f'"columns":{json.dumps(table.column_names)},"data":[{columns}],"rows":{table.num_rows}'


def arrow_stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def wants_arrow(accept: str) -> bool:
    """Whether a header Accept names Arrow streams, and not with a weight of none."""
    for part in accept.split(","):
        kind, *options = (piece.strip().lower() for piece in part.split(";"))
        if kind == ARROW:
            weights = [option[2:] for option in options if option.startswith("q=")]
            return not weights or weights[0].strip("0.") != ""
    return False
