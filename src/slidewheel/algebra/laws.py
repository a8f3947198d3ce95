"""sw.check: does an aggregate keep the laws that it needs and claims?"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.algebra.monoid import Monoid
from slidewheel.errors import InvalidArgument, LawViolation

TOLERANCE = 1e-9
MOST_SAMPLES = 16


def check(aggregate: Aggregate | AggregateType, samples: Iterable[Any]) -> None:
    """Test associativity, identity, inverse and the declared traits on these inputs.

    Raises sw.LawViolation with the smallest counterexample found. Samples are inputs of `lift`; for an aggregate over
    two columns, pairs. Floats are compared with a tolerance of 1e-9 of the largest number involved.

    >>> import slidewheel as sw
    >>> sw.check(sw.sum(), [1, 2.5, -7])
    >>> @sw.aggregate(state="f8")
    ... class Minus:
    ...     identity = 0.0
    ...     def lift(x):        return x
    ...     def combine(a, b):  return a - b
    >>> sw.check(Minus(), [1.0, 2.0])
    Traceback (most recent call last):
    ...
    slidewheel.errors.LawViolation: Minus: the identity changes a state: combine(0.0, 1.0) = -1.0, not 1.0
    """
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    inputs = list(samples)
    if not inputs:
        raise InvalidArgument("check needs at least one sample")
    monoid = aggregate.monoid(invertible=aggregate.invertible)
    claims = (aggregate.commutative, aggregate.selective)
    states = _states(monoid, inputs)
    for law in _laws(monoid, *claims):
        law(states)
    if aggregate.invertible:
        for law in _laws(aggregate.monoid(), *claims):
            law(_states(aggregate.monoid(), inputs))


def _states(monoid: Monoid, inputs: list[Any]) -> list[Any]:
    """Lifted samples, the simplest first, then some combined ones."""
    inputs = sorted(inputs, key=_size)[:MOST_SAMPLES]
    lifted = [monoid.lift(*x) if monoid.arity == 2 else monoid.lift(x) for x in inputs]
    pairs = [monoid.combine(a, b) for a, b in zip(lifted, reversed(lifted), strict=True)]
    return lifted + pairs[: MOST_SAMPLES // 2]


def _size(value: Any) -> tuple[int, float]:
    if isinstance(value, (int, float)):
        return (0, abs(value)) if value == value else (2, 0.0)
    return (1, float(len(value)) if hasattr(value, "__len__") else 0.0)


def _laws(monoid: Monoid, commutative: bool, selective: bool) -> Iterator[Callable[[list[Any]], None]]:
    name, combine, inverse, zero = monoid.name, monoid.combine, monoid.inverse, monoid.identity

    def fail(law: str, said: str, got: Any, wanted: Any) -> None:
        raise LawViolation(f"{name}: {law}: {said} = {got!r}, not {wanted!r}")

    def identity(states: list[Any]) -> None:
        for a in states:
            for x, y in ((zero, a), (a, zero)):
                got = combine(x, y)
                if not alike(got, a):
                    fail("the identity changes a state", f"combine({x!r}, {y!r})", got, a)

    def associativity(states: list[Any]) -> None:
        for a, b, c in _by_size(states, 3):
            left, right = combine(combine(a, b), c), combine(a, combine(b, c))
            if not alike(left, right, a, b, c):
                fail("combine is not associative", f"combine(combine({a!r}, {b!r}), {c!r})", left, right)

    def commutativity(states: list[Any]) -> None:
        for a, b in _by_size(states, 2):
            one, other = combine(a, b), combine(b, a)
            if not alike(one, other, a, b):
                fail("combine is not commutative, though declared so", f"combine({a!r}, {b!r})", one, other)

    def selectivity(states: list[Any]) -> None:
        for a, b in _by_size(states, 2):
            got = combine(a, b)
            if not alike(got, a) and not alike(got, b):
                fail(
                    "combine is not selective, though declared so",
                    f"combine({a!r}, {b!r})",
                    got,
                    f"{a!r} or {b!r}",
                )

    def inversion(states: list[Any]) -> None:
        assert inverse is not None
        for old, rest in _by_size(states, 2):
            both = combine(old, rest)
            got = inverse(both, old)
            if not alike(got, rest, old, rest, both):
                said = f"inverse(combine({old!r}, {rest!r}), {old!r})"
                fail("inverse does not take the older part away", said, got, rest)

    yield identity
    if commutative:
        yield commutativity
    if selective:
        yield selectivity
    if inverse is not None:
        yield inversion
    yield associativity


def _by_size(states: list[Any], count: int) -> Iterator[tuple[Any, ...]]:
    """Tuples of states, those of early (simple) states first."""
    places = itertools.product(range(len(states)), repeat=count)
    for chosen in sorted(places, key=lambda p: (max(p), sum(p))):
        yield tuple(states[k] for k in chosen)


def alike(got: Any, wanted: Any, *involved: Any) -> bool:
    """Equal, floats up to rounding relative to the largest number involved; NaN equals NaN."""
    if isinstance(got, tuple) and isinstance(wanted, tuple):
        fields = [[v[k] if isinstance(v, tuple) and k < len(v) else 0 for v in involved] for k in range(len(got))]
        return len(got) == len(wanted) and all(alike(g, w, *f) for g, w, f in zip(got, wanted, fields, strict=True))
    if isinstance(got, float) or isinstance(wanted, float):
        try:
            if got != got and wanted != wanted:
                return True
            numbers = [abs(v) for v in (got, wanted, *involved) if isinstance(v, (int, float)) and math.isfinite(v)]
            largest = max(numbers, default=0.0)
            return bool(got == wanted or abs(got - wanted) <= TOLERANCE * largest)
        except TypeError:
            return False
    try:
        return bool(got == wanted)
    except ValueError:  # arrays
        return bool((got == wanted).all())
