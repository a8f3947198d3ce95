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
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"check needs an aggregate such as sw.max(), not {aggregate!r}")
    inputs = list(samples)
    if not inputs:
        raise InvalidArgument("check needs at least one sample")
    if aggregate.arity == 2 and not all(isinstance(x, tuple) and len(x) == 2 for x in inputs):
        raise InvalidArgument(f"check: {aggregate.name} takes pairs, such as (1.5, 'a')")
    for invertible in {False, aggregate.invertible}:
        monoid = aggregate.monoid(invertible=invertible)
        states = _states(monoid, inputs)
        laws = list(_laws(monoid, aggregate.commutative, aggregate.selective, states[:3]))
        for newest in range(len(states)):  # all laws for the simple states first
            for arguments, law in laws:
                for chosen in itertools.product(states[: newest + 1], repeat=arguments - 1):
                    for place in reversed(range(arguments)):
                        law(*chosen[:place], states[newest], *chosen[place:])


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


def _laws(
    monoid: Monoid, commutative: bool, selective: bool, probes: list[Any]
) -> Iterator[tuple[int, Callable[..., None]]]:
    """Each law as a function of some states, and of how many."""
    name, combine, inverse, zero = monoid.name, monoid.combine, monoid.inverse, monoid.identity

    def seen(state: Any) -> list[Any]:
        """All that can be seen of a state: its answer, alone and joined with others."""
        joined = [state, *(combine(state, p) for p in probes), *(combine(p, state) for p in probes)]
        answers = []
        for each in joined:
            try:
                answers.append(monoid.lower(each))
            except Exception as error:
                answers.append(type(error))
        return answers

    def equal(got: Any, wanted: Any, *involved: Any) -> bool:
        """The same state, or one that can't be told from it: a state may have several forms."""
        return alike(got, wanted, *involved) or all(map(alike, seen(got), seen(wanted)))

    def fail(law: str, said: str, got: Any, *wanted: Any) -> None:
        raise LawViolation(f"{name}: {law}: {said} = {got!r}, not {' or '.join(map(repr, wanted))}")

    def identity(a: Any) -> None:
        for x, y in ((zero, a), (a, zero)):
            got = combine(x, y)
            if not equal(got, a):
                fail("the identity changes a state", f"combine({x!r}, {y!r})", got, a)

    def commutativity(a: Any, b: Any) -> None:
        one, other = combine(a, b), combine(b, a)
        if not equal(one, other, a, b):
            fail("combine is not commutative, though declared so", f"combine({a!r}, {b!r})", one, other)

    def selectivity(a: Any, b: Any) -> None:
        got = combine(a, b)
        if not equal(got, a) and not equal(got, b):
            fail("combine is not selective, though declared so", f"combine({a!r}, {b!r})", got, a, b)

    def inversion(old: Any, rest: Any) -> None:
        assert inverse is not None
        both = combine(old, rest)
        got = inverse(both, old)
        if not equal(got, rest, old, rest, both):
            said = f"inverse(combine({old!r}, {rest!r}), {old!r})"
            fail("inverse does not take the older part away", said, got, rest)

    def associativity(a: Any, b: Any, c: Any) -> None:
        left, right = combine(combine(a, b), c), combine(a, combine(b, c))
        if not equal(left, right, a, b, c):
            fail("combine is not associative", f"combine(combine({a!r}, {b!r}), {c!r})", left, right)

    yield 1, identity
    if commutative:
        yield 2, commutativity
    if selective:
        yield 2, selectivity
    if inverse is not None:
        yield 2, inversion
    yield 3, associativity


def alike(got: Any, wanted: Any, *involved: Any) -> bool:
    """Equal, floats up to rounding relative to the largest float involved; NaN equals NaN."""
    if isinstance(got, tuple) and isinstance(wanted, tuple):
        floats = [v for state in (got, wanted, *involved) for v in state if isinstance(v, float)]
        return len(got) == len(wanted) and all(alike(g, w, *floats) for g, w in zip(got, wanted, strict=True))
    if isinstance(got, float) or isinstance(wanted, float):
        try:
            if got != got and wanted != wanted:
                return True
            numbers = [abs(v) for v in (got, wanted, *involved) if isinstance(v, (int, float)) and math.isfinite(v)]
            return bool(got == wanted or abs(got - wanted) <= TOLERANCE * max(numbers, default=0.0))
        except TypeError:
            return False
    try:
        return bool(got == wanted)
    except ValueError:  # arrays
        return bool((got == wanted).all())
