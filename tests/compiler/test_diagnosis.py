"""Aggregates that can't be compiled, or contradict themselves: the error says where, why and what to do."""

import inspect
import re

import pytest

import slidewheel as sw
from tests.compiler.users import QUICK, VALUES, add, made

ADVICE = "declare the aggregate with state=object"


def formats(a, b):
    return float(f"{a:.2f}") + b


def catches(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return a


def imports(a, b):
    import json

    return a + len(json.dumps(b))


def knows_nobody(a, b):
    return a + nobody  # noqa: F821


def asks_for_attributes(a, b):
    return (
        a
        + b.real_part
    )  # fmt: skip


def helper(a):
    return a


def calls_plain_python(a, b):
    return helper(a) + b


def returns_nothing(a, b):
    a + b


def sometimes_returns(a, b):
    if a > b:
        return a


REFUSED = [formats, catches, imports, knows_nobody, asks_for_attributes, calls_plain_python]


def lines_of(function):
    source, first = inspect.getsourcelines(function)
    return range(first, first + len(source))


@pytest.mark.parametrize("combine", REFUSED)
def test_a_combine_that_does_not_compile(combine):
    with pytest.raises(sw.CompileError) as caught:
        sw.rolling(VALUES, made(combine=combine), **QUICK)
    message = str(caught.value)
    assert message.startswith("Made.combine can't be compiled") and ADVICE in message
    file, line = re.search(r"\((.+), line (\d+)\)", message).groups()
    assert file == __file__ and int(line) in lines_of(combine)


@pytest.mark.parametrize("combine", [returns_nothing, sometimes_returns])
def test_a_combine_that_forgets_to_return(combine):
    with pytest.raises(sw.CompileError, match="combine"):
        sw.rolling(VALUES, made(combine=combine), **QUICK)


@pytest.mark.parametrize("combine", [formats, imports])
def test_the_advice_works(combine):
    aggregate = made(state=object, combine=combine)
    assert len(sw.rolling(VALUES, aggregate, size=2)) == len(VALUES)


def adds_nobody(x):
    return x + nobody  # noqa: F821


def asks_a_state(s):
    return s.real_part


@pytest.mark.parametrize(("name", "function"), [("lift", adds_nobody), ("lower", asks_a_state)])
def test_the_function_that_is_at_fault_is_named(name, function):
    with pytest.raises(sw.CompileError, match=rf"Made\.{name} can't be compiled"):
        sw.rolling(VALUES, made(**{name: function}), **QUICK)


TWO = {"a": "f8", "n": "i8"}


def pair(x):
    return x, 1


def triple(x):
    return x, 1, 2


def keep(a, b):
    return a


MISFITS = {
    "a float for an integer": ("i8", 0, {}, r"Made\.lift.*float64.*declared i8"),
    "a float for a field": (TWO, (0.0, 0), {"lift": lambda x: (x, x), "combine": keep}, "float64 for 'n'.*declared i8"),
    "too many fields": (TWO, (0.0, 0), {"lift": triple, "combine": keep}, "fields a, n"),
    "no tuple": (TWO, (0.0, 0), {"combine": keep}, "float64, but the state has the fields a, n"),
    "a tuple": ("f8", 0.0, {"lift": pair, "combine": keep}, "Tuple.*declared f8"),
    "combine, not lift": ("f8", 0.0, {"combine": lambda a, b: (a, b)}, r"Made\.combine.*declared f8"),
}


@pytest.mark.parametrize(("state", "identity", "functions", "said"), MISFITS.values(), ids=MISFITS)
def test_a_state_that_is_not_as_declared(state, identity, functions, said):
    with pytest.raises(sw.CompileError, match=said) as caught:
        sw.rolling(VALUES, made(state, identity, **functions), **QUICK)
    assert "Declare the state with the types" in str(caught.value)


IDENTITIES = {
    "a float for an integer": ("i8", 0.5),
    "a text for a float": ("f8", "0"),
    "nothing": ("f8", None),
    "a number for a flag": ("?", 0),
    "a flag for a number": ("i8", False),
    "too large": ("i1", 300),
    "below zero": ("u4", -1),
    "too few fields": (TWO, (0.0,)),
    "no tuple": (TWO, 0.0),
    "a wrong field": (TWO, (0.0, 0.5)),
    "a tuple for a number": ("f8", (0.0, 0.0)),
    "an empty tuple for a number": ("f8", ()),
    "an array of another length": (("f8", (3,)), [0.0, 0.0]),
}


@pytest.mark.parametrize(("state", "identity"), IDENTITIES.values(), ids=IDENTITIES)
def test_an_identity_that_does_not_fit_the_state(state, identity):
    with pytest.raises(sw.InvalidAggregate, match=r"Made.*identity"):
        made(state, identity)


STATES = {
    "an unknown type": "f9",
    "text": "U5",
    "a time": "M8[s]",
    "complex": "c16",
    "half": "f2",
    "too wide": "f16",
    "an object": {"a": "O"},
    "no fields": {},
    "a keyword": {"class": "f8"},
    "no name": {"a b": "f8"},
    "a table": ("f8", (2, 2)),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_state_that_can_not_be_compiled(state):
    """Said when the aggregate is defined or used, but in words."""
    identity = {"dict": (0.0,)}.get(type(state).__name__, 0.0)
    with pytest.raises(sw.InvalidAggregate, match="Made"):
        sw.rolling(VALUES, made(state, identity, lambda x: x, add), **QUICK)


CLASSES = {
    "no lift": ({"combine": add, "identity": 0}, "needs a function lift"),
    "no combine": ({"lift": helper, "identity": 0}, "needs a function combine"),
    "no identity": ({"lift": helper, "combine": add}, "needs an identity"),
    "self": ({"lift": helper, "combine": lambda self, a, b: a, "identity": 0}, "takes 2 argument.*no self"),
    "three columns": ({"lift": lambda x, y, z: x, "combine": add, "identity": 0}, "one or two columns"),
    "lower of two": ({"lift": helper, "combine": add, "identity": 0, "lower": add}, "lower takes 1"),
    "inverse of one": ({"lift": helper, "combine": add, "identity": 0, "inverse": helper}, "inverse takes 2"),
    "lower a number": ({"lift": helper, "combine": add, "identity": 0, "lower": 3}, "lower must be a function"),
}


@pytest.mark.parametrize(("members", "said"), CLASSES.values(), ids=CLASSES)
def test_a_class_that_is_no_aggregate(members, said):
    with pytest.raises(sw.InvalidAggregate, match=said):
        sw.aggregate(state="i8")(type("Made", (), members))
