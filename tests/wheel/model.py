"""A wheel written down as its meaning: all rows that were accepted, and every answer found anew from those rows.

Nothing is combined ahead of time. Rows are ordered by tick and, within a tick, by arrival; the answer over them is a
plain formula for each built-in aggregate, and a fold for the others.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.windows.specs import Session, Sliding, Spec
from tests.engine.reference import FIXED_WIDTH, answer
from tests.support import recalculated

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FORMULAS = {*FIXED_WIDTH, "concat", "collect", "collect_distinct"}


class Row(NamedTuple):
    tick: int
    """The time, floored to a tick."""
    value: Any


class Closed(NamedTuple):
    window: str
    start: int
    end: int
    values: list[Any]
    """What the window holds, oldest first."""


@dataclass
class Registered:
    spec: Spec
    next: int = 0
    """Of a sliding window: the index of the next one to close."""
    done: set[int] = field(default_factory=set)
    """Of sessions: the rows that lie in one that is over, by their place."""


def answered(aggregate: Aggregate, values: list[Any]) -> Any:
    """The aggregate of these values, oldest first. None is a null, and of a pair it is the first that counts."""
    if aggregate.name not in FORMULAS:
        return recalculated(aggregate, values)
    options = dict(aggregate.parameters)
    if aggregate.arity == 2:
        return answer(aggregate.name, [(v[1], v[0]) for v in values if v is not None and v[0] is not None], **options)
    held = [(0, v) for v in values if v is not None or not aggregate.skips_nulls]
    return answer(aggregate.name, held, **options)


class Model:
    def __init__(self, aggregate: Aggregate, *, start: int, tick: int = SECOND) -> None:
        self.aggregate, self.tick = aggregate, tick
        self.start = self.watermark = self.floor(start)
        self.rows: list[Row] = []
        """All that were accepted, in order of arrival."""
        self.late = 0
        self.registered: list[Registered] = []
        self.greatest = self.start
        self.ingested = 0
        """The greatest time of `ingest` so far, and how many rows came by it since it last moved the watermark."""

    def floor(self, time: int) -> int:
        return time // self.tick * self.tick

    def copy(self) -> "Model":
        twin = Model(self.aggregate, start=self.start, tick=self.tick)
        twin.watermark, twin.rows, twin.late = self.watermark, list(self.rows), self.late
        twin.greatest, twin.ingested = self.greatest, self.ingested
        twin.registered = [replace(each, done=set(each.done)) for each in self.registered]
        return twin

    def finished(self) -> "Model":
        """Without what is not finished yet and without windows: what a replica knows."""
        twin = self.copy()
        twin.rows = [row for row in self.rows if row.tick < self.watermark]
        twin.registered, twin.late = [], 0
        return twin

    # Rows come in.

    def insert(self, time: int, value: Any) -> bool:
        if time < self.watermark:
            self.late += 1
            return False
        self.rows.append(Row(self.floor(time), value))
        return True

    def insert_many(self, times: Iterable[int], values: Iterable[Any]) -> int:
        return sum(self.insert(time, value) for time, value in zip(times, values, strict=True))

    def ingest(self, times: list[int], values: list[Any], every: int, delay: int) -> list[Closed]:
        closed = []
        for time, value in zip(times, values, strict=True):
            closed += self._watermark_after(every, delay)  # due already, where `every` was larger before
            self.insert(time, value)
            self.greatest = max(self.greatest, time)
            self.ingested += 1
        return closed + self._watermark_after(every, delay)

    def _watermark_after(self, every: int, delay: int) -> list[Closed]:
        if self.ingested < every:
            return []
        self.ingested = 0
        return self.advance_to(self.greatest - delay)

    # Windows go out.

    def window(self, spec: Spec) -> str:
        made = Registered(spec)
        if isinstance(spec, Sliding):
            made.next = spec.first_end_after(self.watermark)
        else:
            assert isinstance(spec, Session)
            self.registered.append(made)
            list(self._sessions_over(made))
            self.registered.pop()
        self.registered.append(made)
        return spec.name

    def advance_to(self, time: int) -> list[Closed]:
        self.watermark = max(self.watermark, self.floor(time))
        found = []
        for order, each in enumerate(self.registered):
            over = self._sessions_over(each) if isinstance(each.spec, Session) else self._periods_over(each)
            found += [(end, order, Closed(each.spec.name, start, end, values)) for start, end, values in over]
        return [closed for _, _, closed in sorted(found, key=lambda f: f[:2])]

    def _periods_over(self, each: Registered) -> Iterator[tuple[int, int, list[Any]]]:
        spec = each.spec
        assert isinstance(spec, Sliding)
        while spec.end(each.next) <= self.watermark:
            start, end = spec.start(each.next), spec.end(each.next)
            yield start, end, self.values(start, end)
            each.next += 1

    def _sessions_over(self, each: Registered) -> Iterator[tuple[int, int, list[Any]]]:
        """Rows at most a gap apart are one session, which is over once no row at the watermark could join it."""
        assert isinstance(each.spec, Session)
        gap = each.spec.gap
        there = [(row.tick, k) for k, row in enumerate(self.rows) if k not in each.done and not self.skipped(row.value)]
        session: list[tuple[int, int]] = []
        for tick, k in [*sorted(there), (None, None)]:
            if session and (tick is None or tick - session[-1][0] > gap):
                if self.watermark - session[-1][0] > gap:
                    each.done |= {place for _, place in session}
                    yield session[0][0], session[-1][0] + gap, [self.rows[place].value for _, place in session]
                session = []
            session.append((tick, k))

    def skipped(self, value: Any) -> bool:
        """Whether a row is as if it had not come: a null, but for a count of rows."""
        head = value[0] if self.aggregate.arity == 2 and value is not None else value
        return head is None and self.aggregate.skips_nulls

    # Answers.

    def values(self, start: int, end: int) -> list[Any]:
        """The values from start up to end, in order: finished or not."""
        inside = [(row.tick, k) for k, row in enumerate(self.rows) if start <= row.tick < end]
        return [self.rows[k].value for _, k in sorted(inside)]

    def query(self, start: int, end: int) -> Any:
        return answered(self.aggregate, self.values(start, end))

    def landmark(self) -> Any:
        return self.query(self.start, self.watermark)

    def group_by(self, start: int, end: int, every: int | str, timezone: str = "UTC") -> list[tuple[int, int, Any]]:
        edges = [start, *(e for e in boundaries(start, end, every, timezone) if start < e < end), end]
        pairs = pairwise(edges)
        return [(a, b, self.query(a, b)) for a, b in pairs if a < b]

    def slots(self, length: int, since: int | None = None) -> list[tuple[int, int, Any]]:
        """The finished slots of this length from the one that `since` (the start) lies in; the first may be cut."""
        first = (self.start if since is None else since) // length
        edges = [max(k * length, self.start) for k in range(first, self.watermark // length + 1)]
        return [(a, b, self.query(a, b)) for a, b in pairwise(edges)]

    def merge(self, other: "Model") -> list[Closed]:
        """For commutative aggregates: as if the rows of both had come here."""
        self.rows += other.rows
        self.late += other.late
        self.start = min(self.start, other.start)
        return self.advance_to(other.watermark)


def boundaries(start: int, end: int, every: int | str, timezone: str = "UTC") -> Iterator[int]:
    """Where one bucket ends and the next begins, from before start until end."""
    if isinstance(every, int):
        yield from range(start, end, every)
        return
    zone = ZoneInfo(timezone)
    here = (EPOCH + timedelta(microseconds=start)).astimezone(zone)
    if every == "hour":
        # Hours go on by the clock on the wall, so they are an hour long also when it is set forward or back.
        first = start - (here.minute * 60 + here.second) * SECOND - here.microsecond
        yield from range(first, end, 3600 * SECOND)
        return
    day = datetime(here.year, here.month, here.day)
    local = {
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1),
        "year": day.replace(day=1, month=1),
    }[every]
    while (edge := micros(local.replace(tzinfo=zone))) < end:
        yield edge
        local = following(local, every)


def following(local: datetime, every: str) -> datetime:
    if every in ("day", "week"):
        return local + timedelta(days=1 if every == "day" else 7)
    months = local.year * 12 + local.month - 1 + {"month": 1, "quarter": 3, "year": 12}[every]
    return local.replace(year=months // 12, month=months % 12 + 1)


def micros(time: datetime) -> int:
    return (time.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)
