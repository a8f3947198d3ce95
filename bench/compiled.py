"""One algorithm and one aggregate in compiled code, kept at a full window: for the suites algorithms and latency.

The drivers below are copied into a generated module, beside the kernel's own operations, as slidewheel does with its
drivers: so they too are compiled once and found warm by the next run.
"""

import inspect
import math
import time
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from slidewheel import Aggregate
from slidewheel.algebra.bloom import hash_column
from slidewheel.compiler import kernels, layout, module
from slidewheel.swag import registry

start: Any = None
insert = evict = query = item = lower = put = start


@intrinsic
def cycles(typing_context):
    """The processor's cycle counter. No fence: operations that follow each other may overlap by some nanoseconds."""

    def generate(context, builder, signature, arguments):
        counter = ir.FunctionType(ir.IntType(64), [])
        return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=counter), [])

    return types.uint64(), generate


def begin():
    """The registers of an empty window."""
    return start()


def rounds(columns, fill, count, first, out, states, links, mask, registers):
    """Insert `fill` items, then `count` times evict, insert and query; items are taken from `first` on, in a ring."""
    last, kept = len(columns[0]) - 1, len(out) - 1
    for i in range(first, first + fill):
        registers = insert(states, links, mask, registers, item(columns, None, i & last))
    for i in range(first + fill, first + fill + count):
        registers = evict(states, links, mask, registers)
        registers = insert(states, links, mask, registers, item(columns, None, i & last))
        put(out, i & kept, lower(query(states, links, mask, registers)))
    return registers


def clocked(columns, fill, count, least, out, states, links, mask, registers):
    """The same, and for each round the cycles of evict, insert, query and all three, where less than in `least`."""
    last, kept = len(columns[0]) - 1, len(out) - 1
    for i in range(fill):
        registers = insert(states, links, mask, registers, item(columns, None, i & last))
    for k in range(count):
        i = fill + k
        v = item(columns, None, i & last)
        a = cycles()
        registers = evict(states, links, mask, registers)
        b = cycles()
        registers = insert(states, links, mask, registers, v)
        c = cycles()
        put(out, i & kept, lower(query(states, links, mask, registers)))
        d = cycles()
        row = least[k]
        row[0] = min(row[0], b - a)
        row[1] = min(row[1], c - b)
        row[2] = min(row[2], d - c)
        row[3] = min(row[3], d - a)
    return registers


HEAD = """import sys
import numpy as np
from numba import njit
from slidewheel.compiler.runtime import OPTIONS
from bench.compiled import cycles
kernel = sys.modules[{name!r}]
start, insert, evict, query = kernel.start, kernel.insert, kernel.evict, kernel.query
item, lower, put = kernel.item, kernel.lower, kernel.put
"""


def _drivers(kernel: kernels.Kernel) -> ModuleType:
    text = HEAD.format(name=kernel.module.__name__)
    text += "".join(kernels.DRIVER + inspect.getsource(driver) for driver in (begin, rounds, clocked))
    label = f"bench_{kernel.monoid.name}_by_{kernel.algorithm.CARD.name}"
    if hasattr(kernel.module, "__file__"):
        return module.load(text, label)
    # The kernel's module has no file, and so no name that stands for its contents: nothing to cache by.
    return module.load_in_memory(text, label, {})


def columns_for(aggregate: Aggregate, rows: int, seed: int) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    """The kinds of the columns that the aggregate reads, and random columns of that many rows."""
    values = np.random.default_rng(seed).uniform(0.5, 1.5, rows)
    if aggregate.prepare is not None:
        return ("hash",), (hash_column(np.arange(rows)),)
    if aggregate.arity == 2:
        return ("f", "i"), (values, np.arange(rows))
    return ("f",), (values,)


class Live:
    """A compiled window that is kept full: each call of `advance` is some rounds of evict, insert, query."""

    def __init__(self, algorithm: str, aggregate: Aggregate, window: int, columns: Any, kept: int) -> None:
        kinds, self.columns = columns
        card = registry.algorithm(algorithm).CARD
        monoid = aggregate.monoid(*kinds, invertible="inverse" in card.needs)
        self.drivers = _drivers(kernels.kernel(registry.algorithm(algorithm), monoid))
        self.window, self.identity = window, monoid.identity
        slots = 1 << (window - 1).bit_length()
        self.mask = slots - 1
        self.states = layout.allocate(monoid.state, card.states(slots), monoid.identity)
        self.links = np.zeros(card.links(slots), dtype=np.int64)
        if monoid.state.shape:
            self.out = np.zeros((kept, *monoid.state.shape), dtype=monoid.state.base)
        else:
            self.out = np.zeros(kept, dtype="f8" if monoid.result == "like0" else monoid.result)
        self.empty()

    def empty(self) -> None:
        self.states[...] = self.identity
        self.links[...] = 0
        self.out[...] = 0
        self.registers = self.drivers.begin()
        self.taken = 0

    def advance(self, count: int) -> np.ndarray:
        """That many rounds, after filling the window if it is empty. The last answers, in a ring."""
        fill = self.window if self.taken == 0 else 0
        memory = (self.states, self.links, self.mask, self.registers)
        self.registers = self.drivers.rounds(self.columns, fill, count, self.taken, self.out, *memory)
        self.taken += fill + count
        return self.out

    def clock(self, least: np.ndarray) -> np.ndarray:
        """One round for each row of `least`, from an empty window, always the same; see `clocked`."""
        self.empty()
        memory = (self.states, self.links, self.mask, self.registers)
        self.drivers.clocked(self.columns, self.window, len(least), least, self.out, *memory)
        return self.out


@njit
def _readings(into):
    for k in range(len(into)):
        into[k] = cycles()


def counter() -> tuple[float, float]:
    """The cycle counter's nanoseconds per cycle, by the clock, and the nanoseconds from one reading to the next.

    NaN where the processor has no counter that can be read.
    """
    seen = np.zeros(1000, dtype=np.uint64)
    _readings(seen)
    cycle, clock = seen[-1], time.perf_counter_ns()
    while time.perf_counter_ns() - clock < 50_000_000:
        pass
    _readings(seen)
    elapsed, passed = time.perf_counter_ns() - clock, float(seen[-1] - cycle)
    if passed == 0:
        return math.nan, math.nan
    return elapsed / passed, elapsed / passed * float(np.median(np.diff(seen)))
