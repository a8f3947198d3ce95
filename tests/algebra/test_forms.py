"""States without an inverse as states with one, and back: the same answers."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.algebra.forms import converted

CALM = [[1.5, 2.0], [3.0], [7.0, 1.0, 4.0], [], [9.0]]
WILD = [*CALM, [math.nan, 1.0], [math.inf], [-math.inf, 5.0], [math.inf, -math.inf], [2.0, math.nan, math.inf]]
GREAT = [[2**63 - 1] * 5, [-(2**63)] * 3, [-5], [7, -9], []]
CASES = [
    (sw.sum(), "f", WILD),
    (sw.sum(), "O", [[Fraction(1, 3), 2], [5], []]),
    (sw.mean(), "f", WILD),
    (sw.mean(), "i", GREAT),
    (sw.mean(), "O", [[Fraction(1, 3), 2], [5], []]),
    (sw.geomean(), "f", [*WILD, [0.0, 3.0], [-1.0, 2.0]]),
    (sw.geomean(), "i", [[1, 2, 4], [0], [-3], []]),
    (sw.geomean(), "O", CALM),
    (sw.var(), "f", WILD),
    (sw.var(), "i", [[1, 2, 4], [0], []]),
    (sw.std(ddof=0), "O", CALM),
]


def named(value):
    return getattr(value, "name", value if isinstance(value, str) else "")


def state_of(monoid, values, kind):
    given = [np.int64(v) if kind == "i" else v for v in values]
    with np.errstate(all="ignore"):
        return reduce(monoid.combine, map(monoid.lift, given), monoid.identity)


def array_of(monoid, states, kind):
    """As wheels keep them: numbers where they are compiled, else objects."""
    if kind != "O":
        return np.array(states, dtype=monoid.state)
    made = np.empty(len(states), dtype=object)
    for k, state in enumerate(states):
        made[k] = state
    return made


def lower(monoid, state):
    if (
        monoid.state is not None and (monoid.state.names or ("",))[0] == "low"
    ):  # in 128 bits, which is for compiled code
        low, high, n = state
        return (high * 2**64 + low) / n
    return float(monoid.lower(state))


def answers(monoid, states):
    found = []
    for state in states.tolist():
        with np.errstate(all="ignore"):
            found.append("nothing" if state == monoid.identity else lower(monoid, state))
    return found


def same(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-12), (found, wanted)


@pytest.mark.parametrize(("aggregate", "kind", "groups"), CASES, ids=named)
def test_there_and_back(aggregate, kind, groups):
    plain, other = (aggregate.monoid(kind, invertible=inverse) for inverse in (False, True))
    assert plain.of_plain is None and plain.inverse is None and other.inverse is not None
    states = array_of(plain, [state_of(plain, values, kind) for values in groups], kind)
    taken = array_of(other, [state_of(other, values, kind) for values in groups], kind)
    width = [len(m.identity) if isinstance(m.identity, tuple) else 1 for m in (plain, other)]
    made = converted(states, other.of_plain, width[0], object_or(other, kind))
    back = converted(taken, other.to_plain, width[1], object_or(plain, kind))
    assert made.dtype == taken.dtype and back.dtype == states.dtype
    same(answers(other, made), answers(other, taken))
    same(answers(plain, back), answers(plain, states))


def object_or(monoid, kind):
    return np.dtype(object) if kind == "O" else monoid.state


@pytest.mark.parametrize(("aggregate", "kind", "groups"), CASES, ids=named)
def test_what_was_converted_can_be_taken_away(aggregate, kind, groups):
    if groups is GREAT:
        groups = [[5, -9], [-4, 2], [], [2**40]]  # as floats keep them
    plain, other = (aggregate.monoid(kind, invertible=inverse) for inverse in (False, True))
    fields = len(plain.identity) if isinstance(plain.identity, tuple) else 1
    states = array_of(plain, [state_of(plain, values, kind) for values in groups], kind)
    made = converted(states, other.of_plain, fields, object_or(other, kind)).tolist()
    for k, state in enumerate(made):
        rest = made[(k + 1) % len(made)]
        with np.errstate(all="ignore"):
            left = other.inverse(other.combine(state, rest), state)
        same(answers(other, array_of(other, [left], kind)), answers(other, array_of(other, [rest], kind)))


def test_none():
    other = sw.var().monoid("f", invertible=True)
    empty = np.empty(0, dtype=sw.var().monoid("f").state)
    assert converted(empty, other.of_plain, 4, other.state).dtype == other.state
    assert len(converted(np.empty(0, dtype=object), other.of_plain, 4, np.dtype(object))) == 0
