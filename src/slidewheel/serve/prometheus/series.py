"""Series: some keys, and a value of each at some times."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.columns import Array


@dataclass
class Series:
    """Values by series and time; `present` says where there is one."""

    labels: list[dict[str, str]]
    values: Array
    present: Array

    @classmethod
    def none(cls, times: int) -> "Series":
        return cls([], np.empty((0, times)), np.zeros((0, times), dtype=bool))

    def ordered(self) -> "Series":
        """By their labels, without those that have no value."""
        some = [k for k in range(len(self.labels)) if self.present[k].any()]
        some.sort(key=lambda k: sorted(self.labels[k].items()))
        return Series([self.labels[k] for k in some], self.values[some], self.present[some])


def numbers(column: pa.ChunkedArray) -> tuple[Array, Array]:
    """A column of answers as numbers, and where there is one. Integers stay integers."""
    present = ~np.asarray(column.is_null())
    if pa.types.is_integer(column.type):
        return np.asarray(column.fill_null(0)), present
    return np.asarray(column.cast(pa.float64()).fill_null(0.0)), present


def numbered_keys(columns: list[pa.ChunkedArray], rows: int) -> tuple[Array, Array]:
    """A row of each key, and the number of the key of each row."""
    codes = np.zeros(rows, dtype=np.int64)
    for column in columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        _, own = np.unique(np.asarray(encoded.indices), return_inverse=True)
        # Made dense after every column, so that products of their sizes stay small.
        _, codes = np.unique(codes * (int(own.max(initial=0)) + 1) + own, return_inverse=True)
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    return first, number


def grouped(series: Series, function: str, by: tuple[str, ...]) -> Series:
    """One series for each combination of some labels: sum, avg, min, max or count of those that have a value."""
    names = [tuple((label, one[label]) for label in by if label in one) for one in series.labels]
    groups = {name: number for number, name in enumerate(dict.fromkeys(names))}
    number = np.array([groups[name] for name in names], dtype=np.int64)
    shape = len(groups), series.values.shape[1]
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, number, series.present)
    values: Array
    if function == "count":
        values = counts
    elif function in ("sum", "avg"):
        values = np.zeros(shape, dtype=wide(series.values, len(names)))
        np.add.at(values, number, np.where(series.present, series.values, 0).astype(values.dtype))
        if function == "avg":
            values = values / np.maximum(counts, 1)
    else:
        values = _extreme(series, function, number, shape)
    return Series([dict(name) for name in groups], values, counts > 0)


def _extreme(series: Series, function: str, number: Array, shape: tuple[int, int]) -> Array:
    """The least or greatest; NaN only where there is nothing else, as Prometheus has it."""
    floats = np.where(series.present, series.values, np.nan).astype(np.float64)
    if series.values.dtype.kind != "f" and np.abs(np.where(series.present, series.values, 0)).max(initial=0) > 2**53:
        # Floats would round: one by one, but still integers.
        return _one_by_one(series, function, number, shape)
    values = np.full(shape, np.nan)
    (np.fmin if function == "min" else np.fmax).at(values, number, floats)
    if series.values.dtype.kind != "f":
        return np.asarray(np.nan_to_num(values), dtype=np.int64)
    return values


def _one_by_one(series: Series, function: str, number: Array, shape: tuple[int, int]) -> Array:
    best: Any = min if function == "min" else max
    values = np.zeros(shape, dtype=object)
    seen = np.zeros(shape, dtype=bool)
    for k, group in enumerate(number):
        for at in np.flatnonzero(series.present[k]):
            value = int(series.values[k, at])
            values[group, at] = best(values[group, at], value) if seen[group, at] else value
            seen[group, at] = True
    return values


def wide(values: Array, terms: int) -> Any:
    """A type in which so many of these values can be added: Python's integers where 64 bits may be too few."""
    if values.dtype.kind == "f" or values.dtype == object:
        return values.dtype
    most = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
    return np.int64 if most * max(terms, 1) < 2**63 else object
