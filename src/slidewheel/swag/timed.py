"""A window of items by time, which come and go in any order."""

from typing import Any, Protocol

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.errors import SlidewheelError, Unsupported
from slidewheel.swag.holes import HOLE, Join, states
from slidewheel.times import InstantLike, instant


class MissingTime(SlidewheelError, KeyError):
    """The window has no item at this time."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show the message in quotes


class Tree(Protocol):
    """What an algorithm gives: states by time, in microseconds. If a combine fails, all stays as it was."""

    def __init__(self, join: Join, capacity: int) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, time: int) -> bool: ...
    @property
    def oldest(self) -> int: ...
    @property
    def youngest(self) -> int: ...
    def insert(self, time: int, state: Any) -> None: ...
    def evict(self, time: int) -> None: ...
    def total(self) -> Any: ...
    def between(self, start: int | None, end: int | None) -> Any: ...


class TimedWindow:
    """A window that is not FIFO. Made by `sw.swag.window(..., fifo=False)`.

    A time is a whole number of microseconds or whatever else is an instant: ISO text, a datetime, a datetime64.
    `len` is the number of times in the window.

    >>> import slidewheel as sw
    >>> w = sw.swag.window(sw.concat(), fifo=False)
    >>> w.insert("2024-01-01T00:02", "b"); w.insert("2024-01-01T00:01", "a"); w.insert("2024-01-01T00:05", "c")
    >>> w.query(), w.query("2024-01-01T00:02", None), len(w)
    ('abc', 'bc', 3)
    >>> w.evict("2024-01-01T00:02"); w.query(), "2024-01-01T00:02" in w
    ('ac', False)
    """

    __slots__ = ("_answer", "_inserted", "_lift", "_tree", "aggregate", "algorithm", "reason")

    def __init__(self, aggregate: Aggregate, algorithm: str, reason: str, tree: type[Tree], capacity: int) -> None:
        self.aggregate, self.algorithm, self.reason = aggregate, algorithm, reason
        self._lift, join, self._answer = states(aggregate.monoid())
        self._tree = tree(join, capacity)
        self._inserted = 0

    def insert(self, time: InstantLike, value: Any, *arg: Any) -> None:
        """Add an item at this time. If there is one already, the two are combined, the older arrival first.

        None is a null: it takes a place but counts for nothing. Aggregates over two columns take insert(time, value,
        arg) or insert(time, (value, arg)); argmin and argmax also take bare values and answer with the item's number.

        >>> import slidewheel as sw
        >>> w = sw.swag.window(sw.concat(), algorithm="fiba")
        >>> w.insert(5, "x"); w.insert(3, "y"); w.insert(5, "z"); w.insert(4, None); w.query(), len(w)
        ('yxz', 3)
        """
        self._tree.insert(instant(time), self._state(value, *arg))
        self._inserted += 1

    def evict(self, time: InstantLike | None = None) -> None:
        """Remove what is at this time, or MissingTime; without a time the oldest, or IndexError.

        >>> import slidewheel as sw
        >>> w = sw.swag.window(sw.sum(), algorithm="fiba")
        >>> w.insert(1, 10); w.insert(2, 20); w.evict(); w.query()
        20
        >>> w.evict(1)
        Traceback (most recent call last):
        slidewheel.swag.timed.MissingTime: there is no item at 1 in this window of 1 time(s), from 2 to 2
        """
        tree = self._tree
        if time is not None:
            at = instant(time)
            if at not in tree:
                ends = f", from {tree.oldest} to {tree.youngest}" if len(tree) else ""
                raise MissingTime(f"there is no item at {time!r} in this window of {len(tree)} time(s){ends}")
            tree.evict(at)
        elif len(tree):
            tree.evict(tree.oldest)
        else:
            raise IndexError("evict from an empty window")

    def query(self, start: InstantLike | None = None, end: InstantLike | None = None) -> Any:
        """The aggregate of all items with start <= time < end, in the order of their times. None is no limit.

        >>> import slidewheel as sw
        >>> w = sw.swag.window(sw.max(), algorithm="flatfat", fifo=False)
        >>> for time, value in (30, 1), (10, 7), (20, 5):
        ...     w.insert(time, value)
        >>> w.query(), w.query(20), w.query(11, 20)
        (7, 5, None)
        """
        if start is None and end is None:
            return self._answer(self._tree.total())
        first, last = None if start is None else instant(start), None if end is None else instant(end)
        return self._answer(self._tree.between(first, last))

    @property
    def oldest(self) -> int | None:
        """The first time in the window, in microseconds; None if it is empty."""
        return self._tree.oldest if len(self._tree) else None

    @property
    def youngest(self) -> int | None:
        """The last time in the window, in microseconds; None if it is empty."""
        return self._tree.youngest if len(self._tree) else None

    def __len__(self) -> int:
        return len(self._tree)

    def __contains__(self, time: InstantLike) -> bool:
        return instant(time) in self._tree

    def __repr__(self) -> str:
        return f"<window of {len(self)} time(s): {self.aggregate.output} by {self.algorithm}>"

    def _state(self, value: Any, *arg: Any) -> Any:
        aggregate = self.aggregate
        if aggregate.arity == 1:
            if arg:
                raise Unsupported(f"{aggregate.name} takes one value: insert(time, value)")
            if value is None:
                return self._lift(0) if not aggregate.skips_nulls else HOLE
            return self._lift(value)
        if arg:
            value = (value, *arg)
        elif value is not None and not isinstance(value, tuple):
            if not (aggregate.positional and aggregate.columns[1] is None):
                raise Unsupported(f"{aggregate.name} takes pairs: insert(time, value, arg)")
            value = (value, self._inserted)
        return HOLE if value is None or value[0] is None else self._lift(*value)
