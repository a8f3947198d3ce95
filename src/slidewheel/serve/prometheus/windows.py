"""The values of an aggregate in windows of one length that end at given times, exactly as the store has them."""

from dataclasses import dataclass
from math import gcd

import numpy as np
import pyarrow as pa

import slidewheel as sw
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine.columns import Array
from slidewheel.serve.limits import Limits
from slidewheel.serve.prometheus.matching import Keys
from slidewheel.serve.prometheus.series import numbered_keys, numbers
from slidewheel.serve.stores import Served


@dataclass
class Found:
    """Values by key and window."""

    keys: pa.Table
    values: Array
    present: Array


def windows_of(served: Served, keys: Keys, aggregate: Aggregate, ends: Array, length: int, limits: Limits) -> Found:
    """The windows [end - length, end) for some keys; `ends` are whole ticks and rise, and `length` is whole ticks."""
    first, last = int(ends[0]), int(ends[-1])
    step = gcd(*np.diff(ends).tolist()) or length
    # Ends that were floored to ticks may be unevenly apart: then there are windows between them as well.
    limits.check((last - first) // step + 1, _expected(served, keys))
    window = sw.sliding(length, every=step, offset=(first - length) % step)
    names, columns = [aggregate.output], list(served.key_columns)
    asked = [key[0] for key in keys] if isinstance(keys, list) and len(columns) == 1 else keys
    table = served.store.windows(first - length, last, window=window, keys=asked, aggregates=names)
    found = np.asarray(table["window_end"].cast(pa.timestamp("us")).cast(pa.int64()))
    places = np.searchsorted(ends, found)
    wanted = ends[places] == found
    if not wanted.all():
        table, places = table.filter(pa.array(wanted)), places[wanted]
    row_of_key, key = numbered_keys([table[name] for name in columns], table.num_rows)
    own, ok = numbers(table[aggregate.output])
    shape = len(row_of_key), len(ends)
    values, present = np.zeros(shape, dtype=own.dtype), np.zeros(shape, dtype=bool)
    values[key, places], present[key, places] = own, ok
    return Found(table.select(columns).take(row_of_key), values, present)


def _expected(served: Served, keys: Keys) -> int:
    """How many keys there may be in the answer."""
    if isinstance(keys, dict) and len(keys) == len(served.key_columns):
        return 1
    return served.about_keys() if keys is None or isinstance(keys, dict) else len(keys)
