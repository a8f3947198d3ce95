"""A window that is watched at work.

The window is one of `sw.swag.window`, and what is drawn is its memory. Beside it the same file's operations run with
a memory that notes which states are read and written; both must stay equal, so that the notes belong to what is drawn.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import slidewheel as sw
from slidewheel.swag import registry

COMBINES: list[tuple[Any, Any]] = []


def _note(a: Any, b: Any) -> None:
    COMBINES.append((a, b))


@sw.aggregate(state=object)
class Letters:
    """A state is the text of the items that it covers, so that it says so itself."""

    identity = ""

    def lift(x):
        return x

    def combine(a, b):
        _note(a, b)
        return a + b


@sw.aggregate(state=object, commutative=True)
class Sum:
    identity = 0

    def lift(x):
        return x

    def combine(a, b):
        _note(a, b)
        return a + b

    def inverse(a, b):
        _note(a, b)
        return a - b


@sw.aggregate(state=object, commutative=True, selective=True)
class Max:
    identity = -float("inf")

    def lift(x):
        return x

    def combine(a, b):
        _note(a, b)
        return max(a, b)


@dataclass(frozen=True)
class Seen:
    """The memory of a window after a step, and what happened in the step."""

    script: str
    states: list[Any]
    links: list[int]
    mask: int
    registers: tuple[Any, ...]
    before: tuple[Any, ...]
    """The registers before the step."""
    combines: list[tuple[Any, Any]]
    read: set[int]
    """States that its queries have read."""
    written: set[int]
    """States that its inserts and evicts have written, and its queries."""
    answer: Any
    """Of its last query."""

    @property
    def cost(self) -> str:
        return combines(len(self.combines))


def combines(count: int) -> str:
    return f"{count} combine{'' if count == 1 else 's'}"


class _Noting(list):  # type: ignore[type-arg]
    """A list that notes which places are read and written."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__(values)
        self.read: set[int] = set()
        self.written: set[int] = set()

    def load(self, place: int) -> Any:
        self.read.add(place)
        return list.__getitem__(self, place)

    def store(self, place: int, value: Any) -> None:
        self.written.add(place)
        list.__setitem__(self, place, value)


class Watch:
    """A window of `sw.swag.window` and its twin that takes notes."""

    def __init__(self, algorithm: str, aggregate: Any = Letters, capacity: int = 8) -> None:
        self.window = sw.swag.window(aggregate, algorithm=algorithm, capacity=capacity)
        module = registry.algorithm(algorithm)
        laws = aggregate().monoid(invertible="inverse" in module.CARD.needs)
        monoid = SimpleNamespace(
            combine=laws.combine, inverse=laws.inverse, identity=lambda: laws.identity, same=lambda a, b: a == b
        )
        ring = SimpleNamespace(load=_Noting.load, store=_Noting.store)
        memory = self.window._inside()[0]
        self.twin = module.operations(monoid, ring, lambda function: function)
        self.states, self.links, self.mask = _Noting(list(memory.states)), list(memory.links), memory.mask
        self.registers = self.twin[0]()

    def step(self, script: str) -> Seen:
        """Operations such as "insert a b; evict; query", and what the memory holds then."""
        before = self.window._inside()[1]
        combines: list[tuple[Any, Any]] = []
        read: set[int] = set()
        written: set[int] = set()
        answer = None
        for line in script.split("; "):
            operation, *values = line.split()
            for value in [int(v) if v.isdigit() else v for v in values] or [None]:
                self.states.read, self.states.written = set(), set()
                answer = self._both(operation, value, combines)
                read |= self.states.read if operation == "query" else set()
                written |= self.states.written
        memory, registers = self.window._inside()
        kept = copy.deepcopy((memory.states, memory.links, registers, before))
        return Seen(script, kept[0], kept[1], memory.mask, kept[2], kept[3], combines, read, written, answer)

    def _both(self, operation: str, value: Any, combines: list[tuple[Any, Any]]) -> Any:
        given = () if operation != "insert" else (value,)
        COMBINES.clear()
        answer = getattr(self.window, operation)(*given)
        combines += COMBINES
        twin: Callable[..., Any] = self.twin[("start", "insert", "evict", "query").index(operation)]
        result = twin(self.states, self.links, self.mask, self.registers, *given)
        if operation != "query":
            self.registers = result
        elif answer is not None and result != answer:
            raise AssertionError(f"the twin answers {result!r}, not {answer!r}")
        memory, _ = self.window._inside()
        if (list(self.states), self.links, self.mask) != (memory.states, memory.links, memory.mask):
            raise AssertionError(f"the memories differ after {operation}")
        return answer
