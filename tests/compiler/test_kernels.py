"""Aggregates that users write, compiled."""

import contextlib
import functools
import math

import numba
import numpy as np
import pytest

import slidewheel as sw
from slidewheel.compiler import kernels
from tests.compiler.users import QUICK, VALUES, first_of, made, same
from tests.engine.reference import assert_same


@sw.aggregate(state={"top": "f8", "bottom": "f8"}, commutative=True)
class Weighted:
    """The mean of one column, weighted by another."""

    identity = (0.0, 0.0)

    def lift(value, weight):
        return value * weight, float(weight)

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    def lower(s):
        return s[0] / s[1]

    def inverse(a, b):
        return a[0] - b[0], a[1] - b[1]


WEIGHTS = [3, 1, 1, 5]
WEIGHTED = [1.0, 5 / 4, 3.0, 44 / 6]


@pytest.mark.parametrize("how", [{"size": 2}, {"over": 2, "times": [1, 2, 3, 4]}], ids=["count", "time"])
def test_two_columns(how):
    assert_same(sw.rolling((VALUES, WEIGHTS), Weighted(), **how), WEIGHTED)
    named = sw.rolling({"w": WEIGHTS, "other": WEIGHTS, "v": VALUES}, Weighted("v", "w"), **how)
    assert_same(named, WEIGHTED)


def test_two_columns_with_nulls_in_either():
    columns = {"v": [1.0, None, 4.0, 8.0], "w": [3, 1, None, 5]}
    assert_same(sw.rolling(columns, Weighted("v", "w"), size=2), [1.0, 1.0, None, 8.0])


def test_two_columns_of_objects():
    words = sw.rolling((["a", "b", None], [2, 3, 1]), _repeated(), size=2)
    assert words.tolist() == ["aa", "aabbb", "bbb"]


def _repeated():
    def lift(text, times):
        return text * times

    return made(object, "", lift)


def test_a_number_as_state():
    assert_same(sw.rolling(VALUES, made(), **QUICK), [1.0, 3.0, 6.0, 12.0])


@pytest.mark.parametrize("kind", ["f8", "i1", "i2", "i4", "u1", "u2", "u4", "u8", "f4"])
@pytest.mark.slow
def test_a_number_of_every_kind_as_state(kind):
    got = sw.rolling(np.array([1, 2, 4]), made(kind, 0), **QUICK)
    assert got.dtype == kind and got.tolist() == [1, 3, 6]


KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def lift_all(x):
    return x > 2, 1, 2, 3, 4, 5, 6, 7, 8, 0.5, x


def join_all(a, b):
    return (
        a[0] or b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
        a[10] + b[10],
    )


def weigh_all(s):
    total = s[1] + 10 * s[2] + 100 * s[3] + 1000 * s[4] + 1e4 * s[5] + 1e5 * s[6] + 1e6 * s[7] + 1e7 * s[8]
    return -total if s[0] else total + s[9] + s[10]


def test_a_record_with_a_field_of_every_kind():
    identity = (False, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)
    aggregate = made({kind: kind for kind in KINDS}, identity, lift_all, join_all, lower=weigh_all)
    one = 87654321
    assert_same(sw.rolling(VALUES, aggregate, **QUICK), [one + 1.5, 2 * one + 4.0, -2.0 * one, -2.0 * one])


def large(x):
    return (x > 2,)


def either(a, b):
    return (a[0] or b[0],)


def test_a_field_that_is_true_or_false():
    got = sw.rolling([1.0, 8.0, 1.0, 1.0], made({"seen": "?"}, (False,), large, either, lower=first_of), **QUICK)
    assert got.dtype == bool and got.tolist() == [False, True, True, False]


def first_whole(s):
    if s < 4:
        return 7
    return s / 8


def test_an_answer_that_is_whole_in_one_branch_is_not_cut_in_the_other():
    assert_same(sw.rolling(VALUES, made(lower=first_whole), **QUICK), [7.0, 7.0, 0.75, 1.5])


def test_answers_that_are_true_or_false():
    def lower(s):
        return s > 4

    got = sw.rolling([1.0, None, None, 8.0], made(lower=lower), **QUICK)
    assert got.dtype == bool and np.ma.is_masked(got) and got.tolist() == [False, False, None, True]


def test_no_rows_still_have_a_type_and_compiling_is_announced(monkeypatch, capfd):
    monkeypatch.setattr(kernels, "PATIENCE", 0.0)
    assert sw.rolling(np.empty(0), made(lift=lambda x: x - 0.5), **QUICK).dtype == np.float64
    assert "slidewheel: compiling Made by recalc" in capfd.readouterr().err


