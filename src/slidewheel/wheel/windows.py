"""The windows of a wheel: slices of finished time, shared by all that are periodic, and what slides over them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from slidewheel.compiler import drivers, interpreter, kernels, layout
from slidewheel.engine.columns import Array
from slidewheel.engine.parts import Writer, columns_bytes, read_columns, read_states, states_bytes
from slidewheel.errors import InvalidArgument, PlanTooLarge, Unsupported
from slidewheel.swag import subtract_on_evict, two_stacks_lite
from slidewheel.times import format_duration
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core
from slidewheel.wheel.values import Compiled, Values
from slidewheel.windows.slicing import shared, union
from slidewheel.windows.specs import Session, Sliding, Spec, from_dict

AT_ONCE = 1 << 16
"""Slices that are cut at a time."""
MOST_WINDOWS = 50_000_000
"""The most windows that one advance may close."""
MOST_SLICES = 1 << 24
"""The most slices that a window may hold."""


class WindowResult(NamedTuple):
    """A window that is complete: [start, end) in microseconds since 1970 UTC, and its aggregate."""

    window: str
    start: int
    end: int
    value: Any


@dataclass
class Closed:
    """Windows of one spec that are complete."""

    name: str
    starts: Array
    ends: Array
    """In microseconds."""
    values: Array
    ok: Array


def algorithm_for(values: Values) -> ModuleType:
    """Subtraction where it is exact, and Two-Stacks elsewhere (paper, section 3.5)."""
    whole = values.kinds == ("i",) and values.aggregate.built_in and values.exact
    exact = values.aggregate.exact_inverse or whole
    return subtract_on_evict if exact and values.monoid.inverse is not None else two_stacks_lite


class Slide:
    """What slides over the slices for one spec."""

    def __init__(self, spec: Sliding, values: Values, tick: int, slices: int) -> None:
        self.name, self.values, self.tick = spec.name, values, tick
        self.length, self.every, self.offset = (x // tick for x in (spec.range, spec.every, spec.offset))
        self.algorithm = algorithm_for(values)
        self.mask = (1 << (slices + 1).bit_length()) - 1
        dtype = values.work.dtype
        if dtype.hasobject:
            self.states = np.full(self.mask + 1, None, dtype=object)
        else:
            self.states = layout.allocate(dtype, self.mask + 1, values.monoid.identity)
        self.links = np.zeros(1, dtype=np.int64)
        self.marks = np.zeros(self.mask + 1, dtype=np.int64)
        self.begins = np.zeros(self.mask + 1, dtype=np.int64)
        self.kept = np.zeros(5, dtype=np.int64)
        self.total = self.states[:1].copy()
        self.fresh = True

    def _run(self, driver: str, *arguments: Any) -> Any:
        work = self.values.work
        if isinstance(work, Compiled):
            return kernels.kernel(self.algorithm, self.values.monoid).call(driver, work.types, *arguments)
        return _interpreted(self.algorithm, self.values.monoid, driver)(*arguments)

    def due(self, until: int) -> int:
        """How many windows end up to this tick."""
        return max((until - int(self.kept[0]) - self.length) // self.every + 1, 0)

    def coming(self, until: int) -> Closed:
        """The windows that end up to this tick, without their values."""
        first, step, count = int(self.kept[0]) * self.tick, self.every * self.tick, self.due(until)
        later = self.length // self.every
        if later < count and later * self.every == self.length:  # then most ends are starts, too
            times = np.arange(first, first + (count + later) * step, step, dtype=np.int64)
            starts, ends = times[:count], times[later:]
        else:
            starts = np.arange(first, first + count * step, step, dtype=np.int64)
            ends = starts + self.length * self.tick
        return Closed(self.name, starts, ends, self.values.room(count), np.zeros(count, dtype=bool))

    def over(self, edges: Array, slices: Array, filled: Array, closed: Closed, done: int) -> int:
        """Fill in the windows that end with one of these slices, after so many that are done."""
        count = self.due(int(edges[-1]))
        out, ok = np.empty(count, dtype=self.values.work.dtype), closed.ok[done : done + count]
        self._run(
            "slide_over", self.fresh, self.kept, self.total, self.states, self.links, self.mask, self.marks,
            self.begins, edges[:-1], edges[1:], slices, filled, self.length, self.every, ok, out
        )  # fmt: skip
        self.fresh = False
        lower(self.values, out, ok, closed.values[done : done + count])
        return done + count


def lower(values: Values, states: Array, ok: Array, found: Array) -> None:
    """The answers that these states give."""
    if values.monoid.least == 0:
        ok[:] = True
    values.work.run("answers", states, ok, found)


def _interpreted(algorithm: ModuleType, monoid: Any, driver: str) -> FunctionType:
    def load(states: Any, at: Any) -> Any:
        return states[at]

    def store(states: Any, at: Any, state: Any) -> None:
        states[at] = state

    laws = SimpleNamespace(
        combine=monoid.combine, inverse=monoid.inverse, identity=lambda: monoid.identity, same=interpreter.same
    )
    made = algorithm.operations(laws, SimpleNamespace(load=load, store=store), lambda function: function)
    names = dict(zip(("start", "insert", "evict", "query"), made, strict=True))
    count = kernels.RESUMED[algorithm.CARD.name]

    def resume(kept: Any, total: Any) -> Any:
        return (*kept[2 : 2 + count].tolist(), total[0])

    def suspend(kept: Any, total: Any, registers: Any) -> None:
        kept[2 : 2 + count], total[0] = registers[:count], registers[count]

    known = {"np": np, "load": load, "store": store, "resume": resume, "suspend": suspend}
    return FunctionType(getattr(drivers, driver).__code__, known | names)


class Periodic:
    """Sliding windows that share slices."""

    def __init__(self, specs: list[Sliding], core: Core, begin: int) -> None:
        """From tick `begin` on."""
        self.slicing, self.at = union(specs), begin
        self.slides = []
        for spec in specs:
            slices = self.slicing.most_between(0, spec.range)
            if slices > MOST_SLICES:
                raise PlanTooLarge(f"{spec.name} would hold {slices:,} slices, more than {MOST_SLICES:,}")
            self.slides.append(Slide(spec, core.values, core.tick, slices))

    def edges(self, until: int, tick: int) -> Array:
        """The tick `at`, and the ends of all slices after it and up to `until`."""
        period = self.slicing.period // tick
        offsets = np.array(self.slicing.edges, dtype=np.int64) // tick
        turns = np.arange((self.at // period - 1) * period + offsets[0], until + 1, period)
        found = turns if len(offsets) == 1 else (turns[:, None] + (offsets - offsets[0])).reshape(-1)
        first, stop = np.searchsorted(found, [self.at, until], side="right").tolist()
        found[first - 1] = self.at
        return found[first - 1 : stop]

    def advance(self, core: Core, until: int) -> list[Closed]:
        """All windows that end up to this tick."""
        closed, done = [slide.coming(until) for slide in self.slides], [0] * len(self.slides)
        period = self.slicing.period // core.tick
        step = max(AT_ONCE // len(self.slicing.edges), 1) * period
        while self.at < until:
            stop = (self.at // period) * period + step
            edges = self.edges(min(until, stop), core.tick)
            if len(edges) > 1:
                states, filled = states_of(core, edges)
                self.at = int(edges[-1])
                for k, slide in enumerate(self.slides):
                    done[k] = slide.over(edges, states, filled, closed[k], done[k])
            elif stop >= until:
                break
            else:
                self.at = stop
        return closed


def states_of(core: Core, edges: Array) -> tuple[Array, Array]:
    """The aggregates of the only key between edges, all of finished ticks; before the wheel began, there is nothing."""
    count = len(edges) - 1
    states, ok = np.empty(count, dtype=core.dtype), np.empty(count, dtype=np.int64)
    core.values.work.run("cut", core.view, core.known(), edges, core.room_for_plans(), ok, states)
    return states, ok


@dataclass
class Sessions:
    """The sessions of one spec."""

    spec: Session
    place: Array = field(default_factory=lambda: np.zeros(5, dtype=np.int64))
    """See `sessions` in sessions.py; behind that the first tick of a session that is not to be returned."""
    total: Any = None

    def begin(self, core: Core, tick: int) -> None:
        """Begin with the ticks that are kept from this one on.

        A session at their very beginning may have begun earlier, when nobody looked: it is left out.
        """
        self.place[0], self.place[4] = tick, n.NONE
        self.advance(core, core.watermark)
        if tick > core.first and self.place[1] and (self.place[2] - tick) * core.tick <= self.spec.gap:
            self.place[4] = self.place[2]

    def advance(self, core: Core, until: int) -> list[Closed]:
        if self.total is None:
            self.total = np.zeros(1, dtype=core.dtype)
        most = until - int(self.place[0])
        rows = core.rows_since(int(self.place[0]))
        count = min(most, rows) + 2
        spans, out = np.empty(2 * count, dtype=np.int64), np.empty(count, dtype=core.dtype)
        known = core.tick, self.spec.gap, until, self.total, spans, out
        found = core.values.work.run("sessions", core.view, self.place, *known)
        whole = spans[: 2 * found : 2] != self.place[4]
        starts, lasts = (spans[k : 2 * found : 2][whole] * core.tick for k in range(2))
        states, values = out[:found][whole], core.values.room(len(starts))
        closed = Closed(self.spec.name, starts, lasts + self.spec.gap, values, np.ones(len(starts), dtype=bool))
        lower(core.values, states, closed.ok, values)
        return [closed]


class Windows:
    """All windows of a wheel."""

    def __init__(self, tick: int) -> None:
        self.tick = tick
        self.specs: dict[str, Spec] = {}
        self.starts: dict[str, int] = {}
        """The tick at which the first window of each spec begins."""
        self.groups: list[Periodic] = []
        self.sessions: list[Sessions] = []

    def widen(self, values: Values, widen: Any) -> None:
        """States are wide from now on."""
        for slide in (slide for group in self.groups for slide in group.slides):
            slide.values, slide.states, slide.total = values, widen(slide.states), widen(slide.total)
        for session in self.sessions:
            session.total = widen(session.total) if session.total is not None else None

    def check(self, spec: Any) -> None:
        """Refuse what a wheel can't do."""
        if not isinstance(spec, (Sliding, Session)):
            raise Unsupported(
                f"a wheel has sliding, tumbling and session windows, not {getattr(spec, 'name', spec)!r}: "
                f"use sw.query for windows that need single rows"
            )
        if spec.name in self.specs:
            raise InvalidArgument(f"this wheel has a window {spec.name!r} already: give the new one another name=")
        if isinstance(spec, Sliding):
            for what in ("range", "every", "offset"):
                if getattr(spec, what) % self.tick:
                    raise InvalidArgument(
                        f"{spec.name}: {what} is {format_duration(getattr(spec, what))}, which is not a whole number "
                        f"of ticks of {format_duration(self.tick)}"
                    )

    def add(self, spec: Spec, core: Core) -> None:
        """A window from now on: the first that ends after the watermark and whose time is still kept."""
        kept = int(core.book[0, n.KEPT])
        kept = core.first if kept <= core.first else kept
        if isinstance(spec, Sliding):
            first = spec.first_end_after(core.watermark * self.tick)
            if kept > core.first:
                first = max(first, -((spec.offset - kept * self.tick) // spec.every))
            self.starts[spec.name] = spec.start(first) // self.tick
        else:
            self.starts[spec.name] = kept
        self.specs[spec.name] = spec
        if isinstance(spec, Session):
            made = Sessions(spec)
            made.begin(core, kept)
            self.sessions.append(made)
            return
        self.groups = self._grouped(core, core.watermark)
        for group in self.groups:
            group.advance(core, core.watermark)

    @property
    def longest(self) -> int:
        """The ticks that windows need to be kept."""
        return max([s.range // self.tick for s in self.specs.values() if isinstance(s, Sliding)], default=0)

    def build(self, core: Core, until: int) -> None:
        """Make all of it anew from the wheel's slots, as it is at this tick."""
        self._lay_out(core, until)
        parts: list[Any] = [*self.groups, *self.sessions]
        for part in parts:
            part.advance(core, until)

    def _grouped(self, core: Core, until: int) -> list[Periodic]:
        """The sliding windows in groups that share slices, as they are after a watermark."""
        periodic = [spec for spec in self.specs.values() if isinstance(spec, Sliding)]
        groups = []
        for places in shared(periodic) if periodic else []:
            specs = [periodic[k] for k in places]
            begin = min(min(self._next(spec, until) for spec in specs), until)
            group = Periodic(specs, core, begin)
            for slide, own in zip(group.slides, specs, strict=True):
                slide.kept[0] = self._next(own, until)
            groups.append(group)
        return groups

    def _lay_out(self, core: Core, until: int) -> None:
        self.groups, self.sessions = self._grouped(core, until), []
        for spec in self.specs.values():
            if isinstance(spec, Session):
                made = Sessions(spec)
                made.place[0], made.place[4] = self.starts[spec.name], n.NONE
                self.sessions.append(made)

    def _next(self, spec: Sliding, until: int) -> int:
        """The start of the next window of a spec, after a watermark."""
        return max(self.starts[spec.name], spec.start(spec.first_end_after(until * self.tick)) // self.tick)

    def oldest(self, until: int) -> int | None:
        """The first tick that the windows after this watermark need; None if there are none."""
        needed = [self._next(spec, until) for spec in self.specs.values() if isinstance(spec, Sliding)]
        needed += [self.starts[spec.name] for spec in self.specs.values() if isinstance(spec, Session)]
        return min([*needed, until]) if needed else None

    def write(self, writer: Writer) -> dict[str, Any]:
        """All that is under way; returns the facts that belong to it."""
        slides, sessions = [], []
        for g, group in enumerate(self.groups):
            for k, slide in enumerate(group.slides):
                name = f"window {g} {k}"
                writer.add(f"{name}/ring", columns_bytes(slide.marks, slide.begins))
                writer.add(f"{name}/states", states_bytes(np.concatenate([slide.states, slide.total])))
                slides.append([slide.kept.tolist(), slide.fresh])
        for k, session in enumerate(self.sessions):
            writer.add(f"session {k}", states_bytes(session.total if session.total is not None else np.empty(0)))
            sessions.append([session.place.tolist(), session.total is not None])
        return {
            "specs": [spec.to_dict() for spec in self.specs.values()],
            "starts": self.starts,
            "at": [group.at for group in self.groups],
            "slides": slides,
            "sessions": sessions,
        }

    def read(self, reader: Any, facts: dict[str, Any], core: Core) -> None:
        """What `write` has written."""
        self.specs = {spec["name"]: from_dict(spec) for spec in facts["specs"]}
        self.starts = facts["starts"]
        self._lay_out(core, core.watermark)
        slides = iter(facts["slides"])
        for g, (group, at) in enumerate(zip(self.groups, facts["at"], strict=True)):
            group.at = at
            for k, slide in enumerate(group.slides):
                kept, slide.fresh = next(slides)
                slide.kept[:] = kept
                slide.marks, slide.begins = read_columns(reader[f"window {g} {k}/ring"], 2)
                states = read_states(reader[f"window {g} {k}/states"], core.dtype, reader.trusted)
                slide.states, slide.total = states[:-1].copy(), states[-1:].copy()
        for k, (session, (place, there)) in enumerate(zip(self.sessions, facts["sessions"], strict=True)):
            session.place[:] = place
            session.total = read_states(reader[f"session {k}"], core.dtype, reader.trusted) if there else None

    def refuse_too_many(self, until: int) -> None:
        count = sum(slide.due(until) for group in self.groups for slide in group.slides)
        if count > MOST_WINDOWS:
            raise PlanTooLarge(
                f"{count:,} windows would be complete, more than {MOST_WINDOWS:,} at once: advance in smaller steps"
            )

    def advance(self, core: Core, until: int) -> list[Closed]:
        """What is complete at this tick."""
        parts: list[Any] = [*self.groups, *self.sessions]
        return [closed for part in parts for closed in part.advance(core, until) if len(closed.starts)]

    def order(self, closed: list[Closed]) -> Array:
        """By end, then in the order of the specs, then by start."""
        if len({c.name for c in closed}) == 1 and not self.sessions:
            return np.arange(sum(len(c.starts) for c in closed))
        ranks = {name: k for k, name in enumerate(self.specs)}
        which = np.concatenate([np.full(len(c.starts), ranks[c.name]) for c in closed])
        return np.lexsort((np.concatenate([c.starts for c in closed]), which, np.concatenate([c.ends for c in closed])))


def results(closed: list[Closed], values: Values, order: Array) -> Iterator[WindowResult]:
    """One by one, in this order."""
    found = [
        WindowResult(c.name, *three)
        for c in closed
        for three in zip(c.starts.tolist(), c.ends.tolist(), values.listed(c.values, c.ok), strict=True)
    ]
    return (found[k] for k in order.tolist())
