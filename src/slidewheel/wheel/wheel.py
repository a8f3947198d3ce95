"""sw.Wheel: one aggregate over a stream, as windows while it comes and as any range of time later."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import Array, columns_of, read_only
from slidewheel.engine.parts import Writer, described
from slidewheel.engine.threads import in_parallel, uninterrupted
from slidewheel.errors import InvalidArgument, InvalidSnapshot, InvalidTime, Overflow, PlanTooLarge, Unsupported
from slidewheel.times import DurationLike, InstantLike, duration, format_duration, format_instant, instant, instants
from slidewheel.wheel import calendar
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core
from slidewheel.wheel.levels import Level, levels_of
from slidewheel.wheel.merging import merged, require_fit
from slidewheel.wheel.plans import RangePlan, plan_number, plan_of
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
from slidewheel.wheel.values import Values, values_for
from slidewheel.wheel.windows import Closed, WindowResult, Windows, results
from slidewheel.windows.specs import Spec

BUFFERED = 4096
"""Rows that are inserted one by one before they are aggregated."""
ENOUGH_FOR_TWO = 1 << 12
"""Ranges from which a second thread pays; with prefix sums it takes many more of them."""
FARTHEST = 2**61
UTC = pa.timestamp("us", tz="UTC")


class Wheel:
    """A hierarchy of time for one aggregate (Meldrum, Carbone: uWheel).

    Rows go in with `insert`, in any order that the watermark allows. `advance_to` moves the watermark: all time before
    it is finished, windows that are complete come back, and `query` answers any range of it.

    >>> import slidewheel as sw
    >>> wheel = sw.Wheel(sw.sum(), start="2023-11-09")
    >>> wheel.insert("2023-11-09T00:00:01", 5), wheel.insert("2023-11-09T00:01:30", 7)
    (True, True)
    >>> wheel.window(sw.tumbling("1m"))
    '1m'
    >>> [(r.window, r.value) for r in wheel.advance_to("2023-11-09T00:02:00")]
    [('1m', 5), ('1m', 7)]
    >>> wheel.query("2023-11-09T00:00:00", "2023-11-09T00:01:31")
    12
    >>> wheel.insert("2023-11-09T00:01:59", 1), wheel.late
    (False, 1)
    """

    def __init__(
        self,
        aggregate: Aggregate | AggregateType,
        *,
        start: InstantLike,
        tick: DurationLike = "1s",
        write_ahead: int = 64,
        levels: Any = None,
        keep: Any = "all",
        prefix: Any = False,
        compress: Any = False,
        dtype: Any = None,
        scan_threshold: int = 0,
    ) -> None:
        """
        start: the first watermark; rows before it are late. It is floored to a tick.
        tick: the precision of answers; any whole number of microseconds.
        write_ahead: ticks ahead of the watermark that are aggregated in place; what lies further waits.
        levels: from fine to coarse, a mapping from names to slots, a list of `sw.Level`, or of slot lengths whose
            first is the tick. Unless given: seconds 60, minutes 60, hours 24, days 7, weeks 52, years 10.
        keep: "all", "drop" (of each level the last rotation), a number of slots, or a mapping from level names.
        prefix: levels that keep prefix sums, for aggregates with an inverse: True for all, or names. With floats, an
            answer may then be off by as much as rounding does to the sum of all values so far.
        compress: levels whose slots are compressed: True for all, or names.
        dtype: "i8", "f8" or object; unless given, the type of the first values.
        scan_threshold: the most combines for which slots of one level are preferred to a plan with fewer.
        """
        self.aggregate = _aggregate(aggregate)
        self.tick = duration(tick)
        self.levels: tuple[Level, ...] = levels_of(levels, self.tick, keep, prefix, compress)
        self.write_ahead = _positive("write_ahead", write_ahead)
        self._prefix = any(level.layout == "prefix" for level in self.levels)
        if self._prefix and not self.aggregate.invertible:
            raise Unsupported(
                f"prefix sums need an inverse, and {self.aggregate.name} has none: leave prefix out, "
                f"or write an aggregate with inverse(a, b)"
            )
        if isinstance(scan_threshold, bool) or not isinstance(scan_threshold, int) or scan_threshold < 0:
            raise InvalidArgument(f"scan_threshold is a number of combines, 0 or more, not {scan_threshold!r}")
        self._threshold = scan_threshold
        first = _instant(start) // self.tick
        self._typed = dtype is not None or self.aggregate.prepare is not None
        values = values_for(self.aggregate, dtype if self._typed else object, None, self._prefix)
        self._core = self._new_core(values, first)
        self._windows = Windows(self.tick)
        self._buffer: tuple[list[int], list[Any]] = ([], [])
        self._begins = first * self.tick
        self._late = 0
        self._edition = 0
        """How often what was finished has been changed since, by `merge`."""
        self._local = threading.local()
        self._publish()

    def _new_core(self, values: Values, first: int) -> Core:
        for level in self.levels:
            dtype = values.work.dtype
            if level.layout == "compressed" and self._typed and (dtype.hasobject or dtype.itemsize % 8 or dtype.shape):
                raise Unsupported(
                    f"{level.name} can't be compressed: the states of {self.aggregate.name} are not whole words; "
                    f"leave compress out"
                )
        core = Core(values, self.levels, self.tick, first, self.write_ahead, 1)
        core.threshold = self._threshold
        return core

    def __repr__(self) -> str:
        return (
            f"<Wheel {self.aggregate.output} from {format_instant(self.start)} to {format_instant(self.watermark)}, "
            f"{' '.join(f'{level.name}({level.slots})' for level in self.levels)}>"
        )

    # ---- what it is

    @property
    def start(self) -> int:
        """The first watermark, in microseconds."""
        return self._core.first * self.tick

    @property
    def watermark(self) -> int:
        """All time before it is finished; in microseconds."""
        return int(self._seen[1][1]) * self.tick

    @property
    def late(self) -> int:
        """Rows that came after their time was finished, and were refused."""
        return self._late

    @property
    def windows(self) -> list[str]:
        """The names of its windows."""
        return list(self._windows.specs)

    @property
    def nbytes(self) -> int:
        """The memory of all its slots, of what is ahead of the watermark, and of its index."""
        return self._core.nbytes

    # ---- writing

    def insert(self, time: InstantLike, value: Any) -> bool:
        """Add a row. False if its time is finished already: then it is refused, and counted in `late`.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.max(), start=0)
        >>> wheel.insert(5_000_000, 2.5)
        True
        """
        at = time if type(time) is int else instant(time)
        if at < self._begins:
            self._late += 1
            return False
        if at > FARTHEST:
            raise InvalidTime(f"{time!r} is too far in the future: 73,000 years at most")
        times, values = self._buffer
        if value is not None or not self.aggregate.skips_nulls:
            if not self._accepts(value):
                self.insert_many([at], _column(self.aggregate, [value]))  # which says what is wrong, if it is
                return True
            times.append(at)
            values.append(value)
            if len(times) >= BUFFERED:
                self._flush()
        return True

    def _accepts(self, value: Any) -> bool:
        """Whether a value can wait for others: it has the type of those, and its lift does not fail."""
        kind, known = type(value), self._core.values
        if not self._typed or not self.aggregate.built_in:
            return False
        plain = kind is float if known.kinds == ("f",) else kind is int and -(2**63) <= value < 2**63
        return plain and known.kinds in (("f",), ("i",))

    def insert_many(self, times: Any, values: Any, mask: Any = None) -> int:
        """Add rows in the order in which they came; returns how many were accepted. Nulls are skipped.

        values: an array, a list, an Arrow column; a pair of columns for aggregates of two. mask: True where null.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.mean(), start=0)
        >>> wheel.insert_many([1_000_000, 3_000_000, -5], [4.0, 6.0, 9.0])
        2
        """
        self._flush()
        return self._add(_times(times), values, mask, 0, 0)

    def ingest(
        self, times: Any, values: Any, *, every: int = 100, delay: DurationLike = "2s", mask: Any = None
    ) -> pa.Table:
        """Add rows, and after each `every` of them move the watermark to the greatest time so far minus `delay`.

        Returns the windows that this closed: window, start, end and the aggregate.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.count(), start=0)
        >>> name = wheel.window(sw.tumbling("10s"))
        >>> seconds = [t * 1_000_000 for t in range(30)]
        >>> wheel.ingest(seconds, seconds, every=10, delay="2s")["count"].to_pylist()
        [10, 10]
        """
        self._flush()
        step, wait = _positive("every", every), duration(delay, allow_zero=True)
        at = _times(times)
        if self._windows.specs and len(at):
            self._windows.refuse_too_many((int(at.max()) - wait) // self.tick)
        self._add(at, values, mask, step, wait)
        return self._table(self._close())

    def _add(self, times: Array, values: Any, mask: Any, every: int, delay: int) -> int:
        if len(times) and int(times.max()) > FARTHEST:
            raise InvalidTime(f"a time is too far in the future: row {int(np.argmax(times))}; 73,000 years at most")
        values = _column(self.aggregate, values)
        if not len(times) and not len(columns_of(values, self.aggregate, mask)[0]):
            return 0
        if not self._typed:
            self._retype(values_for(self.aggregate, None, values, self._prefix))
        core = self._core
        columns, valid = core.values.columns(values, mask, times)
        if not self.aggregate.built_in:
            self._try_out(columns, valid, len(times))
        before = int(core.clock[n.LATE])
        with uninterrupted():
            try:
                core.ingest(columns, valid, read_only(times), None, every, delay)
            finally:
                core.clock[n.USED] = int(core.used.sum())
                late = int(core.clock[n.LATE]) - before
                self._late += late
        return len(times) - late

    def _try_out(self, columns: tuple[Array, ...], valid: Any, rows: int) -> None:
        """Lift all rows once: a user's function may fail, and then none of them is to be in."""
        core = self._core
        core.values.work.ingest_trial(columns, valid, rows, core.spare()[0])

    def _retype(self, values: Values) -> None:
        """The type of the values is known: make the wheel anew, which has seen nothing but time."""
        self._typed = True
        core = self._new_core(values, self._core.first)
        core.clock[n.LATE] = self._core.clock[n.LATE]
        core.wanted = self._windows.longest
        core.advance(self._core.watermark)
        core.publish()
        self._core = core
        self._windows.build(core, core.watermark)
        self._publish()

    def _flush(self) -> None:
        """Aggregate the rows that were inserted one by one."""
        times, values = self._buffer
        if times:
            self._buffer = ([], [])
            self._add(np.array(times, dtype=np.int64), values, None, 0, 0)

    def window(self, spec: Spec) -> str:
        """Have the windows of a spec returned as they are complete: sliding, tumbling or session; returns its name.

        The first is the earliest that is not complete yet and whose time is still kept.
        """
        self._windows.check(spec)
        core = self._core
        wanted, core.wanted = core.wanted, max(core.wanted, getattr(spec, "range", 0) // self.tick)
        try:
            self._windows.add(spec, core)
        except BaseException:
            self._windows.specs.pop(spec.name, None)
            core.wanted = wanted
            raise
        return spec.name

    def advance_to(self, time: InstantLike) -> list[WindowResult]:
        """Finish all time before this; returns the windows that are complete now, by their ends.

        The watermark is a whole number of ticks, so the last tick may be left open.
        """
        return self._listed(self._advance(_instant(time) // self.tick))

    def _advance(self, watermark: int) -> list[Closed]:
        core = self._core
        self._flush()
        if watermark <= core.watermark:
            return []
        self._windows.refuse_too_many(watermark)
        with uninterrupted():
            core.advance(watermark)
            return self._close()

    def _close(self) -> list[Closed]:
        """The windows that are complete, before anything is forgotten that they need."""
        core = self._core
        core.publish()
        try:
            return self._windows.advance(core, core.watermark)
        finally:
            self._publish()

    def _publish(self) -> None:
        """Let readers, in any thread, see what is finished: all of it at once."""
        core = self._core
        core.tidy()
        self._seen = (core.view, core.known(), core)
        self._begins = core.watermark * self.tick

    def _listed(self, closed: list[Closed]) -> list[WindowResult]:
        return list(results(closed, self._core.values, self._windows.order(closed))) if closed else []

    def _table(self, closed: list[Closed]) -> pa.Table:
        values = self._core.values
        if not closed:
            answers, names = _arrow(values, values.room(0), np.ones(0, dtype=bool)), [pa.array([], pa.string())]
            times = [np.empty(0, dtype=np.int64)] * 2
        else:
            out, ok = (np.concatenate(parts) for parts in ([c.values for c in closed], [c.ok for c in closed]))
            answers = _arrow(values, out, ok)
            names = [pa.array([c.name] * len(c.starts), pa.string()) for c in closed]
            times = [np.concatenate([c.starts for c in closed]), np.concatenate([c.ends for c in closed])]
        columns = [pa.concat_arrays(names), *(pa.array(t).cast(UTC) for t in times), answers]
        table = pa.table(columns, names=["window", "start", "end", self.aggregate.output])
        return table if len(closed) < 2 else table.take(pa.array(self._windows.order(closed)))

    # ---- reading

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
        view, known, core = self._seen
        low = start if type(start) is int else instant(start)
        high = end if type(end) is int else instant(end)
        number = 0 if plan == "auto" else plan_number(plan)
        try:
            of, ask, room, out, plain = self._local.ready
            if of is not core:
                raise AttributeError
        except AttributeError:
            ask, room, out, plain = self._get_ready(core)
        if core.compressed:
            view = (*view[:8], *core.spare())
        try:
            code = ask(view, known, low, high, self.tick, number, room, out)
        except OverflowError as error:
            instant(low), instant(high)
            raise Overflow(str(error)) from None
        if code == 0:
            return out.item() if plain else core.values.value(out)
        if code == 1:
            return core.values.empty()
        raise self._refusal(known, low, high, plan, code)

    def _get_ready(self, core: Core) -> tuple[Any, ...]:
        """What this thread needs to ask. An empty range is asked for, as that may have to be compiled."""
        view, known, _ = self._seen
        room, out, work = core.room_for_plans(), core.values.room(1), core.values.work
        work.run("ask", view, known, self.start, self.start, self.tick, 0, room, out)
        plain = out.shape == (1,) and out.dtype != object and not core.values.coded and self.aggregate.finish is None
        ready = work.function("ask"), room, out, plain
        self._local.ready = (core, *ready)
        return ready

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
        out, ok, core = self._answers(low, high, plan_number(plan), plan)
        return core.values.array(out, ok)

    def _answers(self, low: Array, high: Array, number: int, plan: str) -> tuple[Array, Array, Core]:
        view, known, core = self._seen
        out, ok = core.values.room(len(low)), np.empty(len(low), dtype=bool)
        failed: list[int] = []
        asked = read_only(low), read_only(high), self.tick, 1.0 / self.tick, number

        def run(part: tuple[int, int]) -> None:
            own = (*view[:8], *core.spare()) if core.compressed else view
            done = core.values.work.run("ask_many", own, known, *asked, core.room_for_plans(), *part, ok, out)
            if done < part[1]:
                failed.append(done)

        in_parallel(run, _parts(len(low), ENOUGH_FOR_TWO << 6 if self._prefix else ENOUGH_FOR_TWO))
        if failed:
            at = min(failed)
            code = n.NOT_KEPT if plan in ("auto", "combined") else n.NO_PLAN
            raise self._refusal(known, int(low[at]), int(high[at]), plan, code)
        if core.values.monoid.least == 0:
            out[~ok], ok[:] = core.values.empty(), True
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
        low, high = _instant(start), _instant(end)
        seen = self._seen
        known = seen[1]
        if low % self.tick or not known[0] * self.tick <= low <= high <= known[1] * self.tick or high % self.tick:
            raise self._refusal(known, low, high, "auto", n.NOT_A_RANGE)
        edges = calendar.edges(low, high, every, timezone, self.tick)
        length = int(edges[1] - edges[0]) if len(edges) > 2 and timezone is None and every not in calendar.UNITS else 0
        level = self._level_for(seen[0][4], low, length) if length else None
        if level is None:
            return self._slots_table(edges, *self._answers(edges[:-1], edges[1:], n.AUTO, "auto"))
        return self._slots_table(edges, *self._buckets(seen, level, edges, length))

    def _level_for(self, book: Array, low: int, length: int) -> int | None:
        """The coarsest level whose slots make up buckets of this length."""
        fit = [k for k, level in enumerate(self.levels) if length % level.length == 0 and low % level.length == 0]
        return fit[-1] if fit and low // self.levels[fit[-1]].length >= book[fit[-1], n.KEPT] else None

    def _buckets(self, seen: tuple[Any, ...], level: int, edges: Array, length: int) -> tuple[Array, Array, Core]:
        """Buckets of equal length, but for the last one."""
        view, _, core = seen
        out, ok = core.values.room(len(edges) - 1), np.empty(len(edges) - 1, dtype=bool)
        last = len(ok) - 1 if (edges[-1] - edges[-2]) % length else len(ok)
        slot = self.levels[level].length
        known = int(edges[0]) // slot, length // slot
        view = (*view[:8], *core.spare()) if core.compressed else view
        core.values.work.run("buckets", view, level, *known, ok[:last], out)
        if last < len(ok):
            out[last:], ok[last:], _ = self._answers(edges[-2:-1], edges[-1:], n.AUTO, "auto")
        if core.values.monoid.least == 0 and not ok.all():
            out[~ok], ok[:] = core.values.empty(), True
        return out, ok, core

    def _slots_table(self, edges: Array, out: Array, ok: Array, core: Core) -> pa.Table:
        whole = pa.array(edges).view(UTC)
        columns = [whole[:-1], whole[1:], _arrow(core.values, out, ok)]
        return pa.Table.from_arrays(columns, names=["start", "end", self.aggregate.output])

    def landmark(self) -> Any:
        """The aggregate of all finished time, also of what is not kept any more."""
        known = self._seen[1]
        return self.query(known[0] * self.tick, known[1] * self.tick, plan="landmark")

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
        low, high = _instant(start), _instant(end)
        now = known[1] * self.tick
        if low % self.tick or high % self.tick or not known[0] * self.tick <= low <= high <= now:
            raise self._refusal(known, low, high, plan, n.NOT_A_RANGE)
        room = core.room_for_plans()
        ticks = low // self.tick, high // self.tick
        kind, cost = core.values.work.run("explain", *view[3:6], *ticks, known, plan_number(plan), *room[:2])
        if kind < 0:
            raise self._refusal(known, low, high, plan, int(cost))
        return plan_of(low, high, int(kind), int(cost), room, self.levels)

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
        view, known, core = self._seen
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
        out, ok, core = self._answers(starts, ends, n.WHEEL, "wheel")
        columns = [pa.array(starts).view(UTC), pa.array(ends).view(UTC), _arrow(core.values, out, ok)]
        return pa.Table.from_arrays(columns, names=["start", "end", self.aggregate.output])

    # ---- other wheels, other processes

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return (self.aggregate,)

    def merge(self, other: "Wheel") -> list[WindowResult]:
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
        self._flush()
        other._flush()
        if not other._typed:
            return self._listed(self._advance(other._core.watermark))
        if not self._typed:
            self._retype(Values(self.aggregate, other._core.values.kinds, self._prefix))
        mine, theirs = self._core, other._core
        if mine.values.kinds != theirs.values.kinds or _form(mine) != _form(theirs):
            raise InvalidArgument(
                "these wheels hold values of different types: make both with the same dtype= and prefix="
            )
        before = mine.watermark
        made = merged(mine, theirs, np.zeros(1, dtype=np.int64), 1)
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
            self._late += other._late
            self._edition += 1
            return self._listed(self._close())

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
            "arguments": known,
            "late": self._late,
            "edition": self._edition,
        }

    @classmethod
    def restore(cls, aggregate: Aggregate | AggregateType, data: bytes, *, trusted: bool = False) -> "Wheel":
        """The wheel of a snapshot, with the aggregate that it was made with.

        trusted: whether states that are objects of any class may be read, which can run code.
        """
        reader = Reader(data, "wheel", trusted)
        own = _aggregate(aggregate)
        reader.check((own,))
        facts = reader.facts
        made = cls(
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
        core.threshold = made._threshold
        core.publish()
        made._core = core
        made._windows.read(reader, facts["windows"], core)
        made._late, made._edition = facts["late"], facts["edition"]
        made._publish()
        return made

    def _adopt(self, facts: dict[str, Any]) -> None:
        """Take the type of values that a snapshot or delta says."""
        if facts["typed"] and not self._typed:
            self._retype(Values(self.aggregate, tuple(facts["kinds"]), self._prefix))
        values = self._core.values
        if facts["typed"] and list(values.kinds) != facts["kinds"]:
            raise InvalidSnapshot(
                "this holds values of another type than the wheel: make the wheel with the same dtype="
            )
        values.arguments = facts["arguments"]
        values.codes = {value: code for code, value in enumerate(values.arguments)}

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
        core, at = self._core, _instant(since)
        kept = max(int(core.book[0, n.KEPT]), core.first) * self.tick
        if at % self.tick or not self.start <= at <= core.watermark * self.tick:
            raise InvalidArgument(
                f"since={format_instant(at)} is not a watermark of this wheel, which reaches from "
                f"{format_instant(self.start)} to {format_instant(core.watermark * self.tick)}"
            )
        if at < kept:
            raise InvalidArgument(
                f"ticks are kept since {format_instant(kept)}: for a replica that is older, take a snapshot"
            )
        writer = Writer(())
        write_rows(writer, "rows", *core.rows(0, at // self.tick))
        levels = [[level.name, level.slots] for level in self.levels]
        facts = {**self._facts(), "levels": levels, "since": at, "until": core.watermark * self.tick}
        return packed("delta", facts, writer)

    def apply(self, delta: bytes, *, trusted: bool = False) -> list[WindowResult]:
        """Take over what another wheel has finished; returns the windows that are complete now.

        The other wheel must have the same aggregate, tick and levels, and nothing may be inserted here.
        """
        reader = Reader(delta, "delta", trusted)
        reader.check(self.aggregates)
        facts, core = reader.facts, self._core
        if facts["tick"] != self.tick or facts["levels"] != [[level.name, level.slots] for level in self.levels]:
            raise InvalidSnapshot("the delta is of a wheel with other ticks or levels")
        if core.clock[n.USED] or core.clock[n.WAITING] or self._buffer[0]:
            raise InvalidArgument("rows were inserted into this wheel: a replica only takes deltas")
        fresh = core.watermark == core.first
        if not fresh and facts["edition"] != self._edition:
            raise InvalidSnapshot("the other wheel was merged with a third one since: restore a new snapshot of it")
        if facts["since"] > core.watermark * self.tick:
            raise InvalidSnapshot(
                f"the delta begins at {format_instant(facts['since'])}, and this wheel ends at "
                f"{format_instant(core.watermark * self.tick)}: ask for deltas since then"
            )
        self._adopt(facts)
        core, until = self._core, facts["until"] // self.tick
        slots, states, filled = read_rows(reader, "rows", core)
        self._edition, self._late = facts["edition"], facts["late"]
        if until <= core.watermark:
            return []
        self._windows.refuse_too_many(until)
        new = int(np.searchsorted(slots, core.watermark))
        with uninterrupted():
            core.put_finished(slots[new:], states[new:], filled[new:], until)
            return self._listed(self._close())


def refusal(wheel: Any, view: Any, watermark: int, start: int, end: int, plan: str, code: int) -> Exception:
    """Why a range has no answer; the watermark is in ticks."""
    text, tick = f"[{format_instant(start)}, {format_instant(end)})", wheel.tick
    now = format_instant(watermark * tick)
    if end < start:
        return InvalidArgument(f"the range {text} ends before it starts")
    if start % tick or end % tick:
        return InvalidArgument(f"the range {text} is not one of whole ticks of {format_duration(tick)}: round its ends")
    if start < wheel.start:
        return InvalidArgument(f"the range {text} starts before the wheel began, at {format_instant(wheel.start)}")
    if end > watermark * tick:
        return InvalidArgument(f"the range {text} ends after the watermark, {now}: advance first, or ask for less")
    if code == n.NOT_KEPT:
        kept = []
        for level, line in zip(wheel.levels, view[4], strict=True):
            since = format_instant(max(int(line[n.KEPT]) * level.length, wheel.start))
            kept.append(f"{level.name} ({format_duration(level.length)}) since {since}")
        return InvalidArgument(f"the range {text} is older than what is kept: there are {', '.join(kept)}")
    return Unsupported(f"the plan {plan!r} does not fit the range {text}: {_reason(plan)}; use plan='auto'")


def _form(core: Core) -> tuple[Any, ...]:
    """What states of two wheels must have in common."""
    monoid = core.values.monoid
    return monoid.state, monoid.combine, monoid.lift


def _arrow(values: Values, out: Array, ok: Array) -> pa.Array:
    """Answers as an Arrow column."""
    special = values.coded or out.dtype == object or out.ndim > 1
    if special or (values.aggregate.finish is not None):
        listed = values.listed(out, ok)
        return pa.array([v.to_bytes() if hasattr(v, "to_bytes") and not isinstance(v, int) else v for v in listed])
    return pa.array(out) if ok.all() else pa.array(out, mask=~ok)


def _parts(count: int, enough: int) -> Sequence[tuple[int, int]]:
    half = count // 2
    return [(0, count)] if count < enough else [(0, half), (half, count)]


def _reason(plan: str) -> str:
    return {
        "wheel": "no level has slots for both of its ends that are kept",
        "landmark": "a landmark is all time from the wheel's start to its watermark",
        "inverse_landmark": "it needs an inverse, and slots for all that is not in the range",
        "prefix": "no level with prefix sums has slots for both of its ends that are kept",
    }.get(plan, "its slots are not kept")


def _aggregate(aggregate: Any) -> Aggregate:
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"a wheel needs an aggregate such as sw.sum(), not {aggregate!r}")
    return aggregate


def _positive(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidArgument(f"{name} must be a whole number of 1 or more, not {value!r}")
    return int(value)


def _instant(time: InstantLike) -> int:
    at = instant(time)
    if abs(at) > FARTHEST:
        raise InvalidTime(f"{time!r} is too far from 1970: 73,000 years at most")
    return at


def _times(times: Any) -> Array:
    return np.ascontiguousarray(instants(times))


def _column(aggregate: Aggregate, values: Any) -> Any:
    """Values as columns: a list of pairs is a pair of columns."""
    if aggregate.arity == 2 and isinstance(values, list) and values and isinstance(values[0], tuple):
        return tuple(list(column) for column in zip(*values, strict=True))
    return values
