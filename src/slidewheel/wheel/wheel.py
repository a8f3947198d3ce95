"""sw.Wheel: one aggregate over a stream, as windows while it comes and as any range of time later."""

import threading
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import Array, columns_of, read_only
from slidewheel.engine.threads import uninterrupted
from slidewheel.errors import InvalidArgument, InvalidTime, SlidewheelError, Unsupported
from slidewheel.times import DurationLike, InstantLike, duration, format_instant, instant
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import (
    FARTHEST,
    aggregate_of,
    column_of_values,
    instant_of,
    positive,
    times_of,
)
from slidewheel.wheel.asking import arrow_column, times_column
from slidewheel.wheel.core import Core, exclusive
from slidewheel.wheel.exchange import Exchange
from slidewheel.wheel.levels import Level, levels_of
from slidewheel.wheel.values import Values, values_for
from slidewheel.wheel.windows import Closed, WindowResult, Windows, results
from slidewheel.windows.specs import Spec

BUFFERED = 4096
"""Rows that are inserted one by one before they are aggregated."""
MANY = 8
"""So many times as many rows as there are states ahead of the watermark, and keeping those costs next to nothing."""
LAST = 4096
"""Of so many rows one has the greatest time, where rows are not far out of order."""


class Wheel(Exchange):
    """A hierarchy of time for one aggregate (Meldrum, Carbone: uWheel).

    Rows go in with `insert`, in any order that the watermark allows. `advance_to` moves the watermark: all time before
    it is finished, windows that are complete come back, and `query` answers any range of it.

    start: the first watermark: time before it does not exist for the wheel.
    tick: the precision of all answers.
    write_ahead: ticks from the watermark on that are aggregated in place; rows further ahead wait for it.
    levels: other levels than seconds, minutes, hours, days, weeks and years: names and slots, lengths, or `sw.Level`.
    keep: "all", "drop" (the last rotation of each level), a number of slots, or a mapping from levels to these.
    prefix: True, or names of levels, for sums up to each slot; for aggregates with an inverse.
    compress: True, or names of levels whose slots are compressed.
    dtype: the type of values, if not that of the first ones.
    scan_threshold: so many combines over slots side by side are done even where another plan takes fewer.

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
        self.aggregate = aggregate_of(aggregate)
        self.tick = duration(tick)
        self.levels: tuple[Level, ...] = levels_of(levels, self.tick, keep, prefix, compress)
        self.write_ahead = positive("write_ahead", write_ahead)
        self._prefix = any(level.layout == "prefix" for level in self.levels)
        if self._prefix and not self.aggregate.invertible:
            raise Unsupported(
                f"prefix sums need an inverse, and {self.aggregate.name} has none: leave prefix out, "
                f"or write an aggregate with inverse(a, b)"
            )
        if isinstance(scan_threshold, bool) or not isinstance(scan_threshold, int) or scan_threshold < 0:
            raise InvalidArgument(f"scan_threshold is a number of combines, 0 or more, not {scan_threshold!r}")
        self._threshold = scan_threshold
        first = instant_of(start) // self.tick
        self._typed = dtype is not None or self.aggregate.prepare is not None
        invertible = self._prefix or (not self._typed and self.aggregate.invertible)
        self._narrow = not any(level.layout == "compressed" for level in self.levels)
        values = values_for(self.aggregate, dtype if self._typed else object, None, invertible, self._narrow)
        self._core = self._new_core(values, first)
        self._windows = Windows(self.tick)
        self._buffer: tuple[list[int], list[Any]] = ([], [])
        self._begins = first * self.tick
        self._late = 0
        self._edition = 0
        """How often what was finished has been changed since, by `merge`."""
        self._local, self._rate = threading.local(), 1.0 / self.tick
        self._desk: tuple[Any, ...] = (None, None, None, None)
        self._writing = threading.RLock()
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

    @exclusive
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
                self.insert_many([at], column_of_values(self.aggregate, [value]))  # which says what is wrong, if it is
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

    @exclusive
    def insert_many(self, times: Any, values: Any, mask: Any = None) -> int:
        """Add rows in the order in which they came; returns how many were accepted. Nulls are skipped.

        values: an array, a list, an Arrow column; a pair of columns for aggregates of two.
        mask: True where a value is null.

        >>> import slidewheel as sw
        >>> wheel = sw.Wheel(sw.mean(), start=0)
        >>> wheel.insert_many([1_000_000, 3_000_000, -5], [4.0, 6.0, 9.0])
        2
        """
        self._flush()
        return self._add(times_of(times), values, mask, 0, 0)

    @exclusive
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
        step, wait = positive("every", every), duration(delay, allow_zero=True)
        at = times_of(times)
        self._add(at, values, mask, step, wait)
        return self._table(self._close())

    def _add(self, times: Array, values: Any, mask: Any, every: int, delay: int) -> int:
        # To look at all times takes a quarter as long as all the rest, and mostly the last ones say how far they go.
        hopeful = self._typed and every > 0 and len(times) > MANY * self._core.size_to_keep
        hopeful = hopeful and self._core.first >= 0 and times[-LAST:].max() <= FARTHEST
        greatest = self._checked(times[-LAST:] if hopeful else times, every, delay)
        values = column_of_values(self.aggregate, values)
        if not len(times) and not len(columns_of(values, self.aggregate, mask)[0]):
            return 0
        if not self._typed:
            self._retype(values_for(self.aggregate, None, values, self._prefix, self._narrow))
        core = self._core
        columns, valid = core.values.columns(values, mask, times)
        if not self.aggregate.built_in:
            self._try_out(columns, valid, len(times))
        before, rows = int(core.clock[n.LATE]), (columns, valid, read_only(times), None, every, delay)
        kept = core.kept() if hopeful else None
        with uninterrupted():
            try:
                done = core.ingest(*rows, greatest)
                short = done < len(times) or core.due(every)
                if kept is not None and (short or core.clock[n.GREATEST] > FARTHEST):
                    try:
                        greatest = self._checked(times, every, delay)
                    except SlidewheelError:
                        core.go_back(kept)
                        raise
                    done = core.ingest(*rows, greatest, done)
                if done < len(times):
                    core = self._widen()
                    core.ingest(*rows, greatest, done)
            finally:
                core.clock[n.USED] = int(core.used.sum())
                late = int(core.clock[n.LATE]) - before
                self._late += late
        return len(times) - late

    def _checked(self, times: Array, every: int, delay: int) -> int:
        """The greatest of these times, if rows can go in with them."""
        greatest = int(times.max(initial=-FARTHEST))
        if greatest > FARTHEST:
            raise InvalidTime(f"a time is too far in the future: row {int(np.argmax(times))}; 73,000 years at most")
        if every:
            self._windows.refuse_too_many((greatest - delay) // self.tick)
        return greatest

    def _widen(self) -> Core:
        """Take wide states; readers go on with what they see until more is finished."""
        made = self._core.wide()
        with uninterrupted():
            self._windows.widen(made.values, self._core.values.widen)
            self._core = made
        return made

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

    @exclusive
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

    @exclusive
    def advance_to(self, time: InstantLike) -> list[WindowResult]:
        """Finish all time before this; returns the windows that are complete now, by their ends.

        The watermark is a whole number of ticks, so the last tick may be left open.
        """
        return self._listed(self._advance(instant_of(time) // self.tick))

    def _advance(self, watermark: int) -> list[Closed]:
        self._flush()
        core = self._core
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
        """Windows as a table, by their ends."""
        values, names = self._core.values, list(dict.fromkeys(c.name for c in closed))
        which = np.zeros(sum(len(c.starts) for c in closed), dtype=np.int32)
        if len(names) > 1:
            which[:] = np.repeat([names.index(c.name) for c in closed], [len(c.starts) for c in closed])
        nothing = np.empty(0, dtype=np.int64)
        starts, ends = joined(nothing, [c.starts for c in closed]), joined(nothing, [c.ends for c in closed])
        out = joined(values.room(0), [c.values for c in closed])
        ok = joined(np.ones(0, dtype=bool), [c.ok for c in closed])
        window = pa.DictionaryArray.from_arrays(which, pa.array(names, pa.string()), safe=False)
        columns = [window, times_column(starts), times_column(ends), arrow_column(values, out, ok)]
        table = pa.table(columns, names=["window", "start", "end", self.aggregate.output])
        return table if len(names) < 2 else table.take(pa.array(self._windows.order(closed)))


def joined(none: Array, some: list[Array]) -> Array:
    return some[0] if len(some) == 1 else np.concatenate([none, *some])
