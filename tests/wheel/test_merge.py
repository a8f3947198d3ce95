"""Wheels of the parts of a stream, merged: the wheel of the whole."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import slidewheel as sw
from tests.support import AGGREGATES
from tests.wheel.harness import Twins, fields, ladder
from tests.wheel.model import Model
from tests.wheel.scripts import few_forms, forms, pool

LEVELS = {"a": 4, "b": 3, "c": 5}
LAYOUTS = [{}, {"compress": ["a", "c"]}, {"write_ahead": 3}, {"write_ahead": 200}]
COMMUTATIVE = [(name, kind) for name, kind in forms() if AGGREGATES[name].commutative]


class Parts:
    """A stream cut into parts, each with its own wheel, layout and watermark."""

    def __init__(self, name, kind, seed, windows=True):
        self.dice = dice = random.Random(f"{name} {kind} {seed}")
        self.aggregate = AGGREGATES[name]
        start = dice.choice([0, -7, 1003])
        self.values = values = pool(name, kind, dice)
        packs = kind != "O" and name != "bloom"
        layouts = [each for each in LAYOUTS if packs or "compress" not in each]
        if name in ("count", "sum") and kind == "i8":
            layouts += [{"prefix": True}, {"prefix": ["b"]}]
        self.dtype = dtype = object if kind == "O" else kind
        self.twins = []
        for _ in range(dice.randint(2, 4)):
            settings = {"start": start + dice.choice([0, 0, 5]), "tick": 1, "levels": LEVELS, "dtype": dtype}
            settings |= dice.choice(layouts)
            model = Model(self.aggregate, start=settings["start"], tick=1)
            self.twins.append(Twins(sw.Wheel(self.aggregate, **settings), model, ladder(1, LEVELS), kind))
        if windows:
            for twin in self.twins:
                if dice.random() < 0.7:
                    twin.window(sw.sliding(dice.choice([5, 12]), every=dice.choice([2, 3, 6])))
        for twin in self.twins:
            for _ in range(dice.randint(0, 3)):
                times = [start + dice.choice([dice.randrange(60), dice.randrange(400)]) for _ in range(40)]
                twin.insert_many(times, [dice.choice(values) for _ in times], dtype)
                twin.advance_to(twin.model.watermark + dice.choice([0, 1, 10, 60]))

    def merge(self, into, other):
        """One into another, which stays what it was."""
        before = other.wheel.snapshot()
        got, wanted = into.wheel.merge(other.wheel), into.model.merge(other.model)
        into.compare_windows([fields(w) for w in got], wanted)
        assert other.wheel.snapshot() == before

    def check(self, twin):
        assert twin.wheel.watermark == twin.model.watermark
        twin.check_landmark()
        for _ in range(15):
            low, high = sorted(self.dice.randint(twin.model.start, twin.model.watermark) for _ in range(2))
            twin.check_range(low, high)
        if twin.aggregate.name != "bloom":
            twin.check_slots()


def run(name, kind, seed):
    parts = Parts(name, kind, seed)
    left = list(parts.twins)
    while len(left) > 1:
        into, other = parts.dice.sample(left, 2)
        parts.merge(into, other)
        parts.check(into)
        left.remove(other)
    # It goes on like any other wheel.
    whole = left[0]
    for step in (3, 40, 500):
        times = [whole.model.watermark + k for k in range(3)]
        whole.insert_many(times, [parts.dice.choice(parts.values) for _ in times], parts.dtype)
        whole.advance_to(whole.model.watermark + step)
    parts.check(whole)


@pytest.mark.parametrize(("name", "kind"), [form for form in few_forms() if form in COMMUTATIVE and form[0] != "bloom"])
def test_any_order_and_grouping(name, kind):
    run(name, kind, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), COMMUTATIVE)
def test_many_orders_and_groupings(name, kind):
    for seed in range(1, 150):
        run(name, kind, seed)


OTHER_LAYOUTS = [{}, {"prefix": True}, {"prefix": ["b"]}, {"compress": True}, {"compress": ["a"], "prefix": ["b"]}]
CASES = [(sw.sum(), "f8", True), (sw.sum(), object, False), (sw.mean(), object, False), (sw.var(), object, False)]
LONG = [  # with several forms to compile
    (sw.mean(), "f8", True), (sw.mean(), "i8", False), (sw.geomean(), "f8", True), (sw.var(), "f8", True),
    (sw.std(ddof=0), "i8", False), (sw.sum(), "f8", False), (sw.sum(), "i8", False), (sw.count(), "i8", False),
]  # fmt: skip
PAIRED = [
    pytest.param(*case, mine, theirs, marks=pytest.mark.slow if case in LONG else ())
    for case in (*CASES, *LONG)
    for mine in OTHER_LAYOUTS
    for theirs in OTHER_LAYOUTS
    if case[1] is not object or "compress" not in mine | theirs  # objects are never compressed
]
CALM, WILD = [1.0, 2.0, 5.0, 8.0], [1.0, 2.0, 5.0, math.nan, math.inf, -math.inf, 0.0, -3.0]


def rows_of(seed, kind, wild):
    dice = np.random.default_rng(seed)
    times, values = dice.integers(0, 900, 300), dice.choice(WILD if wild else CALM, 300)
    return times, [Fraction(int(v)) for v in values] if kind is object else values.astype(kind)


def laid_out(aggregate, kind, layout, watermark, *parts):
    """A wheel of these rows, that has a window and some rows ahead of its watermark."""
    made = sw.Wheel(aggregate, start=0, tick=1, levels=LEVELS, write_ahead=100, dtype=kind, **layout)
    made.window(sw.sliding(20, every=10))
    for times, values in parts:
        made.insert_many(times, values)
    closed = made.advance_to(watermark)
    return made, closed


def alike(found, wanted):
    if found is None or wanted is None or found != found or wanted != wanted:
        return (found is None) == (wanted is None) and (found != found) == (wanted != wanted)
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)


def told(given):
    return getattr(given, "name", None) or str(given)


@pytest.mark.parametrize(("aggregate", "kind", "wild", "mine", "theirs"), PAIRED, ids=told)
def test_any_two_layouts(aggregate, kind, wild, mine, theirs):
    """States that can be taken away have another form than those that can't."""
    first, second = rows_of(1, kind, wild), rows_of(2, kind, wild)
    one, _ = laid_out(aggregate, kind, mine, 200, first)
    two, _ = laid_out(aggregate, kind, theirs, 500, second)
    whole, _ = laid_out(aggregate, kind, {}, 200, first, second)
    before = two.snapshot()
    closed, wanted = one.merge(two), whole.advance_to(500)
    assert two.snapshot() == before
    assert [(w.start, w.end) for w in closed] == [(w.start, w.end) for w in wanted]
    assert all(alike(a.value, b.value) for a, b in zip(closed, wanted, strict=True))
    more = rows_of(3, kind, wild)
    for wheel in (one, whole):
        wheel.insert_many(more[0] + 500, more[1])
        wheel.advance_to(1500)
    assert alike(one.landmark(), whole.landmark())
    for low, high in np.sort(np.random.default_rng(4).integers(0, 1500, (60, 2)), axis=1).tolist():
        assert alike(one.query(low, high), whole.query(low, high)), (low, high)
    plain = [name for name in LEVELS if mine.get("prefix") in (True, [name])]
    for name in plain:
        length = {"a": 1, "b": 4, "c": 12}[name]
        low, high = 7 * 12, 96 * 12
        assert alike(one.query(low, high, plan="prefix"), whole.query(low, high)), length


