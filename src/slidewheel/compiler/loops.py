"""Files of loops that an aggregate takes part in: as text for a generated module, or interpreted for Python objects.

Functions whose name begins with _ are for the others only. Whole numbers in capitals are constants. Those that a file
lists as KEEPS_LOCK do not let other threads of Python run beside them.
"""

import ast
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import layout, source

ENOUGH = """
@jit
def enough(s):
    return {condition}
"""
NO_INVERSE = """
@jit
def inverse(a, b):
    return a
"""


class Refused(Exception):
    """Raised by a loop that has no answer."""


HEAD = """
from slidewheel.compiler.addresses import array_at, fetch
from slidewheel.compiler.loops import Refused
from slidewheel.compiler.runtime import UNCOUNTED, uncounted
"""


def text(files: Sequence[ModuleType], monoid: Monoid) -> str:
    """The loops of these files for this aggregate."""
    assert monoid.state is not None
    inner, driver = ("jit", "OPTIONS") if layout.is_array(monoid.state) else ("uncounted", "UNCOUNTED")
    locked = [name for file in files for name in getattr(file, "KEEPS_LOCK", ())]
    lines = [HEAD]
    lines += [f"{name} = {value}" for name, value in _constants(files).items()]
    lines.append(f"STATE = np.dtype({monoid.state.descr if layout.is_record(monoid.state) else monoid.state.str!r})")
    lines.append(ENOUGH.format(condition=_condition(monoid)))
    if monoid.inverse is None:
        lines.append(NO_INVERSE)
    for function in _functions(files):
        name = function.__name__
        options = f'{{**{driver}, "nogil": False}}' if name in locked else driver
        begins = f"\n@{inner}\n" if name.startswith("_") else f"\n@njit(cache=True, **{options})\n"
        lines.append(begins + ast.unparse(source.own_definition(function)))
    lines += [f"{name} = {chosen}" for name, chosen in _chosen(monoid).items()]
    return "\n".join(lines) + "\n"


def interpreted(files: Sequence[ModuleType], monoid: Monoid) -> dict[str, Any]:
    """The same functions over arrays of Python objects, by name."""

    def load(states: Any, at: Any) -> Any:
        return states[at]

    def store(states: Any, at: Any, state: Any) -> None:
        states[at] = state

    def item(columns: Any, valid: Any, i: Any) -> Any:
        return monoid.lift(*(column[i] for column in columns))

    names: dict[str, Any] = {"np": np, **_constants(files), "load": load, "store": store, "put": store, "item": item}
    names |= {"combine": monoid.combine, "inverse": monoid.inverse, "lower": monoid.lower}
    names |= {"identity": lambda: monoid.identity, "absorb": None}
    names["enough"] = eval(f"lambda s: {_condition(monoid)}")
    for function in _functions(files):
        names[function.__name__] = FunctionType(function.__code__, names, function.__name__)
    names |= {name: names[chosen] for name, chosen in _chosen(monoid, interpreted=True).items()}
    return names


def _functions(files: Sequence[ModuleType]) -> list[FunctionType]:
    return [f for file in files for f in vars(file).values() if _is_own(f, file)]


def _is_own(value: Any, file: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == file.__name__


def _constants(files: Sequence[ModuleType]) -> dict[str, int]:
    return {n: v for file in files for n, v in vars(file).items() if n.isupper() and type(v) is int}


def counts(monoid: Monoid) -> bool:
    """Whether a state tells how many values it holds."""
    fields = monoid.state.names or () if monoid.state is not None else ()
    return monoid.least == 0 or ("n" in fields and monoid.combine.__module__.startswith("slidewheel."))


def _condition(monoid: Monoid) -> str:
    """Whether a state holds enough values for an answer; where it does not count them, it holds one."""
    if monoid.least == 0 or not counts(monoid):
        return "True"
    fields = (monoid.state.names or ()) if monoid.state is not None else ()
    number = " + ".join(f"s[{fields.index(name)}]" for name in ("n", "odd") if name in fields)
    return f"{number} >= {monoid.least}"


def _chosen(monoid: Monoid, interpreted: bool = False) -> dict[str, str]:
    """Which of several loops this aggregate takes."""
    order = "commutative" if monoid.commutative else "ordered"
    absorbs = bool(monoid.absorb) and not interpreted
    return {
        "fold": f"_fold_{order}",
        "weigh": _weighing(monoid),
        "gather": "_gather_absorbed" if absorbs else "_gather_ordered",
        "gather_run": "_run_absorbed" if absorbs else "_run_ordered",
        "gather_or_pass": "_pass_left_out" if absorbs or interpreted else "_pass_added",
        "take_runs": "_take_runs" if absorbs or not monoid.commutative else "_take_mixed",
    }


def _weighing(monoid: Monoid) -> str:
    """What tells whether narrow states are wide enough for more rows."""
    if not monoid.is_narrow:
        return "_weigh_nothing"
    assert monoid.state is not None
    return "_weigh_finite" if monoid.state.kind == "f" else "_weigh"
