"""How states lie in memory. The generated text is run as plain Python here, where it must mean the same."""

import math

import numpy as np
import pytest

from slidewheel.compiler import layout

KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def extremes(kind):
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        return [np.iinfo(dtype).min, np.iinfo(dtype).max, 0]
    return [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        float(np.finfo(dtype).max),
        float(np.finfo(dtype).smallest_subnormal),
    ]


def functions(state, identity):
    space = {"np": np, "jit": lambda function: function}
    exec(layout.source(state, identity), space)
    return space


def alike(a, b):
    return np.array(a).tobytes() == np.array(b).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_number(kind):
    state = np.dtype(kind)
    for value in extremes(kind):
        own = functions(state, value)
        slots = layout.allocate(state, 3, value)
        assert alike(own["identity"](), state.type(value)) and all(alike(slot, state.type(value)) for slot in slots)
        for other in extremes(kind):
            own["store"](slots, 1, other)
            assert alike(own["load"](slots, 1), state.type(other))
            assert own["same"](own["load"](slots, 1), state.type(other))


def test_a_record_with_a_field_of_every_kind():
    state = np.dtype([(f"field_{kind}", kind) for kind in KINDS])
    for pick in (0, 1, -1):
        identity = tuple(extremes(kind)[pick] for kind in KINDS)
        own = functions(state, identity)
        slots = layout.allocate(state, 4, identity)
        own["store"](slots.view(np.recarray), 2, own["identity"]())
        for slot in slots:
            assert alike(slot, np.array(identity, dtype=state))
        loaded = own["load"](slots.view(np.recarray), 2)
        assert isinstance(loaded, tuple) and len(loaded) == len(KINDS)
        assert own["same"](loaded, own["identity"]())


def test_one_field_is_still_a_tuple():
    state = np.dtype([("total", "f8")])
    own = functions(state, (1.5,))
    assert own["identity"]() == (1.5,)
    slots = layout.allocate(state, 2, (1.5,)).view(np.recarray)
    own["store"](slots, 0, (4.0,))
    assert own["load"](slots, 0) == (4.0,) and own["load"](slots, 1) == (1.5,)


def test_states_differ_in_any_field():
    own = functions(np.dtype([("a", "f8"), ("b", "i8")]), (0.0, 0))
    assert own["same"]((math.nan, 1), (math.nan, 1))
    assert not own["same"]((math.nan, 1), (math.nan, 2))
    assert not own["same"]((math.nan, 1), (0.0, 1))


@pytest.mark.parametrize("identity", [0, [0, 0, 0], [1, -2, 3]], ids=str)
def test_an_array(identity):
    state = np.dtype(("i8", (3,)))
    own = functions(state, identity)
    wanted = np.broadcast_to(identity, 3).tolist()
    slots = layout.allocate(state, 2, identity)
    assert slots.shape == (2, 3) and slots.tolist() == [wanted] * 2
    assert own["identity"]().tolist() == wanted and own["identity"]().dtype == np.int64
    own["store"](slots, 1, np.array([4, 5, 6]))
    assert slots.tolist() == [wanted, [4, 5, 6]]
    assert own["same"](own["load"](slots, 1), np.array([4, 5, 6]))
    assert not own["same"](own["load"](slots, 1), np.array([4, 5, 7]))
