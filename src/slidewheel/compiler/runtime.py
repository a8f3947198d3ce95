"""What generated modules import: how they compile, and checks that a state has the types it was declared with."""

from typing import Any

from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import overload

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
jit = njit(forceinline=True, **OPTIONS)


def whole(value, what):
    """The value, which must be an integer when it is compiled."""
    return value


def number(value, what):
    """The value, which must be a real number when it is compiled."""
    return value


def fields(value, count):
    """The value, which must be a tuple of `count` fields when it is compiled."""
    return value


@overload(whole, prefer_literal=True)
def _whole(value, what):
    if not isinstance(value, (types.Integer, types.Boolean)):
        raise TypingError(f"state: {what.literal_value} is declared as an integer, but is given {value}")
    return lambda value, what: value


@overload(number, prefer_literal=True)
def _number(value, what):
    if not isinstance(value, (types.Integer, types.Boolean, types.Float)):
        raise TypingError(f"state: {what.literal_value} is declared as a number, but is given {value}")
    return lambda value, what: value


@overload(fields, prefer_literal=True)
def _fields(value, count):
    if not isinstance(value, types.BaseTuple) or len(value) != count.literal_value:
        raise TypingError(f"state: {count.literal_value} fields are declared, but a state is {value}")
    return lambda value, count: value
