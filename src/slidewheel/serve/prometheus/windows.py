"""The values of an aggregate in windows of one length that end at given times, exactly as the store has them.

A window [end - length, end) is made of buckets that all windows share, whose length is the greatest that fits. Where a
window is one bucket, its value is the store's answer, whatever the aggregate. Where it is several, their answers are
combined, if the aggregate allows it. Else the store is asked for each window.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine.columns import Array
from slidewheel.serve.limits import Limits
from slidewheel.serve.prometheus.matching import Keys
from slidewheel.serve.prometheus.promql import NotSupported
from slidewheel.serve.prometheus.series import numbered_keys, numbers, wide
from slidewheel.serve.stores import Served
from slidewheel.times import format_duration

MOST_QUESTIONS = 250
"""How many windows are asked for one by one."""
COMBINED: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (np.add, 0),
    "count": (np.add, 0),
    # NaN is greater than all numbers here.
    "min": (np.fmin, np.nan),
    "max": (np.maximum, -np.inf),
}
"""What two answers become one by, and an answer that changes no other."""


@dataclass
class Found:
    """Values by key and window."""

    keys: pa.Table
    values: Array
    present: Array


class Windows:
    """Windows of a store for some keys."""

    def __init__(self, served: Served, keys: Keys, ends: Array, length: int, limits: Limits) -> None:
        """`ends` are whole ticks and rise; so is `length`."""
        self.served, self.keys, self.ends, self.length, self.limits = served, keys, ends, length, limits
        self.unit = gcd(length, *(int(step) for step in np.unique(np.diff(ends))))
        self.buckets = (int(ends[-1] - ends[0]) + length) // self.unit
        self.expected = served.about_keys() if keys is None or isinstance(keys, dict) else len(keys)
        if isinstance(keys, dict) and len(keys) == len(served.key_columns):
            self.expected = 1

    def of(self, aggregate: Aggregate) -> Found:
        """The values of an aggregate."""
        self.limits.check(len(self.ends), self.expected)
        width, fits = self.length // self.unit, self.buckets * max(self.expected, 1) <= self.limits.max_points
        if fits and width == 1:
            return self._shared([aggregate])[0]
        if fits and aggregate.built_in and aggregate.name in COMBINED:
            return self._combined(aggregate, self._shared([aggregate])[0], width)
        parts = self._parts(aggregate)
        if fits and parts is not None:
            sums, counts = (
                self._combined(part, found, width) for part, found in zip(parts, self._shared(parts), strict=True)
            )
            return Found(sums.keys, sums.values / np.maximum(counts.values, 1), sums.present & (counts.values > 0))
        if len(self.ends) > MOST_QUESTIONS:
            raise NotSupported(
                f"{len(self.ends):,} windows of {format_duration(self.length)} of {aggregate.output} would have to be "
                f"asked for one by one, more than {MOST_QUESTIONS}: take a range that divides the step, or fewer steps"
            )
        return self._one_by_one(aggregate)

    def _parts(self, aggregate: Aggregate) -> list[Aggregate] | None:
        """The sum and the count that a mean is made of, if the store has them."""
        if not aggregate.built_in or aggregate.name != "mean":
            return None
        own = self.served.store.definition.query.aggregates
        same = {a.name: a for a in own if a.built_in and a.columns == aggregate.columns}
        return [same["sum"], same["count"]] if {"sum", "count"} <= set(same) else None

    def _ask(self, start: int, end: int, every: int | None, names: list[str]) -> pa.Table:
        store = self.served.store
        return store.query(start, end, keys=_asked(self.keys, self.served), every=every, aggregates=names)

    def _shared(self, aggregates: list[Aggregate]) -> list[Found]:
        """The answers of all buckets, one question for all."""
        first, last = int(self.ends[0]) - self.length, int(self.ends[-1])
        table = self._ask(first, last, self.unit, [a.output for a in aggregates])
        places = (np.asarray(table["start"].cast(pa.int64())) - first) // self.unit
        row_of_key, key = numbered_keys([table[name] for name in self.served.key_columns], table.num_rows)
        keys = table.select(list(self.served.key_columns)).take(row_of_key)
        found = []
        for aggregate in aggregates:
            own, ok = numbers(table[aggregate.output])
            shape = len(row_of_key), self.buckets
            values, present = np.zeros(shape, dtype=own.dtype), np.zeros(shape, dtype=bool)
            values[key, places], present[key, places] = own, ok
            found.append(Found(keys, values, present))
        if self.length == self.unit:
            at = (self.ends - self.ends[0]) // self.unit
            found = [Found(one.keys, one.values[:, at], one.present[:, at]) for one in found]
        return found

    def _combined(self, aggregate: Aggregate, found: Found, width: int) -> Found:
        """Windows of `width` buckets."""
        combine, neutral = COMBINED[aggregate.name]
        values = found.values
        if combine is np.add:
            values = values.astype(wide(values, width))
        elif values.dtype.kind != "f":
            limits = np.iinfo(np.int64)
            neutral = limits.max if aggregate.name == "min" else limits.min
            combine, values = np.minimum if aggregate.name == "min" else np.maximum, values.astype(np.int64)
        at = (self.ends - self.ends[0]) // self.unit
        values = np.where(found.present, values, neutral).astype(values.dtype)
        return Found(
            found.keys, sliding(values, width, combine)[:, at], sliding(found.present, width, np.logical_or)[:, at]
        )

    def _one_by_one(self, aggregate: Aggregate) -> Found:
        tables = []
        for number, end in enumerate(self.ends.tolist()):
            table = self._ask(end - self.length, end, None, [aggregate.output])
            tables.append(table.append_column("window", pa.array(np.full(table.num_rows, number, dtype=np.int64))))
        table = pa.concat_tables(tables)
        row_of_key, key = numbered_keys([table[name] for name in self.served.key_columns], table.num_rows)
        own, ok = numbers(table[aggregate.output])
        shape, places = (len(row_of_key), len(self.ends)), np.asarray(table["window"])
        values, present = np.zeros(shape, dtype=own.dtype), np.zeros(shape, dtype=bool)
        values[key, places], present[key, places] = own, ok
        return Found(table.select(list(self.served.key_columns)).take(row_of_key), values, present)


def _asked(keys: Keys, served: Served) -> Any:
    """Keys as a store takes them: one column has plain values."""
    if isinstance(keys, list) and len(served.key_columns) == 1:
        return [key[0] for key in keys]
    return keys


def sliding(values: Array, width: int, combine: Callable[..., Any]) -> Array:
    """All windows of `width` columns, combined from blocks of 1, 2, 4, ... columns: each value is used once, and none
    is taken away again.

    >>> sliding(np.array([[1, 2, 3, 4, 5]]), 3, np.add)
    array([[ 6,  9, 12]])
    """
    count = values.shape[1] - width + 1
    made, at, block, size = None, 0, values, 1
    while True:
        if width & size:
            piece = block[:, at : at + count]
            made, at = piece if made is None else combine(made, piece), at + size
        if size * 2 > width:
            assert made is not None
            return np.asarray(made)
        block, size = combine(block[:, :-size], block[:, size:]), size * 2
