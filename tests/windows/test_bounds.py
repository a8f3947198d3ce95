"""Which rows are in which window, against comparing every row with every other.

The answers are made of row numbers: collected where windows are interpreted, first and summed where they are compiled,
which tells a run of rows from every other.
"""

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import slidewheel as sw
from slidewheel.engine import batch
from tests.engine.reference import CLOSED, INT64, assert_same, rolled, rows_by_count, rows_by_time

# A warning is for users to wonder about.
pytestmark = pytest.mark.filterwarnings("error")

times = st.lists(st.integers(-20, 20) | st.integers(INT64.min, INT64.max), min_size=1, max_size=40).map(sorted)


def check(windows, **how):
    rows = list(range(1, len(windows) + 1))
    for name in ("collect", "first", "sum"):
        got = sw.rolling(rows, getattr(sw, name)(), **how)
        assert_same(got, rolled(name, rows, windows))


@pytest.mark.parametrize("closed", CLOSED)
@settings(max_examples=80, deadline=None)
@given(times=times, over=st.integers(1, 30) | st.integers(1, INT64.max))
@example(times=[INT64.min, -1, 0, INT64.max], over=INT64.max)
@example(times=[INT64.min, INT64.min + 1, INT64.max], over=1)
@example(times=[7] * 5, over=1)
def test_by_time(closed, times, over):
    check(rows_by_time(times, over, closed), over=over, times=np.array(times), closed=closed)


@pytest.mark.parametrize("closed", CLOSED)
def test_by_time_when_rows_come_in_bursts(closed):
    """Nothing at first tells how long the windows will become."""
    chance = random.Random(closed)
    for _ in range(10):
        times = []
        for _ in range(4):
            start = (times[-1] if times else 0) + chance.choice([5, 500])
            width = chance.choice([0, 9, 2000])
            times += sorted(start + chance.randint(0, width) for _ in range(chance.randint(1, 60)))
        for over in (1, 10, 1000):
            check(rows_by_time(times, over, closed), over=over, times=times, closed=closed)


@pytest.mark.parametrize("enough_for_two", [1, 1 << 60], ids=["two threads", "one thread"])
def test_one_long_window_among_many_short_ones(monkeypatch, enough_for_two):
    """Memory is sized by looking at some of the windows, and may turn out too small for one in between."""
    monkeypatch.setattr(batch, "ENOUGH_FOR_TWO", enough_for_two)
    for place in (3, 102, 249, 252, 487):
        times = [10 * k for k in range(500)]
        times[place : place + 9] = [10 * place + 1] * 9
        check(rows_by_time(times, 5), over=5, times=times)


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("rows", [1, 2, 5, 9])
def test_by_count(closed, rows):
    for size in range(1, 12):
        check(rows_by_count(rows, size, closed), size=size, closed=closed)


@pytest.mark.parametrize("enough_for_two", [1, 1 << 60], ids=["two threads", "one thread"])
def test_the_row_whose_time_goes_back_is_named(monkeypatch, enough_for_two):
    monkeypatch.setattr(batch, "ENOUGH_FOR_TWO", enough_for_two)
    for row in range(1, 12):
        times = np.arange(12) * 10
        times[row] = times[row - 1] - 1
        for name in ("sum", "collect"):
            with pytest.raises(sw.InvalidTime, match=f"row {row} is earlier than row {row - 1}"):
                sw.rolling(np.arange(12), getattr(sw, name)(), over=1, times=times)
