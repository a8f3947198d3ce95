"""The smallest and the largest: min, max, span, min_count, max_count, argmin, argmax.

As in Spark SQL, NaN is greater than every number. Of equal items the older one wins.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid, itself
from slidewheel.algebra.sums import checked, record

SMALLEST, LARGEST = -(2**63), 2**63 - 1


def _max(a, b):
    return b if b > a or b != b else a


def _min(a, b):
    return b if b < a or a != a else a


def _max_any(a, b):
    return a if b is None else b if a is None or b > a or b != b else a


def _min_any(a, b):
    return a if b is None else b if a is None or b < a or a != a else a


# The identity of min is NaN, the greatest of all.
_EXTREMES: dict[tuple[str, str], tuple[Any, Any]] = {
    ("max", "i"): (_max, SMALLEST),
    ("max", "f"): (_max, -math.inf),
    ("max", "O"): (_max_any, None),
    ("min", "i"): (_min, LARGEST),
    ("min", "f"): (_min, math.nan),
    ("min", "O"): (_min_any, None),
}


def _state(kind: str) -> np.dtype[Any] | None:
    return None if kind == "O" else np.dtype(f"{kind}8")


@cache
def _extreme(name: str, kind: str) -> Monoid:
    combine, identity = _EXTREMES[name, kind]
    return Monoid(
        name=name,
        lift=itself,
        combine=combine,
        lower=itself,
        identity=identity,
        state=_state(kind),
        result="like0",
        commutative=True,
        selective=True,
    )


def min(column: str | None = None) -> Aggregate:
    """The smallest value, in the type of the input.

    >>> import slidewheel as sw
    >>> sw.rolling([3, 1, 2, 4], sw.min(), size=2)
    array([3, 1, 1, 2])
    """
    return Aggregate("min", (column,), lambda kinds, _: _extreme("min", kinds[0]), commutative=True, selective=True)


def max(column: str | None = None) -> Aggregate:
    """The largest value, in the type of the input.

    >>> import slidewheel as sw
    >>> sw.rolling([3, 1, 2, 4], sw.max(), size=2)
    array([3, 3, 2, 4])
    """
    return Aggregate("max", (column,), lambda kinds, _: _extreme("max", kinds[0]), commutative=True, selective=True)


def _twice(x):
    return x, x


def _span(a, b):
    low = b[0] if b[0] < a[0] or a[0] != a[0] else a[0]
    high = b[1] if b[1] > a[1] or b[1] != b[1] else a[1]
    return low, high


def _span_any(a, b):
    if a is None:
        return b
    return a if b is None else _span(a, b)


def _distance(s):
    return s[1] - s[0]


def _whole_distance(s):
    distance = np.uint64(s[1]) - np.uint64(s[0])  # unsigned: signed overflow is not defined
    if distance > np.uint64(LARGEST):
        raise OverflowError("a span does not fit in 64 bits; cast the column to float64")
    return np.int64(distance)


def _distance_any(s):
    return checked(s[1] - s[0])


@cache
def _span_monoid(kind: str) -> Monoid:
    return Monoid(
        name="span",
        lift=_twice,
        combine=_span_any if kind == "O" else _span,
        lower={"i": _whole_distance, "f": _distance, "O": _distance_any}[kind],
        identity={"i": (LARGEST, SMALLEST), "f": (math.nan, -math.inf), "O": None}[kind],
        state=None if kind == "O" else record(low=f"{kind}8", high=f"{kind}8"),
        result={"i": "i8", "f": "f8", "O": "object"}[kind],
        commutative=True,
    )


def span(column: str | None = None) -> Aggregate:
    """The distance from the smallest to the largest value.

    >>> import slidewheel as sw
    >>> sw.rolling([3, 1, 2, 4], sw.span(), size=3)
    array([0, 2, 2, 3])
    """
    return Aggregate("span", (column,), lambda kinds, _: _span_monoid(kinds[0]), commutative=True, arithmetic=True)


# (value, how often); 0 times is the identity.


def _once(x):
    return x, 1


def _max_count(a, b):
    if b[1] == 0:
        return a
    if a[1] == 0 or b[0] > a[0] or (b[0] != b[0] and a[0] == a[0]):
        return b
    if a[0] == b[0] or b[0] != b[0]:
        return a[0], a[1] + b[1]
    return a


def _min_count(a, b):
    if b[1] == 0:
        return a
    if a[1] == 0 or b[0] < a[0] or (a[0] != a[0] and b[0] == b[0]):
        return b
    if a[0] == b[0] or (a[0] != a[0] and b[0] != b[0]):
        return a[0], a[1] + b[1]
    return a


def _second(s):
    return s[1]


@cache
def _counting(name: str, kind: str) -> Monoid:
    return Monoid(
        name=name,
        lift=_once,
        combine=_max_count if name == "max_count" else _min_count,
        lower=_second,
        identity=({"i": 0, "f": 0.0, "O": None}[kind], 0),
        state=None if kind == "O" else record(value=f"{kind}8", times="i8"),
        result="i8",
        commutative=True,
    )


def min_count(column: str | None = None) -> Aggregate:
    """How often the smallest value occurs.

    >>> import slidewheel as sw
    >>> sw.rolling([2, 1, 1, 3], sw.min_count(), size=3)
    array([1, 1, 2, 2])
    """
    return Aggregate("min_count", (column,), lambda kinds, _: _counting("min_count", kinds[0]), commutative=True)


def max_count(column: str | None = None) -> Aggregate:
    """How often the largest value occurs.

    >>> import slidewheel as sw
    >>> sw.rolling([2, 2, 1, 1], sw.max_count(), size=2)
    array([1, 2, 1, 2])
    """
    return Aggregate("max_count", (column,), lambda kinds, _: _counting("max_count", kinds[0]), commutative=True)


# (value, argument, whether there is one)


def _present(x, arg):
    return x, arg, True


def _argmax(a, b):
    if b[2] and (not a[2] or b[0] > a[0] or (b[0] != b[0] and a[0] == a[0])):
        return b
    return a


def _argmin(a, b):
    if b[2] and (not a[2] or b[0] < a[0] or (a[0] != a[0] and b[0] == b[0])):
        return b
    return a


@cache
def _arg(name: str, kinds: tuple[str, ...]) -> Monoid:
    any_value = "O" in kinds
    zeros = tuple({"i": 0, "f": 0.0, "O": None}[kind] for kind in kinds)
    return Monoid(
        name=name,
        lift=_present,
        combine=_argmax if name == "argmax" else _argmin,
        lower=_second,
        identity=(None, None, False) if any_value else (*zeros, False),
        state=None if any_value else record(value=f"{kinds[0]}8", arg=f"{kinds[1]}8", present="b1"),
        result="object" if any_value else "i8",
        selective=True,
        arity=2,
    )


def argmin(column: str | None = None, arg: str | None = None) -> Aggregate:
    """The value of `arg` where the column is smallest: the first of equal ones. Without `arg`, the row's position.

    >>> import slidewheel as sw
    >>> sw.rolling([3, 1, 1, 4], sw.argmin(), size=2)
    array([0, 1, 1, 2])
    """
    return Aggregate("argmin", (column, arg), lambda kinds, _: _arg("argmin", kinds), selective=True, positional=True)


def argmax(column: str | None = None, arg: str | None = None) -> Aggregate:
    """The value of `arg` where the column is largest: the first of equal ones. Without `arg`, the row's position.

    >>> import slidewheel as sw
    >>> sw.rolling(([3, 9, 9], ["a", "b", "c"]), sw.argmax(), size=2)
    array(['a', 'b', 'b'], dtype=object)
    """
    return Aggregate("argmax", (column, arg), lambda kinds, _: _arg("argmax", kinds), selective=True, positional=True)
