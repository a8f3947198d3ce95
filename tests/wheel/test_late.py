"""Late rows among others: they go through the same loop, and must leave nothing behind, not even an empty slot."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel.taking import AT_ONCE

NOW, AHEAD = 1000, 50
ROWS = 3 * AT_ONCE + 5
AGGREGATES = [sw.sum(), sw.std(), sw.first(), sw.max_count(), sw.concat(), sw.bloom()]
LONG = [sw.min(), sw.mean(), sw.count(), sw.last(), sw.argmax(), sw.span()]  # what has to be compiled for these alone
ALL = [*AGGREGATES, *(pytest.param(aggregate, marks=pytest.mark.slow) for aggregate in LONG)]
PATTERNS = {
    "all": np.ones(ROWS, dtype=bool),
    "none": np.zeros(ROWS, dtype=bool),
    "one in time": np.arange(ROWS) != AT_ONCE + 3,
    "one late": np.arange(ROWS) == AT_ONCE,
    "every other": np.arange(ROWS) % 2 == 0,
    "first batch": np.arange(ROWS) < AT_ONCE,
    "last rows": np.arange(ROWS) >= 3 * AT_ONCE,
}


def wheel_for(aggregate, kind):
    made = sw.Wheel(aggregate, start=NOW, tick=1, levels={"a": 7, "b": 5, "c": 3}, write_ahead=AHEAD, dtype=kind)
    made.insert_many([NOW + 2], column([1], kind))
    return made


def column(numbers, kind):
    return np.array([str(x) for x in numbers], dtype=object) if kind is object else np.array(numbers, dtype=kind)


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("aggregate", ALL, ids=lambda aggregate: aggregate.name)
def test_as_without_late_rows(aggregate, pattern, nulls):
    dice, late = np.random.default_rng(len(pattern)), PATTERNS[pattern]
    times = np.where(late, NOW - 1 - dice.integers(0, 300, ROWS), NOW + dice.integers(3, AHEAD, ROWS))
    kind = object if aggregate.name == "concat" else "f8" if aggregate.name == "std" else "i8"
    values, mask = column(dice.integers(-3, 4, ROWS), kind), dice.random(ROWS) < 0.2 if nulls else None
    one, other = wheel_for(aggregate, kind), wheel_for(aggregate, kind)
    assert one.insert_many(times, values, mask) == ROWS - late.sum() == ROWS - one.late
    other.insert_many(times[~late], values[~late], None if mask is None else mask[~late])
    for wheel in (one, other):
        wheel.advance_to(NOW + 2 * AHEAD)
    assert one.to_arrow().equals(other.to_arrow())
    assert one.late == late.sum() and other.late == 0
