"""Windows over finished columns: choose the algorithm, run it compiled or interpreted, in one or two parts."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid
from slidewheel.engine.columns import Array, Column
from slidewheel.errors import InvalidArgument
from slidewheel.swag import registry
from slidewheel.swag.window import window

ENOUGH_FOR_TWO = 1 << 16
"""Rows from which a second thread pays."""


@dataclass(frozen=True)
class CountFrame:
    """For each row the `length` rows that end `shift` rows before it (0: with it)."""

    rows: int
    length: int
    shift: int

    def bounds(self) -> tuple[Array, Array, int]:
        from slidewheel.windows import bounds

        return bounds.by_count(self.rows, self.length, self.shift)


@dataclass(frozen=True)
class TimeFrame:
    """For each row the rows of the last `span` microseconds."""

    rows: int
    times: Array
    span: int
    closed: str

    def bounds(self) -> tuple[Array, Array, int]:
        from slidewheel.windows import bounds

        return bounds.by_time(self.times, self.span, self.closed)


Frame = CountFrame | TimeFrame


@dataclass(frozen=True)
class Answers:
    values: Array
    ok: Array | None
    """True where there is an answer; None where all rows have one."""
    like_input: bool


def answers(aggregate: Aggregate, columns: tuple[Column, ...], frame: Frame, least: int, algorithm: str) -> Answers:
    """One answer per row."""
    data = tuple(column.data for column in columns)
    kinds = tuple(column.kind for column in columns)
    if aggregate.prepare is not None:
        data, kinds = (_read_only(aggregate.prepare(data[0])),), ("hash",)
    chosen = choose(aggregate, kinds, frame, algorithm)
    if chosen == "blocks" and not isinstance(frame, CountFrame):
        raise InvalidArgument("blocks only does windows of a fixed number of rows; use size=..., or another algorithm")
    card = registry.BLOCKS.CARD if chosen == "blocks" else registry.algorithm(chosen).CARD
    monoid = aggregate.monoid(*kinds, invertible="inverse" in card.needs)
    if monoid.state is None or "O" in kinds or not card.compiled:
        return _interpreted(aggregate, columns, frame, least, chosen)
    valid = _all_valid(columns) if aggregate.skips_nulls else None
    batch = _Batch(data, valid, frame, max(least, monoid.least), monoid)
    values, ok = batch.blocks() if chosen == "blocks" else batch.roll(chosen)
    if aggregate.finish is not None:
        values = aggregate.finish(values)
    return Answers(values, ok, monoid.result == "like0")


def choose(aggregate: Aggregate, kinds: tuple[str, ...], frame: Frame, algorithm: str = "auto") -> str:
    """The algorithm for a finished array.

    From `make bench` (suites `algorithms` and `rolling`): blocks is the fastest for a fixed number of rows;
    subtraction is where it is exact and the windows vary; else Two-Stacks Lite.
    """
    if algorithm != "auto":
        return algorithm
    monoid = aggregate.monoid(*kinds)
    if monoid.state is None or "O" in kinds:
        return registry.choose(aggregate)[0]
    if isinstance(frame, CountFrame):
        return "blocks"
    return "subtract_on_evict" if monoid.exactly_invertible else "two_stacks_lite"


@dataclass(frozen=True)
class _Batch:
    columns: tuple[Array, ...]
    valid: Array | None
    frame: Any
    least: int
    monoid: Monoid

    def blocks(self) -> tuple[Array, Array | None]:
        from slidewheel.compiler import kernels

        rows, length, shift = self.frame.rows, self.frame.length, self.frame.shift
        graded = self.monoid.graded is not None and self.valid is None
        form = self.monoid.graded if graded else self.monoid
        assert form is not None and form.state is not None
        kernel = kernels.kernel(registry.BLOCKS, form)
        out = self._room(kernel)
        ok = None if self.valid is None else np.empty(rows, dtype=bool)
        if length > 0 and rows > 0:
            inverses = _inverses(length) if graded else np.zeros(1)
            cut = rows // 2 // length * length
            parts = [(0, rows)] if rows < ENOUGH_FOR_TWO or 4 * length > rows else [(0, cut), (cut, rows)]

            def run(part: tuple[int, int]) -> None:
                scratch = np.empty((4, length), dtype=form.state)
                known = (length, *part, self.least, inverses, out, ok)
                kernel.run("blocks", self.columns, self.valid, *known, *scratch)

            _in_parallel(run, parts)
        short = max(self.least - 1, 0) if length >= self.least else rows
        return self._shifted(out, ok, short, shift if length > 0 else rows)

    def _shifted(self, out: Array, ok: Array | None, short: int, shift: int) -> tuple[Array, Array | None]:
        """Mark the windows that are too short, and move all answers down by `shift` rows."""
        rows = self.frame.rows
        if ok is None and short > 0:
            ok = np.ones(rows, dtype=bool)
            ok[:short] = False
        if shift == 0:
            return out, ok
        moved, has = np.empty_like(out), np.zeros(rows, dtype=bool)
        moved[shift:] = out[: max(rows - shift, 0)]
        has[shift:] = True if ok is None else ok[: max(rows - shift, 0)]
        if self.least == 0:
            moved[:shift], has[:shift] = self.monoid.lower(self.monoid.identity), True
        return moved, has

    def roll(self, algorithm: str) -> tuple[Array, Array | None]:
        from slidewheel.compiler import kernels, layout

        module, rows = registry.algorithm(algorithm), self.frame.rows
        kernel = kernels.kernel(module, self.monoid)
        out, ok = self._room(kernel), np.empty(rows, dtype=bool)
        if rows == 0:
            return out, ok
        starts, ends, most = self.frame.bounds()
        slots = 1 << max(most - 1, 0).bit_length()
        card, state = module.CARD, self.monoid.state
        assert state is not None
        cut = rows // 2
        parts = [(0, rows)] if rows < ENOUGH_FOR_TWO or 4 * most > rows else [(0, cut), (cut, rows)]

        def run(part: tuple[int, int]) -> None:
            lo, hi = part
            states = layout.allocate(state, card.states_per_slot * (slots + card.extra_slots), self.monoid.identity)
            links = np.zeros(card.links_per_slot * (slots + card.extra_slots) + card.extra_links, dtype=np.int64)
            window = (starts, ends, lo, hi, self.least, out, ok, states, links, slots - 1)
            kernel.run("roll", self.columns, self.valid, *window)

        _in_parallel(run, parts)
        return out, ok

    def _room(self, kernel: Any) -> Array:
        """Where the answers go."""
        state, result = self.monoid.state, self.monoid.result
        if state is not None and state.shape:
            return np.zeros((self.frame.rows, *state.shape), dtype=state.base)
        if result == "":
            return np.empty(self.frame.rows, dtype=kernel.result_dtype(self.columns))
        return np.empty(self.frame.rows, dtype=self.columns[0].dtype if result == "like0" else result)


def _inverses(length: int) -> Array:
    """1 / n for n up to length; 1 / 0 is never used."""
    counts = np.arange(length + 1.0)
    counts[0] = 1.0
    return 1.0 / counts


def _in_parallel(run: Any, parts: list[tuple[int, int]]) -> None:
    """The first part here, the second in a thread of its own: kernels do not hold the interpreter's lock."""
    if len(parts) == 1:
        return run(parts[0])  # type: ignore[no-any-return]
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(run, parts[1])
        run(parts[0])
        other.result()
    return None


