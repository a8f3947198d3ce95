"""Components: the states that aggregates are made of, one for each slot of an arena, with what is combined of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import drivers, interpreter, layout
from slidewheel.engine.columns import Array, read_only
from slidewheel.errors import Overflow
from slidewheel.swag import time_blocks


class Component:
    """States of one monoid: for each slot of an arena an entry, and a prefix and suffix for each length of blocks.

    Each of these is a plane of its own: rows are added to entries alone, and answers read hardly any of them.
    """

    def __init__(
        self,
        monoid: Monoid,
        inputs: tuple[Any, ...] | None,
        capacity: int = 0,
        form: ModuleType | None = None,
    ) -> None:
        """`inputs` are the dtypes of the columns, or None where states are Python objects.

        `form` is an algorithm for many ranges that is to be used instead of blocks. Room for prefixes and suffixes is
        made by the arena that the component is added to.
        """
        self.monoid, self.form, self._inputs = monoid, form, inputs
        self.work: Any = InterpretedWork(monoid) if inputs is None else CompiledWork(monoid, inputs)
        self.dtype = np.dtype(object) if inputs is None or monoid.state is None else monoid.state
        self.capacity, self.planes = capacity, 1
        self.table = np.zeros(capacity, dtype=self.dtype)
        self.silent = False
        """Whether nobody asks what windows hold of it: then it is not put together."""

    def empty(self) -> "Component":
        """Another one of the same kind."""
        return Component(self.monoid, self._inputs, form=self.form)

    @property
    def nbytes(self) -> int:
        return int(self.table.nbytes)

    def resize(self, capacity: int, levels: int, held: int) -> None:
        """Make room for more slots, or for more levels; only the first `held` slots hold anything."""
        planes = 1 + 2 * levels
        longer = np.empty(capacity * planes, dtype=self.dtype)
        for plane in range(min(planes, self.planes)):
            first, known = plane * capacity, plane * self.capacity
            copy(self.table[known : known + held], longer[first : first + held])
        self.table, self.capacity, self.planes = longer, capacity, planes

    @property
    def entries(self) -> Array:
        """The states of all slots, without prefixes and suffixes."""
        return self.table[: self.capacity]

    def _units(self) -> Array:
        """All states of each plane, each as a row of words, or of bytes where they have no whole number of words."""
        unit = np.int64 if self.dtype.itemsize % 8 == 0 else np.uint8
        return self.table.view(unit).reshape(self.planes, self.capacity, -1)

    def restore(self, slots: Array, saved: Array) -> None:
        """Put back entries of these slots."""
        self.entries[slots] = saved

    def follow(self, move: Any, log: Array) -> None:
        """Move states as a log of the arena says; that needs no knowledge of what is in them."""
        if len(log) == 0:
            return
        compiled = self.dtype != object
        for plane in self._units() if compiled else self.table.reshape(self.planes, self.capacity, 1):
            (move if compiled else move.py_func)(plane, log)

    def add(self, columns: tuple[Array, ...], valid: Array | None, slots: Array, change: "Change") -> None:
        """Add each row to the entry in its slot, ~slot where it begins one; `change` gets what was there before."""
        change.saved = np.empty(len(change.first_rows), dtype=self.dtype)
        known = self.table, change.first_rows, change.saved, change.done
        self.work.add(columns, valid, slots, *known)

    def join(self, states: Array, slots: Array) -> None:
        """Add each of these states to the entry in its slot, ~slot where it begins one."""
        self.work.join(states, slots, self.table)

    def extend(self, level: int, *stretches: Any) -> None:
        if not self.silent:
            self.work.extend(self.table, self.capacity, 1 + 2 * level, 2 + 2 * level, *stretches)

    def read(self, driver: str, count: int, *known: Any) -> Array:
        """The states of so many windows, by the driver that reads them."""
        if self.silent:
            return np.broadcast_to(np.zeros((), dtype=self.dtype), count)
        out = np.empty(count, dtype=self.dtype)
        self.work.read(driver, self.table, self.capacity, *known, out)
        return out

    def finals(self, keys: Array, *rest: Any) -> Array:
        """The state of each window, by the algorithm that was asked for."""
        assert self.form is not None
        *known, ranges = rest
        out = np.empty(len(known[1]), dtype=self.dtype)
        slots = 1 << int(ranges[0]).bit_length()
        card = self.form.CARD
        states = identity_states(self, card.states(slots, len(ranges)))
        links = np.zeros(card.links(slots), dtype=np.int64)
        self.work.finals(self.form, self.table, keys, *known, ranges, states, links, slots - 1, out)
        return out


@dataclass
class Change:
    """What adding rows has changed in one component."""

    first_rows: Array
    """The rows that are the first to change an older entry."""
    shifted: bool = False
    """Whether entries have made room for new ones."""
    saved: Array = field(default_factory=lambda: np.empty(0))
    """These entries as they were, as far as they have been changed."""
    done: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    """How many have been."""


class CompiledWork:
    """What is done with fixed-width states."""

    def __init__(self, monoid: Monoid, inputs: tuple[Any, ...]) -> None:
        from slidewheel.compiler import kernels

        self.monoid, self.kernel = monoid, kernels.kernel(time_blocks, monoid)
        self.added = "absorb_rows" if monoid.absorb else "add"
        self.columns = tuple(read_only(np.ones(1, dtype=dtype)) for dtype in inputs)

    def add(self, columns: tuple[Array, ...], *rest: Any) -> None:
        self.kernel.run(self.added, columns, *rest)

    def join(self, *arguments: Any) -> None:
        self.kernel.call("join", self.columns, *arguments)

    def extend(self, *arguments: Any) -> None:
        self.kernel.call("extend", self.columns, *arguments)

    def read(self, driver: str, *arguments: Any) -> None:
        self.kernel.call(driver, self.columns, *arguments)

    def trail_all(self, columns: tuple[Array, ...], *rest: Any) -> None:
        self.kernel.run("trail_all", columns, *rest)

    def finals(self, form: ModuleType, *arguments: Any) -> None:
        from slidewheel.compiler import kernels

        kernels.kernel(form, self.monoid).call("finals", self.columns, *arguments)

    def lowered(self, states: Array, ok: Array) -> Array:
        """The answers, where `ok`."""
        result: Any = self.monoid.result
        shape: tuple[int, ...] = ()
        if result == "like0":
            result = self.columns[0].dtype
        elif result == "":
            result, shape = self.kernel.answer_like(self.columns, 0)
        out = np.zeros((len(states), *shape), dtype=result)
        self.kernel.call("lowered", self.columns, states, ok, out)
        return out


class InterpretedWork:
    """The same with Python objects."""

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid

        def load(states: Array, slot: Any) -> Any:
            return states[slot]

        def store(states: Array, slot: Any, state: Any) -> None:
            states[slot] = state

        laws, ring = SimpleNamespace(combine=monoid.combine), SimpleNamespace(load=load, store=store)
        self.ring = ring
        operations: Any = time_blocks.operations
        self.prefixes, self.suffixes, window, find, next_window = operations(laws, ring, lambda function: function)
        self.names = {"window": window, "find": find, "next_window": next_window, "identity": lambda: monoid.identity}
        self.names |= {"combine": monoid.combine, "load": load, "store": store}

    def add(
        self, columns: tuple[Array, ...], valid: Array | None, slots: Array, states: Array,
        first_rows: Array, saved: Array, done: Array
    ) -> None:  # fmt: skip
        lift, combine, identity = self.monoid.lift, self.monoid.combine, self.monoid.identity
        values = [column.tolist() for column in columns]
        older = slots[first_rows]
        saved[:] = states[older]
        done[0] = len(older)
        for i, slot in enumerate(slots.tolist()):
            state = identity if valid is not None and not valid[i] else lift(*(column[i] for column in values))
            if slot < 0:
                states[~slot] = state
            else:
                states[slot] = combine(states[slot], state)

    def join(self, given: Array, slots: Array, table: Array) -> None:
        _interpreted(drivers.join, self.names)(given, slots.tolist(), table)

    def extend(
        self, table: Array, plane: int, prefix: int, suffix: int, ids: Array, shift: int, keys: Array, base: Array,
        mask: Array, front: Array, first: Array, last: Array, settled: Array, complete: Array
    ) -> None:  # fmt: skip
        for k, key in enumerate(keys.tolist()):
            ring = ids, shift, int(base[key]), int(mask[key])
            self.prefixes(table, plane, prefix, *ring, int(front[key]), int(first[k]), int(last[k]))
            self.suffixes(table, plane, suffix, *ring, int(settled[k]), int(complete[k]))

    def read(self, driver: str, *arguments: Any) -> None:
        _interpreted(getattr(drivers, driver), self.names)(*arguments)

    def finals(self, form: ModuleType, *arguments: Any) -> None:
        monoid = self.monoid
        laws = SimpleNamespace(
            combine=monoid.combine, inverse=monoid.inverse, identity=lambda: monoid.identity, same=interpreter.same
        )
        start, insert, answer = form.operations(laws, self.ring, lambda function: function)
        names = {"start": start, "insert": insert, "answer": answer}
        _interpreted(drivers.finals, self.names | names)(*arguments)

    def lowered(self, states: Array, ok: Array) -> Array:
        out = np.empty(len(states), dtype=object)
        lower = self.monoid.lower
        for j in np.flatnonzero(ok).tolist():
            try:
                out[j] = lower(states[j])
            except OverflowError as error:
                raise Overflow(str(error)) from None
        return out


def reader(driver: str, count: int, *known: Any) -> Callable[[Component], Array]:
    """What reads the states of so many windows from a component."""
    return lambda component: component.read(driver, count, *known)


def _interpreted(driver: Any, names: dict[str, Any]) -> FunctionType:
    """A driver whose names mean these functions."""
    return FunctionType(driver.__code__, {"np": np, **names})


def copy(source: Array, target: Array) -> None:
    """As bytes, where that is possible: numpy copies records field by field."""
    if source.dtype == object:
        target[:] = source
    elif len(source):
        target.view(np.uint8).reshape(-1)[:] = source.view(np.uint8).reshape(-1)


def taken(array: Array, which: Array) -> Array:
    """These items, by position: `array[which]` would copy records field by field."""
    return array.take(which, axis=0)


def lengthened(array: Array, length: int, held: int) -> Array:
    """A copy with room for more, which holds anything: numpy asks for large pages, and none is touched in vain."""
    longer = np.empty((length, *array.shape[1:]), dtype=array.dtype)
    copy(array[:held], longer[:held])
    return longer


def identity_states(component: Component, count: int) -> Array:
    """As many empty states."""
    if component.dtype == object:
        states = np.empty(count, dtype=object)
        states[:] = [component.monoid.identity] * count
        return states
    return layout.allocate(component.dtype, count, component.monoid.identity)
