"""One window, used one item at a time: insert, evict, query."""

import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal, overload

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.compiler import interpreter
from slidewheel.compiler.interpreter import Memory
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.swag import registry
from slidewheel.swag.timed import TimedWindow

SMALLEST = 8


class Window:
    """A FIFO window. Made by `sw.swag.window`.

    `insert(value)` adds an item at the young end; None is a null, which takes a place but counts for nothing.
    `evict()` removes the oldest item, or raises IndexError. `query()` gives the aggregate of all items, oldest first;
    None where there is none. `reserve(n)` makes room for n items at once, so that no insert has to.
    """

    __slots__ = ("_inside", "_resize", "aggregate", "algorithm", "evict", "insert", "query", "reason")

    aggregate: Aggregate
    algorithm: str
    reason: str
    _inside: Callable[[], tuple[Memory, tuple[Any, ...]]]
    _resize: Callable[[int], None]
    insert: Callable[..., None]
    evict: Callable[[], None]
    query: Callable[[], Any]

    def __len__(self) -> int:
        registers = self._inside()[1]
        return int(registers[1] - registers[0])

    def reserve(self, items: int) -> None:
        """Make room for this many items now."""
        if _whole("reserve", items) > self._inside()[0].mask + 1:
            self._resize(_slots(items))

    def __repr__(self) -> str:
        return f"<window of {len(self)}: {self.aggregate.output} by {self.algorithm}>"


@overload
def window(  # type: ignore[overload-overlap]
    aggregate: Aggregate | AggregateType, algorithm: Literal["fiba"], *, fifo: Literal[False] | None = None
) -> TimedWindow: ...


@overload
def window(
    aggregate: Aggregate | AggregateType,
    algorithm: str = "auto",
    *,
    fifo: Literal[False],
    steady: bool = False,
    capacity: int = SMALLEST,
) -> TimedWindow: ...


@overload
def window(
    aggregate: Aggregate | AggregateType,
    algorithm: str = "auto",
    *,
    fifo: Literal[True] | None = None,
    steady: bool = False,
    capacity: int = SMALLEST,
) -> Window: ...


def window(
    aggregate: Aggregate | AggregateType,
    algorithm: str = "auto",
    *,
    fifo: bool | None = None,
    steady: bool = False,
    capacity: int = SMALLEST,
) -> Window | TimedWindow:
    """A window over the last items, for any aggregate and one of the algorithms of `sw.algorithms()`.

    `steady=True` lets "auto" choose only algorithms whose every operation is short. `capacity` is the number of items
    to make room for; the window grows beyond it, at the price of copying its items once.

    `fifo=False` gives a TimedWindow, whose items have times and come and go in any order: `insert(time, value)`,
    `evict(time)`, `query(start, end)`. Its algorithms are "flatfat" and "fiba"; "fiba" alone means fifo=False too.

    >>> import slidewheel as sw
    >>> w = sw.swag.window(sw.max(), algorithm="daba")
    >>> for value in 2, 6, 3:
    ...     w.insert(value)
    >>> w.query()
    6
    >>> w.evict(); w.evict(); w.query(), len(w)
    (3, 1)
    >>> w = sw.swag.window(sw.max(), fifo=False)
    >>> for time, value in (1, 2), (3, 6), (2, 3):
    ...     w.insert(time, value)
    >>> w.evict(3); w.query(), w.algorithm
    (3, 'fiba')
    """
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"window needs an aggregate such as sw.max(), not {aggregate!r}")
    reason = "it was asked for"
    if fifo is None:
        fifo = algorithm != "fiba"
    if not fifo:
        if algorithm == "auto":
            algorithm, reason = registry.choose_not_fifo(steady=steady)
        tree = registry.not_fifo(algorithm).Tree
        return TimedWindow(aggregate, algorithm, reason, tree, _whole("capacity", capacity))
    if algorithm == "auto":
        algorithm, reason = registry.choose(aggregate, steady=steady)
    module = registry.algorithm(algorithm)
    registry.require(module.CARD, aggregate)
    made = Window()
    made.aggregate, made.algorithm, made.reason = aggregate, algorithm, reason
    _fill(made, module, aggregate, _whole("capacity", capacity))
    return made


def _whole(name: str, items: Any) -> int:
    if isinstance(items, bool) or not isinstance(items, int) or items < 1:
        raise InvalidArgument(f"{name} takes a number of items, 1 or more, not {items!r}")
    return items


def _slots(items: int) -> int:
    return 1 << (max(items, SMALLEST) - 1).bit_length()


def _fill(made: Window, module: Any, aggregate: Aggregate, capacity: int) -> None:
    card = module.CARD
    monoid = aggregate.monoid(invertible="inverse" in card.needs)
    zero = monoid.identity

    def make(slots: int) -> Memory:
        return Memory([zero] * card.states(slots), [0] * card.links(slots), slots - 1)

    laws = SimpleNamespace(combine=monoid.combine, inverse=monoid.inverse, identity=lambda: zero, same=interpreter.same)
    ring = SimpleNamespace(load=list.__getitem__, store=list.__setitem__)
    build = interpreter.specialised(module, monoid)
    empty = monoid.lower(zero) if monoid.least == 0 else None
    operations = build(
        laws,
        ring,
        monoid.lift,
        monoid.lower,
        zero,
        empty,
        monoid.least,
        _slots(capacity),
        make,
        module.resize,
    )
    made.insert, made.evict, made.query, made._resize, made._inside, abandon = operations
    if monoid.arity == 2:
        made.insert = _pairs(made)
    if not aggregate.skips_nulls:
        made.insert = _counting_nulls(made)
    if card.shrinks:
        made.insert, made.evict = _rebuilding(made, abandon), _shrinking(made)


def _pairs(made: Window) -> Callable[..., None]:
    """insert(value, arg), insert((value, arg)), or insert(value) with the item's position as its argument."""
    insert, inside = made.insert, made._inside
    positional = made.aggregate.positional and made.aggregate.columns[1] is None

    def insert_pair(value: Any, *rest: Any) -> None:
        if rest:
            value = (value, *rest)
        elif value is not None and not isinstance(value, tuple):
            if not positional:
                raise Unsupported(f"{made.aggregate.name} takes pairs: insert(value, arg)")
            value = (value, inside()[1][1])
        insert(None if value is None or value[0] is None else value)

    return insert_pair


def _counting_nulls(made: Window) -> Callable[..., None]:
    """insert for an aggregate of rows, null or not."""
    insert = made.insert
    return lambda value: insert(0 if value is None else value)


def _rebuilding(made: Window, abandon: Callable[[], None]) -> Callable[..., None]:
    """insert that puts its tree in order again if a combine fails on the way up."""
    insert, inside, resize = made.insert, made._inside, made._resize

    def insert_or_rebuild(*value: Any) -> None:
        try:
            insert(*value)
        except Exception:
            try:
                resize(inside()[0].mask + 1)
            except BaseException:
                abandon()
            raise

    return insert_or_rebuild


def _shrinking(made: Window) -> Callable[[], None]:
    """evict that halves the memory when less than a quarter of it is used."""
    evict, inside, resize = made.evict, made._inside, made._resize

    def evict_and_shrink() -> None:
        evict()
        memory, registers = inside()
        slots = memory.mask + 1
        if slots > SMALLEST and registers[1] - registers[0] < slots // 4:
            with contextlib.suppress(Exception):  # a combine that fails: then not now
                resize(slots // 2)

    return evict_and_shrink
