"""An algorithm and an aggregate as specialised Python, for windows that are used one item at a time.

A call costs more than most combines. So the algorithm's own text is rewritten: `load` and `store` become indexing,
a combine, lift or lower of one expression is put in place, and the body of each operation goes straight into the
function that the user calls. What is computed, and in which order, stays as it is written in the algorithm's file.
"""

import ast
import copy
from collections import deque
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import source
from slidewheel.errors import SlidewheelError

SHELL = """
def build(monoid, ring, lift, lower, zero, empty, least, slots, make, moved):
    jit = lambda function: function
    {setup}
    states, links, mask = make(slots)
    nulls = deque()
    registers = start()

    def insert(value):
        nonlocal registers
        {insert_unpack}
        if {end} - {front} > mask:
            resize(2 * (mask + 1))
            {insert_unpack}
        if value is None:
            v = zero
        else:
            v = {lift}
        try:
            {insert}
        except BaseException as problem:
            registers = settled(problem, registers, True)
            raise

    def evict():
        nonlocal registers
        {evict_unpack}
        if {front} == {end}:
            raise IndexError("evict from an empty window")
        try:
            {evict}
        except BaseException as problem:
            registers = settled(problem, registers, {careful})
            raise

    def query():
        nonlocal registers
        {query_unpack}
        if {end} - {front} < least or (nulls and {end} - {front} - len(nulls) < least):
            return empty
        try:
            {query}
        except BaseException as problem:
            registers = settled(problem, registers, True)
            raise

    def resize(slots):
        nonlocal states, links, mask, registers
        memory = make(slots)
        registers = moved(Memory(states, links, mask), memory, registers, monoid)
        states, links, mask = memory

    def inside():
        return Memory(states, links, mask), registers

    def abandon():
        nonlocal registers
        registers = Broken()

    return insert, evict, query, resize, inside, abandon
"""


class Memory(NamedTuple):
    states: list[Any]
    links: list[int]
    mask: int


class Broken:
    """In place of the registers of a window that was left in the middle of an operation."""

    def __iter__(self) -> Any:
        raise SlidewheelError("this window was interrupted in the middle of an operation; make a new one")

    def __getitem__(self, index: int) -> Any:
        return iter(self)


def settled(problem: BaseException, registers: Any, careful: bool) -> Any:
    """The registers after an error. A careful operation has not written anything when a combine fails."""
    return registers if careful and isinstance(problem, Exception) else Broken()


def same(a, b):
    """Whether two states are one; `is` finds the same NaN."""
    return a is b or a == b


Expression = tuple[list[str], ast.expr]


