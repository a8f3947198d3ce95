"""How a state lies in an array: a plain number, a record of fields, or a row of an array.

A register never holds what `load` gave, only what `combine` or `identity` made: for states that are arrays, `load`
is a view of a slot that may be overwritten later.
"""

from typing import Any

import numpy as np

State = np.dtype[Any]


def is_record(state: State) -> bool:
    return state.names is not None


def is_array(state: State) -> bool:
    return bool(state.shape)


def allocate(state: State, count: int, identity: Any) -> np.ndarray[Any, Any]:
    """Slots for `count` states, each the identity."""
    slots = np.empty(count, dtype=state)
    slots[...] = identity
    return slots


def fitted(state: State, value: str) -> str:
    """Text of the statements that return `value` with the types of the layout.

    `| 0` is for the compiler: it refuses a float where an integer is declared, and costs nothing.
    """
    if is_array(state):
        return f"return {value}"
    if not is_record(state):
        return f"state = {value}\nreturn {_cast(state, 'state')}"
    names = [f"field{k}" for k in range(len(state.names or ()))]
    casts = [_cast(state[field], name) for field, name in zip(state.names or (), names, strict=True)]
    return f"({', '.join(names)},) = {value}\nreturn ({', '.join(casts)},)"


def _cast(kind: State, value: str) -> str:
    if kind.kind == "b":
        return f"bool({value})"
    return f"np.{kind.name}({value} | 0)" if kind.kind in "iu" else f"np.{kind.name}({value})"


PUT = """
@jit
def put(out, i, v):
    out[np.uint64(i)] = v
"""


def source(state: State, identity: Any) -> str:
    """Text of load, store, identity, same and put."""
    if is_array(state):
        words = state.shape[0]
        return f"""
@jit
def load(states, i):
    return states[np.uint64(i)]

@jit
def store(states, i, v):
    row = states[np.uint64(i)]
    for k in range({words}):
        row[np.uint64(k)] = v[np.uint64(k)]

@jit
def identity():
    return {_array_constant(state, identity)}

@jit
def same(a, b):
    return np.all(a == b)
{PUT}"""
    if is_record(state):
        fields = [(name, state[name]) for name in state.names or ()]
        loaded = ", ".join(f"slot.{name}" for name, _ in fields)
        stored = "\n".join(f"    slot.{name} = v[{k}]" for k, (name, _) in enumerate(fields))
        constant = f"({', '.join(_constant(kind, identity[k]) for k, (_, kind) in enumerate(fields))},)"
        equal = " and ".join(_equal(f"a[{k}]", f"b[{k}]") for k in range(len(fields)))
        load, store = f"slot = states[np.uint64(i)]\n    return ({loaded},)", f"slot = states[np.uint64(i)]\n{stored}"
    else:
        load, store = "return states[np.uint64(i)]", "states[np.uint64(i)] = v"
        constant, equal = _constant(state, identity), _equal("a", "b")
    return f"""
@jit
def load(states, i):
    {load}

@jit
def store(states, i, v):
    {store}

@jit
def identity():
    return {constant}

@jit
def same(a, b):
    return {equal}
{PUT}"""


def _array_constant(state: State, identity: Any) -> str:
    places = np.broadcast_to(np.asarray(identity), state.shape).tolist()
    if len(set(places)) == 1:
        return f"np.full({len(places)}, {_constant(state.base, places[0])})"
    return f"np.array([{', '.join(_constant(state.base, place) for place in places)}])"


def _equal(a: str, b: str) -> str:
    return f"({a} == {b} or ({a} != {a} and {b} != {b}))"


def _constant(kind: State, value: Any) -> str:
    if kind.kind == "b":
        return repr(bool(value))
    if kind.kind in "iu":
        return f"np.{kind.name}({int(value)})"
    return f"np.{kind.name}(float({str(float(value))!r}))"
