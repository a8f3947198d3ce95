"""Variance and standard deviation, by merging (n, mean, M2) (Chan, Golub and LeVeque).

M2 is the sum of squared distances from the mean. The mean has a second float for what the first has no room for:
without it, a mean of 1e9 would cost a variance of 1 half of its digits.
"""

import math
from functools import cache
from typing import Any

from slidewheel.algebra import forms
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid, itself
from slidewheel.algebra.sums import record
from slidewheel.errors import InvalidArgument


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
    """lower for the three forms of the state.

    As in Spark, a window with an infinity has no variance: M2 is NaN then, but in the graded form it may be infinite,
    and M2 - M2 + M2 makes NaN of that. There, 1 / (n - ddof) is computed once for all full windows.
    """
    if root:

        def lower(s):
            return math.sqrt(s[3] / (s[0] - ddof)) if s[0] > ddof else math.nan

        def lower_graded(s, n):
            return math.sqrt((s[1] - s[1] + s[1]) * (1.0 / (n - ddof)))

        def lower_finite(s):
            return math.sqrt(s[3] / (s[0] - ddof)) if s[4] == 0 and s[0] > ddof else math.nan

    else:

        def lower(s):
            return s[3] / (s[0] - ddof) if s[0] > ddof else math.nan

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
            of_plain=forms.finite_moments_of,
            to_plain=forms.moments_of,
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
        spread=itself if name == "std" else math.sqrt,
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

    return Aggregate(
        name, (column,), variant, commutative=True, invertible=True, arithmetic=True, parameters=(("ddof", ddof),)
    )


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
