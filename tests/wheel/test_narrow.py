"""Sums of integers begin in 64 bits, and go on in 128 before any of them could leave 64."""

import math
import random

import numpy as np
import pytest

import slidewheel as sw

HUGE = 2**61


def narrow(wheel):
    return wheel._core.dtype == np.dtype("i8")


def made(**settings):
    return sw.Wheel(sw.sum(), **{"start": 0, "levels": {"a": 4, "b": 3, "c": 5}, "tick": 1, **settings})


def right(rows, low, high):
    """The sum of [low, high), None if it is empty, "overflow" if it does not fit."""
    inside = [value for time, value in rows if low <= time < high]
    total = sum(inside)
    return None if not inside else total if -(2**63) <= total < 2**63 else "overflow"


def asked(wheel, low, high, plan="auto"):
    try:
        return wheel.query(low, high, plan=plan)
    except sw.Overflow:
        return "overflow"


def compare(wheel, rows, dice):
    for _ in range(40):
        low, high = sorted(dice.randint(0, wheel.watermark) for _ in range(2))
        for plan in ("auto", "combined", "inverse_landmark"):
            assert asked(wheel, low, high, plan) == right(rows, low, high), (low, high, plan)


@pytest.mark.parametrize("settings", [{}, {"prefix": True}, {"write_ahead": 3}], ids=["plain", "prefix", "far ahead"])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_seen_of_it(settings, seed):
    dice = random.Random(seed)
    wheel, rows = made(**settings), []
    specs = [sw.sliding(10, every=3), sw.tumbling(7), sw.session(4)]
    for spec in specs:
        wheel.window(spec)
    closed = []
    for step in range(30):
        size = 10 if step < 15 else HUGE  # magnitudes of 2**63 are reached soon after that
        now = wheel.watermark
        given = [(now + dice.randrange(40), dice.randrange(-size, size)) for _ in range(dice.randrange(5))]
        if dice.random() < 0.5 and given:
            wheel.insert_many([t for t, _ in given], [v for _, v in given])
        else:
            for time, value in given:
                wheel.insert(time, value)
        rows += given
        try:
            closed += wheel.advance_to(now + dice.randrange(12))
        except sw.Overflow:  # a window that does not fit
            break
        compare(wheel, rows, dice)
        assert not narrow(wheel) or sum(abs(v) for _, v in rows) < 2**63
    assert not narrow(wheel)
    for found in closed:
        assert found.value == right(rows, found.start, found.end), found


def test_it_goes_on_in_128_bits():
    wheel = made()
    wheel.insert_many([0, 1, 2], [5, 6, 7])
    wheel.advance_to(3)
    assert narrow(wheel)
    wheel.insert_many([3, 4, 5, 6, 7], [HUGE, HUGE, HUGE, -HUGE, -HUGE])
    assert not narrow(wheel)
    wheel.advance_to(8)
    assert wheel.query(0, 8) == HUGE + 18
    assert wheel.query(0, 5) == 2 * HUGE + 18
    wheel.insert(8, HUGE)
    wheel.insert(9, HUGE)
    wheel.insert(10, HUGE)
    wheel.advance_to(20)
    with pytest.raises(sw.Overflow):
        wheel.landmark()
    assert wheel.query(4, 11) == 3 * HUGE


def test_the_least_integer_weighs_more_than_the_greatest():
    wheel = made()
    wheel.insert(0, -(2**63))
    wheel.advance_to(1)
    assert wheel.query(0, 1) == -(2**63)
    assert not narrow(wheel)


def test_readers_keep_what_they_saw():
    wheel = made()
    wheel.insert_many([0, 1], [1, 2])
    wheel.advance_to(5)
    before = wheel._seen
    wheel.insert_many([5, 6], [2**62, 2**62])
    wheel.advance_to(10)
    wheel._seen = before
    assert wheel.query(0, 5) == 3


