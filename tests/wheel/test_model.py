"""The model that wheels are judged by, on examples worked out by hand."""

from datetime import UTC, datetime

import pytest

import slidewheel as sw
from tests.support import AGGREGATES
from tests.wheel.harness import covered, ladder
from tests.wheel.model import EPOCH, SECOND, Model, answered, boundaries

HOUR = 3600 * SECOND


def model(aggregate=None, start=0, tick=10):
    return Model(aggregate or sw.concat(), start=start, tick=tick)


def told(closed):
    return [(c.window, c.start, c.end, "".join(c.values)) for c in closed]


def micros(text):
    return int((datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH).total_seconds()) * SECOND


def test_rows_lie_in_ticks_in_order_of_arrival():
    made = model(start=17)
    assert made.start == made.watermark == 10
    assert made.insert_many([28, 21, 9, 10, 35], "abcde") == 4
    assert made.late == 1
    assert made.query(10, 40) == "dabe"
    assert made.query(20, 30) == "ab"
    assert made.query(40, 50) is None


def test_windows_by_end_and_then_by_registration():
    made = model()
    made.window(sw.sliding(20, every=10, name="two"))
    made.window(sw.tumbling(20, name="one"))
    made.insert_many([0, 10, 25, 39], "abcd")
    assert told(made.advance_to(33)) == [
        ("two", -10, 10, "a"),
        ("two", 0, 20, "ab"),
        ("one", 0, 20, "ab"),
        ("two", 10, 30, "bc"),
    ]
    made.window(sw.tumbling(30, name="late"))
    assert told(made.advance_to(20)) == []
    assert told(made.advance_to(60)) == [
        ("two", 20, 40, "cd"),
        ("one", 20, 40, "cd"),
        ("two", 30, 50, "d"),
        ("two", 40, 60, ""),
        ("one", 40, 60, ""),
        ("late", 30, 60, "d"),
    ]


def test_sessions_end_a_gap_after_their_last_row():
    """A row at exactly that end still belongs to it, so it is over a tick later."""
    made = model()
    made.window(sw.session(20, name="s"))
    made.insert_many([3, 25, 61, 71], "abcd")
    assert told(made.advance_to(49)) == []
    assert told(made.advance_to(50)) == [("s", 0, 40, "ab")]
    made.insert(50, "e")
    assert told(made.advance_to(99)) == []
    made.insert(90, "f")
    assert told(made.advance_to(119)) == []
    assert told(made.advance_to(120)) == [("s", 50, 110, "ecdf")]


def test_a_session_that_is_over_when_it_is_registered():
    made = model()
    made.insert_many([3, 55], "ab")
    made.advance_to(60)
    made.window(sw.session(20))
    assert [c[1:3] for c in made.advance_to(500)] == [(50, 70)]


def test_the_watermark_of_ingest():
    made = model()
    made.window(sw.tumbling(10, name="w"))
    closed = made.ingest([5, 31, 12, 8, 60, 1], "abcdef", every=2, delay=20)
    assert told(closed) == [("w", 0, 10, "a"), ("w", 10, 20, "c"), ("w", 20, 30, ""), ("w", 30, 40, "b")]
    assert made.late == 2
    assert made.watermark == 40


def test_merged_rows():
    one, two = model(sw.sum()), model(sw.sum())
    one.insert_many([5, 15, 25], [1, 2, 4])
    two.insert_many([5, 35], [8, 16])
    one.advance_to(10)
    two.advance_to(30)
    one.window(sw.tumbling(20, name="w"))
    assert [c.values for c in one.merge(two)] == [[1, 8, 2]]
    assert (one.watermark, one.landmark()) == (30, 15)


@pytest.mark.parametrize(
    ("every", "zone", "edges"),
    [
        ("day", "UTC", ["2024-03-30", "2024-03-31", "2024-04-01"]),
        ("day", "Europe/Stockholm", ["2024-03-29T23:00", "2024-03-30T23:00", "2024-03-31T22:00"]),
        ("week", "UTC", ["2024-03-25", "2024-04-01"]),
        ("month", "Europe/Stockholm", ["2024-02-29T23:00", "2024-03-31T22:00"]),
        ("quarter", "UTC", ["2024-01-01", "2024-04-01"]),
        ("year", "America/New_York", ["2024-01-01T05:00"]),
    ],
)
def test_calendars(every, zone, edges):
    found = list(boundaries(micros("2024-03-30T12:00"), micros("2024-04-01T12:00"), every, zone))
    assert found == [micros(edge) for edge in edges]


def test_hours_of_a_zone_that_is_half_an_hour_off():
    found = list(boundaries(micros("2024-03-30T12:10"), micros("2024-03-30T13:40"), "hour", "Asia/Kolkata"))
    assert found == [micros("2024-03-30T11:30"), micros("2024-03-30T12:30"), micros("2024-03-30T13:30")]


def test_buckets_are_cut_at_both_ends():
    made = model(sw.count())
    made.insert_many(range(0, 100, 10), [0] * 10)
    assert made.group_by(20, 90, 30) == [(20, 50, 3), (50, 80, 3), (80, 90, 1)]
    assert made.group_by(20, 20, 30) == []


@pytest.mark.parametrize("name", AGGREGATES)
def test_formulas_are_folds(name):
    """The plain formulas agree with a fold of the aggregate's own functions."""
    from tests.support import agree, recalculated

    aggregate = AGGREGATES[name]
    for values in ([], [3], [3, 1, 2, 3, -1], [2, None, 2]):
        if aggregate.arity == 2:
            values = [None if v is None else (v, k) for k, v in enumerate(values)]
        assert agree(answered(aggregate, values), recalculated(aggregate, values))


def test_what_kept_slots_make_up():
    made = model(tick=1)
    made.watermark = 30
    rungs = ladder(1, {"a": 4, "b": 3}, keep={"a": 5, "b": "all"})
    assert covered(rungs, made, 25, 30) and covered(rungs, made, 4, 28) and covered(rungs, made, 0, 29)
    assert not covered(rungs, made, 24, 25)
    assert not covered(rungs, made, 5, 8)
    assert not rungs[0].fits(made, 24, 29) and rungs[1].fits(made, 24, 28) and not rungs[1].fits(made, 24, 30)
