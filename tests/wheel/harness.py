"""A wheel and its model side by side: both take every step, and all that they say is compared."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import slidewheel as sw
from slidewheel.windows.specs import Spec
from tests.engine.reference import tolerance
from tests.support import outcome
from tests.wheel.model import Closed, Model, answered

PLANS = ("wheel", "combined", "landmark", "inverse_landmark", "prefix")


@dataclass(frozen=True)
class Rung:
    """What a test knows of a level."""

    name: str
    length: int
    kept: int | None = None
    """How many finished slots it keeps; None: all."""
    prefix: bool = False

    def oldest(self, model: Model) -> int:
        """From where on it has slots."""
        first = model.start // self.length
        if self.kept is not None:
            first = max(first, model.watermark // self.length - self.kept)
        return first * self.length

    def newest(self, model: Model) -> int:
        return model.watermark // self.length * self.length

    def fits(self, model: Model, start: int, end: int) -> bool:
        """Whether its own slots make up this range."""
        aligned = start % self.length == 0 and end % self.length == 0
        return aligned and self.oldest(model) <= start and end <= self.newest(model)


def ladder(tick: int, levels: dict[str, int], keep: Any = "all", prefix: Any = False) -> list[Rung]:
    rungs, length = [], tick
    for name, slots in levels.items():
        kept = keep.get(name, "all") if isinstance(keep, dict) else keep
        number = None if kept == "all" else slots if kept == "drop" else kept
        rungs.append(Rung(name, length, number, prefix is True or (prefix is not False and name in prefix)))
        length *= slots
    return rungs


def covered(rungs: list[Rung], model: Model, start: int, end: int) -> bool:
    """Whether slots that are kept make up the range, by taking the longest at each place."""
    while start < end and not any(r.fits(model, start, end) for r in rungs):
        able = [r for r in rungs if start + r.length <= end and r.fits(model, start, start + r.length)]
        if not able:
            return False
        longest = able[-1]
        # Behind the first slot of the top level come others like it.
        count = (min(end, longest.newest(model)) - start) // longest.length if longest is rungs[-1] else 1
        start += count * longest.length
    return True


def pieces(rungs: list[Rung], model: Model, start: int, end: int) -> int:
    """The fewest slots that make up a range, if all are kept: the longest at each place."""
    count = 0
    while start < end:
        start += max(r.length for r in rungs if start + r.length <= end and r.fits(model, start, start + r.length))
        count += 1
    return count


class Counted:
    """A sum over Python objects that counts its combines and inverses."""

    def __init__(self, invertible: bool = True) -> None:
        self.calls = 0

        class Total:
            identity = 0

            def lift(x):
                return x

            def combine(a, b):
                self.calls += 1
                return a + b

        if invertible:
            Total.inverse = self._inverse
        self.aggregate = sw.aggregate(state=object, commutative=True)(Total)()

    def _inverse(self, a: Any, b: Any) -> Any:
        self.calls += 1
        return a - b

    def cost(self, call: Any, *arguments: Any, **options: Any) -> int:
        """The number of combines that a call takes."""
        self.calls = 0
        call(*arguments, **options)
        return self.calls


def same(aggregate: Any, got: Any, values: list[Any], others: list[Any] | None = None) -> bool:
    """Whether this is the aggregate of these values: exactly, or up to rounding that these values alone explain.

    Where others are taken away from a greater whole, up to the rounding of that whole.
    """
    wanted = answered(aggregate, values)
    if isinstance(got, bytes):  # sketches in tables
        wanted = wanted.to_bytes()
    return alike(got, wanted, room(aggregate, values if others is None else others))


def room(aggregate: Any, values: list[Any]) -> float:
    numbers = [v for v in values if isinstance(v, int | float)]
    absolute = tolerance(aggregate.name, numbers)
    if aggregate.name == "std" and absolute:
        # An error of the variance, seen through the root.
        return math.sqrt(tolerance("var", numbers))
    return absolute


def alike(got: Any, wanted: Any, absolute: float = 0.0) -> bool:
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(alike, got, wanted))
    if isinstance(wanted, float) and isinstance(got, float):
        both_nan = got != got and wanted != wanted
        return both_nan or got == wanted or math.isclose(got, wanted, rel_tol=1e-9, abs_tol=absolute)
    return type(got) is type(wanted) and got == wanted


def listed(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table, with instants as microseconds."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            assert column.type == pa.timestamp("us", tz="UTC")
            column = column.cast(pa.int64())
        columns.append(column.to_pylist())
    return list(zip(*columns, strict=True))


def fields(result: Any) -> tuple[str, int, int, Any]:
    return result.window, result.start, result.end, result.value


class Twins:
    """Runs every step on both, and fails where they differ."""

    def __init__(self, wheel: Any, model: Model, rungs: list[Rung], kind: str = "i8") -> None:
        self.wheel, self.model, self.rungs = wheel, model, rungs
        prefix = any(rung.prefix for rung in rungs)
        kinds = (kind[0],) * self.aggregate.arity
        self.invertible = self.aggregate.monoid(*kinds, invertible=prefix).inverse is not None
        """Whether its states can be taken away: for floats only where that was asked for."""
        self.doubtful: dict[str, float] = {}
        """By window: those that start before may be missing, as their time may not be kept."""

    @property
    def aggregate(self) -> Any:
        return self.model.aggregate

    def insert(self, time: int, value: Any) -> None:
        assert self.wheel.insert(time, value) is self.model.insert(time, value)
        assert self.wheel.late == self.model.late

    def insert_many(self, times: list[int], values: list[Any], dtype: Any = None) -> None:
        columns, mask = self.columns(values, dtype)
        got = self.wheel.insert_many(np.array(times, dtype=np.int64), columns, mask=mask)
        assert got == self.model.insert_many(times, values)
        assert self.wheel.late == self.model.late

    def ingest(self, times: list[int], values: list[Any], every: int, delay: int, dtype: Any = None) -> None:
        columns, mask = self.columns(values, dtype)
        table = self.wheel.ingest(np.array(times, dtype=np.int64), columns, every=every, delay=delay, mask=mask)
        assert table.column_names == ["window", "start", "end", self.aggregate.output]
        names = [each.spec.name for each in self.model.registered]
        wanted = self.model.ingest(times, values, every, delay)
        self.compare_windows(listed(table), sorted(wanted, key=lambda w: (w.end, names.index(w.window), w.start)))
        assert self.wheel.watermark == self.model.watermark
        assert self.wheel.late == self.model.late

    def columns(self, values: list[Any], dtype: Any) -> tuple[Any, Any]:
        """What insert_many takes: a column or two, and the mask of nulls."""
        pairs = self.aggregate.arity == 2
        heads = [v[0] if pairs and v is not None else v for v in values]
        nulls = np.array([head is None for head in heads])
        filled = [head if head is not None else next((h for h in heads if h is not None), 0) for head in heads]
        column = array(filled, dtype)
        if not pairs:
            return column, nulls if nulls.any() else None
        args = array([v[1] if v is not None else 0 for v in values], None)
        return (column, args), nulls if nulls.any() else None

    def window(self, spec: Spec) -> None:
        """A window from now on. Whether the first ones are still kept is not told if old ticks are dropped."""
        assert self.wheel.window(spec) == self.model.window(spec)
        oldest = self.rungs[0].oldest(self.model)
        self.doubtful[spec.name] = oldest if oldest > self.model.start else -math.inf

    def advance_to(self, time: int) -> None:
        got = self.wheel.advance_to(time)
        wanted = self.model.advance_to(time)
        self.compare_windows([fields(w) for w in got], wanted)
        assert self.wheel.watermark == self.model.watermark

    def compare_windows(self, got: list[tuple[Any, ...]], wanted: list[Closed]) -> None:
        there = {g[:3] for g in got}
        wanted = [w for w in wanted if w[:3] in there or w.start >= self.doubtful[w.window]]
        assert [g[:3] for g in got] == [w[:3] for w in wanted]
        for g, w in zip(got, wanted, strict=True):
            assert same(self.aggregate, g[3], w.values), (g, answered(self.aggregate, w.values), w.values)

    def restore(self) -> None:
        self.wheel = sw.Wheel.restore(self.aggregate, self.wheel.snapshot())

    def check_range(self, start: int, end: int, plans: tuple[str, ...] = PLANS) -> None:
        """One range, by every plan. A plan may refuse what its slots do not make up."""
        values = self.model.values(start, end)
        for plan in ("auto", *plans) if start < end else ("auto",):
            try:
                got = outcome(lambda p: self.wheel.query(start, end, plan=p), plan)
            except sw.SlidewheelError:
                assert not self.applies(plan, start, end), (plan, start, end)
                continue
            right = same(self.aggregate, got, values, self.whole(plan))
            assert right, (plan, start, end, got, answered(self.aggregate, values))

    def whole(self, plan: str = "auto") -> list[Any] | None:
        """The values that rounding depends on, if a plan takes away from more than the range."""
        takes = self.invertible and plan in ("auto", "inverse_landmark", "prefix")
        return self.model.values(self.model.start, self.model.watermark) if takes else None

    def applies(self, plan: str, start: int, end: int) -> bool:
        model, rungs = self.model, self.rungs
        whole = model.start, model.watermark
        match plan:
            case "wheel":
                return any(r.fits(model, start, end) for r in rungs)
            case "auto" | "combined":
                return covered(rungs, model, start, end)
            case "landmark":
                return (start, end) == whole
            case "inverse_landmark":
                outside = covered(rungs, model, whole[0], start) and covered(rungs, model, end, whole[1])
                # Where states do not count, only the range's own slots tell whether it is empty; means of objects
                # don't, nor those of values that have not come yet.
                counting = ("count", "var", "std", *(["mean"] if self.wheel._core.dtype != object else []))
                told = self.aggregate.name in counting or covered(rungs, model, start, end)
                return self.invertible and outside and told
            case "prefix":
                return any(r.prefix and r.fits(model, start, end) for r in rungs)
        raise NotImplementedError(plan)

    def check_many(self, ranges: list[tuple[int, int]], plan: str = "auto") -> None:
        """Ranges at once; all of them must be covered."""
        got = self.wheel.query_many([s for s, _ in ranges], [e for _, e in ranges], plan=plan)
        assert isinstance(got, np.ndarray) and got.shape == (len(ranges),)
        hidden = np.ma.getmaskarray(got)
        for k, ((start, end), found) in enumerate(zip(ranges, np.ma.getdata(got).tolist(), strict=True)):
            values = self.model.values(start, end)
            if answered(self.aggregate, values) is None:
                assert hidden[k] or found is None or found != found, (start, end, found)
            else:
                assert not hidden[k]
                right = same(self.aggregate, found, values, self.whole(plan))
                assert right, (start, end, found, answered(self.aggregate, values))

    def check_groups(self, start: int, end: int, every: Any, timezone: str | None = None) -> None:
        zone = {} if timezone is None else {"timezone": timezone}
        table = self.wheel.group_by(start, end, every, **zone)
        assert table.column_names == ["start", "end", self.aggregate.output]
        self.check_table(table, self.model.group_by(start, end, every, timezone or "UTC"))

    def check_table(self, table: pa.Table, wanted: list[tuple[int, int, Any]]) -> None:
        got, whole = listed(table), self.whole()
        assert [g[:2] for g in got] == [w[:2] for w in wanted]
        for g, w in zip(got, wanted, strict=True):
            values = whole if whole is not None else self.model.values(w[0], w[1])
            assert alike(g[2], w[2], room(self.aggregate, values)), (g, w)

    def check_landmark(self) -> None:
        got = outcome(self.wheel.landmark)
        values = self.model.values(self.model.start, self.model.watermark)
        assert same(self.aggregate, got, values), (got, answered(self.aggregate, values))

    def check_slots(self, shortest: int = 0) -> None:
        """The slots of every level that has not too many of them."""
        for rung in self.rungs:
            if rung.length < shortest:
                continue
            table = self.wheel.to_arrow(rung.name)
            assert table.column_names == ["start", "end", self.aggregate.output]
            since = rung.oldest(self.model)
            if self.doubtful and rung.kept is not None and rung.length == self.model.tick and table.num_rows:
                since = min(since, listed(table)[0][0])  # windows may need older ticks
            self.check_table(table, self.model.slots(rung.length, since))


def array(values: list[Any], dtype: Any) -> np.ndarray[Any, Any]:
    """A column as it is; texts and the like stay objects."""
    if dtype is None and not all(isinstance(v, int | float) for v in values):
        dtype = object
    if dtype is object:
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made
    return np.array(values, dtype=dtype)
