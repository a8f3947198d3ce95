"""The text of a function, so that it can be written into a generated module.

Only what stands in the text may decide what the function does: it may use its arguments, builtins, math, numpy, and
plain numbers from around it, which are written down with their values. Anything else, a helper function for example,
could change without the text changing, and then the function has no text here (`NoText`).
"""

import ast
import builtins
import copy
import dis
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from slidewheel.errors import SlidewheelError

MODULES = {math: "math", np: "numpy"}


class NoText(Exception):
    """The function cannot be written down; the reason is the message."""


@dataclass(frozen=True)
class Text:
    definition: ast.FunctionDef
    imports: frozenset[str]
    constants: dict[str, str]


def surroundings(function: Callable[..., Any]) -> dict[str, Any]:
    """What the function reads from outside, by name, as it is now; builtins left out."""
    if not isinstance(function, FunctionType):
        raise NoText(f"{function!r} is not a Python function")
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {}
    try:
        found = {name: cell.cell_contents for name, cell in cells}
    except ValueError:
        raise NoText(f"{function.__name__} reads a variable that has no value yet") from None
    for name in _globals(function.__code__):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            raise NoText(f"{function.__name__} reads {name}, which is not defined")
    return found


def _globals(code: CodeType) -> set[str]:
    """The names that the code loads from its module: not attributes, which the code object keeps in the same list."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def text_of(function: Callable[..., Any], name: str) -> Text:
    """The function's definition under a new name, or NoText."""
    imports, constants = set(), {}
    for outside, value in surroundings(function).items():
        if inspect.ismodule(value) and value in MODULES:
            imports.add(f"import {MODULES[value]} as {outside}")
        elif type(value) in (bool, int, float):
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
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _place(n) == _place_of(code)]
    # The file may have been edited after it was imported: what it compiles to now must be what runs.
    if len(nodes) != 1 or _facts(code) not in map(_facts, _all_code(compiled)):
        raise NoText(f"the source of {function.__name__} is not what was loaded")
    node = copy.deepcopy(nodes[0])
    node.decorator_list = []
    node.returns = None
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    return node


def own_definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The def statement of a function of slidewheel's own."""
    try:
        return definition(function)
    except NoText as error:
        raise SlidewheelError(f"slidewheel's files have changed since its import; restart Python ({error})") from None


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[ast.Module, CodeType]:
    tree = ast.parse(text)
    return tree, compile(tree, "<source>", "exec", dont_inherit=True)


def _place(node: ast.FunctionDef) -> tuple[str, int]:
    return node.name, node.decorator_list[0].lineno if node.decorator_list else node.lineno


def _place_of(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node  # a function inside returns to its own caller

    def visit_Return(self, node: ast.Return) -> Any:
        return Rename({"VALUE": node.value or ast.Constant(None)}).visit(ast.parse(self.text)).body


def returning(function: ast.FunctionDef, text: str) -> ast.FunctionDef:
    """The function with these statements, in which VALUE stands for what it returns, at every return."""
    made = copy.deepcopy(function)
    transformer = _Returns(text)
    statements = [transformer.visit(statement) for statement in made.body]
    made.body = [s for part in statements for s in (part if isinstance(part, list) else [part])]
    return ast.fix_missing_locations(made)
