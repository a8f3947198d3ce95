"""States of an aggregate's two forms, without an inverse and with one, as states of the other.

A state with an inverse counts values that are not finite beside those that are. What a state without one holds of them
is a NaN or an infinity: it becomes one such value, which is right as long as the state is taken away as a whole. The
functions here take and give the fields of states as arrays, of numbers or of objects.
"""

from typing import Any

import numpy as np

Fields = tuple[Any, ...]


def converted(states: Any, function: Any, fields: int, dtype: Any) -> Any:
    """An array of states as one of another dtype; `fields` is how many they have now."""
    made = function(*_fields_of(states, fields))
    if dtype.names:
        out = np.empty(len(states), dtype)
        for name, field in zip(dtype.names, made, strict=True):
            out[name] = field
    elif len(made) == 1:
        out = np.asarray(made[0]).astype(dtype)
    else:
        out = np.empty(len(states), object)
        for k, state in enumerate(zip(*(field.tolist() for field in made), strict=True)):
            out[k] = state
    return out


def _fields_of(states: Any, fields: int) -> Fields:
    if states.dtype.names:
        return tuple(states[name] for name in states.dtype.names)
    if fields == 1:
        return (states,)
    made = np.empty((fields, len(states)), object)
    for k, state in enumerate(states):
        made[:, k] = state
    return tuple(made)


def finite_of(total: Any) -> Fields:
    """(sum of the finite values, +inf, -inf) of a sum."""
    with np.errstate(invalid="ignore"):
        odd = np.asarray(total - total != 0, dtype=bool)
    up, down = odd & ~np.asarray(total < 0, dtype=bool), odd & ~np.asarray(total > 0, dtype=bool)
    return np.where(odd, 0, total), up.astype(np.int64), down.astype(np.int64)


def sum_of(finite: Any, up: Any, down: Any) -> Fields:
    """The sum of (sum of the finite values, +inf, -inf)."""
    up, down = np.asarray(up > 0, dtype=bool), np.asarray(down > 0, dtype=bool)
    return (np.where(up, np.where(down, np.nan, np.inf), np.where(down, -np.inf, finite)),)


def finite_mean_of(total: Any, n: Any) -> Fields:
    """The same of a sum and a number of values."""
    return (*finite_of(total), n)


def mean_of(finite: Any, up: Any, down: Any, n: Any) -> Fields:
    return (*sum_of(finite, up, down), n)


def finite_mean_of_wide(low: Any, high: Any, n: Any) -> Fields:
    """The same of a sum of integers in 128 bits."""
    near = low.view(np.int64)
    total = np.where(high == near >> 63, near.astype(np.float64), high * 2.0**64 + low)
    return (*finite_of(total), n)


def wide_mean_of(finite: Any, up: Any, down: Any, n: Any) -> Fields:
    """To the precision of floats."""
    whole = [int(total) for total in finite.tolist()]
    low = np.array([total % 2**64 for total in whole], dtype=np.uint64)
    return low, np.array([total >> 64 for total in whole], dtype=np.int64), n


def finite_moments_of(n: Any, mean: Any, rest: Any, m2: Any) -> Fields:
    """(n, mean, its rest, M2, number of values that are not finite); where one is not, M2 is NaN."""
    odd = np.asarray(m2 != m2, dtype=bool)
    moments = (np.where(odd, 0.0, field) for field in (n, mean, rest, m2))
    return (*moments, np.where(odd, n, 0).astype(np.int64))


def moments_of(n: Any, mean: Any, rest: Any, m2: Any, odd: Any) -> Fields:
    """(n, mean, its rest, M2)."""
    return n + odd, mean, rest, np.where(np.asarray(odd > 0, dtype=bool), np.nan, m2)
