"""Counts, sums and what is made of them: count, sum, product, mean, geomean, var, std.

Every float aggregate has two forms. The plain one has no inverse: a NaN or an infinity, once added, can't be taken
away. The other, used only where subtraction was asked for, counts those values beside the sum instead of adding them.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid
from slidewheel.errors import InvalidArgument, Overflow

LIMIT = 2**63


def _same(x):
    return x


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
        lower=_same,
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
        skips_nulls=column is not None,
    )


# Integers are summed in 128 bits, so that the order of the items never decides whether a sum overflows.


def _lift_wide(x):
    return np.uint64(x), x >> 63


def _add_wide(a, b):
    low = a[0] + b[0]
    return low, a[1] + b[1] + (1 if low < a[0] else 0)


def _subtract_wide(a, b):
    return a[0] - b[0], a[1] - b[1] - (1 if a[0] < b[0] else 0)


def _lower_wide(s):
    total = np.int64(s[0])
    if s[1] != total >> 63:
        raise OverflowError("a sum does not fit in 64 bits; cast the column to float64, or use shorter windows")
    return total


def _too_large(total):
    raise Overflow(f"the sum {total} does not fit in 64 bits; use floats, or shorter windows")


def _lower_any(s):
    return s if not isinstance(s, int) or -LIMIT <= s < LIMIT else _too_large(s)


# (sum of the finite values, number of +inf, number of -inf); a NaN counts as both.


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
    return _lower_any(_lower_finite(s))


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
            state=record(low="u8", high="i8"),
            result="i8",
            commutative=True,
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
            state=record(finite="f8", up="i8", down="i8") if floats else None,
            result="f8" if floats else "object",
            commutative=True,
        )
    return Monoid(
        name="sum",
        lift=_same,
        combine=_add,
        lower=_same if floats else _lower_any,
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
        lower=_same,
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


def _lift_mean_any(x):
    return x, 1


def _add_pair(a, b):
    return a[0] + b[0], a[1] + b[1]


def _divide(s):
    return s[0] / s[1]


def _add_graded(a, b, m, n, inverse):
    return a + b


def _divide_graded(s, n):
    return s / n


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


# (n, mean, M2): Chan, Golub and LeVeque. M2 is the sum of squared distances from the mean. The mean has a second float
# for what the first has no room for: without it, a mean of 1e9 would cost a variance of 1 half of its digits.


def _lift_moments(x):
    y = float(x)
    return 1.0, y, 0.0, y - y  # NaN for what is not finite


def _add_moments(a, b):
    if a[0] == 0.0:
        return b
    if b[0] == 0.0:
        return a
    n = a[0] + b[0]
    share = b[0] / n
    delta = (b[1] - a[1]) + (b[2] - a[2])
    step = delta * share + a[2]
    mean = a[1] + step
    return n, mean, step - (mean - a[1]), a[3] + b[3] + delta * (delta * (a[0] * share))


def _add_moments_graded(a, b, m, n, inverse):
    delta = b[0] - a[0]
    share = n * inverse
    return a[0] + delta * share, a[1] + b[1] + delta * (delta * (m * share))


def _lift_moments_graded(x):
    return float(x), 0.0


# (n, mean, the rest of the mean, M2, number of values that are not finite)


def _lift_finite_moments(x):
    if x - x == 0:
        return 1.0, float(x), 0.0, 0.0, 0
    return 0.0, 0.0, 0.0, 0.0, 1


def _add_finite_moments(a, b):
    if a[0] == 0.0:
        return b[0], b[1], b[2], b[3], a[4] + b[4]
    if b[0] == 0.0:
        return a[0], a[1], a[2], a[3], a[4] + b[4]
    n = a[0] + b[0]
    share = b[0] / n
    delta = (b[1] - a[1]) + (b[2] - a[2])
    step = delta * share + a[2]
    mean = a[1] + step
    return n, mean, step - (mean - a[1]), a[3] + b[3] + delta * (delta * (a[0] * share)), a[4] + b[4]


def _subtract_finite_moments(a, b):
    n = a[0] - b[0]
    if n == 0.0:
        return 0.0, 0.0, 0.0, 0.0, a[4] - b[4]
    if b[0] == 0.0:
        return a[0], a[1], a[2], a[3], a[4] - b[4]
    step = ((a[1] - b[1]) + (a[2] - b[2])) * (b[0] / n) + a[2]
    mean = a[1] + step
    rest = step - (mean - a[1])
    delta = (b[1] - mean) + (b[2] - rest)
    m2 = a[3] - b[3] - delta * (delta * (b[0] * (n / a[0])))
    return n, mean, rest, m2 if m2 > 0.0 else 0.0, a[4] - b[4]


def _lower_moments(ddof: int, root: bool) -> tuple[Any, Any, Any]:
    """lower for the three forms of the state. M2 - M2 + M2 is M2, or NaN where M2 is infinite: as in Spark, a window
    with an infinity has no variance. In the graded form, 1 / (n - ddof) is computed once for all full windows.
    """
    if root:

        def lower(s):
            return math.sqrt((s[3] - s[3] + s[3]) / (s[0] - ddof)) if s[0] > ddof else math.nan

        def lower_graded(s, n):
            return math.sqrt((s[1] - s[1] + s[1]) * (1.0 / (n - ddof)))

        def lower_finite(s):
            return math.sqrt(s[3] / (s[0] - ddof)) if s[4] == 0 and s[0] > ddof else math.nan

    else:

        def lower(s):
            return (s[3] - s[3] + s[3]) / (s[0] - ddof) if s[0] > ddof else math.nan

        def lower_graded(s, n):
            return (s[1] - s[1] + s[1]) * (1.0 / (n - ddof))

        def lower_finite(s):
            return s[3] / (s[0] - ddof) if s[4] == 0 and s[0] > ddof else math.nan

    return lower, lower_graded, lower_finite


@cache
def _moments(name: str, ddof: int, invertible: bool) -> Monoid:
    lower, lower_graded, lower_finite = _lower_moments(ddof, root=name == "std")
    if invertible:
        return Monoid(
            name=name,
            lift=_lift_finite_moments,
            combine=_add_finite_moments,
            lower=lower_finite,
            inverse=_subtract_finite_moments,
            identity=(0.0, 0.0, 0.0, 0.0, 0),
            state=record(n="f8", mean="f8", rest="f8", m2="f8", odd="i8"),
            result="f8",
            commutative=True,
            least=ddof + 1,
        )
    graded = Monoid(
        name=name,
        lift=_lift_moments_graded,
        combine=_add_moments_graded,
        lower=lower_graded,
        identity=(0.0, 0.0),
        state=record(mean="f8", m2="f8"),
        result="f8",
        graded_form=True,
        spread=_same if name == "std" else math.sqrt,
    )
    return Monoid(
        name=name,
        lift=_lift_moments,
        combine=_add_moments,
        lower=lower,
        identity=(0.0, 0.0, 0.0, 0.0),
        state=record(n="f8", mean="f8", rest="f8", m2="f8"),
        result="f8",
        commutative=True,
        least=ddof + 1,
        graded=graded,
    )


def _spread(name: str, column: str | None, ddof: int) -> Aggregate:
    if not isinstance(ddof, int) or isinstance(ddof, bool) or ddof < 0:
        raise InvalidArgument(f"{name}: ddof must be 0, 1, ... (1 for a sample, 0 for a population), not {ddof!r}")

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        return _moments(name, ddof, invertible)

    return Aggregate(name, (column,), variant, commutative=True, invertible=True, arithmetic=True)


def var(column: str | None = None, ddof: int = 1) -> Aggregate:
    """The variance; null for windows of ddof values or fewer.

    >>> import slidewheel as sw
    >>> sw.rolling([1.0, 3.0, 7.0], sw.var(), size=2)
    array([nan,  2.,  8.])
    """
    return _spread("var", column, ddof)


def std(column: str | None = None, ddof: int = 1) -> Aggregate:
    """The standard deviation; null for windows of ddof values or fewer.

    >>> import slidewheel as sw
    >>> sw.rolling([1e9 + 1, 1e9 + 5], sw.std(ddof=0), size=2)
    array([0., 2.])
    """
    return _spread("std", column, ddof)
