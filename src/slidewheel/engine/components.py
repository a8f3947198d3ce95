"""Components: the states that aggregates are made of, one for each slot of an arena, with what is combined of them."""

from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from slidewheel.algebra.monoid import Monoid
from slidewheel.compiler import drivers, interpreter, layout
from slidewheel.engine.columns import Array, read_only
from slidewheel.errors import Overflow
from slidewheel.swag import time_blocks


class Component:
    """States of one monoid: `table` has a row of entries, then prefixes and suffixes for each level of blocks."""

    def __init__(
        self,
        monoid: Monoid,
        inputs: tuple[Any, ...] | None,
        levels: int,
        capacity: int,
        form: ModuleType | None = None,
    ) -> None:
        """`inputs` are the dtypes of the columns, or None where states are Python objects.

        `form` is an algorithm for many ranges that is to be used instead of blocks.
        """
        self.monoid, self.capacity, self.form = monoid, capacity, form
        self.rows = 1
        self.work: Any = InterpretedWork(monoid) if inputs is None else CompiledWork(monoid, inputs)
        self.dtype = np.dtype(object) if inputs is None or monoid.state is None else monoid.state
        self.table = self._room(self.rows * capacity)

    def _room(self, count: int) -> Array:
        return np.zeros(count, dtype=self.dtype)

    @property
    def nbytes(self) -> int:
        return int(self.table.nbytes)

    def resize(self, capacity: int, levels: int) -> None:
        """Make room for more slots, or for more levels."""
        # Prefixes and suffixes get their room when they are needed: while entries are added, only these move.
        rows = 1 if self.rows == 1 and capacity != self.capacity else 1 + 2 * levels
        table = self._room(rows * capacity)
        for row in range(min(self.rows, rows)):
            table[row * capacity : row * capacity + self.capacity] = self.row(row)
        self.table, self.rows, self.capacity = table, rows, capacity

    def make_levels(self, levels: int) -> None:
        if self.rows != 1 + 2 * levels:
            self.resize(self.capacity, levels)

    def row(self, row: int) -> Array:
        return self.table[row * self.capacity : (row + 1) * self.capacity]

    def copy_rings(self, slots: Any, moves: Array) -> None:
        for row in range(self.rows):
            self._bytes(slots.copy_rings, row, moves)

    def shift(self, slots: Any, shifts: Array) -> None:
        self._bytes(slots.shift_rings, 0, shifts)

    def unshift(self, slots: Any, shifts: Array) -> None:
        self._bytes(slots.unshift_rings, 0, shifts)

    def _bytes(self, move: Any, row: int, log: Array) -> None:
        """Moving states needs no knowledge of what is in them."""
        if len(log) == 0:
            return
        states = self.row(row)
        if self.dtype == object:
            move.py_func(states.reshape(-1, 1), log)
        else:
            move(states.view(np.uint8).reshape(self.capacity, -1), log)

    def add(self, columns: tuple[Array, ...], valid: Array | None, slots: Array) -> None:
        self.work.add(columns, valid, slots, self.row(0))

    def extend(self, level: int, *stretches: Any) -> None:
        prefix_row = (1 + 2 * level) * self.capacity
        self.work.extend(self.table, prefix_row, prefix_row + self.capacity, *stretches)

    def answers(self, parts: Array, offsets: Array) -> Array:
        """The state of each window."""
        out = self._room(len(offsets) - 1)
        self.work.answers(self.table, parts, offsets, out)
        return out

    def finals(self, keys: Array, *rest: Any) -> Array:
        """The state of each window, by the algorithm that was asked for."""
        assert self.form is not None
        *known, ranges = rest
        out = self._room(len(known[1]))
        slots = 1 << int(ranges[0]).bit_length()
        card = self.form.CARD
        states = identity_states(self, card.states(slots, len(ranges)))
        links = np.zeros(card.links(slots), dtype=np.int64)
        self.work.finals(self.form, self.table, keys, *known, ranges, states, links, slots - 1, out)
        return out


class CompiledWork:
    """What is done with fixed-width states."""

    def __init__(self, monoid: Monoid, inputs: tuple[Any, ...]) -> None:
        from slidewheel.compiler import kernels

        self.monoid, self.kernel = monoid, kernels.kernel(time_blocks, monoid)
        self.added = "absorb_rows" if monoid.absorb else "add"
        self.columns = tuple(read_only(np.ones(1, dtype=dtype)) for dtype in inputs)

    def add(self, columns: tuple[Array, ...], *rest: Any) -> None:
        self.kernel.run(self.added, columns, *rest)

    def extend(self, *arguments: Any) -> None:
        self.kernel.call("extend", self.columns, *arguments)

    def answers(self, *arguments: Any) -> None:
        self.kernel.call("answers", self.columns, *arguments)

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
        self.prefixes, self.suffixes, self.fold = operations(laws, ring, lambda function: function)

    def add(self, columns: tuple[Array, ...], valid: Array | None, slots: Array, states: Array) -> None:
        lift, combine, identity = self.monoid.lift, self.monoid.combine, self.monoid.identity
        values = [column.tolist() for column in columns]
        for i, slot in enumerate(slots.tolist()):
            state = identity if valid is not None and not valid[i] else lift(*(column[i] for column in values))
            if slot < 0:
                states[~slot] = state
            else:
                states[slot] = combine(states[slot], state)

    def extend(
        self, table: Array, prefix_row: int, suffix_row: int, ids: Array, shift: int, keys: Array, base: Array,
        mask: Array, front: Array, first: Array, last: Array, settled: Array, complete: Array
    ) -> None:  # fmt: skip
        for k, key in enumerate(keys.tolist()):
            ring = int(base[key]), int(mask[key])
            known = table, prefix_row, ids, shift
            self.prefixes(*known, *ring, int(front[key]), int(first[k]), int(last[k]))
            self.suffixes(table, suffix_row, ids, shift, *ring, int(settled[k]), int(complete[k]))

    def answers(self, table: Array, parts: Array, offsets: Array, out: Array) -> None:
        for j in range(len(out)):
            out[j] = (
                self.fold(table, parts, int(offsets[j]), int(offsets[j + 1]))
                if offsets[j] < offsets[j + 1]
                else (self.monoid.identity)
            )

    def finals(self, form: ModuleType, *arguments: Any) -> None:
        monoid = self.monoid
        laws = SimpleNamespace(
            combine=monoid.combine, inverse=monoid.inverse, identity=lambda: monoid.identity, same=interpreter.same
        )
        start, insert, answer = form.operations(laws, self.ring, lambda function: function)
        names = {"start": start, "insert": insert, "answer": answer, "identity": laws.identity, "np": np}
        driver = FunctionType(drivers.finals.__code__, {**names, "load": self.ring.load, "store": self.ring.store})
        driver(*arguments)

    def lowered(self, states: Array, ok: Array) -> Array:
        out = np.empty(len(states), dtype=object)
        lower = self.monoid.lower
        for j in np.flatnonzero(ok).tolist():
            try:
                out[j] = lower(states[j])
            except OverflowError as error:
                raise Overflow(str(error)) from None
        return out


def identity_states(component: Component, count: int) -> Array:
    """As many empty states."""
    if component.dtype == object:
        states = np.empty(count, dtype=object)
        states[:] = [component.monoid.identity] * count
        return states
    return layout.allocate(component.dtype, count, component.monoid.identity)
