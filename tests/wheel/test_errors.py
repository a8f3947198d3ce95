"""Mistakes: each says what to do instead, and leaves the wheel as it was."""

import re
from contextlib import contextmanager
from datetime import datetime, timedelta

import numpy as np
import pytest

import slidewheel as sw
from tests.wheel.model import SECOND

MINUTE = 60 * SECOND


def filled(aggregate=None, **settings):
    """The seconds 0 to 299 with their own numbers, of which 0 to 199 are finished, and one that is far ahead."""
    wheel = sw.Wheel(aggregate or sw.sum(), start=0, **settings)
    wheel.window(sw.sliding("30s", every="10s"))
    wheel.insert_many(np.arange(300) * SECOND, np.arange(300))
    wheel.insert(5000 * SECOND, 1)
    wheel.advance_to(200 * SECOND)
    return wheel


@contextmanager
def refused(wheel, *words, error=sw.SlidewheelError):
    """An error with all of these words, after which the wheel is what it was, to the last byte."""
    before = wheel.snapshot()
    with pytest.raises(error) as raised:
        yield
    assert isinstance(raised.value, sw.SlidewheelError)
    for word in words:
        assert re.search(word, str(raised.value)), str(raised.value)
    assert wheel.snapshot() == before


ASKED = {
    "query": lambda wheel, start, end: wheel.query(start, end),
    "query_many": lambda wheel, start, end: wheel.query_many([0, start], [SECOND, end]),
    "explain": lambda wheel, start, end: wheel.explain(start, end),
    "group_by": lambda wheel, start, end: wheel.group_by(start, end, "10s"),
}
every_question = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)