class TestWithOthers:
    def heavy(self, value=2**39):
        """A sum of 2**56, for which 2**57 is weighed."""
        wheel = made()
        wheel.insert_many(np.zeros(2**17, dtype="i8"), np.full(2**17, value))
        wheel.insert(1, 1)
        wheel.advance_to(10)
        return wheel

    def again(self, wheel):
        return sw.Wheel.restore(sw.sum(), wheel.snapshot())

    @pytest.mark.parametrize("value", [2**39, -(2**39)])
    def test_merging_until_it_is_too_much(self, value):
        wheel, sides = self.heavy(value), set()
        for count in (2, 4, 8, 16, 32, 64):
            wheel.merge(self.again(wheel))
            assert wheel.query(0, 10) == count * (2**17 * value + 1)
            assert wheel.query(0, 1) == count * 2**17 * value
            sides.add(narrow(wheel))
        assert sides == {True, False}
        wheel.merge(self.again(wheel))
        if value > 0:
            with pytest.raises(sw.Overflow):
                wheel.query(0, 10)
        else:
            assert wheel.query(0, 10) == -(2**63) + 128

    def test_a_snapshot_knows_its_weight(self):
        wheel = self.heavy()
        assert wheel._core.weight >= 2**56 + 1
        for _ in range(4):
            wheel.merge(self.again(wheel))
        assert narrow(wheel)
        again = self.again(wheel)
        assert narrow(again)
        assert again._core.weight == wheel._core.weight
        for time in range(10, 50):
            again.insert_many(np.full(2**17, time), np.full(2**17, 2**39))
        assert not narrow(again)
        again.advance_to(60)
        assert again.query(0, 50) == 16 * (2**56 + 1) + 40 * 2**56

    @pytest.mark.parametrize("first", [1, -7, 2**62])
    @pytest.mark.parametrize("second", [1, 2**62, -(2**63)])
    def test_merging_narrow_and_wide(self, first, second):
        a, b = made(), made()
        a.insert(0, first)
        b.insert(3, second)
        a.advance_to(10)
        b.advance_to(20)
        a.merge(b)
        assert asked(a, 0, 20) == right([(0, first), (3, second)], 0, 20)
        assert b.query(0, 20) == second

    def test_merging_into_an_empty_one(self):
        for value in (5, -(2**63)):
            empty, other = made(), made()
            other.insert(1, value)
            other.advance_to(10)
            empty.merge(other)
            assert empty.query(0, 10) == value

    def test_merging_with_a_compressed_one(self):
        for one, other in ((made(compress=True), self.heavy()), (self.heavy(), made(compress=True))):
            other.insert(12, 1)
            one.merge(other)
            one.advance_to(20)
            assert one.query(0, 20) == 2**56 + 2

    def test_replicas_follow(self):
        wheel, replica, compressed = self.heavy(), made(), made(compress=True)
        for time in (10, 20, 30):
            for other in (replica, compressed):
                other.apply(wheel.deltas(other.watermark))
                assert asked(other, 1, wheel.watermark) == asked(wheel, 1, wheel.watermark)
                assert asked(other, 0, wheel.watermark) == asked(wheel, 0, wheel.watermark)
            assert narrow(replica) == narrow(wheel) == (time == 10)
            wheel.insert(time, 2**62)
            wheel.advance_to(time + 10)


