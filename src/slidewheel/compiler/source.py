"""The text of a function, so that it can be written into a generated module.

Only what stands in the text may decide what the function does: it may use its arguments, builtins, math, numpy, and
plain numbers from around it, which are written down with their values. Anything else, a helper function for example,
could change without the text changing, and then the function has no text here (`NoText`).
"""

import ast
import copy
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

MODULES = {math: "math", np: "numpy"}


class NoText(Exception):
    """The function cannot be written down; the reason is the message."""


@dataclass(frozen=True)
class Text:
    definition: ast.FunctionDef
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
    return Text(node, frozenset(imports), constants)


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The function's def statement, without decorators and annotations, or NoText."""
    code = function.__code__
    try:
        tree, compiled = _parsed("".join(inspect.findsource(function)[0]))
    except (OSError, TypeError, SyntaxError) as error:
        raise NoText(f"the source of {function.__name__} is not at hand") from error
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _first_line(n) == code.co_firstlineno]
    # The file may have been edited after it was imported: what it compiles to now must be what runs.
    if len(nodes) != 1 or _facts(code) not in map(_facts, _all_code(compiled)):
        raise NoText(f"the source of {function.__name__} is not what was loaded")
    node = copy.deepcopy(nodes[0])
    node.decorator_list = []
    node.returns = None
    for argument in node.args.args:
        argument.annotation = None
    return node


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[ast.Module, CodeType]:
    tree = ast.parse(text)
    return tree, compile(tree, "<source>", "exec", dont_inherit=True)


def _first_line(node: ast.FunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _facts(code: CodeType) -> tuple[Any, ...]:
    constants = [_facts(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts]
    return code.co_firstlineno, code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


class Rename(ast.NodeTransformer):
    """Put expressions in the place of names."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.given.get(node.id, node))


class _Returns(ast.NodeTransformer):
    def __init__(self, text: str) -> None:
        self.text = text

    def visit_Return(self, node: ast.Return) -> Any:
        return Rename({"VALUE": node.value or ast.Constant(None)}).visit(ast.parse(self.text)).body


def returning(function: ast.FunctionDef, text: str) -> ast.FunctionDef:
    """The function with these statements, in which VALUE stands for what it returns, at every return."""
    return ast.fix_missing_locations(_Returns(text).visit(copy.deepcopy(function)))  # type: ignore[no-any-return]
