"""Buckets by length and by the calendar of a place, against the model."""

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.wheel.asking import arrow_column
from tests.wheel.harness import Twins, ladder
from tests.wheel.model import SECOND, Model
from tests.wheel.scripts import LADDERS

MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
START = 1_702_618_200 * SECOND  # 2023-12-15T05:30Z, a Friday
SPRING = 1_711_767_600 * SECOND  # 2024-03-30T03:00Z, the day before clocks go forward in Europe
AUTUMN = 1_729_908_000 * SECOND  # 2024-10-26T02:00Z, the day before they go back
ZONES = ["UTC", "Europe/Stockholm", "America/New_York", "Asia/Kolkata", "Asia/Beirut", "Pacific/Auckland"]


@pytest.fixture(scope="module")
def year():
    """A row every five hours and ten minutes, for 500 days."""
    made = sw.Wheel(sw.sum(), start=START, tick="1m")
    model = Model(sw.sum(), start=START, tick=MINUTE)
    twins = Twins(made, model, ladder(MINUTE, LADDERS[MINUTE]))
    times = list(range(START, START + 500 * DAY, 310 * MINUTE))
    twins.insert_many(times, list(range(len(times))), "i8")
    twins.advance_to(START + 500 * DAY)
    return twins


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("every", ["week", "month", "quarter", "year"])
def test_calendars(year, every, zone):
    year.check_groups(START + 7 * MINUTE, START + 499 * DAY, every, zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("start", [SPRING, AUTUMN, SPRING - 20 * DAY], ids=["spring", "autumn", "america"])
def test_days_and_hours_when_clocks_are_set(year, start, zone):
    year.check_groups(start, start + 4 * DAY, "day", zone)
    year.check_groups(start + 10 * MINUTE, start + 2 * DAY + MINUTE, "hour", zone)


def test_utc_is_the_default(year):
    for every in ("hour", "day", "month"):
        year.check_groups(SPRING, SPRING + 3 * DAY, every)


@pytest.mark.parametrize("every", [MINUTE, 7 * MINUTE, HOUR, 5 * HOUR + MINUTE, 400 * DAY])
def test_lengths(year, every):
    year.check_groups(START, START + min(300 * every, 500 * DAY), every)
    year.check_groups(START + 11 * MINUTE, START + min(100 * every, 499 * DAY), every)


def test_texts_and_durations_say_the_same(year):
    limits = "2024-01-01", "2024-01-02"
    assert year.wheel.group_by(*limits, "1h").equals(year.wheel.group_by(*limits, HOUR))
    assert year.wheel.group_by(*limits, "hour").equals(year.wheel.group_by(*limits, HOUR))


def test_no_buckets(year):
    assert year.wheel.group_by(START, START, "1h").num_rows == 0
    assert year.wheel.group_by(START, START, "day").num_rows == 0


def test_buckets_are_as_ranges():
    """Random values, with gaps longer than buckets: each bucket is what `query` gives."""
    rng = np.random.default_rng(5)
    wheel = sw.Wheel(sw.mean(), start=0)
    times = np.cumsum(rng.choice([0, 1, 2, 300, 4000], 500))
    wheel.insert_many(times * SECOND, rng.normal(size=500))
    wheel.advance_to(int(times[-1] + 1) * SECOND)
    table = wheel.group_by(0, wheel.watermark, "7m")
    for start, end, value in zip(*(table[name].to_pylist() for name in ("start", "end", "mean")), strict=True):
        assert wheel.query(start, end) == (None if value is None else pytest.approx(value, rel=1e-12))
    assert None in table["mean"].to_pylist()


def test_answers_that_are_true_or_false():
    """Arrow keeps these as bits, unlike numpy."""
    values, there = sw.Wheel(sw.count(), start=0, dtype="i8")._core.values, np.ones(3, dtype=bool)
    for answers in ([True, False, True], [1, 2, 3], [0.5, 1.5, 2.5]):
        column = arrow_column(values, np.array(answers), there)
        column.validate(full=True)
        assert column.to_pylist() == answers