def test_many_rows_at_once():
    """The weight is counted as they go in; in the middle of them it is too much."""
    rows = 400_000
    values = np.full(rows, 3)
    values[250_000] = 2**50
    wheel = made(write_ahead=64)
    wheel.ingest(np.arange(rows) // 10, values, every=100, delay=0)
    assert not narrow(wheel)
    now = wheel.watermark
    assert wheel.query(0, now) == 30 * now + (2**50 - 3)
    assert wheel.query(0, 25_000) == 30 * 25_000


def test_what_is_refused_leaves_a_wheel_narrow():
    wheel, floats = made(), made()
    wheel.insert(0, 1)
    wheel.advance_to(5)
    floats.insert(0, 1.5)
    floats.advance_to(10)
    before = wheel.snapshot()
    with pytest.raises(sw.SlidewheelError):
        wheel.apply(floats.deltas(5))
    with pytest.raises(sw.SlidewheelError):
        wheel.merge(floats)
    assert wheel.snapshot() == before
    assert narrow(wheel)


class TestFloats:
    """Prefix sums of floats are sums alone until a value is not finite."""

    ODD = (float("nan"), float("inf"), -float("inf"))

    def made(self, **settings):
        return made(prefix=True, dtype="f8", write_ahead=64, **settings)

    def wanted(self, rows, low, high):
        inside = [value for time, value in rows if low <= time < high]
        return sum(inside) if inside else None

    def compare(self, wheel, rows):
        now = wheel.watermark
        pairs = [(low, high) for low in range(now) for high in range(low, now + 1)]
        many = wheel.query_many([low for low, _ in pairs], [high for _, high in pairs]).tolist()
        for (low, high), found in zip(pairs, many, strict=True):
            right, alone = self.wanted(rows, low, high), wheel.query(low, high)
            if right is None:
                assert alone is None and found != found
            elif right != right:
                assert alone != alone and found != found, (low, high)
            else:
                assert alone == found == right, (low, high)

    @pytest.mark.parametrize("odd", ODD)
    def test_what_is_not_finite_leaves_no_trace(self, odd):
        wheel, rows = self.made(), [(time, float(time)) for time in range(30) if time % 7]
        wheel.insert_many([t for t, _ in rows], [v for _, v in rows])
        wheel.advance_to(20)
        assert wheel._core.dtype == np.dtype("f8")
        self.compare(wheel, rows)
        again = sw.Wheel.restore(sw.sum(), wheel.snapshot())
        assert again._core.dtype == np.dtype("f8")
        more = [(33, odd), (34, 2.0), (37, -odd), (38, 5.0)]
        for one in (wheel, again):
            one.insert_many([t for t, _ in more], [v for _, v in more])
            assert one._core.dtype.names == ("finite", "up", "down")
            one.advance_to(40)
            self.compare(one, rows + more)
            self.compare(sw.Wheel.restore(sw.sum(), one.snapshot()), rows + more)

    def test_merging_and_replicas(self):
        finite, odd = self.made(), self.made()
        finite.insert_many([1, 3], [1.0, 2.0])
        odd.insert_many([1, 5], [float("inf"), 4.0])
        for wheel in (finite, odd):
            wheel.advance_to(10)
        for first, second in ((finite, odd), (odd, finite)):
            both, other = (sw.Wheel.restore(sw.sum(), wheel.snapshot()) for wheel in (first, second))
            both.merge(other)
            self.compare(both, [(1, 1.0), (3, 2.0), (1, float("inf")), (5, 4.0)])
        twice = sw.Wheel.restore(sw.sum(), finite.snapshot())
        twice.merge(finite)
        assert twice._core.dtype == np.dtype("f8")
        replica = self.made()
        replica.apply(finite.deltas(0))
        assert replica._core.dtype == np.dtype("f8")
        finite.insert(12, float("nan"))
        finite.advance_to(20)
        replica.apply(finite.deltas(10))
        self.compare(replica, [(1, 1.0), (3, 2.0), (12, float("nan"))])

    def test_states_without_counts_are_told_from_those_in_which_a_nan_may_be(self):
        plain = made(dtype="f8", write_ahead=64)
        plain.insert_many([1, 3], [1.0, float("nan")])
        plain.advance_to(10)
        prefixed = self.made()
        with pytest.raises(sw.SlidewheelError, match="prefix"):
            prefixed.apply(plain.deltas(0))
        prefixed.merge(plain)
        assert not narrow(prefixed)
        assert prefixed.query(0, 3) == 1.0 and math.isnan(prefixed.query(0, 4)) and prefixed.query(4, 10) is None
        finite = self.made()
        finite.advance_to(10)
        with pytest.raises(sw.SlidewheelError, match="prefix"):
            plain.apply(finite.deltas(10))
