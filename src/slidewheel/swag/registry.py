"""The algorithms by name, what each needs, and which one to take."""

import difflib
from collections.abc import Iterator
from types import ModuleType

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.errors import UnknownAlgorithm, Unsupported
from slidewheel.swag import (
    b_int,
    blocks,
    daba,
    daba_lite,
    fiba,
    flatfat,
    flatfit,
    foa,
    greedy,
    ioa,
    reactive,
    recalc,
    slickdeque,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
)
from slidewheel.swag.card import Card

_MODULES: tuple[ModuleType, ...] = (
    recalc,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
    daba,
    daba_lite,
    flatfat,
    b_int,
    flatfit,
    slickdeque,
    foa,
    ioa,
    greedy,
)
ALGORITHMS: dict[str, ModuleType] = {module.CARD.name: module for module in _MODULES}
BLOCKS = blocks
NOT_FIFO: dict[str, ModuleType] = {module.CARD.name: module for module in (reactive, fiba)}
"""Algorithms of another kind, over items by time: each has a Tree (see `timed`) in place of operations."""

_MISSING = {
    "inverse": "an inverse: inverse(a, b), which takes the older part b away from a",
    "selective": "a selective combine: one that always returns one of its two arguments, declared selective=True",
}


def algorithms(*, fifo: bool = True) -> list[Card]:
    """A card for each algorithm: what it needs, its time and space in combines and states, and its paper.

    `fifo=False` gives those for windows whose items come and go in any order.

    >>> import slidewheel as sw
    >>> print(next(card for card in sw.algorithms() if card.name == "daba"))
    daba
      needs      associative
      amortised  insert 2.5, evict 1.5, query 1
      worst      insert 4, evict 3, query 1
      space      2n states
      use        any aggregate, where no single operation may be slow; daba_lite does it with half the memory
      paper      Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figures 8 to 12
    >>> [card.name for card in sw.algorithms(fifo=False)]
    ['flatfat', 'fiba']
    """
    return [module.CARD for module in ((*_MODULES, blocks) if fifo else NOT_FIFO.values())]


def algorithm(name: str) -> ModuleType:
    """The algorithm of this name, or UnknownAlgorithm with the nearest names."""
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    known = [*ALGORITHMS, "auto"]
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
    if name == "blocks":
        hint = "blocks needs a finished array: use sw.rolling(..., size=...)"
    elif name in NOT_FIFO:
        hint = f"{name} is for items in any order: use sw.swag.window(..., fifo=False)"
    raise UnknownAlgorithm(f"unknown algorithm {name!r}: {hint}")


def not_fifo(name: str) -> ModuleType:
    """The algorithm of this name for windows that are not FIFO."""
    if name in NOT_FIFO:
        return NOT_FIFO[name]
    if name in ALGORITHMS:
        raise Unsupported(f"{name} is for FIFO windows only; with fifo=False use {' or '.join(NOT_FIFO)}")
    return algorithm(name)


def lacking(card: Card, aggregate: Aggregate) -> Iterator[str]:
    """The properties that the algorithm needs and the aggregate does not have."""
    has = {"inverse": aggregate.invertible, "selective": aggregate.selective}
    return (need for need in card.needs if not has[need])


def require(card: Card, aggregate: Aggregate) -> None:
    """Raise Unsupported unless the aggregate has what the algorithm needs."""
    for need in lacking(card, aggregate):
        raise Unsupported(
            f"{card.name} needs {_MISSING[need]}; {aggregate.name} has none. "
            f"Use two_stacks_lite or daba_lite, which work for every aggregate, or algorithm='auto'."
        )


def choose(aggregate: Aggregate, *, steady: bool = False) -> tuple[str, str]:
    """The algorithm for a window that is used one item at a time, and why.

    From `make bench` (suite `one_by_one`): subtraction is the fastest where it is exact. For selective aggregates
    SlickDeque and Two-Stacks Lite are within a tenth of each other, and SlickDeque takes fewer combines and memory. For
    all others Two-Stacks Lite is the fastest, and DABA Lite of those whose every single operation is short.
    """
    if aggregate.exact_inverse:
        return "subtract_on_evict", "it has an exact inverse: 2 combines a slide, always"
    if steady:
        return "daba_lite", "no operation may be slow: at most 3 combines each"
    if aggregate.selective:
        return "slickdeque", "its combine is selective: fewer than 2 combines a slide"
    return "two_stacks_lite", "any associative combine: 3 combines a slide on average, n on a flip"


def choose_not_fifo(*, steady: bool = False) -> tuple[str, str]:
    """The algorithm for a window whose items come and go in any order, and why.

    FiBA takes less time than the Reactive Aggregator in order, and the later the items, the more so: four times less
    in a window of 2000 items that are late by up to 300. Only ranges take longer, up to three times.
    """
    if steady:
        raise Unsupported("no algorithm is steady for fifo=False: fiba's single operations take O(log n) combines")
    return "fiba", "any associative combine: O(log d) combines for an item d places from the nearer end"
