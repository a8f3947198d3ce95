"""sw.rolling written down as its meaning: for every row the rows of its window, for these rows the answer.

No algorithm and no numpy: Python's own integers and exact fractions, a loop over all rows for each window. The values
follow Spark SQL: nulls are skipped, NaN is greater than every number, a window without values has no answer but for
`count`, and of equal values the first wins.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

import slidewheel as sw

CLOSED = ("right", "left", "both", "neither")
FIXED_WIDTH = [
    "count",
    "sum",
    "product",
    "mean",
    "geomean",
    "var",
    "std",
    "min",
    "max",
    "span",
    "min_count",
    "max_count",
    "argmin",
    "argmax",
    "first",
    "last",
]
INT64 = np.iinfo(np.int64)

Row = tuple[int, Any]
"""The position of a row, and its value."""


def rows_by_count(rows: int, size: int, closed: str = "right") -> list[list[int]]:
    """`size` rows up to this one. An open right end leaves this row out, a closed left end lets one more in."""
    windows = []
    for i in range(rows):
        youngest = i if closed in ("right", "both") else i - 1
        oldest = i - size if closed in ("left", "both") else i - size + 1
        windows.append([k for k in range(rows) if oldest <= k <= youngest])
    return windows


def rows_by_time(times: list[int], over: int, closed: str = "right") -> list[list[int]]:
    """The rows between t - over and t, the ends in or out; rows of equal times are in the same windows."""
    windows = []
    for now in times:
        inside = []
        for k, then in enumerate(times):
            after_left = then >= now - over if closed in ("left", "both") else then > now - over
            before_right = then <= now if closed in ("right", "both") else then < now
            if after_left and before_right:
                inside.append(k)
        windows.append(inside)
    return windows


def rolled(name: str, values: list[Any], windows: list[list[int]], min_count: int = 0, **options: Any) -> list[Any]:
    """The answer of each window; None is null, and sw.Overflow stands for the error."""
    found = []
    for window in windows:
        held = [(k, values[k]) for k in window if values[k] is not None]
        found.append(None if len(held) < min_count else answer(name, held, **options))
    return found


def answer(name: str, held: list[Row], ddof: int = 1, sep: str = "") -> Any:
    values = [value for _, value in held]
    if name == "count":
        return len(values)
    if not values:
        return None
    match name:
        case "sum":
            return _sum(values)
        case "product":
            return math.prod(float(v) for v in values)
        case "mean":
            return _mean([float(v) for v in values])
        case "geomean":
            return _geomean(values)
        case "var" | "std":
            return _spread(values, ddof, root=name == "std")
        case "min" | "max":
            return values[_extreme(name, values)]
        case "span":
            return _span(values)
        case "min_count" | "max_count":
            winner = values[_extreme(name[:3], values)]
            return sum(_order(v) == _order(winner) for v in values)
        case "argmin" | "argmax":
            return held[_extreme(name[3:], values)][0]
        case "first":
            return values[0]
        case "last":
            return values[-1]
        case "collect":
            return values
        case "collect_distinct":
            return [v for k, v in enumerate(values) if all(_order(v) != _order(u) for u in values[:k])]
        case "concat":
            return sep.join(str(v) for v in values)
    raise NotImplementedError(name)


def _order(value: Any) -> tuple[bool, Any]:
    """What values are compared by: NaN is equal to itself and greater than all others."""
    return (True, 0) if value != value else (False, value)


def _extreme(name: str, values: list[Any]) -> int:
    best = 0
    for k, value in enumerate(values):
        better = _order(value) < _order(values[best]) if name == "min" else _order(value) > _order(values[best])
        if better:
            best = k
    return best


def _sum(values: list[Any]) -> Any:
    if any(isinstance(v, float) for v in values):
        special = [v for v in values if not math.isfinite(v)]
        return sum(special) if special else _float(sum(map(Fraction, values)))
    total = sum(values)
    return total if INT64.min <= total <= INT64.max else sw.Overflow


def _mean(values: list[float]) -> float:
    # Spark divides a sum of doubles, which may have overflowed, by the count.
    total = _sum(values)
    return _float(sum(map(Fraction, values)) / len(values)) if math.isfinite(total) else total


def _geomean(values: list[Any]) -> float:
    logs = [math.log(v) if v > 0 else -math.inf if v == 0 else math.nan for v in values]
    mean = _mean(logs)
    return math.exp(mean)


def _spread(values: list[Any], ddof: int, root: bool) -> float | None:
    if len(values) <= ddof:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    variance = _float(sum((v - mean) ** 2 for v in exact) / (len(exact) - ddof))
    return math.sqrt(variance) if root else variance


def _span(values: list[Any]) -> Any:
    distance = values[_extreme("max", values)] - values[_extreme("min", values)]
    return sw.Overflow if isinstance(distance, int) and distance > INT64.max else distance


def _float(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def tolerance(name: str, values: list[Any]) -> float:
    """How far float arithmetic may be off, from the values that it works with."""
    sizes = [abs(float(v)) for v in values if v is not None and math.isfinite(v)]
    if not sizes or name not in ("sum", "mean", "std", "var"):
        return 0.0
    rounding = 1e-14 * len(sizes) * max(sizes)
    return rounding * max(sizes) if name == "var" else rounding


def assert_same(got: Any, wanted: list[Any], absolute: float = 0.0, relative: float = 1e-12) -> None:
    """An array of answers is this list: nulls where it says None, floats up to rounding."""
    assert isinstance(got, np.ndarray) and got.shape == (len(wanted),)
    hidden = np.ma.getmaskarray(got)
    for k, (g, w) in enumerate(zip(np.ma.getdata(got).tolist(), wanted, strict=True)):
        place = f"row {k}: {g!r}, not {w!r}"
        if w is None:
            assert hidden[k] or g is None or (isinstance(g, float) and g != g), place
            continue
        assert not hidden[k], place
        if isinstance(w, float) and isinstance(g, float):
            assert (g == w) or (g != g and w != w) or math.isclose(g, w, rel_tol=relative, abs_tol=absolute), place
        else:
            assert type(g) is type(w), place
            assert _listed(g) == _listed(w), place


def _listed(value: Any) -> Any:
    return [_order(v) for v in value] if isinstance(value, list) else _order(value)
