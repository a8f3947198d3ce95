"""Single ranges, asked by addresses: of what is there now, whoever else asks, and whatever was refused before."""

import gc
import threading

import numpy as np
import pytest

import slidewheel as sw
from tests.wheel.model import SECOND

TICKS = 500
LEVELS = {"a": 10, "b": 6, "c": 10}
AGGREGATES = {
    "sum": (sw.sum(), np.sum),
    "max": (sw.max(), np.max),
    "mean": (sw.mean(), np.mean),
    "count": (sw.count(), len),
}


def few():
    """Each form takes its time to compile."""
    for name in AGGREGATES:
        for settings in ({}, {"compress": True}):
            now = name == "sum" or (name == "max" and not settings)
            yield pytest.param(name, settings, marks=() if now else pytest.mark.slow)


def filled(aggregate, **settings):
    wheel = sw.Wheel(aggregate, start=0, levels=LEVELS, write_ahead=64, dtype="i8", **settings)
    values = np.random.default_rng(5).integers(-1000, 1000, TICKS)
    return wheel, values


def add(wheel, values, first, last):
    wheel.insert_many(np.arange(first, last) * SECOND, values[first:last])
    wheel.advance_to(last * SECOND)


@pytest.mark.parametrize(("name", "settings"), list(few()), ids=str)
def test_after_each_advance_the_newest_slots_are_seen(name, settings):
    aggregate, plainly = AGGREGATES[name]
    wheel, values = filled(aggregate, **settings)
    chance = np.random.default_rng(6)
    for first in range(0, TICKS, 50):
        add(wheel, values, first, first + 50)
        gc.collect()  # tables that were left behind are gone
        for low, high in np.sort(chance.integers(0, first + 51, (20, 2)), axis=1).tolist():
            expected = plainly(values[low:high]) if low < high else 0 if name == "count" else None
            assert wheel.query(low * SECOND, high * SECOND) == expected


def test_an_answer_that_is_empty_is_null_and_a_count_of_nothing_is_0():
    for aggregate, empty in ((sw.sum(), None), (sw.max(), None), (sw.count(), 0)):
        wheel, values = filled(aggregate)
        add(wheel, values, 0, 10)
        wheel.advance_to(100 * SECOND)
        assert wheel.query(20 * SECOND, 90 * SECOND) == empty
        assert wheel.query(5 * SECOND, 5 * SECOND) == empty


def test_what_is_refused_leaves_nothing_behind():
    wheel, values = filled(sw.sum())
    add(wheel, values, 0, 100)
    for start, end in ((50, 20), (0, 101)):
        with pytest.raises(sw.SlidewheelError):
            wheel.query(start * SECOND, end * SECOND)
        assert wheel.query(3 * SECOND, 77 * SECOND) == values[3:77].sum()
    for far in (1 << 63, -(1 << 63) - 1):
        with pytest.raises(sw.SlidewheelError):
            wheel.query(0, far)
    with pytest.raises(sw.SlidewheelError):
        wheel.query(0, SECOND, plan="prefix")
    assert wheel.query(3 * SECOND, 77 * SECOND) == values[3:77].sum()


def test_threads_that_share_it_get_their_own_answers():
    wheel, values = filled(sw.sum())
    add(wheel, values, 0, TICKS)
    wrong = []

    def ask(seed):
        for low, high in np.sort(np.random.default_rng(seed).integers(0, TICKS, (3000, 2)), axis=1).tolist():
            if low < high and wheel.query(low * SECOND, high * SECOND) != values[low:high].sum():
                wrong.append((low, high))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_overflow_is_that_of_the_range():
    wheel = sw.Wheel(sw.sum(), start=0, levels=LEVELS, dtype="i8")
    wheel.insert_many([0, SECOND, 2 * SECOND], [2**62, 2**62, 5])
    wheel.advance_to(3 * SECOND)
    with pytest.raises(sw.Overflow):
        wheel.query(0, 3 * SECOND)
    assert wheel.query(SECOND, 3 * SECOND) == 2**62 + 5
