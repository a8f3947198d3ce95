"""Rows with a watermark generator, whose slots are finished many at a time: as if each watermark were moved by hand."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel import core

LEVELS = {"a": 4, "b": 3, "c": 5, "d": 7}
EVERY, DELAY = 7, 11


def stream(character, rows, dice):
    """Times of rows as they come: nearly in order, with late ones, long runs of one tick, gaps, or far ahead."""
    steps = {"sparse": 3, "dense": 90 / rows, "gaps": 2, "ahead": 1}[character]
    times = np.cumsum(dice.exponential(steps, rows))
    if character == "gaps":
        times += np.repeat(dice.choice([0, 50, 400, 2000], rows // 20 + 1), 20)[:rows].cumsum() / 20
    times -= np.where(dice.random(rows) < 0.3, dice.uniform(0, 40, rows), 0)
    if character == "ahead":
        times += np.where(dice.random(rows) < 0.2, dice.choice([20, 90, 3000], rows), 0)
    return np.maximum(times, 0).astype(np.int64)


def by_hand(wheel, times, values):
    """The same with insert_many and advance_to."""
    closed, greatest = [], 0
    for first in range(0, len(times), EVERY):
        part = slice(first, first + EVERY)
        wheel.insert_many(times[part], values[part])
        greatest = max(greatest, int(times[part].max()))
        if len(times[part]) == EVERY:
            closed += wheel.advance_to(greatest - DELAY)
    return [tuple(result) for result in closed]


@pytest.mark.parametrize("ahead", [1, 30, 2000])
@pytest.mark.parametrize("character", ["sparse", "dense", "gaps", "ahead"])
@pytest.mark.parametrize("aggregate", [sw.sum(), sw.concat()], ids=["sum", "in order"])
def test_as_by_hand(aggregate, character, ahead, monkeypatch):
    dice = np.random.default_rng(ahead)
    count = 150 if aggregate.name == "concat" else 1500  # that one is interpreted
    times, values = stream(character, count, dice), dice.integers(-9, 9, count)
    settings = {"start": 0, "tick": 1, "levels": LEVELS, "write_ahead": ahead, "dtype": "i8"}
    if aggregate.name == "concat":
        values, settings["dtype"] = values.astype(str).astype(object), object
    slow = sw.Wheel(aggregate, **settings)
    slow.window(sw.sliding(24, every=6))
    closed = by_hand(slow, times, values)
    assert closed and slow.late > 0
    for lag in (0, 5, 64, core.LAG):
        monkeypatch.setattr(core, "LAG", lag)
        wheel = sw.Wheel(aggregate, **settings)
        wheel.window(sw.sliding(24, every=6))
        table = wheel.ingest(times, values, every=EVERY, delay=DELAY)
        edges = [table[name].cast("int64").to_pylist() for name in ("start", "end")]
        rows = zip(*edges, table[aggregate.output].to_pylist(), strict=True)
        assert list(rows) == [result[1:] for result in closed], lag
        assert (wheel.watermark, wheel.late) == (slow.watermark, slow.late)
        for level in LEVELS:
            assert wheel.to_arrow(level).equals(slow.to_arrow(level)), (lag, level)
        assert wheel.landmark() == slow.landmark()
        again = sw.Wheel.restore(aggregate, slow.snapshot())
        for one in (wheel, again):
            one.advance_to(int(times.max()) + 100)
        assert wheel.to_arrow().equals(again.to_arrow()), lag


def test_one_level():
    wheel = sw.Wheel(sw.sum(), start=0, tick=1, levels={"a": 4}, write_ahead=8, dtype="i8")
    wheel.ingest(np.arange(500), np.ones(500, dtype="i8"), every=3, delay=1)
    assert wheel.query(0, wheel.watermark) == wheel.landmark() == wheel.watermark
    assert wheel.query(17, 123) == 106


def test_a_rotation_without_rows_inside_a_stretch():
    """Two rows 60 ticks apart are in one stretch, and rotations of four ticks between them are empty."""
    wheel = sw.Wheel(sw.sum(), start=0, tick=1, levels=LEVELS, write_ahead=8, dtype="i8")
    wheel.ingest([0, 60, 61, 200, 201], [1, 2, 3, 4, 5], every=1, delay=0)
    found = wheel.to_arrow("b").to_pydict()["sum"]
    assert [k for k, value in enumerate(found) if value is not None] == [0, 15]
    assert (found[0], found[15]) == (1, 5)
    assert wheel.query(4, 60) is None
