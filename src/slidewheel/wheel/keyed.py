"""sw.KeyedWheel: wheels for many keys and several aggregates, with the states of all keys side by side."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.inputs import Binding, whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.parts import Writer, described
from slidewheel.engine.snapshot import read_codes, read_keys, write_codes, write_keys
from slidewheel.engine.threads import each, uninterrupted
from slidewheel.errors import InvalidArgument, InvalidSnapshot, InvalidTime, Unsupported
from slidewheel.times import DurationLike, InstantLike, duration, format_instant, instants
from slidewheel.wheel import calendar
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import FARTHEST, aggregate_of, instant_of, positive, refusal
from slidewheel.wheel.asking import UTC
from slidewheel.wheel.core import Core, exclusive
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
from slidewheel.wheel.values import Compiled, Interpreted, planned

INVERTIBLE = "slickdeque_inv"
"""The form whose states have an inverse."""


class PartValues:
    """A state that aggregates share, as a core takes it."""

    keyed = True

    def __init__(self, part: Any, inputs: tuple[str, ...]) -> None:
        self.aggregate, self.monoid, self.kinds = part.aggregate, part.monoid, part.kinds
        self.work: Any = Compiled(part.monoid, inputs) if part.compiled else Interpreted(part.monoid)


class KeyedWheel:
    """Wheels for many keys: rows go in as tables, and any range of finished time can be asked for one key, some or all.

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
    def start(self) -> int:
        """The first watermark, in microseconds."""
        return self._first * self.tick

    @property
    def watermark(self) -> int:
        """All time before it is finished; in microseconds."""
        return int(self._seen[1]) * self.tick

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

    # ---- writing

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

    # ---- reading

    def query(self, start: InstantLike, end: InstantLike, keys: Any = None, plan: str = "auto") -> pa.Table:
        """The aggregates of [start, end) for one key (a value, or a tuple for several key columns), for a list of
        keys, or for all of them in their order."""
        return self._ask(self._seen, start, end, keys, plan)

    def _ask(self, seen: Any, start: InstantLike, end: InstantLike, keys: Any, plan: str) -> pa.Table:
        edges = np.array(self._range(seen, start, end, plan), dtype=np.int64)
        codes, columns = self._chosen(keys, seen[2])
        answers = self._answers(seen, edges, codes, plan_number(plan), plan)
        return pa.Table.from_arrays([*columns, *answers], names=[*self.keys, *self._outputs])

    def group_by(
        self, start: InstantLike, end: InstantLike, every: DurationLike, keys: Any = None, timezone: str | None = None
    ) -> pa.Table:
        """The same for buckets of `every`, as in `Wheel.group_by`: a row for each bucket and key."""
        seen = self._seen
        low, high = self._range(seen, start, end, "auto")
        edges = calendar.edges(low, high, every, timezone, self.tick)
        codes, columns = self._chosen(keys, seen[2])
        answers = self._answers(seen, edges, codes, n.AUTO, "auto")
        count = len(edges) - 1
        times = [pa.array(np.repeat(part, len(codes))).view(UTC) for part in (edges[:-1], edges[1:])]
        repeated = [column.take(pa.array(np.tile(np.arange(len(codes)), count))) for column in columns]
        return pa.Table.from_arrays([*times, *repeated, *answers], names=["start", "end", *self.keys, *self._outputs])

    def top(
        self, k: int, start: InstantLike, end: InstantLike, by: str | None = None, smallest: bool = False
    ) -> pa.Table:
        """The k keys with the largest value of an aggregate, the first one unless named, over a range."""
        chosen = self._outputs[0] if by is None else by
        if chosen not in self._outputs:
            raise InvalidArgument(f"there is no aggregate {by!r}; there are {', '.join(self._outputs)}")
        found = self.query(start, end)
        order = [(chosen, "ascending" if smallest else "descending")]
        found = found.filter(found[chosen].is_valid())
        return found.take(pa.compute.sort_indices(found, sort_keys=order)[: positive("k", k)])

    def landmark(self, keys: Any = None) -> pa.Table:
        """All finished time."""
        seen = self._seen
        return self._ask(seen, self.start, seen[1] * self.tick, keys, "landmark")

    def explain(self, start: InstantLike, end: InstantLike, plan: str = "auto") -> RangePlan:
        """The plan for a range, the same for each key; the cost is that of one."""
        seen = self._seen
        low, high = self._range(seen, start, end, plan)
        if not seen[0]:
            raise InvalidArgument("there is no plan before the first rows")
        view, known, _, core = seen[0][0]
        room = core.room_for_plans()
        ticks = low // self.tick, high // self.tick
        kind, cost = planned(core.values.monoid, *view[3:6], *ticks, known, plan_number(plan), *room[:2])
        if kind < 0:
            raise refusal(self, view, seen[1], low, high, plan, cost)
        return plan_of(low, high, kind, cost, room, self.levels)

    @property
    def _outputs(self) -> list[str]:
        return [aggregate.output for aggregate in self.aggregates]

    def _range(self, seen: Any, start: InstantLike, end: InstantLike, plan: str) -> tuple[int, int]:
        low, high = instant_of(start), instant_of(end)
        if low % self.tick or high % self.tick or not self.start <= low <= high <= seen[1] * self.tick:
            raise refusal(self, None, seen[1], low, high, plan, n.NOT_A_RANGE)
        return low, high

    def _chosen(self, keys: Any, count: int) -> tuple[Array, list[pa.Array]]:
        """The codes of these keys, -1 where there is no such key, and their columns."""
        if self._schema is None:
            return np.zeros(0, dtype=np.int64), [pa.array([], pa.null()) for _ in self.keys]
        if keys is None:
            codes = self._known.in_order()
            return np.where(codes < count, codes, -1), self._known.take(codes)
        single = isinstance(keys, tuple) if len(self.keys) > 1 else not isinstance(keys, (list, np.ndarray, pa.Array))
        listed = [keys] if single else list(keys)
        rows = [key if isinstance(key, tuple) else (key,) for key in (_plain(key) for key in listed)]
        if any(len(row) != len(self.keys) for row in rows):
            raise InvalidArgument(f"a key is a tuple of {len(self.keys)}, one value for each of {', '.join(self.keys)}")
        if len(self._codes_of) < count:
            columns = [column.to_pylist() for column in self._known.take(np.arange(count))]
            self._codes_of = {key: code for code, key in enumerate(zip(*columns, strict=True))}
        codes = np.array([self._codes_of.get(row, -1) for row in rows], dtype=np.int64)
        kinds = [self._schema.field(name).type for name in self.keys]
        try:
            given = [pa.array([row[k] for row in rows], kind) for k, kind in enumerate(kinds)]
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InvalidArgument(f"these are no keys of {', '.join(self.keys)}: {error}") from None
        return np.where(codes < count, codes, -1), given

    def _answers(self, seen: Any, edges: Array, codes: Array, number: int, plan: str) -> list[pa.Array]:
        """The columns of all aggregates, for the ranges between edges and these keys."""
        if not seen[0]:
            return [pa.array([], pa.null()) for _ in self.aggregates]
        asked = read_only(np.maximum(codes, 0))
        ticks = edges // self.tick

        def states_of(one: Any) -> tuple[Array, Array]:
            view, known, width, core = one
            count = len(codes) * (len(edges) - 1)
            states, ok = np.empty(count, dtype=core.dtype), np.zeros(count, dtype=np.int64)
            work, room = core.values.work, core.room_for_plans()
            done = work.run(
                "ask_states", view, known, width, asked, ticks[:-1].copy(), ticks[1:].copy(), number, room, ok, states
            )
            if done < len(edges) - 1:
                code = n.NOT_KEPT if plan in ("auto", "combined") else n.NO_PLAN
                raise refusal(self, view, seen[1], int(edges[done]), int(edges[done + 1]), plan, code)
            missing = np.tile(codes < 0, len(edges) - 1)
            if missing.any():
                states[missing], ok[missing] = core._identity(), 0
            return states, ok > 0

        found = each(states_of, seen[0])
        return [self._column(k, found) for k in range(len(self.aggregates))]

    def _column(self, number: int, found: list[tuple[Array, Array]]) -> pa.Array:
        binding, use = self._binding, self._binding.uses[number]
        states, ok = found[use.part]
        own = use.of(states)
        if use.monoid.least == 0:
            ok = np.ones(len(own), dtype=bool)
        elif binding._counts_itself(use.part):
            fields = states.dtype.names or ()
            ok = ok & (sum(states[name] for name in ("n", "odd") if name in fields) >= use.monoid.least)
        return binding._column(number, binding._lowering[number].lowered(own, ok), ok)

    # ---- other wheels, other processes

    def merge(self, other: "KeyedWheel") -> None:
        """Take in all that another wheel has accepted, finished or not; it is left as it is."""
        require_fit(self, other)
        mine, theirs = ([described(a) for a in wheel.aggregates] for wheel in (self, other))
        if mine != theirs or self.keys != other.keys:
            raise InvalidArgument("these wheels have other aggregates or keys")
        with other._writing:  # one lock after the other, as the other wheel may be merging with this one
            cores, watermark, first, late = (
                [c.copy() for c in other._cores],
                other._watermark,
                other._first,
                other._late,
            )
            keys = other._known.take(np.arange(len(other._known))) if other._schema is not None else []
        self._merge(cores, keys, other, watermark, first, late)

    @exclusive
    def _merge(
        self, cores: list[Core], keys: list[pa.Array], other: "KeyedWheel", watermark: int, first: int, late: int
    ) -> None:
        if not cores:
            self._late += late
            return self._advance(watermark)
        assert other._schema is not None
        if self._schema is None:
            self._begin(other._schema)
        assert self._schema is not None
        if not self._schema.equals(other._schema) or self._prefix != other._prefix:
            raise InvalidArgument("these wheels differ in types or states: use the same types, and prefix= in both")
        with uninterrupted():
            codes = self._known.encode(keys, len(keys[0]))
            made = [merged(a, b, codes, len(self._known)) for a, b in zip(self._cores, cores, strict=True)]
            self._cores, self._watermark = made, max(self._watermark, watermark)
            self._first = min(self._first, first)
            self._late, self._edition = self._late + late, self._edition + 1
            self._publish()

    def _facts(self) -> dict[str, Any]:
        return {
            "aggregates": fingerprint(self.aggregates),
            "keys": list(self.keys),
            "time": self.time,
            "tick": self.tick,
            "first": self._first,
            "watermark": self._watermark,
            "late": self._late,
            "edition": self._edition,
            "typed": self._schema is not None,
            "prefix": self._prefix,
        }

    def _write_keys(self, writer: Writer) -> None:
        assert self._schema is not None
        writer.add("schema", self._schema.serialize().to_pybytes())
        write_keys(writer, "keys", self._known)
        for name, codes in self._binding.coded.items():
            write_codes(writer, f"codes {name}", codes)

    @exclusive
    def snapshot(self) -> bytes:
        """All of it as bytes, versioned and checksummed; `KeyedWheel.restore` reads them."""
        writer = Writer(())
        facts = {**self._facts(), "levels": level_facts(self.levels), "write_ahead": self.write_ahead, "cores": []}
        if self._schema is not None:
            self._write_keys(writer)
            facts["coded"] = list(self._binding.coded)
            facts["cores"] = [write_core(writer, f"core {k}", core) for k, core in enumerate(self._cores)]
        return packed("keyed wheel", facts, writer)

    @classmethod
    def restore(
        cls, aggregates: Sequence[Aggregate | AggregateType] | Aggregate | AggregateType, data: bytes, *,
        trusted: bool = False
    ) -> "KeyedWheel":  # fmt: skip
        """The wheel of a snapshot, with the aggregates that it was made with."""
        reader = Reader(data, "keyed wheel", trusted)
        facts = reader.facts
        made = cls(
            aggregates,
            facts["keys"],
            time=facts["time"],
            start=facts["first"] * facts["tick"],
            tick=facts["tick"],
            write_ahead=facts["write_ahead"],
            levels=levels_from(facts["levels"]),
        )
        reader.check(made.aggregates)
        if facts["typed"]:
            made._begin(pa.ipc.read_schema(pa.py_buffer(reader["schema"])))
            made._read_keys(reader, facts)
            cores = []
            for k, (core, said) in enumerate(zip(made._cores, facts["cores"], strict=True)):
                settings = core.values, made.levels, made.tick, made.write_ahead
                cores.append(read_core(reader, f"core {k}", said, *settings))
            made._cores = cores
        made._watermark, made._late, made._edition = facts["watermark"], facts["late"], facts["edition"]
        made._publish()
        return made

    def _read_keys(self, reader: Reader, facts: dict[str, Any]) -> None:
        read_keys(reader.get, "keys", self._known)
        for name in facts["coded"]:
            read_codes(reader.get, f"codes {name}", self._binding.codes(name))

    @exclusive
    def deltas(self, since: InstantLike) -> bytes:
        """What was finished since a watermark, as bytes for `apply`."""
        at = instant_of(since)
        if at % self.tick or not self.start <= at <= self._watermark * self.tick:
            raise InvalidArgument(f"since={format_instant(at)} is not a watermark of this wheel")
        writer = Writer(())
        levels = [[level.name, level.slots] for level in self.levels]
        facts = {**self._facts(), "levels": levels, "since": at, "coded": [], "widths": []}
        if self._schema is not None:
            kept = max(max(int(core.book[0, n.KEPT]) for core in self._cores), self._first) * self.tick
            if at < kept:
                raise InvalidArgument(f"ticks are kept since {format_instant(kept)}: an older replica needs a snapshot")
            self._write_keys(writer)
            facts["coded"], facts["widths"] = list(self._binding.coded), [core.width for core in self._cores]
            for k, core in enumerate(self._cores):
                write_rows(writer, f"rows {k}", *core.rows(0, at // self.tick))
        return packed("keyed delta", facts, writer)

    @exclusive
    def apply(self, delta: bytes, *, trusted: bool = False) -> None:
        """Take over what another wheel has finished; nothing may be inserted here."""
        reader = Reader(delta, "keyed delta", trusted)
        reader.check(self.aggregates)
        facts = reader.facts
        own = [[level.name, level.slots] for level in self.levels]
        if facts["tick"] != self.tick or facts["levels"] != own or facts["keys"] != list(self.keys):
            raise InvalidSnapshot("the delta is of a wheel with other ticks, levels or keys")
        if facts["prefix"] != self._prefix:
            raise InvalidSnapshot("a wheel with prefix sums and one without can't replicate each other")
        if any(core.clock[n.USED] or core.clock[n.WAITING] for core in self._cores):
            raise InvalidArgument("rows were inserted into this wheel: a replica only takes deltas")
        if self._watermark > self._first and facts["edition"] != self._edition:
            raise InvalidSnapshot("the other wheel was merged with a third one since: restore a new snapshot of it")
        if facts["since"] > self._watermark * self.tick:
            raise InvalidSnapshot(
                f"the delta begins at {format_instant(facts['since'])}, and this wheel ends at "
                f"{format_instant(self._watermark * self.tick)}: ask for deltas since then"
            )
        if facts["typed"]:
            self._apply_rows(reader, facts)
        else:
            self._advance(facts["watermark"])
        self._late, self._edition = facts["late"], facts["edition"]

    def _apply_rows(self, reader: Reader, facts: dict[str, Any]) -> None:
        schema, until = pa.ipc.read_schema(pa.py_buffer(reader["schema"])), facts["watermark"]
        if self._schema is None:
            self._begin(schema)
        assert self._schema is not None
        if not self._schema.equals(schema):
            raise InvalidSnapshot("the delta is of a wheel over columns of other types")
        theirs = Keys(self.keys, [schema.field(name).type for name in self.keys])
        read_keys(reader.get, "keys", theirs)
        rows = []
        for k, (core, width) in enumerate(zip(self._cores, facts["widths"], strict=True)):
            rows.append(read_rows(reader, f"rows {k}", core, width))
        with uninterrupted():
            codes = self._known.encode(theirs.take(np.arange(len(theirs))), len(theirs))
            for name in facts["coded"]:
                read_codes(reader.get, f"codes {name}", self._binding.codes(name))
            self._widen(len(self._known))
            if until <= self._watermark:
                return
            for core, given, width in zip(self._cores, rows, facts["widths"], strict=True):
                _take_over(core, given, width, codes, self._watermark, until)
            self._watermark = until
            self._publish()


def _take_over(core: Core, rows: tuple[Array, Array, Array], width: int, codes: Array, since: int, until: int) -> None:
    """Rows of another core with other codes for its keys, and perhaps more or fewer of them."""
    slots, states, filled = rows
    new = int(np.searchsorted(slots, since))
    count = len(slots) - new
    mine = np.empty(count * core.width, dtype=core.dtype)
    core.values.work.run("empty_states", mine)
    holds = np.zeros(count * core.width, dtype=np.uint8)
    places = (np.arange(count)[:, None] * core.width + codes[None, :]).reshape(-1)
    from_ = (np.arange(new, len(slots))[:, None] * width + np.arange(len(codes))[None, :]).reshape(-1)
    mine[places], holds[places] = states[from_], filled[from_]
    core.put_finished(slots[new:], mine, holds, until)


def _names(keys: Any) -> list[str]:
    if not isinstance(keys, Sequence) or not all(isinstance(name, str) for name in keys):
        raise InvalidArgument(f"keys is the name of a column, or a list of names, not {keys!r}")
    return list(keys)


def _plain(key: Any) -> Any:
    """A key as Arrow gives it back."""
    if isinstance(key, tuple):
        return tuple(_plain(part) for part in key)
    return key.as_py() if isinstance(key, pa.Scalar) else key.item() if isinstance(key, np.generic) else key
