"""Counts, sums and what is made of them: count, sum, product, mean, geomean.

Every float aggregate has two forms. The plain one has no inverse: a NaN or an infinity, once added, can't be taken
away. The other, used only where subtraction was asked for, counts those values beside the sum instead of adding them.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra import forms
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid, itself
from slidewheel.errors import Overflow

LIMIT = 2**63


def _add(a, b):
    return a + b


def _subtract(a, b):
    return a - b


def _one(x):
    return 1


def record(**fields: str) -> np.dtype[Any]:
    """The dtype of a state with these fields."""
    return np.dtype(list(fields.items()))


@cache
def _count(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    return Monoid(
        name="count",
        lift=_one,
        combine=_add,
        lower=itself,
        inverse=_subtract,
        identity=0,
        state=np.dtype("i8"),
        result="i8",
        commutative=True,
        least=0,
    )


def count(column: str | None = None) -> Aggregate:
    """The number of rows, or of rows in which the column is not null.

    >>> import slidewheel as sw
    >>> sw.rolling([5, 5, 5], sw.count(), size=2)
    array([1, 2, 2])
    """
    return Aggregate(
        "count",
        () if column is None else (column,),
        _count,
        commutative=True,
        invertible=True,
        exact_inverse=True,
        skips_nulls=column is not None,
    )


# Integers are summed in 128 bits, so that the order of the items never decides whether a sum overflows. Where it is
# known that none can, 64 are enough.

WIDE = record(low="u8", high="i8")


def _lift_wide(x):
    return np.uint64(x), x >> 63


def _add_wide(a, b):
    low = a[0] + b[0]
    return low, a[1] + b[1] + (1 if low < a[0] else 0)


def _subtract_wide(a, b):
    return a[0] - b[0], a[1] - b[1] - (1 if a[0] < b[0] else 0)


def _widen(states):
    made = np.empty(len(states), dtype=WIDE)
    made["low"], made["high"] = states.view(np.uint64), states >> 63
    return made


def _lower_wide(s):
    total = np.int64(s[0])
    if s[1] != total >> 63:
        raise OverflowError("a sum does not fit in 64 bits; cast the column to float64, or use shorter windows")
    return total


def _too_large(answer):
    raise Overflow(f"{answer} does not fit in 64 bits; use floats, or shorter windows")


def checked(s):
    """An answer of any type, as long as an integer fits in 64 bits."""
    return s if not isinstance(s, int) or -LIMIT <= s < LIMIT else _too_large(s)


# (sum of the finite values, number of +inf, number of -inf); a NaN counts as both. As long as all values are finite,
# the sum is enough.

FINITE = record(finite="f8", up="i8", down="i8")


def _widen_finite(states):
    made = np.zeros(len(states), dtype=FINITE)
    made["finite"] = states
    return made


def _lift_finite(x):
    if x - x == 0:
        return x, 0, 0
    return 0.0, 0 if x < 0 else 1, 0 if x > 0 else 1


def _add_finite(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _subtract_finite(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _lower_finite(s):
    if s[1] == 0 and s[2] == 0:
        return s[0]
    return math.nan if s[1] > 0 and s[2] > 0 else math.inf if s[1] > 0 else -math.inf


def _lower_finite_any(s):
    return checked(_lower_finite(s))


def _narrow(zero, dtype):
    return Monoid(
        name="sum",
        lift=itself,
        combine=_add,
        lower=itself,
        inverse=_subtract,
        identity=zero,
        state=np.dtype(dtype),
        result=dtype,
        commutative=True,
        is_narrow=True,
    )


@cache
def _sum(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    if kinds == ("i",):
        return Monoid(
            name="sum",
            lift=_lift_wide,
            combine=_add_wide,
            lower=_lower_wide,
            inverse=_subtract_wide,
            identity=(0, 0),
            state=WIDE,
            result="i8",
            commutative=True,
            narrow=_narrow(0, "i8"),
            widen=_widen,
        )
    floats = kinds == ("f",)
    if invertible:
        return Monoid(
            name="sum",
            lift=_lift_finite,
            combine=_add_finite,
            lower=_lower_finite if floats else _lower_finite_any,
            inverse=_subtract_finite,
            identity=(0.0 if floats else 0, 0, 0),
            state=FINITE if floats else None,
            result="f8" if floats else "object",
            commutative=True,
            narrow=_narrow(0.0, "f8") if floats else None,
            widen=_widen_finite if floats else None,
            of_plain=forms.finite_of,
            to_plain=forms.sum_of,
        )
    return Monoid(
        name="sum",
        lift=itself,
        combine=_add,
        lower=itself if floats else checked,
        identity=0.0 if floats else 0,
        state=np.dtype("f8") if floats else None,
        result="f8" if floats else "object",
        commutative=True,
    )


def sum(column: str | None = None) -> Aggregate:
    """The sum. Integers give int64 and never wrap around: a sum that does not fit raises sw.Overflow.

    >>> import slidewheel as sw
    >>> sw.rolling([1, 2, 3, 4], sw.sum(), size=3)
    array([1, 3, 6, 9])
    """
    return Aggregate("sum", (column,), _sum, commutative=True, arithmetic=True, invertible=True)


def _multiply(a, b):
    return a * b


def _to_float(x):
    return float(x)


@cache
def _product(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    return Monoid(
        name="product",
        lift=_to_float,
        combine=_multiply,
        lower=itself,
        identity=1.0,
        state=np.dtype("f8"),
        result="f8",
        commutative=True,
    )


def product(column: str | None = None) -> Aggregate:
    """The product, as float64.

    >>> import slidewheel as sw
    >>> sw.rolling([2, 3, 0, 4], sw.product(), size=2)
    array([2., 6., 0., 0.])
    """
    return Aggregate("product", (column,), _product, commutative=True, arithmetic=True)


def _lift_mean(x):
    return float(x), 1


# Integers are summed exactly here too: (low, high, number of values).


def _lift_wide_mean(x):
    return np.uint64(x), x >> 63, 1


def _add_wide_mean(a, b):
    low = a[0] + b[0]
    return low, a[1] + b[1] + (1 if low < a[0] else 0), a[2] + b[2]


def _divide_wide(s):
    total = np.int64(s[0])
    if s[1] == total >> 63:
        return total / s[2]
    return (s[1] * 18446744073709551616.0 + s[0]) / s[2]


def _lift_mean_any(x):
    return x, 1


def _add_pair(a, b):
    return a[0] + b[0], a[1] + b[1]


def _divide(s):
    return s[0] / s[1]


def _add_graded(a, b, m, n, inverse):
    return a + b


def _divide_graded(s, n):
    # s / n to the last bit, but with the division out of the loop, as n is the same for all full windows: the rest of
    # a rounded quotient is exact in one fused step (Markstein). It is NaN where s is not finite.
    inverse = 1.0 / n
    quotient = s * inverse
    rest = s - quotient * n
    return quotient + rest * inverse if rest == rest else quotient


# (sum of the finite values, +inf, -inf, number of values)


def _lift_finite_mean(x):
    if x - x == 0:
        return x, 0, 0, 1
    return 0.0, 0 if x < 0 else 1, 0 if x > 0 else 1, 1


def _lift_finite_log(x):
    y = math.log(x) if x > 0 else -math.inf if x == 0 else math.nan
    if y - y == 0:
        return y, 0, 0, 1
    return 0.0, 0 if y < 0 else 1, 0 if y > 0 else 1, 1


def _add_finite_mean(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def _subtract_finite_mean(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


def _lower_finite_mean(s):
    if s[1] == 0 and s[2] == 0:
        return s[0] / s[3]
    return math.nan if s[1] > 0 and s[2] > 0 else math.inf if s[1] > 0 else -math.inf


def _lower_finite_geomean(s):
    if s[1] == 0 and s[2] == 0:
        return math.exp(s[0] / s[3])
    return math.nan if s[1] > 0 and s[2] > 0 else math.inf if s[1] > 0 else 0.0


def _mean_of(name: str, lift: Any, lower: Any, kinds: tuple[str, ...]) -> Monoid:
    """The invertible form of mean and geomean."""
    wide = kinds == ("i",)
    return Monoid(
        name=name,
        lift=lift,
        combine=_add_finite_mean,
        lower=lower,
        inverse=_subtract_finite_mean,
        identity=(0.0 if kinds != ("O",) else 0, 0, 0, 0),
        state=record(finite="f8", up="i8", down="i8", n="i8") if kinds != ("O",) else None,
        result="f8",
        commutative=True,
        of_plain=forms.finite_mean_of_wide if wide else forms.finite_mean_of,
        to_plain=forms.wide_mean_of if wide else forms.mean_of,
    )


@cache
def _mean(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    if invertible:
        return _mean_of("mean", _lift_finite_mean, _lower_finite_mean, kinds)
    if kinds == ("O",):
        return Monoid(
            name="mean",
            lift=_lift_mean_any,
            combine=_add_pair,
            lower=_divide,
            identity=(0, 0),
            state=None,
            result="object",
            commutative=True,
        )
    graded = Monoid(
        name="mean",
        lift=_to_float,
        combine=_add_graded,
        lower=_divide_graded,
        identity=0.0,
        state=np.dtype("f8"),
        result="f8",
        graded_form=True,
    )
    if kinds == ("i",):
        return Monoid(
            name="mean",
            lift=_lift_wide_mean,
            combine=_add_wide_mean,
            lower=_divide_wide,
            identity=(0, 0, 0),
            state=record(low="u8", high="i8", n="i8"),
            result="f8",
            commutative=True,
            graded=graded,
        )
    return Monoid(
        name="mean",
        lift=_lift_mean,
        combine=_add_pair,
        lower=_divide,
        identity=(0.0, 0),
        state=record(sum="f8", n="i8"),
        result="f8",
        commutative=True,
        graded=graded,
    )


def mean(column: str | None = None) -> Aggregate:
    """The arithmetic mean, as float64.

    >>> import slidewheel as sw
    >>> sw.rolling([1, 2, 6], sw.mean(), size=2)
    array([1. , 1.5, 4. ])
    """
    return Aggregate("mean", (column,), _mean, commutative=True, arithmetic=True, invertible=True)


def _lift_log(x):
    return (math.log(x) if x > 0 else -math.inf if x == 0 else math.nan), 1


def _exp_divide(s):
    return math.exp(s[0] / s[1])


@cache
def _geomean(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    if invertible:
        return _mean_of("geomean", _lift_finite_log, _lower_finite_geomean, ("f",))
    return Monoid(
        name="geomean",
        lift=_lift_log,
        combine=_add_pair,
        lower=_exp_divide,
        identity=(0.0, 0),
        state=record(logs="f8", n="i8"),
        result="f8",
        commutative=True,
    )


def geomean(column: str | None = None) -> Aggregate:
    """The geometric mean: 0 where a value is 0, NaN where one is negative.

    >>> import slidewheel as sw
    >>> sw.rolling([1.0, 4.0, 16.0], sw.geomean(), size=2).round(6)
    array([1., 2., 8.])
    """
    return Aggregate("geomean", (column,), _geomean, commutative=True, arithmetic=True, invertible=True)
