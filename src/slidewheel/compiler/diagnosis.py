"""Why an aggregate does not compile, in the user's terms."""

import inspect
import re
from typing import Any

import numba
from numba.core.errors import NumbaError
from numba.np.numpy_support import from_dtype

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import layout
from slidewheel.compiler.runtime import OPTIONS
from slidewheel.errors import CompileError

ADVICE = (
    "Compiled functions may use numbers, tuples, math and numpy. Write it that way, or declare the aggregate with "
    "state=object: then it takes any Python code and runs interpreted."
)


def explained(monoid: Monoid, columns: tuple[Any, ...], error: NumbaError) -> CompileError:
    """The error for the first of the aggregate's functions that can't be compiled on its own."""
    declared = re.search(r"state: ([^\n]*)", str(error))
    if declared:
        return CompileError(
            f"{monoid.name}: {declared.group(1)}. Declare the state with the types that lift and combine give, "
            f"or convert there, with int(...) or float(...)."
        )
    state = _state_type(monoid)
    inputs = tuple(from_dtype(column.dtype) for column in columns[: monoid.arity])
    trials = [
        ("lift", monoid.lift, inputs),
        ("combine", monoid.combine, (state, state)),
        ("inverse", monoid.inverse, (state, state)),
        ("lower", monoid.lower, (state,)),
    ]
    for name, function, types in trials:
        if function is None:
            continue
        try:
            numba.njit(**OPTIONS)(function).compile(types)
        except NumbaError as own:
            reason, where = _reason(own), _where(own, function)
            return CompileError(f"{monoid.name}.{name} can't be compiled ({where}): {reason}\n{ADVICE}")
    return CompileError(f"{monoid.name} can't be compiled: {_reason(error)}\n{ADVICE}")


def _state_type(monoid: Monoid) -> Any:
    assert monoid.state is not None
    if layout.is_array(monoid.state):
        return numba.types.Array(from_dtype(monoid.state.base), 1, "C")
    if layout.is_record(monoid.state):
        return numba.types.Tuple([from_dtype(monoid.state[name]) for name in monoid.state.names or ()])
    return from_dtype(monoid.state)


def _reason(error: NumbaError) -> str:
    """The telling line of Numba's message."""
    noise = ("Failed in", "During:", "File ", "- ", "There are", "Overload", ">>>")
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()]
    telling = [line for line in lines if line and not line.startswith(noise)]
    return telling[0] if telling else type(error).__name__


def _where(error: NumbaError, function: Any) -> str:
    lines = re.findall(r'File "([^"\n]+)", line (\d+)', str(error))
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    own = [int(line) for name, line in lines if file.endswith(name.lstrip("./"))]
    return f"{file}, line {own[-1] if own else function.__code__.co_firstlineno}"
