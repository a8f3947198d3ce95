"""Why an aggregate does not compile, in the user's terms."""

import inspect
import re
from typing import Any

import numba
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.np.numpy_support import from_dtype

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import layout
from slidewheel.compiler.runtime import OPTIONS
from slidewheel.errors import CompileError

REFUSALS = (NumbaError, UnsupportedBytecodeError)
ADVICE = (
    "Compiled functions may use numbers, tuples, math, numpy, and helper functions under @numba.njit. Write it that "
    "way, or declare the aggregate with state=object: then it takes any Python code and runs interpreted."
)


def explained(monoid: Monoid, columns: tuple[Any, ...], error: Exception) -> CompileError:
    """The error for the first of the aggregate's functions that can't be compiled on its own."""
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
        compiled = numba.njit(**OPTIONS)(function)
        try:
            compiled.compile(types)
        except REFUSALS as own:
            reason, where = _reason(own), _where(own, function)
            return CompileError(f"{monoid.name}.{name} can't be compiled ({where}): {reason}\n{ADVICE}")
        returned = compiled.overloads[types].signature.return_type
        answers = (numba.types.Number, numba.types.Boolean, numba.types.Array)
        if name == "lower" and not isinstance(returned, answers):
            where = f"{_file(function)}, line {function.__code__.co_firstlineno}"
            return CompileError(
                f"{monoid.name}.lower ({where}) returns {returned}, but an answer is one number. Return one, or "
                f"declare the aggregate with state=object: then it may return anything, and runs interpreted."
            )
        misfit = None if name == "lower" else _misfit(monoid, returned)
        if misfit:
            where = f"{_file(function)}, line {function.__code__.co_firstlineno}"
            return CompileError(
                f"{monoid.name}.{name} ({where}) returns {misfit}. Declare the state with the types that lift and "
                f"combine give, or convert there, with int(...) or float(...)."
            )
    return CompileError(f"{monoid.name} can't be compiled: {_reason(error)}\n{ADVICE}")


def _misfit(monoid: Monoid, returned: Any) -> str | None:
    """What is wrong with the type of a state, in words."""
    assert monoid.state is not None
    if layout.is_array(monoid.state):
        return None
    names = monoid.state.names
    if names is None:
        parts, kinds, labels = [returned], [monoid.state], ["a state"]
    else:
        if not isinstance(returned, (numba.types.Tuple, numba.types.UniTuple)) or len(returned) != len(names):
            return f"{returned}, but the state has the fields {', '.join(names)}"
        parts, kinds, labels = (
            list(returned.types),
            [monoid.state[n] for n in names],
            [repr(n) for n in names],
        )
    for part, kind, label in zip(parts, kinds, labels, strict=True):
        whole = isinstance(part, (numba.types.Integer, numba.types.Boolean))
        if not (whole or (kind.kind == "f" and isinstance(part, numba.types.Float))):
            return f"{part} for {label}, which is declared {kind.str[1:]}"
    return None


def _state_type(monoid: Monoid) -> Any:
    assert monoid.state is not None
    if layout.is_array(monoid.state):
        return numba.types.Array(from_dtype(monoid.state.base), 1, "C")
    if layout.is_record(monoid.state):
        return numba.types.Tuple([from_dtype(monoid.state[name]) for name in monoid.state.names or ()])
    return from_dtype(monoid.state)


def _reason(error: Exception) -> str:
    """The telling line of Numba's message."""
    noise = ("Failed in", "During:", "File ", "- ", "There are", "Overload", ">>>")
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()]
    telling = [line for line in lines if line and not line.startswith(noise)]
    return telling[0] if telling else type(error).__name__


def _where(error: Exception, function: Any) -> str:
    lines = re.findall(r'File "([^"\n]+)", line (\d+)', str(error))
    file = _file(function)
    own = [int(line) for name, line in lines if file.endswith(name.lstrip("./"))]
    return f"{file}, line {own[-1] if own else function.__code__.co_firstlineno}"


def _file(function: Any) -> str:
    return inspect.getsourcefile(function) or str(function.__code__.co_filename)
