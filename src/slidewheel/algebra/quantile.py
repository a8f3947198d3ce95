"""Quantiles from counters of values that lie within a few per cent of each other (DDSketch; Masson, Rim, Lee 2019).

A positive value x falls into bucket k with smallest * gamma ** k <= x < smallest * gamma ** (k + 1), where gamma =
(1 + accuracy) / (1 - accuracy), and every value of a bucket is within `accuracy` of (1 + accuracy) * its lower bound.
The counters stand in the order of the values: -inf, negative buckets, 0, positive buckets, inf, NaN; then the total.
Buckets are fixed in advance, so states add up exactly, in any order.
"""

import math
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.counters import MOST, Counters, added, dense, merge, subtracted, without
from slidewheel.algebra.monoid import Monoid, in_place
from slidewheel.errors import InvalidArgument


@cache
def _compiled(q: float, accuracy: float, smallest: float, largest: float) -> Monoid:
    fine = accuracy * (1 - 1e-6)  # so that the rounding of logarithms stays within the accuracy
    log_gamma = math.log((1 + fine) / (1 - fine))
    middle = (1 + fine) * smallest
    buckets = math.ceil(math.log(largest / smallest) / log_gamma)
    zero = buckets + 1
    total = 2 * zero + 2
    most = MOST

    def absorb(state, x):
        value = float(x)
        size = abs(value)
        if value != value:
            place = total - 1
        elif size < smallest:
            place = zero
        else:
            k = buckets  # infinity
            if size <= largest:
                k = min(int(math.log(size / smallest) / log_gamma), buckets - 1)
            elif size < math.inf:
                k = buckets - 1
            place = zero + 1 + k if value > 0 else zero - 1 - k
        if state[total] == most:
            raise OverflowError("a sketch counts 4,294,967,295 values at most; use shorter windows")
        state[place] += 1
        state[total] += 1

    def lower(s):
        rank = max(math.ceil(q * s[total]), 1)
        k = np.searchsorted(np.cumsum(s), rank) - zero
        if k > zero:
            return math.nan
        if k == 0:
            return 0.0
        size = middle * math.exp((abs(k) - 1) * log_gamma) if abs(k) < zero else math.inf
        return size if k > 0 else -size

    return in_place(
        name="quantile",
        lower=lower,
        absorb=absorb,
        merge=merge,
        inverse=without,
        identity=0,
        state=np.dtype(("u4", (total + 1,))),
        result="f8",
        commutative=True,
    )


class _Missing(dict[int, int]):
    """A dict of counters that takes what it does not have for 0."""

    def __missing__(self, place: int) -> int:
        return 0


@cache
def _interpreted(compiled: Monoid) -> Monoid:
    absorb, estimate, state = compiled.absorb, compiled.lower, compiled.state
    assert absorb is not None and state is not None
    places = state.shape[0]

    def lift(x: Any) -> Counters:
        counters = _Missing()
        absorb(counters, x)
        return dict(counters)

    def lower(s: Counters) -> float:
        return float(estimate(dense(s, places)))

    return Monoid(
        name="quantile",
        lift=lift,
        combine=added,
        lower=lower,
        inverse=subtracted,
        identity={},
        state=None,
        result="f8",
        commutative=True,
    )


def quantile(
    column: str | None = None,
    q: float = 0.5,
    accuracy: float = 0.01,
    smallest: float = 1e-6,
    largest: float = 1e19,
) -> Aggregate:
    """About the value that a part `q` of the values does not exceed, as float64: of n, the one of rank ceil(q * n).

    The answer is within `accuracy` of it, relative to its size, if its size is from `smallest` to `largest`. Values
    nearer to 0 than `smallest` are taken for 0, and those beyond `largest` for about `largest`, except infinities,
    which are counted apart. NaN is greater than every number. A state takes some 4 * log(largest / smallest) / accuracy
    bytes: 23,000 at the defaults, which cover all integers.

    >>> import slidewheel as sw
    >>> sw.rolling([1.0, 2.0, 300.0, 4.0], sw.quantile(q=0.5), size=3).round(1)
    array([1., 1., 2., 4.])
    >>> sw.quantile("delay", 0.99).alias("p99").output
    'p99'
    """
    if column is not None and not isinstance(column, str):
        raise InvalidArgument(
            f'quantile: the column comes first: quantile("delay", 0.9) or quantile(q=0.9), not {column!r}'
        )
    for name, given in (("q", q), ("accuracy", accuracy), ("smallest", smallest), ("largest", largest)):
        if isinstance(given, bool) or not isinstance(given, Real):
            raise InvalidArgument(f"quantile: {name} must be a number, not {given!r}")
    if not 0 <= q <= 1:
        raise InvalidArgument(f"quantile: q must be between 0 and 1, not {q!r}")
    if not 0.0001 <= accuracy <= 0.5:
        raise InvalidArgument(f"quantile: accuracy must be between 0.0001 and 0.5, not {accuracy!r}")
    if not 1e-300 <= smallest < largest <= 1e300:
        raise InvalidArgument(
            f"quantile: smallest and largest must be sizes with 1e-300 <= smallest < largest <= 1e300, "
            f"not {smallest!r} and {largest!r}"
        )
    settings = (float(q), float(accuracy), float(smallest), float(largest))

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        compiled = _compiled(*settings)
        return _interpreted(compiled) if kinds == ("O",) else compiled

    return Aggregate(
        "quantile",
        (column,),
        variant,
        commutative=True,
        invertible=True,
        exact_inverse=True,
        arithmetic=True,
        parameters=(("q", q), ("accuracy", accuracy), ("smallest", smallest), ("largest", largest)),
    )
