"""States for places that may be empty: a hole is neutral, and no combine is spent on it.

The Reactive Aggregator paper writes a hole as an upside-down T (section 5.1.1): x and a hole make x. A null is a hole
that has a time.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from slidewheel.algebra.monoid import Monoid

Join = Callable[[Any, Any], Any]


class Hole(Enum):
    """A type of its own, since any other value may be a state."""

    HOLE = "hole"


HOLE = Hole.HOLE


class States(NamedTuple):
    lift: Callable[..., Any]
    join: Join
    answer: Callable[[Any], Any]


def states(monoid: Monoid) -> States:
    """How to make states of values, to join them, and to answer with them; None or `lower(identity)` for a hole."""
    combine, lower, least = monoid.combine, monoid.lower, monoid.least
    empty = lower(monoid.identity) if least == 0 else None
    if least > 1:
        return _counted(monoid, empty)

    def join(a, b):
        return b if a is HOLE else a if b is HOLE else combine(a, b)

    def answer(state):
        return empty if state is HOLE else lower(state)

    return States(monoid.lift, join, answer)


def _counted(monoid: Monoid, empty: Any) -> States:
    """With the number of values beside each state, where one value is too few for an answer."""
    lift, combine, lower, least = monoid.lift, monoid.combine, monoid.lower, monoid.least

    def join(a, b):
        return b if a is HOLE else a if b is HOLE else (a[0] + b[0], combine(a[1], b[1]))

    def answer(state):
        return empty if state is HOLE or state[0] < least else lower(state[1])

    return States(lambda *value: (1, lift(*value)), join, answer)
