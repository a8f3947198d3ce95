"""What the algorithms see of an aggregate: a monoid with two ends, for inputs of known types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Monoid:
    """Plain functions and what is known about them.

    `state` is the dtype of a state, or None where states are Python objects. `result` is the dtype of an answer:
    "like0" for the type of the first column, "object", or "" to let the compiler infer it.
    """

    name: str
    lift: Function
    combine: Function
    lower: Function
    identity: Any
    state: np.dtype[Any] | None
    result: str = ""
    inverse: Function | None = None
    absorb: Function | None = None
    """For states that are arrays: add an input to the state in place: absorb(state, x)."""
    merge: Function | None = None
    """For states that are arrays: merge(into, other) adds a state in place. See `in_place`."""
    commutative: bool = False
    selective: bool = False
    arity: int = 1
    least: int = 1
    """The fewest inputs that have an answer."""
    narrow: "Monoid | None" = None
    """The same aggregate with smaller states: of integers right as long as the magnitudes of all inputs add up to less
    than 2**63, of floats as long as all of them are finite."""
    is_narrow: bool = False
    widen: Function | None = None
    """Makes wide states of an array of narrow ones."""
    of_plain: Function | None = None
    """For a form that has an inverse where the plain one has none: its states from plain ones (see forms.py)."""
    to_plain: Function | None = None
    """And plain ones from these."""
    graded: "Monoid | None" = None
    """The same aggregate for parts whose sizes are known: combine(a, b, m, n, 1 / (m + n)), lower(s, n)."""
    graded_form: bool = False
    spread: Function | None = None
    """For a graded form that loses digits where values lie close together far from 0: how close, from an answer."""


def in_place(*, absorb: Function, merge: Function, state: np.dtype[Any], identity: Any, **rest: Any) -> Monoid:
    """A monoid of states that are arrays, by the two functions that change one."""

    def lift(*x):
        made = np.full(state.shape, identity, state.base)
        absorb(made, *x)
        return made

    def combine(a, b):
        made = a.copy()
        merge(made, b)
        return made

    return Monoid(lift=lift, combine=combine, absorb=absorb, merge=merge, state=state, identity=identity, **rest)


def itself(x):
    """The lift or lower of an aggregate whose states are its values."""
    return x
