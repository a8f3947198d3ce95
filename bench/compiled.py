"""One algorithm and one aggregate in compiled code, kept at a full window: for the suites that time algorithms.

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
insert = evict = query = answer = item = lower = put = combine = load = store = prefix = suffix = start


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


def rounds_of_ranges(columns, ranges, fill, count, first, out, states, links, mask, registers):
    """Insert `fill` items, then `count` times insert one and write the answers of all ranges."""
    last = len(columns[0]) - 1
    for i in range(first, first + fill):
        registers = insert(states, links, mask, registers, ranges, item(columns, None, i & last))
    for i in range(first + fill, first + fill + count):
        registers = insert(states, links, mask, registers, ranges, item(columns, None, i & last))
        for k in range(len(ranges)):
            put(out, k, lower(answer(states, links, mask, registers, ranges, k)))
    return registers


def batches(columns, m, fill, count, first, out, states, links, mask, registers):
    """Insert `fill` items, then `count` times evict and insert m of them and query."""
    last, kept = len(columns[0]) - 1, len(out) - 1
    for i in range(first, first + fill):
        registers = insert(states, links, mask, registers, item(columns, None, i & last))
    for k in range(count):
        for i in range(first + fill + k * m, first + fill + (k + 1) * m):
            registers = evict(states, links, mask, registers)
            registers = insert(states, links, mask, registers, item(columns, None, i & last))
        put(out, k & kept, lower(query(states, links, mask, registers)))
    return registers


def tree_batches(columns, m, fill, count, first, out, states, links, mask, registers):
    """The same by the Reactive Aggregator's update of many leaves, for a window that fills its tree.

    The m leaves are neighbours in the ring, so that the nodes to put together are one run of each level, or two where
    the leaves wrap around the end; each node is put together once.
    """
    last, kept, leaves = len(columns[0]) - 1, len(out) - 1, mask + 1
    for k in range(count + fill // m):
        i = first + k * m
        for j in range(i, i + m):
            store(states, leaves + (j & mask), item(columns, None, j & last))
        lo, hi, width = leaves + (i & mask), leaves + ((i + m - 1) & mask), leaves
        wrapped = hi < lo
        if m == leaves:
            lo, hi, wrapped = leaves, 2 * leaves - 1, False
        while width > 1:
            lo, hi, width = lo >> 1, hi >> 1, width >> 1
            if wrapped and hi >= lo:
                lo, hi, wrapped = width, 2 * width - 1, False
            if wrapped:
                for node in range(width, hi + 1):
                    store(states, node, combine(load(states, 2 * node), load(states, 2 * node + 1)))
            for node in range(lo, 2 * width if wrapped else hi + 1):
                store(states, node, combine(load(states, 2 * node), load(states, 2 * node + 1)))
        if k >= fill // m:
            oldest, youngest = (i + m) & mask, (i + m - 1) & mask
            total = load(states, 1)
            if oldest != 0:
                total = combine(suffix(states, mask, oldest), prefix(states, mask, youngest))
            put(out, (k - fill // m) & kept, lower(total))
    return registers


NAMES = "start insert evict query answer item lower put combine load store"

HEAD = """import sys
import numpy as np
from types import SimpleNamespace
from numba import njit
from slidewheel.compiler.runtime import OPTIONS, jit
from bench.compiled import cycles
kernel = sys.modules[{name!r}]
{names} = (getattr(kernel, name, None) for name in {all!r}.split())
"""

TREE = """
prefix, suffix = kernel.tree(SimpleNamespace(combine=combine), SimpleNamespace(load=load, store=store), jit)[-2:]
"""


def _drivers(kernel: kernels.Kernel, *used: Any) -> ModuleType:
    text = HEAD.format(name=kernel.module.__name__, names=NAMES.replace(" ", ", "), all=NAMES)
    text += TREE if tree_batches in used else ""
    text += "".join(kernels.DRIVER + inspect.getsource(driver) for driver in (begin, *used))
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


class _Compiled:
    """The memory and the drivers of one algorithm and one aggregate."""

    used: tuple[Any, ...] = ()

    def __init__(
        self, algorithm: ModuleType, aggregate: Aggregate, window: int, columns: Any, kept: int, *ranges: int
    ) -> None:
        kinds, self.columns = columns
        card = algorithm.CARD
        monoid = aggregate.monoid(*kinds, invertible="inverse" in card.needs)
        self.drivers = _drivers(kernels.kernel(algorithm, monoid), *self.used)
        self.window, self.identity = window, monoid.identity
        slots = 1 << (window - 1).bit_length()
        self.mask = slots - 1
        self.states = layout.allocate(monoid.state, card.states(slots, *ranges), monoid.identity)
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

    def _go(self, driver: str, given: tuple[Any, ...], count: int, items: int) -> np.ndarray:
        """Call a driver `count` times over, after filling the window if it is empty; each time takes some items."""
        fill = self.window if self.taken == 0 else 0
        memory = (self.states, self.links, self.mask, self.registers)
        call = getattr(self.drivers, driver)
        self.registers = call(self.columns, *given, fill, count, self.taken, self.out, *memory)
        self.taken += fill + count * items
        return self.out


class Live(_Compiled):
    """A compiled window that is kept full: each call of `advance` is some rounds of evict, insert, query."""

    used = (rounds, clocked)

    def __init__(self, algorithm: str, aggregate: Aggregate, window: int, columns: Any, kept: int) -> None:
        super().__init__(registry.algorithm(algorithm), aggregate, window, columns, kept)

    def advance(self, count: int) -> np.ndarray:
        """That many rounds. The last answers, in a ring."""
        return self._go("rounds", (), count, 1)

    def clock(self, least: np.ndarray) -> np.ndarray:
        """One round for each row of `least`, from an empty window, always the same; see `clocked`."""
        self.empty()
        memory = (self.states, self.links, self.mask, self.registers)
        self.drivers.clocked(self.columns, self.window, len(least), least, self.out, *memory)
        return self.out


class LiveRanges(_Compiled):
    """The same for the ranges 1 to n, all of them answered after each item, by a form for many ranges."""

    used = (rounds_of_ranges,)

    def __init__(self, form: ModuleType, aggregate: Aggregate, longest: int, columns: Any) -> None:
        super().__init__(form, aggregate, longest, columns, longest, longest)
        self.ranges = np.arange(longest, 0, -1)

    def advance(self, count: int) -> np.ndarray:
        """That many slides. The last answers, longest range first."""
        return self._go("rounds_of_ranges", (self.ranges,), count, 1)


class LiveBatches(_Compiled):
    """A full window of 2^k items that m items leave and enter before each query; by FlatFAT, m leaves at once."""

    def __init__(self, algorithm: str, aggregate: Aggregate, window: int, m: int, columns: Any, kept: int) -> None:
        self.used = (tree_batches if algorithm == "flatfat" else batches,)
        super().__init__(registry.algorithm(algorithm), aggregate, window, columns, kept)
        self.m = m

    def advance(self, count: int) -> np.ndarray:
        """That many queries. The last answers of this call, in a ring."""
        return self._go(self.used[0].__name__, (self.m,), count, self.m)


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