def test_a_record_without_lower_is_refused_in_words():
    aggregate = made({"a": "f8", "b": "f8"}, (0.0, 0.0), lambda x: (x, x), lambda a, b: a)
    with pytest.raises(sw.InvalidAggregate, match="lower"):
        sw.rolling(VALUES, aggregate, **QUICK)


# States that are arrays.


def powers(x):
    return np.array([x, x * x])


def counts(x):
    return np.array([1, int(x)])


def test_an_array_as_state():
    got = sw.rolling([1.0, 2.0, None, 8.0], made(("f8", (2,)), np.zeros(2), powers), **QUICK)
    assert got.tolist() == [[1.0, 1.0], [3.0, 5.0], [2.0, 4.0], [8.0, 64.0]]


def test_an_array_of_integers_where_there_is_no_answer():
    got = sw.rolling([None, 2.0], made(("i8", (2,)), np.zeros(2, int), counts), **QUICK)
    assert got.tolist() == [[None, None], [1, 2]]


def outer(a, b):
    return np.array([max(a[0], b[0]), min(a[1], b[1])])


def test_an_identity_that_differs_from_place_to_place():
    """The largest and the smallest value."""
    aggregate = made(("f8", (2,)), np.array([-math.inf, math.inf]), lambda x: np.array([x, x]), outer)
    got = sw.rolling([3.0, None, 5.0], aggregate, **QUICK)
    assert got.tolist() == [[3.0, 3.0], [3.0, 3.0], [5.0, 5.0]]


def halves(s):
    return s / 2


def ratio(s):
    return s[1] / s[0]


@pytest.mark.parametrize(("lower", "wanted"), [(halves, [[0.5, 0.5], [1.0, 1.5]]), (ratio, [1.0, 1.5])])
def test_an_answer_made_of_an_array(lower, wanted):
    got = sw.rolling([1.0, 2.0], made(("i8", (2,)), np.zeros(2, int), counts, lower=lower), **QUICK)
    assert got.tolist() == wanted


# Names: what a user calls things must not meet the names in generated modules.

number = whole = fields = 10.0
lower = start = identity = jit = fit = load = item = put = 0.5


def reads_imported_names(x):
    return x + number + whole + fields


def reads_defined_names(x):
    return x + lower + start + identity + jit + fit + load + item + put


@pytest.mark.parametrize(("lift", "wanted"), [(reads_imported_names, 31.0), (reads_defined_names, 5.0)])
def test_globals_may_have_any_name(lift, wanted):
    assert_same(sw.rolling([1.0], made(lift=lift), **QUICK), [wanted])


def with_a_function_inside(x):
    def twice(y):
        return y + y

    return twice(x), 1


def with_busy_names(x):
    state = (x, 2.0)
    field0 = state[1] * x
    return field0, len(state)


def add_pairs(a, b):
    return a[0] + b[0], a[1] + b[1]


@pytest.mark.parametrize("lift", [with_a_function_inside, with_busy_names])
def test_locals_may_have_any_name_and_functions_may_return(lift):
    aggregate = made({"total": "f8", "n": "i8"}, (0.0, 0), lift, add_pairs, lower=first_of)
    assert_same(sw.rolling(VALUES, aggregate, **QUICK), [2.0, 6.0, 12.0, 24.0])


@pytest.mark.parametrize("field", ["roll", "i", "slot", "states", "v", "np"])
@pytest.mark.slow
def test_fields_may_have_any_name(field):
    aggregate = made({field: "f8", "n": "i8"}, (0.0, 0), lambda x: (x, 1), add_pairs, lower=first_of)
    assert_same(sw.rolling(VALUES, aggregate, **QUICK), [1.0, 3.0, 6.0, 12.0])


class Amount:
    pass


def positional(x: Amount, /):
    return x


def test_arguments_with_annotations():
    assert_same(sw.rolling(VALUES, made(lift=positional), **QUICK), [1.0, 3.0, 6.0, 12.0])


class Callable:
    def __call__(self, x):
        return x


CALLABLE = {
    "compiled already": numba.njit(same),
    "a builtin": math.sqrt,
    "partial": functools.partial(pow, 2.0),
    "an object": Callable(),
}


@pytest.mark.parametrize("lift", CALLABLE.values(), ids=CALLABLE)
def test_something_that_is_no_plain_function(lift):
    """It works, or is refused in words."""
    with contextlib.suppress(sw.InvalidAggregate):
        got = sw.rolling(VALUES, made(lift=lift), **QUICK)
        assert_same(got[:1], [float(lift(1.0))])


def test_an_error_in_a_users_function_is_the_users():
    def lift(x):
        if x > 2:
            raise ValueError("too much")
        return x

    with pytest.raises(ValueError, match="too much"):
        sw.rolling(VALUES, made(lift=lift), **QUICK)