class TestRanges:
    @every_question
    def test_that_end_before_they_start(self, ask):
        wheel = filled()
        with refused(wheel, "before"):
            ask(wheel, 20 * SECOND, 10 * SECOND)

    @every_question
    def test_that_end_after_the_watermark(self, ask):
        wheel = filled()
        with refused(wheel, "watermark", "advance_to"):
            ask(wheel, 0, 201 * SECOND)

    @every_question
    def test_that_start_before_the_wheel(self, ask):
        wheel = filled()
        with refused(wheel, "start"):
            ask(wheel, -SECOND, 10 * SECOND)

    @every_question
    @pytest.mark.parametrize(("start", "end"), [(1, 10 * SECOND), (0, 10 * SECOND + 5), (SECOND // 2, 2 * SECOND)])
    def test_that_are_not_whole_ticks(self, ask, start, end):
        wheel = filled()
        with refused(wheel, "tick"):
            ask(wheel, start, end)

    @every_question
    def test_that_are_older_than_what_is_kept(self, ask):
        wheel = filled(keep={"seconds": 60})
        with refused(wheel, "kept|keep", "1s|second", "1970-01-01|140"):
            ask(wheel, 61 * SECOND, 70 * SECOND)
        assert wheel.query(MINUTE, 2 * MINUTE) == sum(range(60, 120))
        assert wheel.query(140 * SECOND, 150 * SECOND) == sum(range(140, 150))

    @every_question
    @pytest.mark.parametrize("time", ["soon", 1.5, None, [1], True])
    def test_that_are_no_times(self, ask, time):
        wheel = filled()
        with refused(wheel):
            ask(wheel, time, 10 * SECOND)

    def test_that_are_empty(self):
        wheel = filled()
        assert wheel.query(20 * SECOND, 20 * SECOND) is None
        assert wheel.query(200 * SECOND, 200 * SECOND) is None
        assert sw.Wheel(sw.count(), start=0).query(0, 0) == 0

    def test_of_many_of_which_one_is_wrong(self):
        wheel = filled()
        with refused(wheel, "watermark"):
            wheel.query_many([0, 0, 0], [SECOND, 201 * SECOND, SECOND])
        with refused(wheel, "2", "3"):
            wheel.query_many([0, 0], [SECOND, SECOND, SECOND])


class TestPlans:
    def test_that_nobody_knows(self):
        wheel = filled()
        with refused(wheel, "inverse_landmark", "combined"):
            wheel.query(0, SECOND, plan="fastest")

    def test_that_do_not_apply(self):
        wheel = filled()
        with refused(wheel, "landmark"):
            wheel.query(0, SECOND, plan="landmark")
        with refused(wheel, "prefix"):
            wheel.query(0, SECOND, plan="prefix")
        wheel = filled(sw.last(), dtype=object)
        with refused(wheel, "inverse"):
            wheel.query(0, SECOND, plan="inverse_landmark")


class TestGroups:
    @pytest.mark.parametrize("every", [0, -1, "soon", 500_000, 1.5, None])
    def test_of_no_length(self, every):
        wheel = filled()
        with refused(wheel):
            wheel.group_by(0, 100 * SECOND, every)

    def test_of_unknown_zones(self):
        wheel = filled()
        with refused(wheel, "Mars/Olympus"):
            wheel.group_by(0, 100 * SECOND, "day", timezone="Mars/Olympus")


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"tick": "7s"}, ("divide", "levels|tick")),
            ({"tick": 0}, ()),
            ({"tick": "soon"}, ("soon",)),
            ({"levels": {}}, ("level",)),
            ({"levels": {"a": 0}}, ("a", "1")),
            ({"levels": {"a": 2.5}}, ("2.5",)),
            ({"levels": [("a", 2), ("a", 3)]}, ("names",)),
            ({"levels": ["1s", "90s", "2m"]}, ("divide",)),
            ({"levels": ["5s", "1m"]}, ("tick",)),
            ({"levels": 5}, ("5",)),
            ({"keep": "some"}, ("some", "all", "drop")),
            ({"keep": 0}, ("0",)),
            ({"keep": {"fortnights": 3}}, ("fortnights", "weeks")),
            ({"prefix": ["fortnights"]}, ("fortnights", "weeks")),
            ({"compress": ["fortnights"]}, ("fortnights", "weeks")),
            ({"prefix": True, "compress": True}, ("prefix", "compress")),
            ({"write_ahead": 0}, ("write_ahead", "1")),
            ({"write_ahead": 1.5}, ("write_ahead",)),
            ({"dtype": "i4x"}, ("i4x",)),
            ({"dtype": "U5"}, ("dtype",)),
            ({"start": "soon"}, ("soon",)),
            ({"start": None}, ()),
        ],
        ids=str,
    )
    def test_that_are_wrong(self, settings, words):
        with pytest.raises(sw.SlidewheelError) as raised:
            sw.Wheel(sw.sum(), **{"start": 0, **settings})
        for word in words:
            assert re.search(word, str(raised.value)), str(raised.value)

    @pytest.mark.parametrize("aggregate", [sw.max(), sw.product(), sw.concat()], ids=lambda a: a.name)
    @pytest.mark.parametrize("levels", [None, [sw.Level("a", 3, layout="prefix")]] if hasattr(sw, "Level") else [None])
    def test_prefix_without_an_inverse(self, aggregate, levels):
        settings = {"prefix": True} if levels is None else {"levels": levels}
        with pytest.raises(sw.SlidewheelError, match="inverse"):
            sw.Wheel(aggregate, start=0, **settings)

    @pytest.mark.parametrize("aggregate", ["sum", sw.sum, None, 3])
    def test_what_is_no_aggregate(self, aggregate):
        with pytest.raises(sw.SlidewheelError):
            sw.Wheel(aggregate, start=0)

    @pytest.mark.parametrize(
        "start",
        [
            "1970-01-01T00:01:00",
            datetime(1970, 1, 1, 0, 1),
            np.datetime64("1970-01-01T00:01"),
            MINUTE,
            MINUTE + 999_999,
        ],
        ids=repr,
    )
    def test_times_of_any_kind(self, start):
        wheel = sw.Wheel(sw.sum(), start=start, tick=timedelta(seconds=1))
        assert wheel.start == wheel.watermark == MINUTE
        assert wheel.insert(start, 1)
        wheel.advance_to(datetime(1970, 1, 1, 0, 2))
        assert wheel.query("1970-01-01T00:01", np.datetime64("1970-01-01T00:02")) == 1


