"""Where wheels are known to go wrong elsewhere: each of these has to be right here."""

import math
import statistics

import pytest

import slidewheel as sw
from tests.wheel.harness import Counted
from tests.wheel.model import SECOND

YEAR = 365 * 86_400 * SECOND
PLANS = ["auto", "combined", "wheel", "inverse_landmark", "prefix"]


class TestAStartInTheMiddle:
    """Slots lie at whole minutes and hours, wherever a wheel begins."""

    START = "2023-11-09T10:17:23"

    @pytest.fixture(scope="class")
    @classmethod
    def wheel(cls):
        wheel = sw.Wheel(sw.sum(), start=cls.START)
        seconds = 3 * 3600
        wheel.insert_many([wheel.start + k * SECOND for k in range(seconds)], list(range(seconds)))
        wheel.advance_to(wheel.start + seconds * SECOND)
        return wheel

    @staticmethod
    def between(low, high):
        return (high * (high - 1) - low * (low - 1)) // 2

    @pytest.mark.parametrize("plan", ["auto", "combined", "wheel", "inverse_landmark"])
    @pytest.mark.parametrize(
        ("start", "end", "low", "high"),
        [
            ("2023-11-09T10:17:23", "2023-11-09T10:18:00", 0, 37),
            ("2023-11-09T10:18:00", "2023-11-09T10:19:00", 37, 97),
            ("2023-11-09T10:18:00", "2023-11-09T11:00:00", 37, 2557),
            ("2023-11-09T11:00:00", "2023-11-09T13:00:00", 2557, 9757),
            ("2023-11-09T10:17:23", "2023-11-09T11:00:00", 0, 2557),
            ("2023-11-09T10:59:59", "2023-11-09T12:00:01", 2556, 6158),
        ],
    )
    def test_ranges(self, wheel, start, end, low, high, plan):
        assert wheel.query(start, end, plan=plan) == self.between(low, high)

    def test_slots_are_whole_minutes_and_hours(self, wheel):
        minutes = wheel.to_arrow("minutes").to_pydict()
        assert all(start.second == 0 for start in minutes["start"][1:])
        assert minutes["sum"][:2] == [self.between(0, 37), self.between(37, 97)]
        assert [start.hour for start in wheel.to_arrow("hours").to_pydict()["start"]][1:] == [11, 12]

    def test_windows_are_whole_minutes_too(self):
        wheel = sw.Wheel(sw.count(), start=self.START)
        wheel.window(sw.tumbling("1m"))
        wheel.insert_many([wheel.start + k * SECOND for k in range(100)], [0] * 100)
        closed = wheel.advance_to(wheel.start + 100 * SECOND)
        assert [(w.start // SECOND % 60, w.end - w.start, w.value) for w in closed] == [
            (0, 60 * SECOND, 37),
            (0, 60 * SECOND, 60),
        ]


def test_a_range_past_the_watermark_is_an_error_and_not_a_part_of_it():
    wheel = sw.Wheel(sw.sum(), start=0)
    wheel.insert_many([0, SECOND, 2 * SECOND], [1, 2, 4])
    wheel.advance_to(2 * SECOND)
    assert wheel.query(0, 2 * SECOND) == 3
    for plan in ("auto", "combined", "wheel", "landmark"):
        with pytest.raises(sw.SlidewheelError, match="watermark"):
            wheel.query(0, 3 * SECOND, plan=plan)
    with pytest.raises(sw.SlidewheelError, match="watermark"):
        wheel.query_many([0, 0], [SECOND, 3 * SECOND])
    with pytest.raises(sw.SlidewheelError, match="watermark"):
        wheel.group_by(0, 3 * SECOND, SECOND)


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("prefix", [True, False])
def test_sums_of_mixed_signs(kind, prefix):
    """Taking away must not take a sum that goes up and down for one that only grows."""
    values = [kind(v) for v in (5, -7, 3, -3, 0, 8, -20, 1, 1, -4, 6, -6)]
    wheel = sw.Wheel(sw.sum(), start=0, levels={"a": 3, "b": 2}, prefix=prefix)
    wheel.window(sw.sliding("4s", every="1s"))
    wheel.insert_many([k * SECOND for k in range(12)], values)
    closed = wheel.advance_to(12 * SECOND)
    assert [w.value for w in closed] == [sum(values[max(k - 3, 0) : k + 1]) for k in range(12)]
    for low in range(12):
        for high in range(low + 1, 13):
            for plan in PLANS:
                if not prefix and (plan == "prefix" or (plan == "inverse_landmark" and kind is float)):
                    continue  # floats are only taken away where prefix sums ask for it
                assert wheel.query(low * SECOND, high * SECOND, plan=plan) == sum(values[low:high]), (low, high, plan)


@pytest.mark.parametrize("outlier", [1e17, -1e17, math.nan, math.inf, -math.inf, 1e308])
@pytest.mark.parametrize(
    "aggregate",
    [sw.sum(), *(pytest.param(each, marks=pytest.mark.slow) for each in (sw.mean(), sw.var()))],
    ids=lambda a: a.name,
)
@pytest.mark.parametrize("prefix", [False, True, ["b"]], ids=["plain", "prefix", "prefix above"])
class TestAnOutlierThatIsNotInTheRange:
    VALUES = (0.5, 1.25, -2.0, 3.0, 0.125)
    PLACE = 7

    def made(self, aggregate, outlier, prefix):
        wheel = sw.Wheel(aggregate, start=0, levels={"a": 4, "b": 3, "c": 2}, prefix=prefix)
        values = [self.VALUES[k % 5] for k in range(40)]
        values[self.PLACE] = outlier
        return wheel, values

    def wanted(self, aggregate, values):
        mean = sum(values) / len(values)
        spread = sum((v - mean) ** 2 for v in values) / (len(values) - 1) if len(values) > 1 else None
        return {"sum": sum(values), "mean": mean, "var": spread}[aggregate.name]

    def test_windows(self, aggregate, outlier, prefix):
        wheel, values = self.made(aggregate, outlier, prefix)
        wheel.window(sw.sliding("5s", every="1s"))
        found = []
        for k, value in enumerate(values):
            wheel.insert(k * SECOND, value)
            found += wheel.advance_to((k + 1) * SECOND)
        assert len(found) == 40
        for window in found:
            low, high = max(window.start // SECOND, 0), window.end // SECOND
            if not low <= self.PLACE < high:
                wanted = self.wanted(aggregate, values[low:high])
                assert window.value == (None if wanted is None else pytest.approx(wanted, rel=1e-12)), (low, high)

    def test_ranges(self, aggregate, outlier, prefix):
        wheel, values = self.made(aggregate, outlier, prefix)
        wheel.insert_many([k * SECOND for k in range(40)], values)
        wheel.advance_to(40 * SECOND)
        asked = 0
        for low in range(0, 40):
            for high in range(low + 2, 41, 3):
                if low <= self.PLACE < high:
                    continue
                wanted = pytest.approx(self.wanted(aggregate, values[low:high]), rel=1e-12)
                # Prefix sums of floats are as exact as the sum of all that came, and no more.
                plan = "combined" if prefix and math.isfinite(outlier) else "auto"
                assert wheel.query(low * SECOND, high * SECOND, plan=plan) == wanted, (low, high)
                asked += 1
        assert asked > 100


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("aggregate", [sw.mean(), pytest.param(sw.var(), marks=pytest.mark.slow)], ids=["mean", "var"])
def test_an_outlier_of_integers_leaves_windows(aggregate, prefix):
    """Their sums are floats where there are prefix sums, and windows may not take away from those."""
    wheel, values = sw.Wheel(aggregate, start=0, prefix=prefix, dtype="i8"), [k * k % 7 for k in range(60)]
    values[9] = 10**17
    wheel.window(sw.sliding("5s", every="1s"))
    wheel.insert_many([k * SECOND for k in range(60)], values)
    for window in wheel.advance_to(60 * SECOND):
        inside = values[max(window.start // SECOND, 0) : window.end // SECOND]
        if 10**17 not in inside and len(inside) > 1:
            exact = statistics.mean(inside) if aggregate.name == "mean" else statistics.variance(inside)
            assert window.value == pytest.approx(float(exact), rel=1e-12), window


@pytest.mark.parametrize("ahead", [1, 2, 63, 64, 65, 96, 100, 128, 4096])
def test_any_length_of_the_ring(ahead):
    """Not a power of two, and rows at its very end and just behind it."""
    wheel = sw.Wheel(sw.concat(sep=" "), start=0, write_ahead=ahead, levels={"a": 5, "b": 5})
    wanted = {}
    for turn in range(5):
        now = wheel.watermark // SECOND
        for k, distance in enumerate([ahead - 1, ahead, ahead + 1, 0, ahead - 1, 2 * ahead, ahead]):
            word = f"{turn}.{k}"
            wheel.insert((now + distance) * SECOND, word)
            wanted.setdefault(now + distance, []).append(word)
        wheel.advance_to((now + [1, ahead, 2 * ahead + 1, ahead - 1, 3 * ahead][turn]) * SECOND)
    wheel.advance_to(wheel.watermark + 3 * ahead * SECOND)
    for tick, words in wanted.items():
        assert wheel.query(tick * SECOND, (tick + 1) * SECOND) == " ".join(words)
    assert wheel.landmark() == " ".join(word for tick in sorted(wanted) for word in wanted[tick])


class TestAYearLater:
    """Time that passes costs nothing for each of its 31 million ticks."""

    def test_a_watermark_a_year_later(self):
        counted = Counted()
        wheel = sw.Wheel(counted.aggregate, start="2023-01-01", dtype=object)
        first = wheel.start
        wheel.insert_many([first + k * SECOND for k in range(100)], [1] * 100)
        wheel.advance_to(first + 90 * SECOND)
        assert counted.cost(wheel.advance_to, first + YEAR) < 1000
        wheel.insert(first + YEAR, 5)
        assert counted.cost(wheel.advance_to, first + 2 * YEAR) < 1000
        assert wheel.landmark() == 105
        assert wheel.query(first + 95 * SECOND, first + YEAR + SECOND) == 10
        assert wheel.query(first + 100 * SECOND, first + YEAR) is None
        assert wheel.query(first + YEAR, first + 2 * YEAR) == 5
        assert counted.cost(wheel.query, first + SECOND, first + YEAR + SECOND) < 1000

    def test_records_a_year_ahead(self):
        counted = Counted()
        wheel = sw.Wheel(counted.aggregate, start="2023-01-01", dtype=object)
        first = wheel.start
        wheel.insert_many([first + YEAR + k * SECOND for k in range(50)], [1] * 50)
        wheel.insert(first, 7)
        assert counted.cost(wheel.advance_to, first + YEAR) < 1000
        assert wheel.landmark() == 7
        assert counted.cost(wheel.advance_to, first + YEAR + 50 * SECOND) < 1000
        assert wheel.landmark() == 57
        assert wheel.query(first + YEAR + 10 * SECOND, first + YEAR + 20 * SECOND) == 10

    @pytest.mark.parametrize("settings", [{"prefix": True}, {"keep": "drop"}, {"keep": 30}], ids=str)
    def test_other_wheels(self, settings):
        counted = Counted()
        wheel = sw.Wheel(counted.aggregate, start="2023-01-01T00:00:30", dtype=object, **settings)
        wheel.window(sw.tumbling("1d"))
        first = wheel.start
        wheel.insert_many([first, first + YEAR], [1, 2])
        assert counted.cost(wheel.advance_to, first + YEAR) < 5000
        wheel.insert(first + YEAR + 3 * SECOND, 4)
        closed = wheel.advance_to(first + YEAR + 86_400 * SECOND)
        assert [w.value for w in closed] == [6]
        now = wheel.watermark
        assert wheel.query(now // (60 * SECOND) * 60 * SECOND, now) is None
        assert wheel.landmark() == 7

    def test_windows_in_a_gap_are_empty(self):
        wheel = sw.Wheel(sw.count(), start="2023-01-01")
        wheel.window(sw.sliding("2d", every="1d", name="w"))
        wheel.insert("2023-01-01T12:00", 1)
        closed = wheel.advance_to("2024-01-01")
        assert [w.value for w in closed] == [1, 1] + [0] * 363


def test_prefix_sums_are_not_made_anew_at_each_tick():
    """A few combines a tick, however many there were before."""
    counted = Counted()
    wheel = sw.Wheel(counted.aggregate, start=0, prefix=True, dtype=object)
    costs = []
    for tick in range(4000):
        wheel.insert(tick * SECOND, 1)
        costs.append(counted.cost(wheel.advance_to, (tick + 1) * SECOND))
    assert sum(costs) <= 4 * len(costs)
    assert max(costs) <= 3 * len(wheel.levels)
    assert max(costs[3600:]) <= max(costs[:3600])


@pytest.mark.parametrize("ahead", [1, 8, 64])
def test_far_records_come_at_their_time_in_order_of_arrival(ahead):
    wheel = sw.Wheel(sw.concat(), start=0, write_ahead=ahead)
    wheel.window(sw.tumbling("1s"))
    for time, word in [(5000, "a"), (100, "b"), (5000, "c"), (70_000, "d"), (5000, "e"), (100, "f")]:
        wheel.insert(time * SECOND, word)
    assert [w.value for w in wheel.advance_to(100 * SECOND)] == [None] * 100
    wheel.insert(100 * SECOND, "g")
    wheel.insert(5000 * SECOND, "h")
    assert [w.value for w in wheel.advance_to(101 * SECOND)] == ["bfg"]
    wheel.advance_to(4999 * SECOND)
    wheel.insert(5000 * SECOND, "i")
    assert [w.value for w in wheel.advance_to(5001 * SECOND)] == [None, "acehi"]
    wheel.advance_to(70_000 * SECOND)
    assert wheel.query(5001 * SECOND, 70_000 * SECOND) is None
    assert [w.value for w in wheel.advance_to(70_001 * SECOND)] == ["d"]


def test_times_farther_back_than_64_bits_can_tell_are_late():
    wheel = sw.Wheel(sw.sum(), start=2**60, tick=1)
    assert wheel.insert_many([-(2**63), 2**60, -(2**62) - 5], [1, 2, 3]) == 1
    assert wheel.late == 2
    wheel.advance_to(2**60 + 1)
    assert wheel.landmark() == 2