@pytest.mark.parametrize("values", [[2.5, 4.0], [2.5, math.inf]], ids=["finite", "infinite"])
def test_prefix_sums_of_floats_stay_narrow_as_long_as_all_are_finite(values):
    one, two = (sw.Wheel(sw.sum(), start=0, tick=1, dtype="f8", prefix=prefix) for prefix in (True, False))
    for wheel, value in zip((one, two), values, strict=True):
        wheel.insert(3, value)
        wheel.advance_to(10)
    room = one.nbytes
    one.merge(two)
    assert one.landmark() == sum(values) and one.query(4, 10) is None
    assert (one.nbytes > 1.5 * room) == math.isinf(values[1])


def test_what_the_other_has_not_finished_comes_too():
    one, two = (sw.Wheel(sw.sum(), start=0, tick=1) for _ in range(2))
    one.insert_many([3, 5000], [1, 2])
    two.insert_many([3, 4, 5000, 90_000], [4, 8, 16, 32])
    one.merge(two)
    assert one.watermark == 0
    one.advance_to(5001)
    assert (one.query(0, 4), one.query(3, 5), one.landmark()) == (5, 13, 31)
    one.advance_to(100_000)
    assert one.landmark() == 63
    two.advance_to(100_000)
    assert two.landmark() == 60


def test_the_later_watermark_closes_windows():
    one, two = (sw.Wheel(sw.sum(), start=0, tick=1) for _ in range(2))
    one.window(sw.tumbling(10, name="w"))
    one.insert_many([1, 11, 25], [1, 2, 4])
    two.insert_many([2, 12, 29], [8, 16, 32])
    assert [fields(w) for w in one.advance_to(10)] == [("w", 0, 10, 1)]
    two.advance_to(29)
    assert [fields(w) for w in one.merge(two)] == [("w", 10, 20, 18)]
    assert one.watermark == 29
    assert [fields(w) for w in one.advance_to(30)] == [("w", 20, 30, 36)]


def test_windows_that_are_half_done_hold_both():
    """A sliding window whose first half was finished on both sides before the merge."""
    one, two = (sw.Wheel(sw.max(), start=0, tick=1) for _ in range(2))
    one.window(sw.sliding(20, every=5, name="w"))
    one.insert_many([1, 12], [1, 2])
    two.insert_many([3, 9], [50, 60])
    one.advance_to(10)
    two.advance_to(10)
    assert one.merge(two) == []
    assert [fields(w) for w in one.advance_to(30)] == [
        ("w", -5, 15, 60),
        ("w", 0, 20, 60),
        ("w", 5, 25, 60),
        ("w", 10, 30, 2),
    ]


def test_an_empty_wheel_changes_nothing_but_the_watermark():
    one, two = (sw.Wheel(sw.sum(), start=0, tick=1) for _ in range(2))
    one.insert_many([1, 7], [1, 2])
    one.merge(two)
    two.advance_to(5)
    one.merge(two)
    assert (one.watermark, one.landmark()) == (5, 1)
    two.merge(one)
    two.advance_to(8)
    assert two.landmark() == 3
