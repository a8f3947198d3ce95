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


def _cast(kind: State, value: str, what: str) -> str:
    if kind.kind == "b":
        return f"bool({value})"
    check = "whole" if kind.kind in "iu" else "number"
    return f"np.{kind.name}({check}({value}, {what!r}))"


def source(state: State, identity: Any) -> str:
    """Text of load, store, identity, same, and of `fit`, which gives a state the types of its layout."""
    if is_array(state):
        words = state.shape[0]
        base = f"np.{state.base.name}"
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
    return np.full({words}, {base}({np.ravel(identity)[0]!r}))

@jit
def fit(v):
    return v

@jit
def same(a, b):
    return np.all(a == b)
"""
    if not is_record(state):
        return f"""
@jit
def load(states, i):
    return states[np.uint64(i)]

@jit
def store(states, i, v):
    states[np.uint64(i)] = v

@jit
def identity():
    return {_constant(state, identity)}

@jit
def fit(v):
    return {_cast(state, "v", "the state")}

@jit
def same(a, b):
    return a == b or (a != a and b != b)
"""
    fields = [(name, state[name]) for name in state.names or ()]
    loaded = ", ".join(f"slot.{name}" for name, _ in fields)
    stored = "\n".join(f"    slot.{name} = v[{k}]" for k, (name, _) in enumerate(fields))
    constants = ", ".join(_constant(kind, identity[k]) for k, (_, kind) in enumerate(fields))
    casts = ", ".join(_cast(kind, f"v[{k}]", name) for k, (name, kind) in enumerate(fields))
    equal = " and ".join(f"(a[{k}] == b[{k}] or (a[{k}] != a[{k}] and b[{k}] != b[{k}]))" for k in range(len(fields)))
    return f"""
@jit
def load(states, i):
    slot = states[np.uint64(i)]
    return ({loaded},)

@jit
def store(states, i, v):
    slot = states[np.uint64(i)]
{stored}

@jit
def identity():
    return ({constants},)

@jit
def fit(v):
    v = fields(v, {len(fields)})
    return ({casts},)

@jit
def same(a, b):
    return {equal}
"""


def _constant(kind: State, value: Any) -> str:
    if kind.kind == "b":
        return repr(bool(value))
    if kind.kind in "iu":
        return f"np.{kind.name}({int(value)})"
    return f"np.{kind.name}(float({str(float(value))!r}))"