class _Inline(ast.NodeTransformer):
    """Replace calls of functions of one expression by that expression, and ring accesses by indexing."""

    def __init__(self, expressions: dict[str, Expression]) -> None:
        self.expressions = expressions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = _called(node)
        if name == "identity":
            return ast.Name("zero", ast.Load())
        if name == "load":
            return ast.Subscript(node.args[0], node.args[1], ast.Load())
        if name in self.expressions and not self._repeated(node):
            return self._placed(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        if _called(node.value) == "store":
            states, slot, value = node.value.args  # type: ignore[attr-defined]
            return self.visit(ast.Assign([ast.Subscript(states, slot, ast.Store())], value))
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`x = combine(long, v)`: the long argument goes into a variable first, as it would be computed twice."""
        self.generic_visit(node)
        call = node.value
        if _called(call) not in self.expressions:
            return node
        assert isinstance(call, ast.Call)
        before: list[ast.stmt] = []
        for k in self._repeated(call):
            before.append(ast.Assign([ast.Name(f"argument{k}", ast.Store())], call.args[k]))
            call.args[k] = ast.Name(f"argument{k}", ast.Load())
        node.value = self._placed(call)
        return [*before, node]

    def _repeated(self, call: ast.Call) -> list[int]:
        """The arguments that would be computed more than once; all of them if one would be, to keep their order."""
        names, body = self.expressions[_called(call)]
        used = [sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(body)) for name in names]
        simple = [isinstance(a, (ast.Name, ast.Constant)) for a in call.args]
        if all(u <= 1 or s for u, s in zip(used, simple, strict=True)):
            return []
        return [k for k, s in enumerate(simple) if not s]

    def _placed(self, call: ast.Call) -> ast.expr:
        names, body = self.expressions[_called(call)]
        given = dict(zip(names, call.args, strict=True))
        return source.Rename(given).visit(copy.deepcopy(body))  # type: ignore[no-any-return]


def _called(node: ast.AST) -> str:
    """The name of the function that this node calls, or nothing."""
    plain = isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args)
    return node.func.id if plain and isinstance(node.func, ast.Name) else ""  # type: ignore[attr-defined]


def expression_of(function: Callable[..., Any], scope: dict[str, Any]) -> Expression | None:
    """The parameters and the one expression of a function, if that is all there is to it.

    What a built-in aggregate reads from its own file goes into `scope` under a name of its own.
    """
    try:
        outside = source.surroundings(function)
        node = source.definition(function)
    except source.NoText:
        return None
    value = node.body[-1].value if isinstance(node.body[-1], ast.Return) else None
    alone = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in node.body[:-1])
    binds = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
    if value is None or not alone or any(isinstance(n, binds) for n in ast.walk(value)):
        return None
    if outside and not function.__module__.startswith("slidewheel."):
        return None  # a user's global may change while the window lives
    own = {name: ast.Name(f"{function.__name__}_{name}", ast.Load()) for name in outside}
    scope.update({own[name].id: found for name, found in outside.items()})
    return [a.arg for a in node.args.args], source.Rename(dict(own)).visit(value)


@cache
def _operations(algorithm: ModuleType) -> tuple[list[ast.stmt], dict[str, ast.FunctionDef]]:
    """The statements of `operations` but for its return, and the three functions that users call."""
    setup, called = [], {}
    for statement in source.own_definition(algorithm.operations).body:
        if isinstance(statement, ast.FunctionDef) and statement.name in ("insert", "evict", "query"):
            called[statement.name] = statement
        elif not isinstance(statement, ast.Return):
            setup.append(statement)
    return setup, called


# What the shell does where an operation returns: the registers change in one step, after all that can fail.
_RETURNS = {
    "insert": """
registers = VALUE
if value is None:
    nulls.append(registers[1] - 1)
return
""",
    "evict": """
registers = VALUE
if nulls and nulls[0] < registers[0]:
    nulls.popleft()
return
""",
    "query": """
answer = VALUE
return lower(answer)
""",
}


def _indented(statements: list[Any], depth: int) -> str:
    flat = [s for part in statements for s in (part if isinstance(part, list) else [part])]
    text = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in flat)
    return text.replace("\n", "\n" + " " * depth)


_builders: dict[tuple[ModuleType, Monoid], Callable[..., Any]] = {}


def specialised(algorithm: ModuleType, monoid: Monoid) -> Callable[..., Any]:
    """`build` of SHELL for this algorithm and this aggregate."""
    key = (algorithm, monoid)
    if key not in _builders:
        names = {"deque": deque, "Memory": Memory, "settled": settled, "Broken": Broken}
        scope: dict[str, Any] = {**vars(algorithm), **names}
        text = _text(algorithm, monoid, scope)
        exec(compile(text, f"<{monoid.name} by {algorithm.CARD.name}>", "exec"), scope)
        _builders[key] = scope["build"]
    return _builders[key]


def _text(algorithm: ModuleType, monoid: Monoid, scope: dict[str, Any]) -> str:
    own = {"combine": monoid.combine, "inverse": monoid.inverse, "lift": monoid.lift, "lower": monoid.lower}
    own["same"] = same
    found = {name: expression_of(function, scope) for name, function in own.items() if function is not None}
    inline = _Inline({name: form for name, form in found.items() if form is not None})
    setup, called = _operations(algorithm)
    pieces: dict[str, str] = {}
    for name, function in called.items():
        unpack, *body = source.returning(function, _RETURNS[name]).body
        pieces[f"{name}_unpack"] = ast.unparse(unpack)
        pieces[name] = _indented([inline.visit(s) for s in body], 12)
        front, end = pieces[f"{name}_unpack"].split(" = ")[0].strip("()").split(", ")[:2]
    values = "*value" if monoid.arity == 2 else "value"
    return SHELL.format(
        setup=_indented([inline.visit(copy.deepcopy(s)) for s in setup], 4),
        lift=ast.unparse(inline.visit(ast.parse(f"lift({values})", mode="eval").body)),
        front=front,
        end=end,
        careful=algorithm.CARD.careful,
        **pieces,
    )
