"""Which keys a question is for: by themselves, or by values of some of their columns."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument
from slidewheel.store.definition import Definition
from slidewheel.store.partials import Partials
from slidewheel.times import instant
from slidewheel.wheel.keyed_asking import plain


class Chosen:
    """Some keys: their codes, and for each key column the least and greatest, by which files are left out."""

    def __init__(self, codes: Array, columns: dict[str, list[Any]]) -> None:
        self.codes = codes
        self._ends: dict[str, tuple[Any, Any]] = {}
        for name, values in columns.items():
            kinds = {type(value) for value in values}
            if kinds in ({str}, {int}):
                self._ends[name] = min(values), max(values)

    def holds(self, codes: Array) -> Array:
        """Which of these codes are of one of the keys."""
        return np.isin(codes, self.codes)

    def possible(self, lows: dict[str, Any], highs: dict[str, Any]) -> bool:
        """Whether something between these can be of one of the keys."""
        for name, (least, most) in self._ends.items():
            low, high = lows.get(name), highs.get(name)
            if low is not None and high is not None and (high < least or low > most):
                return False
        return True


class ByColumn(Chosen):
    """Keys by values of some of their columns; which these are is known when they have been read."""

    def __init__(self, partials: Partials, lists: dict[str, tuple[list[Any], pa.Array]]) -> None:
        super().__init__(np.empty(0, dtype=np.int64), {name: values for name, (values, _) in lists.items()})
        self._partials, self._lists, self._fit = partials, lists, np.empty(0, dtype=bool)
        """Which of the keys that are known fit."""

    def holds(self, codes: Array) -> Array:
        with self._partials.lock:
            if len(codes) and int(codes.max()) >= len(self._fit):
                self._look()
            return self._fit[codes]

    def _look(self) -> None:
        keys = self._partials.keys
        columns = keys.take(np.arange(len(keys)))
        fit = np.ones(len(keys), dtype=bool)
        for name, column in zip(keys.names, columns, strict=True):
            if name in self._lists:
                found = pc.is_in(column, value_set=self._lists[name][1].cast(column.type))
                fit &= np.asarray(found.to_numpy(zero_copy_only=False))
        self._fit = fit


def chosen_keys(partials: Partials, keys: Any) -> Chosen | None:
    """The keys that a user names: a value or a tuple, a list of them, or a mapping from key columns to values."""
    names, schema = partials.definition.query.keys, partials.schema
    if keys is None:
        return None
    if isinstance(keys, dict):
        return _by_column(partials, keys)
    single = isinstance(keys, tuple) if len(names) > 1 else not isinstance(keys, (list, np.ndarray, pa.Array))
    rows = [key if isinstance(key, tuple) else (key,) for key in ([keys] if single else list(keys))]
    if any(len(row) != len(names) for row in rows):
        raise InvalidArgument(f"a key is a tuple of {len(names)}, one value for each of {', '.join(names)}")
    columns = {name: [plain(row[k]) for row in rows] for k, name in enumerate(names)}
    arrays = [_column(name, columns[name], schema) for name in names]
    return Chosen(np.unique(partials.keys.encode(arrays, len(rows))), columns)


def keys_from_text(definition: Definition, keys: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
    """Values of key columns that somebody has typed, in the types of these columns."""
    found = {}
    for name, texts in keys.items():
        if name not in definition.query.keys:
            names = ", ".join(definition.query.keys) or "none"
            raise InvalidArgument(f"there is no key column {name!r}; there are {names}")
        kind = pa.string() if definition.schema is None else definition.schema.field(name).type
        try:
            found[name] = [typed(text, kind) for text in texts]
        except (pa.ArrowException, ValueError) as error:
            raise InvalidArgument(f"these are no values of the key column {name!r}: {error}") from None
    return found


def typed(text: str, kind: pa.DataType) -> Any:
    """The value of a key column that a text means; it raises pa.ArrowException or ValueError if it means none.

    >>> typed("7", pa.int32()), typed("YQ==", pa.binary())
    (7, b'a')
    """
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return text
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return base64.b64decode(text, validate=True)
    if pa.types.is_timestamp(kind):
        return pa.scalar(instant(text), pa.timestamp("us", kind.tz)).cast(kind).as_py()
    return pa.scalar(text).cast(kind).as_py()


def _by_column(partials: Partials, keys: dict[str, Any]) -> Chosen:
    names = partials.definition.query.keys
    lists = {}
    for name, given in keys.items():
        if name not in names:
            raise InvalidArgument(f"there is no key column {name!r}; there are {', '.join(names) or 'none'}")
        values = [plain(value) for value in (given if isinstance(given, (list, tuple, set)) else [given])]
        lists[name] = values, _column(name, values, partials.schema)
    return ByColumn(partials, lists)


def _column(name: str, values: list[Any], schema: pa.Schema) -> pa.Array:
    try:
        return pa.array(values, schema.field(name).type)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgument(f"these are no values of the key column {name!r}: {error}") from None
