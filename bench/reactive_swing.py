"""A window by FlatFAT whose capacity swings between n and 2n, compiled: figure 9 of the Reactive Aggregator paper."""

from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, combine, evict, insert, item, load, lower, put, query, store
from slidewheel.compiler import layout


def moved(old, new, empty, registers):
    """The window's items into a tree of another size, which is put together anew."""
    leaves, others = len(new) // 2, len(old) // 2
    for leaf in range(leaves, 2 * leaves):
        store(new, leaf, load(empty, 0))
    for position in range(registers[0], registers[1]):
        store(new, leaves + (position & (leaves - 1)), load(old, others + (position & (others - 1))))
    for node in range(leaves - 1, 0, -1):
        store(new, node, combine(load(new, 2 * node), load(new, 2 * node + 1)))


def swings(columns, times, out, small, large, empty, links, registers):
    """From n + 1 items in the large tree down to less than a quarter of it, and up again; a query after each insert."""
    last, kept, n = len(columns[0]) - 1, len(out) - 1, len(small) // 2
    for _ in range(times):
        while registers[1] - registers[0] >= n // 2:
            registers = evict(large, links, 2 * n - 1, registers)
        moved(large, small, empty, registers)
        while registers[1] - registers[0] < n:
            registers = insert(small, links, n - 1, registers, item(columns, None, registers[1] & last))
            put(out, registers[1] & kept, lower(query(small, links, n - 1, registers)))
        moved(small, large, empty, registers)
        registers = insert(large, links, 2 * n - 1, registers, item(columns, None, registers[1] & last))
        put(out, registers[1] & kept, lower(query(large, links, 2 * n - 1, registers)))
    return registers


class Swinging(Live):
    used = (moved, swings)

    def __init__(self, algorithm: str, aggregate: sw.Aggregate, window: int, columns: Any, kept: int) -> None:
        super().__init__(algorithm, aggregate, window, columns, kept)
        state = aggregate.monoid(*columns[0]).state
        self.large = layout.allocate(state, 2 * len(self.states), self.identity)
        self.nothing = layout.allocate(state, 1, self.identity)

    def swing(self, times: int) -> np.ndarray:
        """That many times down and up. The last answers, in a ring."""
        memory = (self.states, self.large, self.nothing, self.links, self.registers)
        self.registers = self.drivers.swings(self.columns, times, self.out, *memory)
        return self.out

    @property
    def items(self) -> np.ndarray:
        """The values in the window."""
        values = self.columns[0]
        return values[np.arange(*self.registers) & (len(values) - 1)]
