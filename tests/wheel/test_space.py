"""What wheels take: little more than the states of their slots."""

import mmap
import os
import random

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel.memory import PAGE
from tests.wheel.model import SECOND

WEEK = 7 * 86_400
SLOTS = sum(WEEK // length for length in (1, 60, 3600, 86_400, WEEK))


def week(aggregate, values, **settings):
    """Seven days at one event a second."""
    wheel = sw.Wheel(aggregate, start="2023-10-02", **settings)
    times = wheel.start + np.arange(WEEK) * SECOND
    for first in range(0, WEEK, 3600):
        wheel.insert_many(times[first : first + 3600], values[first : first + 3600])
        wheel.advance_to(int(times[first]) + 3600 * SECOND)
    return wheel


@pytest.mark.parametrize(
    ("aggregate", "values", "state"),
    [
        (sw.count(), np.ones(WEEK, dtype="i8"), 8),
        (sw.sum(), np.arange(WEEK), 8),
        (sw.max(), np.arange(WEEK, dtype="f8"), 8),
        (sw.mean(), np.arange(WEEK, dtype="f8"), 16),
    ],
    ids=["count", "sum", "max", "mean"],
)
def test_a_week_of_seconds(aggregate, values, state):
    wheel = week(aggregate, values)
    needed = SLOTS * state
    assert needed * 0.99 <= wheel.nbytes <= 1.1 * needed
    assert (
        wheel.landmark()
        == {"count": WEEK, "sum": WEEK * (WEEK - 1) // 2, "max": WEEK - 1, "mean": (WEEK - 1) / 2}[aggregate.name]
    )


def test_compressed_counts():
    dice = random.Random(0)
    counts = np.array([dice.randrange(1, 50) for _ in range(WEEK)])
    plain, packed = week(sw.sum(), counts), week(sw.sum(), counts, compress=True)
    assert packed.nbytes * 3 <= plain.nbytes
    assert packed.landmark() == plain.landmark() == int(counts.sum())
    for _ in range(200):
        low, high = sorted(dice.sample(range(WEEK + 1), 2))
        start, end = packed.start + low * SECOND, packed.start + high * SECOND
        assert packed.query(start, end, plan="combined") == int(counts[low:high].sum())


def test_what_is_not_kept_takes_no_room():
    values = np.ones(WEEK, dtype="i8")
    dropped, kept = week(sw.count(), values, keep="drop"), week(sw.count(), values)
    assert dropped.nbytes < kept.nbytes / 25
    assert dropped.landmark() == WEEK


def test_time_without_rows_takes_no_room():
    wheel = sw.Wheel(sw.count(), start="2020-01-01")
    before = wheel.nbytes
    for year in range(2021, 2030):
        wheel.insert(f"{year}-06-01", 1)
        wheel.advance_to(f"{year + 1}-01-01")
    assert wheel.nbytes < before + 100_000
    assert wheel.query("2021-01-01", "2026-01-01") == 5


def test_what_was_reserved_for_empty_slots_is_given_back():
    """Nobody knows before whether the time between rows is a gap."""
    wheel = sw.Wheel(sw.count(), start=0)
    times = np.arange(100_000) * 70 * SECOND
    wheel.ingest(times, times)
    rows = sum(len(wheel.to_arrow(level.name)) for level in wheel.levels[1:]) + len(times)
    assert wheel.nbytes < 3 * 8 * rows
    assert wheel.query(70 * SECOND, 70 * 51 * SECOND) == 50


def _forked_sum(wheel):
    """What a child process answers after it has changed its own copy."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        wheel._core.table[:100] = 7
        os.write(write, str(wheel.query(wheel.start, wheel.start + 50 * SECOND)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(read, 100))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_long_tables_are_a_process_s_own():
    """They are mapped, in large pages where there are any."""
    wheel = week(sw.sum(), np.ones(WEEK, dtype="i8"))
    assert wheel._core.table.nbytes > PAGE
    assert _forked_sum(wheel) == 350
    assert wheel.query(wheel.start, wheel.start + 50 * SECOND) == 50


@pytest.mark.parametrize("fails", ["mmap", "madvise"])
def test_a_system_without_large_pages(fails, monkeypatch):
    class Refusing(mmap.mmap):
        def __new__(cls, *arguments):
            if fails == "mmap":
                raise OSError("no")
            return super().__new__(cls, *arguments)

        def madvise(self, *arguments):
            raise OSError("no")

    monkeypatch.setattr(mmap, "mmap", Refusing)
    wheel = week(sw.sum(), np.arange(WEEK))
    assert wheel.landmark() == WEEK * (WEEK - 1) // 2
