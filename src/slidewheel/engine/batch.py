"""Windows over finished columns: choose the algorithm, run it compiled or interpreted, in parts for two threads."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Function, Monoid
from slidewheel.engine.columns import Array, Column, read_only
from slidewheel.engine.threads import in_parallel
from slidewheel.errors import InvalidTime, Unsupported
from slidewheel.swag import registry
from slidewheel.swag.window import window
from slidewheel.windows.bounds import ByCount, ByTime, earliest_row, likely_length, time_frame

FEWEST_DIGITS = 1e-5
"""A spread that is smaller than this part of the values would lose more than five digits in a graded form."""
SAFE_TO_SQUARE = 1e150
ENOUGH_FOR_TWO = 1 << 18
"""Rows from which a second thread pays."""


@dataclass(frozen=True)
class CountFrame:
    """For each row the `length` rows that end `shift` rows before it (0: with it)."""

    rows: int
    length: int
    shift: int

    bounds = ByCount

    @property
    def given(self) -> tuple[Any, ...]:
        return self.length, self.shift

    def likely_length(self) -> int:
        return self.length

    def first_row(self, row: int) -> int:
        return max(row + 1 - self.shift - self.length, 0)


@dataclass(frozen=True)
class TimeFrame:
    """For each row the rows of the last `span` microseconds."""

    rows: int
    times: Array
    span: int
    closed: str

    bounds = ByTime

    @property
    def given(self) -> tuple[Any, ...]:
        return time_frame(read_only(self.times), self.span, self.closed)

    def likely_length(self) -> int:
        return likely_length(self.times, self.span)

    def first_row(self, row: int) -> int:
        return earliest_row(self.times, self.span, row) if row > 0 else 0


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
        data, kinds = (read_only(aggregate.prepare(columns[0].as_given())),), ("hash",)
    elif aggregate.verbatim and columns[0].dtype.kind not in "iuf":
        kinds = ("O",)
    chosen = choose(aggregate, kinds, algorithm)
    card = registry.BLOCKS.CARD if chosen == "blocks" else registry.algorithm(chosen).CARD
    monoid = aggregate.monoid(*kinds, invertible="inverse" in card.needs)
    if monoid.state is None or "O" in kinds or not card.compiled:
        if chosen == "blocks":
            raise Unsupported(f"blocks is compiled, and {aggregate.name} of these values is not; use algorithm='auto'")
        return _interpreted(aggregate, columns, frame, least, chosen)
    valid = _all_valid(columns) if aggregate.skips_nulls else None
    batch = _Batch(data, valid, frame, max(least, monoid.least), monoid)
    fixed = chosen == "blocks" and isinstance(frame, CountFrame)
    values, ok = batch.blocks() if fixed else batch.roll(chosen)
    if aggregate.finish is not None:
        values = aggregate.finish(values)
    return Answers(values, ok, monoid.result == "like0")


def choose(aggregate: Aggregate, kinds: tuple[str, ...], algorithm: str = "auto") -> str:
    """The algorithm for a finished array: blocks wherever it can be compiled (`make bench`, suite `rolling`)."""
    if algorithm != "auto":
        return algorithm
    monoid = aggregate.monoid(*kinds)
    return registry.choose(aggregate)[0] if monoid.state is None or "O" in kinds else "blocks"


@dataclass(frozen=True)
class _Batch:
    columns: tuple[Array, ...]
    valid: Array | None
    frame: Any
    least: int
    monoid: Monoid

    def blocks(self) -> tuple[Array, Array | None]:
        graded = self.monoid.graded
        if graded is None or self.valid is not None:
            return self._blocks(self.monoid)
        out, ok = self._blocks(graded)
        if graded.spread is None or self._exact_enough(out, graded.spread):
            return out, ok
        return self._blocks(self.monoid)

    def _exact_enough(self, out: Array, spread: Function) -> bool:
        """Whether a graded form, which is fast, has kept its digits everywhere."""
        smallest, largest = [], []

        def look(part: tuple[int, int]) -> None:
            lo, hi = part
            smallest.append(_smallest_positive(out[max(lo, self.least - 1) : hi]))
            largest.append(_largest_finite(self.columns[0][lo:hi]))

        in_parallel(look, _parts(self.frame.rows, 0))
        return bool(spread(min(smallest)) >= FEWEST_DIGITS * max(largest)) and max(largest) <= SAFE_TO_SQUARE

    def _blocks(self, form: Monoid) -> tuple[Array, Array | None]:
        from slidewheel.compiler import kernels

        rows, length, shift = self.frame.rows, self.frame.length, self.frame.shift
        assert form.state is not None
        kernel = kernels.kernel(registry.BLOCKS, form)
        out = self._room(kernel)
        ok = None if self.valid is None else np.zeros(rows, dtype=bool)
        asked = rows - shift  # the last answers would be moved out of sight
        if length >= max(self.least, 1) and asked > 0:
            inverses = _inverses(length) if form.graded_form else np.zeros(1)

            def run(part: tuple[int, int]) -> None:
                scratch = np.empty((4, length), dtype=form.state)
                known = (length, *part, self.least, inverses, out, ok)
                kernel.run("blocks", self.columns, self.valid, *known, *scratch)

            in_parallel(run, _parts(asked, length, multiple=length))
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

        module = registry.BLOCKS if algorithm == "blocks" else registry.algorithm(algorithm)
        rows, frame = self.frame.rows, self.frame
        kernel = kernels.kernel(module, self.monoid, frame.bounds)
        out, ok = self._room(kernel), np.empty(rows, dtype=bool)
        if rows == 0:
            return out, ok
        length = frame.likely_length()
        card, state, given = module.CARD, self.monoid.state, frame.given
        assert state is not None
        driver = "varying_blocks" if algorithm == "blocks" else "roll"

        def run(part: tuple[int, int]) -> None:
            row, stop = part
            slots = 1 << max(length - 1, 0).bit_length()
            while row < stop:
                states = layout.allocate(state, card.states(slots), self.monoid.identity)
                links = np.zeros(card.links(slots), dtype=np.int64)
                memory = (states,) if algorithm == "blocks" else (states, links, slots - 1)
                known = (given, row, stop, frame.first_row(row), self.least, out, ok)
                row = kernel.run(driver, self.columns, self.valid, *known, *memory)
                if row < 0:
                    raise out_of_order(-1 - row)
                slots *= 2  # where the window has outgrown its memory, go on from that row with more

        in_parallel(run, _parts(rows, length))
        return out, ok

    def _room(self, kernel: Any) -> Array:
        """Where the answers go."""
        rows, result = self.frame.rows, self.monoid.result
        if result == "like0":
            return np.empty(rows, dtype=self.columns[0].dtype)
        if result != "":
            return np.empty(rows, dtype=result)
        columns, row = self.columns, 0 if self.valid is None else int(np.argmax(self.valid))
        if rows == 0 or (self.valid is not None and not self.valid.any()):  # no row to try it with
            columns, row = tuple(np.ones(1, dtype=c.dtype) for c in columns), 0
            columns = tuple(map(read_only, columns))
        dtype, shape = kernel.answer_like(columns, row)
        return np.zeros((rows, *shape), dtype=dtype)


def _inverses(length: int) -> Array:
    """1 / n for n up to length; 1 / 0 is never used."""
    counts = np.arange(length + 1.0)
    counts[0] = 1.0
    return 1.0 / counts


def _smallest_positive(answers: Array) -> float:
    smallest = answers.min(initial=np.inf)
    return float(smallest if smallest > 0.0 else answers[answers > 0.0].min(initial=np.inf))


def _largest_finite(values: Array) -> float:
    largest = max(abs(float(values.min(initial=0))), abs(float(values.max(initial=0))))
    return largest if largest < np.inf else float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _parts(rows: int, length: int, multiple: int = 1) -> list[tuple[int, int]]:
    """The rows in parts for two threads, or in one where that does not pay.

    There are more parts than threads, as the second one may be late, but few enough that the windows which each part
    has to catch up on are a small share of it. Parts start at a multiple, and do not depend on the machine.
    """
    if rows < ENOUGH_FOR_TWO or rows < 4 * length:
        return [(0, rows)]
    count = max(2, rows // max(ENOUGH_FOR_TWO, 8 * length))
    cuts = [rows * k // count // multiple * multiple for k in range(count)] + [rows]
    return [(lo, hi) for lo, hi in pairwise(cuts) if lo < hi]


def out_of_order(row: int) -> InvalidTime:
    return InvalidTime(
        f"times must not go back, but row {row} is earlier than row {row - 1}; sort the rows by time first"
    )


def _all_valid(columns: tuple[Column, ...]) -> Array | None:
    masks = [column.valid for column in columns if column.valid is not None]
    return None if not masks else read_only(np.logical_and.reduce(masks))


def _interpreted(
    aggregate: Aggregate, columns: tuple[Column, ...], frame: Frame, least: int, algorithm: str
) -> Answers:
    """For states or values that are Python objects."""
    kinds = ["hash"] if aggregate.prepare is not None else [column.kind for column in columns]
    result = aggregate.monoid(*([] if "O" in kinds else kinds)).result
    like = result == "like0" and columns[0].kind != "O"
    values: list[Any] = columns[0].values(plain=like)
    if len(columns) == 2:
        pairs = zip(values, columns[1].values(), strict=True)
        needs_both = not aggregate.positional
        values = [None if v is None or (needs_both and a is None) else (v, a) for v, a in pairs]
    live = window(aggregate, algorithm)
    if not aggregate.skips_nulls:
        values = [0] * len(values)
    found: list[Any] = []
    given = frame.given
    bounds: Any = frame.bounds
    front = end = held = 0
    for i in range(frame.rows):
        if not bounds.in_order(given, i):
            raise out_of_order(i)
        while front < end and bounds.leaves(given, front, i):
            held -= values[front] is not None
            live.evict()
            front += 1
        while front == end and end < frame.rows and bounds.enters(given, end, i) and bounds.leaves(given, end, i):
            front += 1
            end += 1
        try:
            while end < frame.rows and bounds.enters(given, end, i):
                live.insert(values[end])
                held += values[end] is not None
                end += 1
            found.append(live.query() if held >= least else None)
        except TypeError as error:
            if not aggregate.built_in:
                raise
            raise Unsupported(f"{aggregate.name} can't take the values up to row {end}: {error}") from None
    ok = np.array([answer is not None for answer in found], dtype=bool)
    if like or result in ("i8", "f8"):
        numbers = [0 if answer is None else answer for answer in found]
        return Answers(np.array(numbers, dtype=columns[0].data.dtype if like else result), ok, like)
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return Answers(out, ok, False)
