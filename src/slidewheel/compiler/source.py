"""The text of a function, so that it can be written into a generated module.

Only what stands in the text may decide what the function does: it may use its arguments, builtins, math, numpy, and
plain numbers from around it, which are written down with their values. Anything else, a helper function for example,
could change without the text changing, and then the function has no text here (`NoText`).
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np

MODULES = {math: "math", np: "numpy"}


class NoText(Exception):
    """The function cannot be written down; the reason is the message."""


@dataclass(frozen=True)
class Text:
    definition: str
    imports: frozenset[str]
    constants: dict[str, str]


def surroundings(function: Callable[..., Any]) -> dict[str, Any]:
    """What the function reads from outside, by name, as it is now."""
    if not isinstance(function, FunctionType):
        raise NoText(f"{function!r} is not a Python function")
    seen = inspect.getclosurevars(function)
    if seen.unbound - _attributes(function.__code__):
        raise NoText(f"{function.__name__} uses unknown names")
    return {**seen.nonlocals, **seen.globals}


def _attributes(code: CodeType) -> set[str]:
    # getclosurevars also lists attribute names (math.log gives "log") as unbound
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*(_attributes(c) for c in nested)) if nested else set(code.co_names)


def text_of(function: Callable[..., Any], name: str) -> Text:
    """The function's definition under a new name, or NoText."""
    imports, constants = set(), {}
    for outside, value in surroundings(function).items():
        if inspect.ismodule(value) and value in MODULES:
            imports.add(f"import {MODULES[value]} as {outside}")
        elif isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
            constants[outside] = repr(value) if not isinstance(value, float) else f"float({str(value)!r})"
        else:
            raise NoText(f"{function.__name__} reads {outside}, which is not a plain number")
    node = definition(function)
    node.name = name
    return Text(ast.unparse(node), frozenset(imports), constants)


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The function's def statement, without decorators and annotations, or NoText."""
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise NoText(f"the source of {function.__name__} is not at hand") from error
    if not isinstance(node, ast.FunctionDef):
        raise NoText(f"{function.__name__} is not a def statement")
    node.decorator_list = []
    node.returns = None
    for argument in node.args.args:
        argument.annotation = None
    if not _is_what_runs(node, function.__code__):
        raise NoText(f"the file of {function.__name__} has changed since it was loaded")
    return node


def _is_what_runs(node: ast.FunctionDef, code: CodeType) -> bool:
    """The file may have been edited after it was imported: compare what the text compiles to with what runs."""
    names = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(n) for n in code.co_freevars],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    outer = ast.FunctionDef("outer", names, [node], [], None, None)
    module = compile(ast.fix_missing_locations(ast.Module([outer], [])), "<check>", "exec")
    built = next(c for c in module.co_consts if isinstance(c, CodeType))
    inner = next(c for c in built.co_consts if isinstance(c, CodeType))

    def facts(c: CodeType) -> tuple[Any, ...]:
        constants = [facts(k) if isinstance(k, CodeType) else (type(k), repr(k)) for k in c.co_consts]
        return c.co_code, c.co_names, c.co_varnames, c.co_freevars, constants

    return facts(inner) == facts(code)
