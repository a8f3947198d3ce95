"""What several test files share: every aggregate, a plain recalculation, counting combines."""

import dataclasses
import math
from functools import reduce
from typing import Any

import slidewheel as sw
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.swag.registry import ALGORITHMS, lacking


@sw.aggregate(state={"n": "i8", "logs": "f8"}, commutative=True)
class GeoMean:
    identity = (0, 0.0)

    def lift(x):
        return 1, math.log(x)

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    def lower(s):
        return math.exp(s[1] / s[0])


@sw.aggregate(state=object)
class Words:
    """The sorted set of the last words: neither commutative nor of fixed width."""

    identity = ()

    def lift(x):
        return (str(x),)

    def combine(a, b):
        return tuple(dict.fromkeys(a + b))

    def lower(s):
        return "/".join(s)


AGGREGATES: dict[str, Aggregate] = {
    a.output: a
    for a in [
        sw.count(),
        sw.sum(),
        sw.product(),
        sw.mean(),
        sw.geomean(),
        sw.var(),
        sw.std(ddof=0),
        sw.min(),
        sw.max(),
        sw.span(),
        sw.min_count(),
        sw.max_count(),
        sw.argmin(),
        sw.argmax(),
        sw.first(),
        sw.last(),
        sw.concat(sep=","),
        sw.collect(),
        sw.collect_distinct(),
        sw.bloom(bits=128, hashes=2),
        Words(),
    ]
}

PAIRS = [
    (name, aggregate)
    for aggregate in AGGREGATES
    for name, module in ALGORITHMS.items()
    if not any(lacking(module.CARD, AGGREGATES[aggregate]))
]


def outcome(call: Any, *arguments: Any) -> Any:
    """What a call gives, or the kind of error that it raises."""
    try:
        return call(*arguments)
    except sw.Overflow:
        return sw.Overflow


def recalculated(aggregate: Aggregate, items: list[Any]) -> Any:
    """The aggregate of these items, oldest first, by folding them. None is a null."""
    monoid = aggregate.monoid()
    values = [x for x in items if x is not None or not aggregate.skips_nulls]
    if len(values) < monoid.least:
        return None
    lifted = [monoid.lift(*x) if monoid.arity == 2 else monoid.lift(x) for x in values]
    return outcome(lambda: monoid.lower(reduce(monoid.combine, lifted, monoid.identity)))


def agree(got: Any, wanted: Any, loose: float = 1e-9) -> bool:
    """Equal; floats up to rounding, NaN equals NaN, also inside lists."""
    if isinstance(wanted, list) and isinstance(got, list):
        return len(got) == len(wanted) and all(agree(g, w) for g, w in zip(got, wanted, strict=True))
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        same = got == wanted or (got != got and wanted != wanted)
        close = isinstance(wanted, float) and math.isfinite(wanted)
        return same or (close and math.isclose(got, wanted, rel_tol=loose, abs_tol=loose))
    return type(got) is type(wanted) and got == wanted


class Counter:
    """Counts the combines (and inverses) of the aggregate that it makes."""

    def __init__(self, aggregate: Aggregate) -> None:
        self.calls = 0
        self.aggregate = dataclasses.replace(aggregate, variant=self._variant(aggregate))

    def _variant(self, aggregate: Aggregate) -> Any:
        made: dict[bool, Any] = {}

        def counted(function: Any) -> Any:
            def call(a: Any, b: Any) -> Any:
                self.calls += 1
                return function(a, b)

            return call if function is not None else None

        def variant(kinds: tuple[str, ...], invertible: bool) -> Any:
            if invertible not in made:
                monoid = aggregate.variant(kinds, invertible)
                changed = {"combine": counted(monoid.combine), "inverse": counted(monoid.inverse)}
                made[invertible] = dataclasses.replace(monoid, **changed)
            return made[invertible]

        return variant

    def cost(self, call: Any, *arguments: Any) -> int:
        """The number of combines that a call takes."""
        self.calls = 0
        call(*arguments)
        return self.calls