def _all_valid(columns: tuple[Column, ...]) -> Array | None:
    masks = [column.valid for column in columns if column.valid is not None]
    return None if not masks else _read_only(np.logical_and.reduce(masks))


def _read_only(values: Array) -> Array:
    values = values.view()
    values.flags.writeable = False
    return values


def _interpreted(
    aggregate: Aggregate, columns: tuple[Column, ...], frame: Frame, least: int, algorithm: str
) -> Answers:
    """For states or values that are Python objects."""
    values: list[Any] = columns[0].values()
    if len(columns) == 2:
        pairs = zip(values, columns[1].values(), strict=True)
        null = None if aggregate.positional else any
        values = [None if v is None or (null and a is None) else (v, a) for v, a in pairs]
    monoid = aggregate.monoid()
    live = window(aggregate, algorithm)
    starts, ends, most = frame.bounds() if frame.rows else (np.empty(0, int), np.empty(0, int), 0)
    live.reserve(most)
    found: list[Any] = []
    front = end = held = 0
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        while front < first and front < end:
            held -= values[front] is not None
            live.evict()
            front += 1
        if front < first:
            front = end = first
        while end < last:
            live.insert(values[end])
            held += values[end] is not None
            end += 1
        found.append(live.query() if held >= least else None)
    ok = np.array([answer is not None for answer in found], dtype=bool)
    if monoid.result in ("i8", "f8"):
        numbers = [0 if answer is None else answer for answer in found]
        return Answers(np.array(numbers, dtype=monoid.result), ok, False)
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return Answers(out, ok, False)
