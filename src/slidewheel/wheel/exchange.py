"""A wheel and others: merging, snapshots, and deltas for replicas."""

import threading
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.parts import Writer, described
from slidewheel.engine.threads import uninterrupted
from slidewheel.errors import InvalidArgument, InvalidSnapshot, Unsupported
from slidewheel.times import InstantLike, format_instant
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import aggregate_of, instant_of
from slidewheel.wheel.asking import Asking
from slidewheel.wheel.core import Core, exclusive
from slidewheel.wheel.merging import Conversion, all_finite, as_they_are, conversion, merged, require_fit
from slidewheel.wheel.replicas import refuse_delta, refuse_since, shape
from slidewheel.wheel.snapshots import (
    Reader,
    fingerprint,
    level_facts,
    levels_from,
    packed,
    read_core,
    read_rows,
    write_core,
    write_rows,
)
from slidewheel.wheel.values import Values
from slidewheel.wheel.windows import Closed, WindowResult, Windows

NARROW = ("int64", "finite float64")
"""Names of states that can be made wide."""


class Exchange(Asking):
    """What a wheel gives to others and takes from them."""

    write_ahead: int
    _writing: threading.RLock
    _core: Core
    _windows: Windows
    _buffer: tuple[list[int], list[Any]]
    _typed: bool
    _threshold: int
    _late: int
    _edition: int
    _flush: Callable[[], None]
    _advance: Callable[[int], list[Closed]]
    _close: Callable[[], list[Closed]]
    _listed: Callable[[list[Closed]], list[WindowResult]]
    _narrow: bool
    _retype: Callable[[Values], None]
    _widen: Callable[[], Core]
    _publish: Callable[[], None]

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (self.aggregate,)

    def merge(self, other: Self) -> list[WindowResult]:
        """Take in all that another wheel has accepted, finished or not; it is left as it is.

        The watermark becomes the later of the two; the windows that this completes are returned.

        >>> import slidewheel as sw
        >>> a, b = (sw.Wheel(sw.sum(), start=0) for _ in range(2))
        >>> a.insert(1_000_000, 3), b.insert(2_000_000, 4)
        (True, True)
        >>> results = b.advance_to(5_000_000)
        >>> results = a.merge(b)
        >>> a.query(0, 5_000_000)
        7
        """
        require_fit(self, other)
        if described(self.aggregate) != described(other.aggregate):
            raise InvalidArgument(
                f"these wheels have other aggregates: {self.aggregate.output}, {other.aggregate.output}"
            )
        with other._writing:  # one lock after the other, as the other wheel may be merging with this one
            other._flush()
            theirs, typed, late = other._core.copy(), other._typed, other._late
        return self._merge(theirs, typed, late)

    @exclusive
    def _merge(self, theirs: Core, typed: bool, late: int) -> list[WindowResult]:
        self._flush()
        if not typed:
            self._late += late
            return self._listed(self._advance(theirs.watermark))
        if not self._typed:
            self._retype(Values(self.aggregate, theirs.values.kinds, self._prefix, self._narrow))
        mine = self._core
        as_mine = conversion(theirs.values.full, mine.values.full)
        if mine.values.kinds != theirs.values.kinds or as_mine is None:
            raise InvalidArgument("these wheels hold values of different types: make both with the same dtype=")
        before = mine.watermark
        mine, theirs, as_mine = _alike(mine, theirs, as_mine)
        made = merged(mine, theirs, np.zeros(1, dtype=np.int64), 1, as_mine)
        made.publish()
        windows = Windows(self.tick)
        windows.specs, windows.starts = dict(self._windows.specs), dict(self._windows.starts)
        needed = windows.oldest(before)
        if needed is not None and needed < made.book[0, n.KEPT] and made.book[0, n.KEPT] > made.first:
            raise InvalidArgument(
                f"the windows need ticks since {format_instant(needed * self.tick)}, and one of the wheels has dropped "
                f"them: keep more, or merge more often"
            )
        windows.build(made, min(before, made.watermark))
        windows.refuse_too_many(made.watermark)
        with uninterrupted():
            self._core, self._windows = made, windows
            self._late += late
            self._edition += 1
            return self._listed(self._close())

    @exclusive
    def snapshot(self) -> bytes:
        """All of it as bytes, versioned and checksummed; `Wheel.restore` reads them.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.sum(), start=0)
        >>> wheel.insert(1_000_000, 3)
        True
        >>> again = sw.Wheel.restore(sw.sum(), wheel.snapshot())
        >>> results = again.advance_to(2_000_000)
        >>> again.landmark()
        3
        """
        self._flush()
        writer = Writer(())
        facts = {
            **self._facts(),
            "levels": level_facts(self.levels),
            "write_ahead": self.write_ahead,
            "threshold": self._threshold,
            "core": write_core(writer, "core", self._core),
            "windows": self._windows.write(writer),
        }
        return packed("wheel", facts, writer)

    def _facts(self) -> dict[str, Any]:
        values = self._core.values
        known = values.arguments if all(isinstance(a, (str, int, float)) for a in values.arguments) else None
        if known is None:
            raise Unsupported("arguments of argmin and argmax that are neither texts nor numbers can't be written")
        return {
            "aggregates": fingerprint(self.aggregates),
            "tick": self.tick,
            "typed": self._typed,
            "kinds": list(values.kinds),
            "state": _state_name(values.monoid, self._core.dtype),
            "weight": self._core.weight,
            "arguments": known,
            "late": self._late,
            "edition": self._edition,
        }

    @classmethod
    def restore(cls, aggregate: Aggregate | AggregateType, data: bytes, *, trusted: bool = False) -> Self:
        """The wheel of a snapshot, with the aggregate that it was made with.

        trusted: whether states that are objects of any class may be read, which can run code.
        """
        reader = Reader(data, "wheel", trusted)
        own = aggregate_of(aggregate)
        reader.check((own,))
        facts = reader.facts
        maker: Any = cls
        made: Self = maker(
            own,
            start=facts["core"]["first"] * facts["tick"],
            tick=facts["tick"],
            write_ahead=facts["write_ahead"],
            levels=levels_from(facts["levels"]),
            scan_threshold=facts["threshold"],
        )
        made._adopt(facts)
        values = made._core.values
        core = read_core(reader, "core", facts["core"], values, made.levels, made.tick, made.write_ahead)
        core.threshold, core.clock[n.WEIGHT] = made._threshold, facts.get("weight", 0)
        core.publish()
        made._core = core
        made._windows.read(reader, facts["windows"], core)
        made._late, made._edition = facts["late"], facts["edition"]
        made._publish()
        return made

    def _adopt(self, facts: dict[str, Any]) -> None:
        """Take the type of values that a snapshot or delta says."""
        if facts["typed"] and not self._typed:
            narrow = self._narrow and facts["state"] in NARROW
            self._retype(Values(self.aggregate, tuple(facts["kinds"]), self._prefix, narrow))
        full = self._core.values.full
        forms = [str(self._core.dtype)]
        if full.narrow is not None:
            forms = [str(full.state), _state_name(full.narrow, full.narrow.state)]
        if facts["typed"] and (list(self._core.values.kinds) != facts["kinds"] or facts["state"] not in forms):
            raise InvalidSnapshot(
                "this holds values or states of another type than the wheel: use the same dtype= and prefix= for both"
            )
        if self._core.values.widen is not None and facts["state"] == forms[0]:
            self._widen()
        values = self._core.values
        values.arguments = facts["arguments"]
        values.codes = {value: code for code, value in enumerate(values.arguments)}

    @exclusive
    def deltas(self, since: InstantLike) -> bytes:
        """What was finished since a watermark, as bytes for `apply`.

        >>> import slidewheel as sw
        >>> wheel, replica = (sw.Wheel(sw.sum(), start=0) for _ in range(2))
        >>> wheel.insert(1_000_000, 3)
        True
        >>> results = wheel.advance_to(5_000_000)
        >>> results = replica.apply(wheel.deltas(since=0))
        >>> replica.query(0, 5_000_000)
        3
        """
        self._flush()
        core, at = self._core, instant_of(since)
        kept = max(int(core.book[0, n.KEPT]), core.first) * self.tick
        refuse_since(self, at, core.watermark * self.tick, kept)
        writer = Writer(())
        write_rows(writer, "rows", *core.rows(0, at // self.tick))
        facts = {**self._facts(), "levels": shape(self), "since": at, "until": core.watermark * self.tick}
        return packed("delta", facts, writer)

    @exclusive
    def apply(self, delta: bytes, *, trusted: bool = False) -> list[WindowResult]:
        """Take over what another wheel has finished; returns the windows that are complete now.

        The other wheel must have the same aggregate, tick and levels, and nothing may be inserted here.
        """
        reader = Reader(delta, "delta", trusted)
        reader.check(self.aggregates)
        facts, core = reader.facts, self._core
        inserted = bool(core.clock[n.USED] or core.clock[n.WAITING] or self._buffer[0])
        refuse_delta(self, facts, core.watermark * self.tick, self._edition, inserted)
        self._adopt(facts)
        core, until = self._core, facts["until"] // self.tick
        narrow, widen = core.values.monoid.narrow, core.values.monoid.widen
        if narrow is None or widen is None or facts["state"] not in NARROW:
            slots, states, filled = read_rows(reader, "rows", core, core.dtype)
        else:
            slots, states, filled = read_rows(reader, "rows", core, narrow.state)
            states = widen(states)
        core.clock[n.WEIGHT] = max(core.weight, facts.get("weight", 0))
        self._edition, self._late = facts["edition"], facts["late"]
        if until <= core.watermark:
            return []
        self._windows.refuse_too_many(until)
        new = int(np.searchsorted(slots, core.watermark))
        with uninterrupted():
            core.put_finished(slots[new:], states[new:], filled[new:], until)
            return self._listed(self._close())


def _state_name(monoid: Any, dtype: Any) -> str:
    """What snapshots call the type of states. Those of sums that are narrow as no value was NaN have another name than
    those in which a NaN may be."""
    return f"finite {dtype}" if monoid.is_narrow and dtype.kind == "f" else str(dtype)


def _alike(mine: Core, theirs: Core, as_mine: Conversion) -> tuple[Core, Core, Conversion]:
    """Both with narrow states, if these are enough for the sums of both, or else with wide ones; and what makes states
    of the other wheel those of this one."""
    narrow = [core.values.widen is not None for core in (mine, theirs)]
    if all(narrow) and mine.weight + theirs.weight <= n.HEAVIEST:
        return mine, theirs, as_they_are
    if narrow[0] != narrow[1] and mine.dtype == theirs.dtype and (narrow[1] or all_finite(theirs)):
        return mine, theirs, as_they_are  # plain sums of floats are what narrow ones are, as long as all are finite
    return mine.wide() if narrow[0] else mine, theirs.wide() if narrow[1] else theirs, as_mine
