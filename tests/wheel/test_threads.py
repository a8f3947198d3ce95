"""One writer and many readers: nobody sees half an advance."""

import threading

import numpy as np
import pytest

import slidewheel as sw
from tests.wheel.model import SECOND

TICKS = 6_000
LEVELS = {"a": 10, "b": 6, "c": 10, "d": 10}


def started(aggregate, **settings):
    return sw.Wheel(aggregate, start=0, levels=LEVELS, write_ahead=128, dtype="i8", **settings)


def race(wheel, write, look, readers=3):
    """Run `write` beside readers that `look` again and again; what any of them raises is raised here."""
    over, failed, looks = threading.Event(), [], []

    def read():
        count = 0
        try:
            while not over.is_set() or count < 20:
                look(wheel)
                count += 1
        except BaseException as error:
            failed.append(error)
        looks.append(count)

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    try:
        write(wheel)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]
    assert min(looks) >= 20


def write(wheel):
    """Every tick holds the values 1 and its own number."""
    for first in range(0, TICKS, 37):
        ticks = np.arange(first, min(first + 37, TICKS))
        wheel.insert_many(np.repeat(ticks, 2) * SECOND, np.stack([np.ones_like(ticks), ticks], axis=1).reshape(-1))
        wheel.advance_to((int(ticks[-1]) + 1) * SECOND)


def total(low, high):
    return (high * (high - 1) - low * (low - 1)) // 2 + (high - low) if high > low else None


@pytest.mark.parametrize("settings", [{}, {"prefix": True}, {"compress": True}], ids=["plain", "prefix", "compressed"])
def test_answers_are_exact_for_the_watermark_seen_before(settings):
    def look(wheel):
        seen = wheel.watermark
        ticks = seen // SECOND
        low = ticks // 3
        assert wheel.query(low * SECOND, seen) == total(low, ticks)
        assert wheel.query(0, seen) == total(0, ticks)
        found = wheel.query_many([0, low * SECOND], [low * SECOND, seen])
        assert [None if hidden else x for x, hidden in zip(found.tolist(), np.ma.getmaskarray(found), strict=True)] == [
            total(0, low),
            total(low, ticks),
        ]

    wheel = started(sw.sum(), **settings)
    race(wheel, write, look)
    assert wheel.landmark() == total(0, TICKS)


def test_the_landmark_is_of_one_watermark():
    """A landmark, and all of a table, hold whole advances: sums that some watermark of the writer has."""
    allowed = {total(0, min(first, TICKS)) for first in range(0, TICKS + 37, 37)}

    def look(wheel):
        assert wheel.landmark() in allowed
        rows = wheel.to_arrow("a").to_pydict()["sum"]
        assert sum(x or 0 for x in rows) in {x or 0 for x in allowed}

    race(started(sw.sum()), write, look)


def test_what_is_dropped_while_it_is_read():
    """Old slots go while they are read: an answer is right, or an error says that it is too old."""
    right = []

    def look(wheel):
        seen = wheel.watermark // SECOND
        low = max(seen - 40, 0)
        try:
            found = wheel.query(low * SECOND, seen * SECOND)
        except sw.SlidewheelError as error:
            assert "kept" in str(error)
        else:
            assert found == total(low, seen)
            right.append(low)

    race(started(sw.sum(), keep={"a": 60}), write, look)
    assert right


def test_snapshots_beside_the_writer_are_whole():
    def look(wheel):
        again = sw.Wheel.restore(sw.sum(), wheel.snapshot())
        assert again.landmark() == total(0, again.watermark // SECOND)

    race(started(sw.sum()), write, look, readers=1)


def test_landmarks_are_those_of_one_watermark():
    def look(wheel):
        before = wheel.watermark
        found, after = wheel.landmark(), wheel.watermark
        assert found in {total(0, now) for now in range(before // SECOND, after // SECOND + 1)}

    race(started(sw.sum()), write, look)


def test_two_wheels_that_merge_with_each_other_do_not_wait_for_ever():
    wheels = [started(sw.sum()) for _ in range(2)]
    for wheel in wheels:
        wheel.insert(0, 1)
    threads = [threading.Thread(target=a.merge, args=(b,), daemon=True) for a, b in (wheels, wheels[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
