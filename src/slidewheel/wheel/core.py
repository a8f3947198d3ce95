"""The state of a wheel: what is finished, in its memory, and the ring and the overflow wheel of the writer.

Whoever reads holds a view: the arrays, and copies of what the writer changes. Rows are only appended, and where they
must move, they move to a new table. So a view stays right whatever the writer does, and never shows half an advance.
"""

import copy as copying
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.components import copy
from slidewheel.wheel import names as n
from slidewheel.wheel.levels import Level
from slidewheel.wheel.memory import SLACK, Memory
from slidewheel.wheel.overflow import STEPS, WAYS
from slidewheel.wheel.planner import COUNTS, EXACT
from slidewheel.wheel.reader import BATCH
from slidewheel.wheel.taking import AT_ONCE
from slidewheel.wheel.values import Values

PIECE = 1 << 17
"""Rows that are ingested at a time."""
LAG = 1024
"""Ticks that may wait in the ring after the watermark has passed them, to be finished together."""
LARGE = 64
"""States of more bytes than this are finished at once."""


Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """A method that writes: one thread after the other."""

    @wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._writing:
            return method(self, *arguments, **named)

    return cast(Method, alone)


class Core(Memory):
    """One aggregate's states for `width` keys, finished and not."""

    def __init__(self, values: Values, levels: Sequence[Level], tick: int, start: int, ahead: int, width: int) -> None:
        super().__init__(values, levels, tick, start, width)
        self.threshold = 0
        """The longest scan of one level that is preferred to fewer combines."""
        self.clock = np.zeros(n.CLOCK, dtype=np.int64)
        self.clock[[n.WATERMARK, n.START, n.GREATEST, n.FREE]] = start, start, start * tick, -1
        self.clock[n.AHEAD] = ahead
        size = ahead + (0 if values.keyed or self.dtype.itemsize > LARGE else LAG)
        self.ring = self._states(size * width)
        self.ring[:] = self._identity()
        self.filled = np.zeros(size * width, dtype=np.uint8)
        self.used = np.zeros(size, dtype=np.uint8)
        """Which states of the ring hold something, and which of its slots; that is the same for a single key, so that
        only `used` says it."""
        self.heads = np.full(WAYS * STEPS, -1, dtype=np.int64)
        self.tails = np.full(WAYS * STEPS, -1, dtype=np.int64)
        self._empty_pool()
        self.reserve(0, 1)
        self.tidy()

    @property
    def watermark(self) -> int:
        """In ticks."""
        return int(self.clock[n.WATERMARK])

    @property
    def first(self) -> int:
        return int(self.clock[n.START])

    @property
    def weight(self) -> int:
        """What the magnitudes of all inputs add up to at most, as long as states are narrow."""
        return int(self.clock[n.WEIGHT])

    def spare(self) -> tuple[Array, Array]:
        """A state to work with, and its words."""
        state = self._states(1)
        whole = self.dtype != object and self.dtype.itemsize % 8 == 0
        return state, state.view(np.int64).reshape(-1) if whole else np.zeros(1, dtype=np.int64)

    @property
    def live(self) -> tuple[Any, ...]:
        """The view of the writer."""
        memory = self.table, self.bits, self.packed, self.gaps, self.book, self.rates, self.totals, self.held
        return (*memory, *self.spare())

    @property
    def feed(self) -> tuple[Any, ...]:
        overflow = self.heads, self.tails, self.follows, self.when, self.whose, self.waiting
        near = np.empty(2 * AT_ONCE, dtype=np.int64)
        return (self.clock, self.ring, self.filled, self.used, *overflow, self.spare()[0], near)

    def copy(self) -> "Core":
        """Another one with the same contents."""
        twin = copying.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(twin, name, value.copy())
        twin.blocks = [copying.copy(blocks) for blocks in self.blocks]
        return twin

    @property
    def size_to_keep(self) -> int:
        """How many words `kept` has to copy, or nearly so."""
        return int(self.ring.nbytes) // 8 + len(self.when)

    def kept(self) -> dict[str, Any]:
        """All that `ingest` changes, to go back to: of finished slots only their number, as none is ever changed."""
        names = ("clock", "ring", "filled", "used", "heads", "tails", "follows", "when", "whose", "waiting")
        return vars(self) | {name: getattr(self, name).copy() for name in (*names, "book", "totals", "held")}

    def go_back(self, kept: dict[str, Any]) -> None:
        """Be as when this was kept."""
        vars(self).update(kept)
        for line, room in zip(self.book, self.room, strict=True):
            first = int(line[n.MARKS] + line[n.ROWS] * self.width)
            last = int(line[n.MARKS] + (room + line[n.PACKED]) * self.width) // 64 + 2
            self.bits[first // 64] &= np.uint64((1 << first % 64) - 1)
            self.bits[first // 64 + 1 : last] = 0

    def wide(self) -> "Core":
        """The same with wide states; to be used in place of this one."""
        twin, widen = copying.copy(self), self.values.widen
        assert widen is not None
        twin.values = self.values.wide()
        twin.dtype = twin.values.work.dtype
        for name in ("table", "totals", "ring", "waiting"):
            setattr(twin, name, widen(getattr(self, name)))
        twin.publish()
        return twin

    def tidy(self) -> None:
        """Forget what is not to be kept, compress what is, and show it to readers."""
        if self.clock[n.WAITING] == 0 and len(self.when):
            self._empty_pool()
        self._forget(self.watermark)
        self._pack()
        self.publish()

    def publish(self) -> None:
        """Let readers see what is finished."""
        memory = self.table, self.bits, self.packed, self.gaps, self.book.copy(), self.rates
        self.view = (*memory, self.totals.copy(), self.held.copy(), *self.spare())

    def known(self) -> tuple[Any, ...]:
        """What all questions share: the first tick, the watermark, what layout and aggregate allow, the hint, whether
        each level has a row for each of its slots and they can be counted, and how many levels have a total."""
        values, now, finest = self.values, self.watermark, self.book[0].tolist()
        inverse = 0
        if values.monoid.inverse is not None:  # used without being named only where it is exact, or was asked for
            inverse = (COUNTS if values.counts else EXACT) if values.exact or self.prefixed else 1
        near = self.first >= 0 and now < n.MOST_TICKS
        whole = near and not self.forgets and finest[n.GAPS] == 0 and finest[n.NEXT] == now
        running = int(np.count_nonzero(self.book[:, n.OPEN] != n.NONE))
        commutative = values.aggregate.commutative
        return self.first, now, self.prefixed, inverse, commutative, self.threshold, whole, running

    def room_for_plans(self) -> tuple[Array, Array, Array]:
        """Memory for the parts of a plan, their numbers, and parts once more.

        Before and behind each of them lies as much as two lines of cache, which threads would take from each other.
        """
        levels = len(self.levels)
        parts, numbers, own = max(3 * (6 * levels + 3), 2 * BATCH + 1), 3 + 2 * levels, 3 * (2 * levels + 1)
        second, third = parts + 32, parts + numbers + 48
        memory = np.zeros(third + own + 16, dtype=np.int64)
        return memory[16 : 16 + parts], memory[second : second + numbers], memory[third : third + own]

    def desk(self, view: tuple[Any, ...], known: tuple[Any, ...]) -> tuple[Array, Any]:
        """What a single question needs (see desk.py), and the arrays that have to live as long as it is used."""
        held = (*view[:8], *self.spare(), *self.room_for_plans())
        places = [number for array in held for number in (array.__array_interface__["data"][0], array.size)]
        return np.array([*places, self.tick, *known], dtype=np.int64), held

    def rows_since(self, tick: int) -> int:
        """Rows of the finest level from this tick on."""
        return int(self.book[0, n.ROWS]) - self.row_of(self.book[0], tick)

    def rows(self, level: int, since: int) -> tuple[Array, Array, Array]:
        """The slots of a level from this one on that hold something: numbers, states, and which keys they hold."""
        line = self.book[level]
        count = max(int(line[n.ROWS]) - self.row_of(line, since), 0)
        slots, states = np.empty(count, dtype=np.int64), self._states(count * self.width)
        filled = np.zeros((count + 1) * self.width, dtype=np.uint8)
        found = self.values.work.run("take_rows", self.live, self.width, level, since, slots, states, filled)
        return slots[:found], states[: found * self.width], filled[: found * self.width]

    def put_rows(self, level: int, slots: Array, states: Array, filled: Array) -> None:
        """Rows of a level that has none."""
        if len(slots):
            line, sizes, gaps = self.book[level], list(self.room), list(self.gap_room)
            span = int(slots[-1] - line[n.NEXT]) + 1
            sizes[level] = min(span, n.SHORTEST_GAP * len(slots)) + 1
            gaps[level] = min(len(slots), span // n.SHORTEST_GAP + 1) + 1
            self._move(sizes, gaps, [0] * len(sizes))
            self.values.work.run("put_rows", self.live, self.width, level, slots, states, filled)

    def put_finished(self, slots: Array, states: Array, filled: Array, watermark: int) -> None:
        """Finished ticks after the watermark, from another wheel, and the watermark itself."""
        self.reserve(watermark - self.watermark, len(slots) + 1)
        self.values.work.run("put_finished", self.live, self.width, self.feed, slots, states, filled, watermark)

    def pending(self) -> tuple[Array, Array, Array]:
        """What is ahead of the watermark: ticks, keys and states; those of one tick in the order in which they came."""
        size = len(self.used)
        places = (int(self.clock[n.HEAD]) + np.arange(size)) % size
        ahead, codes = np.nonzero(self._holding().reshape(size, self.width)[places])
        near = self.ring[places[ahead] * self.width + codes]
        listed = []
        for head in self.heads[self.heads >= 0].tolist():
            while head >= 0:
                listed.append(head)
                head = int(self.follows[head])
        far = np.array(listed, dtype=np.int64)
        ticks = np.concatenate([self.watermark + ahead, self.when[far] + self.first])
        return ticks, np.concatenate([codes, self.whose[far]]), np.concatenate([near, self.waiting[far]])

    def put_pending(self, ticks: Array, codes: Array, states: Array) -> None:
        """The same from another wheel; none of the ticks may be finished here."""
        if len(ticks):
            self.reserve_pool(len(ticks))
            self.values.work.run("put_pending", self.width, self.feed, ticks, codes, states)

    @property
    def nbytes(self) -> int:
        """All of its memory."""
        arrays = [*self.live[:8], *self.feed[:10]]
        return sum(int(array.nbytes) for array in arrays) + sum(
            b.directory.nbytes + b.words.nbytes for b in self.blocks
        )

    def ingest(
        self,
        columns: Any,
        valid: Any,
        times: Array,
        codes: Any,
        every: int = 0,
        delay: int = 0,
        greatest: int = 0,
        done: int = 0,
    ) -> int:
        """Add rows, with a watermark after each `every` of them (0: none); `greatest` is their greatest time.

        Rows before `done` are in already. Returns how many are in now: not all if a time is greater than that, or if
        states would have to be wide. Where a time behind which the last watermark is due is greater, all are in, and
        that is still `due`.
        """
        rows = len(times)
        greatest = max(greatest, int(self.clock[n.GREATEST]))
        ticks = max((greatest - delay) // self.tick - self.watermark, 0) if every else 0
        limit, dense = self.watermark + ticks, ticks <= n.SHORTEST_GAP * rows
        if dense:
            self.reserve(ticks, rows)
        while done < rows or self.due(every):
            last = min(rows, done + PIECE)
            self.reserve_pool(last - done)
            if not dense:
                self.reserve(ticks, last - done)
            known = every, delay, self.watermark, limit, self.tick, 1.0 / self.tick, self.live, self.width, self.feed
            done = self.values.work.ingest(columns, valid, times, codes, done, last, *known)
            if done < last or self.due(every):
                break
        if self.clock[n.WAITING] == 0:
            self._empty_pool()
        self._trim()
        return done

    def due(self, every: int) -> bool:
        """Whether so many rows have come since the last watermark; 0 is never."""
        return bool(0 < every <= self.clock[n.SEEN])

    def _empty_pool(self) -> None:
        """No memory for an overflow wheel in which nothing waits."""
        self.follows, self.when, self.whose = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.waiting, self.clock[[n.FREE, n.FRESH]] = self._states(0), (-1, 0)

    def advance(self, watermark: int) -> None:
        """Finish all before this tick."""
        if watermark <= self.watermark:
            return
        if not (self.clock[n.USED] or self.clock[n.WAITING] or (self.book[:, n.OPEN] != n.NONE).any()):
            self.clock[n.WATERMARK] = watermark  # nothing has come yet
        else:
            self.reserve(watermark - self.watermark, 1)
            work, nothing = self.values.work, np.zeros(0, dtype=np.int64)
            codes = read_only(nothing) if self.values.keyed else None
            known = 0, 0, watermark, watermark, self.tick, 1.0 / self.tick, self.live, self.width, self.feed
            work.ingest(work.types, None, read_only(nothing), codes, 0, 0, *known)

    def reserve_pool(self, rows: int) -> None:
        """Room for as many more entries in the overflow wheel."""
        free = len(self.when) - int(self.clock[n.WAITING])
        if free >= rows:
            return
        known = len(self.when)
        count = max(int(self.clock[n.WAITING]) + rows, known + known // 2)
        for name in ("follows", "when", "whose", "waiting"):
            older = getattr(self, name)
            longer = np.empty(count, dtype=self.dtype if name == "waiting" else np.int64)
            copy(older, longer[:known])
            setattr(self, name, longer)

    def reserve(self, ticks: int, rows: int) -> None:
        """Room for what so many ticks may finish: rows that are here or wait, and up to 63 empty slots before each."""
        now, most = self.watermark, rows + int(self.clock[n.USED]) + int(self.clock[n.WAITING])
        least, short, sizes, gap_sizes = n.SHORTEST_GAP // self.width, False, [], []
        for line, room, gap_room in zip(self.book.tolist(), self.room, self.gap_room, strict=True):
            inside, gaps, done = line[n.ROWS] - line[n.PACKED], line[n.GAPS], now // line[n.LENGTH]
            behind = min(max(done - line[n.NEXT], 0), n.SHORTEST_GAP)
            span = (now + ticks) // line[n.LENGTH] - done + behind
            more, more_gaps = min(span, n.SHORTEST_GAP * (most + 1)), min(most, span // n.SHORTEST_GAP + 1) + 1
            short |= inside + more > room or gaps + more_gaps > gap_room
            sizes.append(inside + more + max(inside // SLACK, least))
            gap_sizes.append(gaps + more_gaps + gaps // 2)
        if short:
            self._move(sizes, gap_sizes, [0] * len(sizes))

    def _holding(self) -> Array:
        """Which states of the ring hold something."""
        return self.used if self.width == 1 else self.filled

    def widen(self, width: int) -> None:
        """Make room for more keys."""
        if width <= self.width:
            return
        was = self.width
        for name, rows in (("ring", len(self.used)), ("totals", len(self.levels))):
            older = getattr(self, name)
            longer = np.empty(rows * width, dtype=self.dtype)
            longer[:] = self._identity()
            shape = rows, width, *longer.shape[1:]
            longer.reshape(shape)[:, :was] = older.reshape(rows, was, *longer.shape[1:])
            setattr(self, name, longer)
        for name, older in (("filled", self._holding()), ("held", self.held)):
            flags = np.zeros((len(older) // was, width), dtype=np.uint8)
            flags[:, :was] = older.reshape(-1, was)
            setattr(self, name, flags.reshape(-1))
        self._move(self._tight([0] * len(self.levels)), self.gap_room, [0] * len(self.levels), width)
