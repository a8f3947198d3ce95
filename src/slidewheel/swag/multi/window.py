"""Many ranges over one stream, used one item at a time: insert, answers."""

from collections.abc import Iterable
from numbers import Integral
from types import SimpleNamespace
from typing import Any

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.compiler import interpreter
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.swag.multi import registry


class MultiWindow:
    """The last items of a stream, for several ranges at once. Made by `sw.swag.multi`.

    `insert(value)` adds an item, and the item older than the longest range leaves; None is a null, which takes a place
    but counts for nothing. `answers()` gives for each range, in the order in which they were given, the aggregate of
    the last items, oldest first; None where there is none. `query(r)` gives it for one of the ranges.
    """

    def __init__(self, aggregate: Aggregate, ranges: tuple[int, ...], module: Any, reason: str) -> None:
        card = module.CARD
        self.aggregate, self.ranges, self.algorithm, self.reason = aggregate, ranges, card.name, reason
        self._careful = card.careful
        self._monoid = monoid = aggregate.monoid(invertible="inverse" in card.needs)
        zero = monoid.identity
        self._empty = monoid.lower(zero) if monoid.least == 0 else None
        self._falling = sorted(set(ranges), reverse=True)
        self._index = {span: k for k, span in enumerate(self._falling)}
        slots = 1 << (self._falling[0] - 1).bit_length()
        states, links = [zero] * card.states(slots, len(self._falling)), [0] * card.links(slots)
        self._memory = interpreter.Memory(states, links, slots - 1)
        laws = SimpleNamespace(
            combine=monoid.combine, inverse=monoid.inverse, identity=lambda: zero, same=interpreter.same
        )
        ring = SimpleNamespace(load=list.__getitem__, store=list.__setitem__)
        start, self._slide, self._answer = module.operations(laws, ring, lambda function: function)
        self._registers: Any = start()
        self._valid = [0] * (2 * slots)
        """At slot p, in a ring: how many of the items before position p were not null."""

    def insert(self, value: Any, *rest: Any) -> None:
        """Add an item; the oldest one leaves if there are more than the longest range."""
        end = self._registers[1]
        value = self._item((value, *rest) if rest else value, end)
        lift = self._monoid.lift
        state = self._monoid.identity if value is None else lift(*value) if self._monoid.arity == 2 else lift(value)
        try:
            self._registers = self._slide(*self._memory, self._registers, self._falling, state)
        except BaseException as problem:
            self._registers = interpreter.settled(problem, self._registers, self._careful)
            raise
        ring = len(self._valid) - 1
        self._valid[(end + 1) & ring] = self._valid[end & ring] + (value is not None)

    def answers(self) -> list[Any]:
        """The answers of all ranges."""
        # From the longest range to the shortest, as SlickDeque wants them.
        found = [self._answered(k) for k in range(len(self._falling))]
        return [found[self._index[span]] for span in self.ranges]

    def query(self, span: int) -> Any:
        """The answer of one of the ranges."""
        if span not in self._index:
            raise InvalidArgument(f"{span!r} is not one of the ranges {', '.join(map(str, self.ranges))}")
        return self._answered(self._index[span])

    def _answered(self, k: int) -> Any:
        front, end = self._registers[:2]
        ring = len(self._valid) - 1
        held = self._valid[end & ring] - self._valid[max(front, end - self._falling[k]) & ring]
        if held < max(self._monoid.least, 1):
            return self._empty
        try:
            state = self._answer(*self._memory, self._registers, self._falling, k)
        except BaseException as problem:
            self._registers = interpreter.settled(problem, self._registers, True)
            raise
        return self._monoid.lower(state)

    def _item(self, value: Any, position: int) -> Any:
        """The value as `lift` takes it, or None for a null."""
        if self._monoid.arity == 2:
            if value is not None and not isinstance(value, tuple):
                if not self.aggregate.positional or self.aggregate.columns[1] is not None:
                    raise Unsupported(f"{self.aggregate.name} takes pairs: insert(value, arg)")
                value = (value, position)
            return None if value is None or value[0] is None else value
        return 0 if value is None and not self.aggregate.skips_nulls else value

    def __len__(self) -> int:
        return int(self._registers[1] - self._registers[0])

    def __repr__(self) -> str:
        spans = ", ".join(map(str, self.ranges))
        return f"<window of {len(self)}: {self.aggregate.output} over {spans} by {self.algorithm}>"


def multi(
    aggregate: Aggregate | AggregateType,
    ranges: Iterable[int],
    algorithm: str = "auto",
) -> MultiWindow:
    """The aggregate of the last r items for several r at once, with the work shared between them.

    The algorithms are recalc, flatfat, b_int, flatfit and slickdeque, which is slickdeque_inv where the aggregate has
    an inverse and is not selective. Room for the longest range is made at once.

    >>> import slidewheel as sw
    >>> w = sw.swag.multi(sw.max(), ranges=[3, 5])
    >>> for value in 6, 5, 0, 1, 3, 4:
    ...     w.insert(value)
    >>> w.answers(), w.query(3), len(w)
    ([4, 5], 4, 5)
    >>> w.algorithm, w.reason
    ('slickdeque', 'its combine is selective: fewer than 2 combines a slide for all ranges together')
    """
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"multi needs an aggregate such as sw.max(), not {aggregate!r}")
    spans = tuple(_span(r) for r in ranges) if isinstance(ranges, Iterable) else ()
    if not spans:
        raise InvalidArgument(f"multi needs one or more ranges, as in ranges=[3, 5], not {ranges!r}")
    reason = "it was asked for"
    if algorithm == "auto":
        algorithm, reason = registry.choose(aggregate)
    return MultiWindow(aggregate, spans, registry.form(algorithm, aggregate), reason)


def _span(items: Any) -> int:
    if isinstance(items, bool) or not isinstance(items, Integral) or items < 1:
        raise InvalidArgument(f"a range is a number of items, 1 or more, not {items!r}")
    return int(items)