class TestRows:
    @pytest.mark.parametrize(
        ("time", "value"),
        [("soon", 1), (None, 1), (1.5, 1), (250 * SECOND, "text"), (250 * SECOND, 1.5), (250 * SECOND, [1])],
        ids=repr,
    )
    def test_that_are_wrong(self, time, value):
        wheel = filled()
        with refused(wheel):
            wheel.insert(time, value)

    def test_floats_into_a_wheel_of_integers(self):
        wheel = filled()
        with refused(wheel, "integers", "dtype"):
            wheel.insert_many([250 * SECOND], [0.5])
        with refused(wheel, "integers", "dtype"):
            wheel.insert(250 * SECOND, 0.5)

    def test_integers_into_a_wheel_of_floats(self):
        wheel = sw.Wheel(sw.sum(), start=0, dtype="f8")
        wheel.insert(0, 1)
        wheel.insert_many([0, 0], [2, 0.5])
        wheel.advance_to(SECOND)
        assert wheel.landmark() == 3.5 and isinstance(wheel.landmark(), float)

    def test_of_two_lengths(self):
        wheel = filled()
        with refused(wheel, "2", "3"):
            wheel.insert_many([250 * SECOND] * 2, [1, 2, 3])
        with refused(wheel):
            wheel.insert_many([250 * SECOND] * 2, [1, 2], mask=[True])
        with refused(wheel):
            wheel.ingest([250 * SECOND] * 2, [1])

    def test_a_batch_with_one_wrong_value_leaves_all_out(self):
        wheel = filled()
        with refused(wheel):
            wheel.insert_many([250 * SECOND] * 3, [1, 2, "three"])
        with refused(wheel):
            wheel.insert_many([250 * SECOND, None, 251 * SECOND], [1, 2, 3])

    def test_none_at_all(self):
        wheel = filled()
        before = wheel.snapshot()
        assert wheel.insert_many([], []) == 0
        assert wheel.ingest([], []).num_rows == 0
        assert wheel.query_many([], []).shape == (0,)
        assert wheel.advance_to(0) == []
        assert wheel.snapshot() == before

    def test_a_function_of_the_user_that_fails(self):
        @sw.aggregate(state=object)
        class Picky:
            identity = 0

            def lift(x):
                if x == 13:
                    raise ValueError("not 13")
                return x

            def combine(a, b):
                return a + b

        wheel = sw.Wheel(Picky(), start=0)
        wheel.insert_many([0, SECOND], [1, 2])
        before = wheel.snapshot()
        with pytest.raises(ValueError, match="not 13"):
            wheel.insert_many([0, SECOND, 0], [1, 2, 13])
        assert wheel.snapshot() == before
        with pytest.raises(ValueError, match="not 13"):
            wheel.insert(0, 13)
        assert wheel.snapshot() == before
        wheel.advance_to(2 * SECOND)
        assert wheel.landmark() == 3

    @pytest.mark.parametrize(("every", "delay"), [(0, "2s"), (-1, "2s"), (1.5, "2s"), (10, "soon"), (10, -5)])
    def test_watermarks_that_are_wrong(self, every, delay):
        wheel = filled()
        with refused(wheel):
            wheel.ingest([250 * SECOND], [1], every=every, delay=delay)

    def test_late_ones_are_refused_and_counted(self):
        wheel = filled()
        assert wheel.late == 0
        assert wheel.insert(199 * SECOND, 1) is False
        assert wheel.insert_many([0, 200 * SECOND, 199 * SECOND], [1, 1, 1]) == 1
        assert wheel.late == 3
        assert wheel.landmark() == sum(range(200))


def test_a_sum_that_does_not_fit():
    """It is the question that fails: the wheel goes on, and shorter ranges are answered."""
    wheel = sw.Wheel(sw.sum(), start=0, levels={"a": 4, "b": 2})
    wheel.insert_many([0, SECOND, 2 * SECOND], [2**63 - 1, 1, -1])
    wheel.advance_to(5 * SECOND)
    with refused(wheel, "64 bits", error=sw.Overflow):
        wheel.query(0, 2 * SECOND)
    with refused(wheel, "64 bits", error=sw.Overflow):
        wheel.query_many([0, 0], [SECOND, 2 * SECOND])
    assert wheel.query(0, SECOND) == 2**63 - 1
    assert wheel.landmark() == 2**63 - 1


class TestWindows:
    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            (sw.sliding("1500ms", every="1s"), ("tick",)),
            (sw.sliding("2s", every="1500ms"), ("tick",)),
            (sw.tumbling("2s", offset="1ms"), ("tick",)),
            (sw.rows(5), ("sliding", "session")),
            (sw.trailing("5s"), ("sliding", "session")),
            (sw.punctuated("x"), ("sliding", "session")),
            ("5s", ("sliding",)),
        ],
        ids=repr,
    )
    def test_that_a_wheel_does_not_have(self, spec, words):
        wheel = filled()
        with refused(wheel, *words):
            wheel.window(spec)

    def test_of_one_name(self):
        wheel = filled()
        with refused(wheel, "30s/10s", "name"):
            wheel.window(sw.sliding("30s", every="10s"))
        assert wheel.window(sw.sliding("30s", every="10s", name="other")) == "other"


