"""What a keyed wheel answers: any range of finished time, for one key, some or all."""

import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.inputs import Binding
from slidewheel.engine.keys import Keys
from slidewheel.engine.threads import each
from slidewheel.errors import InvalidArgument
from slidewheel.times import DurationLike, InstantLike
from slidewheel.wheel import calendar
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import instant_of, positive, refusal
from slidewheel.wheel.asking import times_column
from slidewheel.wheel.levels import Level
from slidewheel.wheel.plans import RangePlan, plan_number, plan_of
from slidewheel.wheel.values import planned

ENOUGH_FOR_TWO = 1 << 12
"""Answers from which a second thread pays."""
_rooms = threading.local()


def room_of(core: Any) -> Any:
    """Memory for the plans of a core's questions, which each thread makes once."""
    kept = _rooms.__dict__.setdefault("of", WeakKeyDictionary())
    room = kept.get(core)
    if room is None:
        room = kept[core] = core.room_for_plans()
    return room


class KeyedAsking:
    """All of it reads `_seen` once: what is finished, as the writer last left it."""

    aggregates: tuple[Aggregate, ...]
    keys: tuple[str, ...]
    tick: int
    levels: tuple[Level, ...]
    _first: int
    _seen: tuple[list[Any], int, int]
    """The views of all cores, the watermark, and the number of keys."""
    _schema: pa.Schema | None
    _binding: Binding
    _known: Keys
    _codes_of: dict[Any, int]

    @property
    def start(self) -> int:
        """The first watermark, in microseconds."""
        return self._first * self.tick

    @property
    def watermark(self) -> int:
        """All time before it is finished; in microseconds."""
        return int(self._seen[1]) * self.tick

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
        times = [times_column(np.repeat(part, len(codes))) for part in (edges[:-1], edges[1:])]
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
        rows = [key if isinstance(key, tuple) else (key,) for key in (plain(key) for key in listed)]
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
        ticks, absent = edges // self.tick, bool(len(codes)) and int(codes.min()) < 0
        lows, highs = ticks[:-1].copy(), ticks[1:].copy()

        def states_of(one: Any) -> tuple[Array, Array]:
            view, known, width, core = one
            count = len(codes) * (len(edges) - 1)
            states, ok = np.empty(count, dtype=core.dtype), np.zeros(count, dtype=np.int64)
            work, room = core.values.work, room_of(core)
            done = work.run("ask_states", view, known, width, asked, lows, highs, number, room, ok, states)
            if done < len(edges) - 1:
                code = n.NOT_KEPT if plan in ("auto", "combined") else n.NO_PLAN
                raise refusal(self, view, seen[1], int(edges[done]), int(edges[done + 1]), plan, code)
            if absent:
                missing = np.tile(codes < 0, len(edges) - 1)
                states[missing], ok[missing] = core._identity(), 0
            return states, ok > 0

        few = len(codes) * (len(edges) - 1) < ENOUGH_FOR_TWO
        found = [states_of(one) for one in seen[0]] if few else each(states_of, seen[0])
        return [self._column(k, found) for k in range(len(self.aggregates))]

    def _column(self, number: int, found: list[tuple[Array, Array]]) -> pa.Array:
        binding, use = self._binding, self._binding.uses[number]
        states, ok = found[use.part]
        own = use.of(states)
        if use.monoid.least == 0:
            ok = np.ones(len(own), dtype=bool)
        elif binding.counts_itself(use.part):
            fields = states.dtype.names or ()
            ok = ok & (sum(states[name] for name in ("n", "odd") if name in fields) >= use.monoid.least)
        return binding._column(number, binding._lowering[number].lowered(own, ok), ok)


def plain(key: Any) -> Any:
    """A key as Arrow gives it back."""
    if isinstance(key, tuple):
        return tuple(plain(part) for part in key)
    return key.as_py() if isinstance(key, pa.Scalar) else key.item() if isinstance(key, np.generic) else key
