"""Asking a wheel: any range of finished time, many at once, in buckets, and how it is done."""

import threading
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.compiler.loops import Refused
from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument, Overflow, PlanTooLarge, SlidewheelError
from slidewheel.times import DurationLike, InstantLike, instant, instants
from slidewheel.wheel import calendar
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import instant_of, refusal
from slidewheel.wheel.core import Core
from slidewheel.wheel.levels import Level
from slidewheel.wheel.many import ask_all
from slidewheel.wheel.plans import RangePlan, plan_number, plan_of
from slidewheel.wheel.values import Values, planned

UTC = pa.timestamp("us", tz="UTC")


class Asking:
    """What a wheel answers. All of it reads `_seen` once: what is finished, as the writer last left it."""

    aggregate: Aggregate
    tick: int
    levels: tuple[Level, ...]
    _prefix: bool
    _rate: float
    _local: threading.local
    _seen: tuple[Any, ...]
    _desk: tuple[Any, ...]

    @property
    def start(self) -> int:
        """The first watermark, in microseconds."""
        return int(self._seen[1][0]) * self.tick

    @property
    def watermark(self) -> int:
        """All time before it is finished; in microseconds."""
        return int(self._seen[1][1]) * self.tick

    def query(self, start: InstantLike, end: InstantLike, plan: str = "auto") -> Any:
        """The aggregate of [start, end), which must be finished and consist of whole ticks; None if it is empty.

        plan: "auto" is the cheapest; "wheel", "combined", "landmark", "inverse_landmark" and "prefix" are the others.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.count(), start=0)
        >>> wheel.insert_many([0, 1_000_000, 7_000_000], [1, 1, 1])
        3
        >>> results = wheel.advance_to(10_000_000)
        >>> wheel.query(1_000_000, 8_000_000)
        2
        """
        if type(start) is not int:
            start = instant(start)
        if type(end) is not int:
            end = instant(end)
        seen, desk, ask, _ = self._desk
        if seen is not self._seen or plan != "auto":
            return self._ask_anew(start, end, plan)
        try:
            found = ask(desk, start, end)
        except Refused:
            raise self._refused(seen, start, end, plan) from None
        except OverflowError as error:
            instant(start), instant(end)
            raise Overflow(str(error)) from None
        return seen[2].values.empty() if found is None else found

    def _ask_anew(self, start: int, end: int, plan: str) -> Any:
        """`query` of a wheel that has changed, or by another plan than the cheapest."""
        seen = self._seen
        view, known, core = seen
        work = core.values.work
        if plan != "auto" or not work.asks_at or core.values.coded or self.aggregate.finish is not None:
            return self._query(seen, start, end, plan)
        desk, held = core.desk(view, known)
        if self._desk[0] is None or self._desk[0][2] is not core:
            work.run("ask_at", desk, known[0] * self.tick, known[0] * self.tick)
        self._desk = seen, desk, work.function("ask_at"), held
        return self.query(start, end)

    def _query(self, seen: tuple[Any, ...], start: int, end: int, plan: str) -> Any:
        """`query` of states and answers that are more than numbers."""
        view, known, core = seen
        try:
            of, ask, room, out, plain = self._local.ready
        except AttributeError:
            of = None
        if of is not core:
            _, ask, room, out, plain = self._get_ready(view, known, core)
        if core.compressed:
            view = (*view[:8], *core.spare())
        number = 0 if plan == "auto" else plan_number(plan)
        try:
            there = ask(view, known, start, end, self.tick, self._rate, number, room, out)
        except OverflowError as error:
            instant(start), instant(end)
            raise Overflow(str(error)) from None
        if there > 0:
            return out.item() if plain else core.values.value(out)
        if there < 0:
            raise self._refused(seen, start, end, plan)
        return core.values.empty()

    def _refused(self, seen: tuple[Any, ...], start: int, end: int, plan: str) -> Exception:
        code = n.NOT_KEPT if plan in ("auto", "combined") else n.NO_PLAN
        return self._refusal(seen[1], start, end, plan, code)

    def _get_ready(self, view: tuple[Any, ...], known: tuple[Any, ...], core: Core) -> tuple[Any, ...]:
        """What this thread needs to ask. An empty range is asked for, as that may have to be compiled."""
        room, out, work, first = core.room_for_plans(), core.values.room(1), core.values.work, known[0] * self.tick
        work.run("ask_one", view, known, first, first, self.tick, self._rate, n.AUTO, room, out)
        plain = out.shape == (1,) and out.dtype != object and not core.values.coded and self.aggregate.finish is None
        self._local.ready = core, work.function("ask_one"), room, out, plain
        return self._local.ready  # type: ignore[no-any-return]

    def _refusal(self, known: tuple[Any, ...], start: int, end: int, plan: str, code: int) -> Exception:
        return refusal(self, self._seen[0], known[1], start, end, plan, code)

    def query_many(self, starts: Any, ends: Any, plan: str = "auto") -> Array:
        """Many ranges at once, as an array: null is NaN, None, or masked.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.sum(), start=0)
        >>> wheel.insert_many([0, 1_000_000, 7_000_000], [1, 2, 3])
        3
        >>> results = wheel.advance_to(10_000_000)
        >>> wheel.query_many([0, 1_000_000], [2_000_000, 8_000_000])
        array([3, 5])
        """
        low, high = instants(starts), instants(ends)
        if len(low) != len(high):
            raise InvalidArgument(f"there are {len(low)} starts but {len(high)} ends")
        out, ok, core = self._answers(self._seen, low, high, plan_number(plan), plan)
        return core.values.array(out, ok)

    def _answers(
        self, seen: tuple[Any, ...], low: Array, high: Array, number: int, plan: str
    ) -> tuple[Array, Array | None, Core]:
        """Answers, and which of them are there; None: all."""
        core = seen[2]
        out, ok, failed = ask_all(seen, low, high, number)
        if failed is not None:
            raise self._refused(seen, int(low[failed]), int(high[failed]), plan)
        if ok is not None and core.values.monoid.least == 0:
            out[~ok], ok = core.values.empty(), None
        return out, ok, core

    def group_by(
        self, start: InstantLike, end: InstantLike, every: DurationLike, timezone: str | None = None
    ) -> pa.Table:
        """[start, end) in buckets of `every`, the last one cut at the end: a table of start, end and the aggregate.

        `every` is a duration, or "hour", "day", "week", "month", "quarter" or "year": then buckets are those of the
        calendar in a time zone (UTC unless given), and the first and the last are cut.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.count(), start="2024-01-31", tick="1h")
        >>> wheel.insert_many(["2024-01-31T22:00", "2024-01-31T23:00"], [1, 1])
        2
        >>> results = wheel.advance_to("2024-03-01")
        >>> table = wheel.group_by("2024-01-31", "2024-02-02", every="month", timezone="Europe/Stockholm")
        >>> table["count"].to_pylist(), str(table["start"][1])
        ([1, 1], '2024-01-31 23:00:00+00:00')
        """
        low, high = instant_of(start), instant_of(end)
        seen = self._seen
        known = seen[1]
        if low % self.tick or not known[0] * self.tick <= low <= high <= known[1] * self.tick or high % self.tick:
            raise self._refusal(known, low, high, "auto", n.NOT_A_RANGE)
        edges = calendar.edges(low, high, every, timezone, self.tick)
        length = int(edges[1] - edges[0]) if len(edges) > 2 and timezone is None and every not in calendar.UNITS else 0
        level = self._level_for(seen[0][4], low, length) if length else None
        if level is None:
            return self._slots_table(edges, *self._answers(seen, edges[:-1], edges[1:], n.AUTO, "auto"))
        return self._slots_table(edges, *self._buckets(seen, level, edges, length))

    def _level_for(self, book: Array, low: int, length: int) -> int | None:
        """The coarsest level whose slots make up buckets of this length."""
        fit = [k for k, level in enumerate(self.levels) if length % level.length == 0 and low % level.length == 0]
        return fit[-1] if fit and low // self.levels[fit[-1]].length >= book[fit[-1], n.KEPT] else None

    def _buckets(
        self, seen: tuple[Any, ...], level: int, edges: Array, length: int
    ) -> tuple[Array, Array | None, Core]:
        """Buckets of equal length, but for the last one."""
        view, _, core = seen
        out, ok = core.values.room(len(edges) - 1), np.empty(len(edges) - 1, dtype=bool)
        begin, end = int(edges[0]), int(edges[-1])
        last = (end - begin) // length  # what is left is a shorter bucket
        slot = self.levels[level].length
        known = begin // slot, length // slot
        view = (*view[:8], *core.spare()) if core.compressed else view
        core.values.work.run("buckets", view, level, *known, ok[:last], out)
        if last < len(ok):
            out[last:], there, _ = self._answers(seen, edges[-2:-1], edges[-1:], n.AUTO, "auto")
            ok[last:] = there is None
        if core.values.monoid.least == 0 and not ok.all():
            out[~ok], ok[:] = core.values.empty(), True
        return out, ok, core

    def _slots_table(self, edges: Array, out: Array, ok: Array | None, core: Core) -> pa.Table:
        columns = [times_column(edges[:-1]), times_column(edges[1:]), arrow_column(core.values, out, ok)]
        return pa.Table.from_arrays(columns, names=["start", "end", self.aggregate.output])

    def landmark(self) -> Any:
        """The aggregate of all finished time, also of what is not kept any more."""
        while True:
            seen = self._seen
            try:
                return self.query(seen[1][0] * self.tick, seen[1][1] * self.tick, plan="landmark")
            except SlidewheelError:
                if seen is self._seen:  # or else time has advanced in between
                    raise

    def explain(self, start: InstantLike, end: InstantLike, plan: str = "auto") -> RangePlan:
        """How `query` answers this range: the plan, its parts, and its cost in combines.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.max(), start="2023-11-09")
        >>> wheel.insert_many([wheel.start + 1_000_000 * second for second in range(86400)], [1.0] * 86400)
        86400
        >>> results = wheel.advance_to("2023-11-10")
        >>> print(wheel.explain("2023-11-09T10:15:23", "2023-11-09T13:20:50"))
        [2023-11-09T10:15:23, 2023-11-09T13:20:50)  combined, 152 combines
          + 37 of seconds
          + 44 of minutes
          + 2 of hours
          + 20 of minutes
          + 50 of seconds
        """
        view, known, core = self._seen
        low, high = instant_of(start), instant_of(end)
        now = known[1] * self.tick
        if low % self.tick or high % self.tick or not known[0] * self.tick <= low <= high <= now:
            raise self._refusal(known, low, high, plan, n.NOT_A_RANGE)
        room = core.room_for_plans()
        ticks = low // self.tick, high // self.tick
        kind, cost = planned(core.values.monoid, *view[3:6], *ticks, known, plan_number(plan), *room[:2])
        if kind < 0:
            raise self._refusal(known, low, high, plan, cost)
        return plan_of(low, high, kind, cost, room, self.levels)

    def to_arrow(self, level: str | None = None) -> pa.Table:
        """The finished slots of a level (the finest unless named) that are kept: start, end and the aggregate.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.sum(), start=0, levels={"seconds": 2, "pairs": 10})
        >>> wheel.insert_many([0, 1_000_000, 3_000_000], [1, 2, 3])
        3
        >>> results = wheel.advance_to(4_000_000)
        >>> wheel.to_arrow("pairs")["sum"].to_pylist()
        [3, 3]
        """
        seen = self._seen
        view, known, _ = seen
        names = [one.name for one in self.levels]
        if level is not None and level not in names:
            raise InvalidArgument(f"there is no level {level!r}; there are {', '.join(names)}")
        number = 0 if level is None else names.index(level)
        length, line = self.levels[number].length // self.tick, view[4][number]
        count = known[1] // length - int(line[n.KEPT])
        if count > calendar.MOST_BUCKETS:
            raise PlanTooLarge(f"there would be {count:,} slots of {names[number]}: take a coarser level, or group_by")
        slots = np.arange(int(line[n.KEPT]), known[1] // length + 1) * length
        starts = np.clip(slots[:-1], known[0], None) * self.tick
        ends = slots[1:] * self.tick
        out, ok, core = self._answers(seen, starts, ends, n.WHEEL, "wheel")
        columns = [times_column(starts), times_column(ends), arrow_column(core.values, out, ok)]
        return pa.Table.from_arrays(columns, names=["start", "end", self.aggregate.output])


def times_column(times: Array) -> pa.Array:
    """Microseconds as an Arrow column, which is made of the same memory."""
    return pa.Array.from_buffers(UTC, len(times), [None, pa.py_buffer(times)])


def arrow_column(values: Values, out: Array, ok: Array | None) -> pa.Array:
    """Answers as an Arrow column; `ok` says which of them are there, None: all."""
    special = values.coded or out.dtype == object or out.ndim > 1
    if special or (values.aggregate.finish is not None):
        listed = values.listed(out, ok)
        return pa.array([v.to_bytes() if hasattr(v, "to_bytes") and not isinstance(v, int) else v for v in listed])
    if ok is not None and not ok.all():
        return pa.array(out, mask=~ok)
    if out.dtype.kind not in "iuf":
        return pa.array(out)
    return pa.Array.from_buffers(pa.from_numpy_dtype(out.dtype), len(out), [None, pa.py_buffer(out)])
