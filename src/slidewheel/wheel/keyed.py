"""sw.KeyedWheel: wheels for many keys and several aggregates, with the states of all keys side by side."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import read_only
from slidewheel.engine.inputs import Binding, whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.threads import uninterrupted
from slidewheel.errors import InvalidArgument, InvalidTime, Unsupported
from slidewheel.times import DurationLike, InstantLike, duration, format_instant, instants
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import FARTHEST, aggregate_of, instant_of, positive
from slidewheel.wheel.core import Core, exclusive
from slidewheel.wheel.keyed_exchange import KeyedExchange
from slidewheel.wheel.levels import Level, levels_of
from slidewheel.wheel.values import Worked

INVERTIBLE = "slickdeque_inv"
"""The form whose states have an inverse."""


class PartValues(Worked):
    """A state that aggregates share, as a core takes it."""

    keyed = True

    def __init__(self, part: Any, inputs: tuple[str, ...]) -> None:
        self.aggregate, self.monoid, self.kinds = part.aggregate, part.monoid, part.kinds
        super().__init__(part.monoid, inputs, part.compiled)


class KeyedWheel(KeyedExchange):
    """Wheels for many keys: rows go in as tables, and any range of finished time can be asked for one key, some or all.

    keys, time: the names of columns.
    start, tick, write_ahead, levels, keep, prefix: as in `sw.Wheel`.

    >>> import pyarrow as pa
    >>> import slidewheel as sw
    >>> wheel = sw.KeyedWheel([sw.sum("fare"), sw.count()], keys="zone", time="at", start="2024-01-01", tick="1m")
    >>> at = ["2024-01-01T00:01", "2024-01-01T00:02", "2024-01-01T01:30"]
    >>> times = pa.array(at).cast(pa.timestamp("us"))
    >>> wheel.insert(pa.table({"at": times, "zone": ["a", "b", "a"], "fare": [3.5, 2.0, 4.0]}))
    3
    >>> wheel.advance_to("2024-01-01T02:00")
    >>> wheel.query("2024-01-01T00:00", "2024-01-01T02:00").to_pylist()
    [{'zone': 'a', 'sum_fare': 7.5, 'count': 2}, {'zone': 'b', 'sum_fare': 2.0, 'count': 1}]
    """

    def __init__(
        self,
        aggregates: Sequence[Aggregate | AggregateType] | Aggregate | AggregateType,
        keys: str | Sequence[str],
        *,
        time: str = "time",
        start: InstantLike,
        tick: DurationLike = "1s",
        write_ahead: int = 64,
        levels: Any = None,
        keep: Any = "all",
        prefix: Any = False,
    ) -> None:
        """`keys` names the key columns and `time` the column of times; for the others see `sw.Wheel`.

        The memory is that of its slots: keys x slots x the size of a state, for the slots of each level and for
        `write_ahead` ticks.
        """
        single = isinstance(aggregates, (Aggregate, AggregateType))
        listed = [aggregates] if single else aggregates
        if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
            raise InvalidArgument(f"a keyed wheel needs a list of aggregates, not {aggregates!r}")
        self.aggregates = tuple(aggregate_of(aggregate) for aggregate in listed)
        self.keys = (keys,) if isinstance(keys, str) else tuple(_names(keys))
        self.time = time
        outputs = [*self.keys, *(aggregate.output for aggregate in self.aggregates), "start", "end"]
        if not self.keys or len(set(outputs)) < len(outputs) or not isinstance(time, str):
            raise InvalidArgument(f"answers need columns of different names, but they would be {outputs}: use alias")
        for aggregate in self.aggregates:
            if aggregate.name != "count" and None in aggregate.columns:
                raise InvalidArgument(f"{aggregate.name} needs the names of its columns: sw.{aggregate.name}('value')")
        self.tick = duration(tick)
        self.levels: tuple[Level, ...] = levels_of(levels, self.tick, keep, prefix, False)
        if any(level.layout == "compressed" for level in self.levels):
            raise Unsupported("the levels of a keyed wheel can't be compressed")
        self.write_ahead = positive("write_ahead", write_ahead)
        self._prefix = any(level.layout == "prefix" for level in self.levels)
        for aggregate in self.aggregates:
            if self._prefix and not aggregate.invertible:
                raise Unsupported(f"prefix sums need an inverse, and {aggregate.name} has none: leave prefix out")
        self._first = self._watermark = instant_of(start) // self.tick
        self._schema: pa.Schema | None = None
        self._cores: list[Core] = []
        self._late = self._edition = 0
        self._codes_of: dict[Any, int] = {}
        self._writing = threading.RLock()
        self._publish()

    def __repr__(self) -> str:
        names = ", ".join(aggregate.output for aggregate in self.aggregates)
        span = f"{format_instant(self.start)} to {format_instant(self.watermark)}"
        return f"<KeyedWheel {names} by {', '.join(self.keys)}, {self.key_count} keys, from {span}>"

    @property
    def late(self) -> int:
        """Rows that came after their time was finished, and were refused."""
        return self._late

    @property
    def key_count(self) -> int:
        return len(self._known) if self._schema is not None else 0

    @property
    def nbytes(self) -> int:
        """The memory of all slots, of what is ahead of the watermark, and of the index; without the keys themselves."""
        return sum(core.nbytes for core in self._cores)

    @exclusive
    def insert(self, table: Any) -> int:
        """Add the rows of an Arrow table or batch, in the order in which they came; returns how many were accepted."""
        rows = pa.table(table) if not isinstance(table, pa.RecordBatch) else pa.Table.from_batches([table])
        self._check_columns(rows)
        times = np.ascontiguousarray(instants(rows[self.time]))
        if len(times) and int(times.max()) > FARTHEST:
            raise InvalidTime(f"a time is too far in the future: row {int(np.argmax(times))}; 73,000 years at most")
        if self._schema is None:
            self._begin(rows.schema)
        if not len(times):
            return 0
        assert self._schema is not None
        rows = self._like_before(rows)
        here = times >= self._watermark * self.tick
        late = len(times) - int(here.sum())
        if late:
            rows, times = rows.filter(pa.array(here)), times[here]
        if not len(times):
            self._late += late
            return 0
        inputs = self._binding.read(rows, times)
        for core, (columns, valid) in zip(self._cores, inputs, strict=True):
            if not core.values.aggregate.built_in:
                core.values.work.ingest_trial(columns, valid, len(times), core.spare()[0])
        with uninterrupted():
            codes = self._known.encode([whole(rows[name]) for name in self.keys], len(times))
            self._widen(len(self._known))
            for core, (columns, valid) in zip(self._cores, inputs, strict=True):
                try:
                    core.ingest(columns, valid, read_only(times), read_only(codes))
                finally:
                    core.clock[n.USED] = int(core.used.sum())
            self._late += late
        return len(times)

    def _check_columns(self, rows: pa.Table) -> None:
        wanted = [self.time, *self.keys, *(c for a in self.aggregates for c in a.columns if c is not None)]
        for name in wanted:
            if name not in rows.column_names:
                raise InvalidArgument(f"there is no column {name!r}; there are {', '.join(rows.column_names)}")

    def _like_before(self, rows: pa.Table) -> pa.Table:
        """Only the columns that are needed, in the types of the first table."""
        assert self._schema is not None
        try:
            return rows.select(self._schema.names).cast(self._schema)
        except (pa.ArrowException, ValueError) as error:
            raise Unsupported(f"the columns have other types than in the first table: {error}") from None

    def _begin(self, schema: pa.Schema) -> None:
        """The types of the columns are known."""
        wanted = [self.time, *self.keys, *(c for a in self.aggregates for c in a.columns if c is not None)]
        own = pa.schema([pa.field(name, schema.field(name).type) for name in dict.fromkeys(wanted)])
        self._binding = Binding(self.aggregates, own, INVERTIBLE if self._prefix else "auto")
        self._known = Keys(self.keys, [own.field(name).type for name in self.keys])
        for part in self._binding.parts:
            values: Any = PartValues(part, self._binding._dtypes(part))
            core = Core(values, self.levels, self.tick, self._first, self.write_ahead, 1)
            core.advance(self._watermark)
            self._cores.append(core)
        self._schema = own
        self._publish()

    def _widen(self, keys: int) -> None:
        for core in self._cores:
            core.widen(keys)

    @exclusive
    def advance_to(self, time: InstantLike) -> None:
        """Finish all time before this."""
        self._advance(instant_of(time) // self.tick)

    def _advance(self, watermark: int) -> None:
        if watermark <= self._watermark:
            return
        with uninterrupted():
            for core in self._cores:
                core.advance(watermark)
            self._watermark = watermark
            self._publish()

    def _publish(self) -> None:
        """Let readers see what is finished, of all aggregates at once."""
        for core in self._cores:
            core.tidy()
        views = [(core.view, core.known(), core.width, core) for core in self._cores]
        self._seen = (views, self._watermark, self.key_count)


def _names(keys: Any) -> list[str]:
    if not isinstance(keys, Sequence) or not all(isinstance(name, str) for name in keys):
        raise InvalidArgument(f"keys is the name of a column, or a list of names, not {keys!r}")
    return list(keys)