class TestMerging:
    @pytest.mark.parametrize(
        ("other", "words"),
        [
            (lambda: sw.Wheel(sw.sum(), start=0, tick="1m"), ("tick",)),
            (lambda: sw.Wheel(sw.sum(), start=0, levels={"seconds": 60}), ("levels",)),
            (lambda: sw.Wheel(sw.max(), start=0), ("sum", "max")),
            (lambda: sw.Wheel(sw.sum(), start=0, dtype="f8"), ("float|f8|dtype",)),
            (lambda: 5, ("5|Wheel",)),
        ],
        ids=["tick", "levels", "aggregate", "dtype", "no wheel"],
    )
    def test_what_does_not_fit(self, other, words):
        wheel, other = filled(), other()
        with refused(wheel, *words):
            wheel.merge(other)

    @pytest.mark.parametrize("aggregate", [sw.concat(), sw.first(), sw.collect(), sw.argmax()], ids=lambda a: a.name)
    def test_where_the_order_decides(self, aggregate):
        wheel = sw.Wheel(aggregate, start=0)
        with refused(wheel, "commutative"):
            wheel.merge(sw.Wheel(aggregate, start=0))

    def test_with_itself(self):
        wheel = filled()
        with refused(wheel, "itself"):
            wheel.merge(wheel)


class TestBytes:
    def test_what_is_no_snapshot(self):
        for data in (b"", b"hello", bytes(100), "text", None):
            with pytest.raises(sw.SlidewheelError):
                sw.Wheel.restore(sw.sum(), data)

    def test_of_another_aggregate(self):
        with pytest.raises(sw.InvalidSnapshot, match="max"):
            sw.Wheel.restore(sw.max(), filled().snapshot())

    @pytest.mark.parametrize("settings", [{}, {"prefix": True}, {"compress": True}, {"dtype": object}], ids=str)
    def test_a_snapshot_that_is_damaged(self, settings):
        data = filled(**settings).snapshot()
        assert sw.Wheel.restore(sw.sum(), data).landmark() == sum(range(200))
        for place in range(0, len(data), max(len(data) // 150, 1)):
            broken = bytearray(data)
            broken[place] ^= 0x55
            with pytest.raises(sw.InvalidSnapshot):
                sw.Wheel.restore(sw.sum(), bytes(broken))
        for length in (0, 1, 10, len(data) // 2, len(data) - 1):
            with pytest.raises(sw.InvalidSnapshot):
                sw.Wheel.restore(sw.sum(), data[:length])
        with pytest.raises(sw.InvalidSnapshot):
            sw.Wheel.restore(sw.sum(), data + b"more")

    def test_a_delta_that_is_damaged(self):
        source, replica = filled(), sw.Wheel(sw.sum(), start=0)
        data = source.deltas(0)
        for place in range(0, len(data), max(len(data) // 150, 1)):
            broken = bytearray(data)
            broken[place] ^= 0x55
            with refused(replica, error=sw.InvalidSnapshot):
                replica.apply(bytes(broken))
        for length in (0, 1, 10, len(data) // 2, len(data) - 1):
            with refused(replica, error=sw.InvalidSnapshot):
                replica.apply(data[:length])
        replica.apply(data)
        assert replica.landmark() == sum(range(200))

    def test_a_snapshot_is_no_delta_nor_the_other_way(self):
        wheel = filled()
        with refused(wheel, error=sw.InvalidSnapshot):
            wheel.apply(wheel.snapshot())
        with pytest.raises(sw.InvalidSnapshot):
            sw.Wheel.restore(sw.sum(), wheel.deltas(0))

    def test_a_delta_that_begins_too_late(self):
        source, replica = filled(), sw.Wheel(sw.sum(), start=0)
        delta = source.deltas(100 * SECOND)
        with refused(replica, "watermark|since"):
            replica.apply(delta)
        replica.apply(source.deltas(0))
        assert replica.landmark() == source.landmark()

    @pytest.mark.parametrize(
        "other",
        [
            lambda: sw.Wheel(sw.max(), start=0),
            lambda: sw.Wheel(sw.sum(), start=0, tick="1m"),
            lambda: sw.Wheel(sw.sum(), start=0, levels={"seconds": 60, "minutes": 3}),
        ],
        ids=["aggregate", "tick", "levels"],
    )
    def test_a_delta_of_another_wheel(self, other):
        wheel = other()
        with refused(wheel):
            wheel.apply(filled().deltas(0))

    @pytest.mark.parametrize("since", [201 * SECOND, 1, -SECOND, "soon", None])
    def test_since_a_time_that_is_none(self, since):
        wheel = filled()
        with refused(wheel):
            wheel.deltas(since)

    def test_since_a_time_that_is_not_kept(self):
        wheel = filled(keep={"seconds": 30})
        with refused(wheel, "kept|keep"):
            wheel.deltas(20 * SECOND)


def test_a_watermark_that_is_no_time():
    wheel = filled()
    for time in ("soon", None, 1.5):
        with refused(wheel):
            wheel.advance_to(time)


def test_a_level_that_is_not_there():
    wheel = filled()
    with refused(wheel, "fortnights", "weeks"):
        wheel.to_arrow("fortnights")
