"""What a plan says it costs, in combines and inverses, it costs; the cheapest is taken (paper, section 3.4.4)."""

import random

import pytest

import slidewheel as sw
from slidewheel.compiler.loops import interpreted
from slidewheel.wheel import loops
from tests.wheel.harness import PLANS, Counted, ladder, pieces
from tests.wheel.model import SECOND, Model

LEVELS = {"a": 4, "b": 3, "c": 5, "d": 2}
SETTINGS = {
    "plain": {},
    "all prefix": {"prefix": True},
    "some prefix": {"prefix": ["a"]},
    "prefix above": {"prefix": ["b", "c"]},
    "dropped": {"keep": {"a": 40, "b": "drop"}},
    "another start": {"start": 7},
    "before 1970": {"start": -501, "prefix": ["a"]},
}


def filled(settings, ticks=400, invertible=True, **options):
    """A wheel with a value at every tick."""
    counted = Counted(invertible)
    settings = {"start": 0, "tick": 1, "levels": LEVELS, "write_ahead": 512, **settings, **options}
    wheel = sw.Wheel(counted.aggregate, **settings)
    first = wheel.watermark
    wheel.insert_many(range(first, first + ticks), list(range(ticks)))
    wheel.advance_to(first + ticks)
    return wheel, counted


def explained(wheel, start, end):
    """The cost of each plan that applies."""
    costs = {}
    for plan in PLANS:
        try:
            costs[plan] = wheel.explain(start, end, plan=plan)
        except sw.SlidewheelError:
            continue
        assert costs[plan].kind == plan
    return {plan: made.cost for plan, made in costs.items()}


def ranges(wheel, count, seed=0):
    dice = random.Random(seed)
    first, last = wheel.start, wheel.watermark
    edges = [first, last, *range(first, last, 12)]
    yield first, last
    for _ in range(count):
        start, end = (dice.choice([dice.randint(first, last), dice.choice(edges)]) for _ in range(2))
        if start != end:
            yield min(start, end), max(start, end)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("invertible", [True, False])
def test_explained_is_counted(settings, invertible):
    if not invertible and "prefix" in SETTINGS[settings]:
        pytest.skip("prefix sums need an inverse")
    wheel, counted = filled(SETTINGS[settings], invertible=invertible)
    total, seen = 0, set()
    for start, end in ranges(wheel, 400):
        costs = explained(wheel, start, end)
        for plan, cost in costs.items():
            assert counted.cost(wheel.query, start, end, plan=plan) == cost, (plan, start, end)
        if not costs:
            with pytest.raises(sw.SlidewheelError, match="kept"):
                wheel.query(start, end)
            continue
        best = wheel.explain(start, end)
        assert best.cost == min(costs.values()), (start, end, costs)
        assert counted.cost(wheel.query, start, end) == best.cost
        total += 1
        seen |= {best.kind, *costs}
    assert total > 100
    assert {"wheel", "combined", "landmark"} <= seen
    assert ("inverse_landmark" in seen) == invertible
    assert ("prefix" in seen) == ("prefix" in SETTINGS[settings])


def test_values_of_all_plans_at_many_ranges():
    """The values are 0, 1, 2, ..., so a sum is a formula."""
    wheel, _ = filled({"prefix": ["a", "c"]})
    for start, end in ranges(wheel, 1000, seed=1):
        wanted = (end * (end - 1) - start * (start - 1)) // 2
        assert wheel.query(start, end) == wanted
        for plan in explained(wheel, start, end):
            assert wheel.query(start, end, plan=plan) == wanted


def test_combined_takes_the_fewest_slots():
    wheel, counted = filled({"start": -3})
    model = Model(counted.aggregate, start=-3, tick=1)
    model.advance_to(wheel.watermark)
    rungs = ladder(1, LEVELS)
    for start, end in ranges(wheel, 1000):
        if start > wheel.start and end < wheel.watermark:
            assert wheel.explain(start, end, plan="combined").cost == pieces(rungs, model, start, end) - 1
        elif end < wheel.watermark:
            assert wheel.explain(start, end, plan="combined").cost <= pieces(rungs, model, start, end) - 1


@pytest.mark.parametrize("start", [0, 5, 7, 60])
@pytest.mark.parametrize("silent", [0, 1, 30])
def test_the_short_way_to_a_plan_leads_to_the_same(start, silent):
    """Where no level has gaps, all of it is found in one pass; `_descend` finds it anywhere."""
    wheel, _ = filled({"start": start})
    wheel.advance_to(wheel.watermark + silent)
    view, known, core = wheel._seen
    files = interpreted(loops.FILES, core.values.monoid)
    for low, high in ranges(wheel, 1000):
        (short, *_), (long, sizes, _) = core.room_for_plans(), core.room_for_plans()
        found = files["_climb"](view[4], view[5], low, high, *known[:2], short, 0)
        wanted = files["_descend"](*view[3:6], low, high, *known[:2], long, 0, sizes)
        assert found == wanted
        assert short[: 3 * found[0]].tolist() == long[: 3 * wanted[0]].tolist()


@pytest.mark.parametrize("ticks", [1, 3, 4, 5, 12, 13, 60, 119, 120, 121, 400])
def test_the_landmark_takes_one_for_each_level_but_one(ticks):
    wheel, counted = filled({"start": 2}, ticks)
    cost = wheel.explain(2, 2 + ticks, plan="landmark").cost
    assert cost <= len(LEVELS) - 1
    assert counted.cost(wheel.landmark) == cost
    assert wheel.landmark() == ticks * (ticks - 1) // 2


def test_prefix_takes_one():
    wheel, _ = filled({"prefix": True})
    for start, end in ranges(wheel, 300):
        cost = wheel.explain(start, end, plan="prefix").cost
        assert cost == 1 if start > wheel.start else cost <= 1


def test_many_ranges_cost_as_much_as_each_alone():
    wheel, counted = filled({})
    asked = list(ranges(wheel, 100))
    wanted = sum(wheel.explain(start, end).cost for start, end in asked)
    assert counted.cost(wheel.query_many, [s for s, _ in asked], [e for _, e in asked]) == wanted


def test_nothing_costs_nothing():
    wheel, counted = filled({})
    assert counted.cost(wheel.query, 20, 20) == 0
    assert wheel.query(20, 20) is None


class TestTheExampleOfThePaper:
    """Figure 3: [10:15:23, 13:20:50)."""

    START, END = "2023-11-09T10:15:23", "2023-11-09T13:20:50"

    @pytest.fixture(scope="class")
    @classmethod
    def day(cls):
        counted = Counted()
        wheel = sw.Wheel(counted.aggregate, start="2023-11-09", dtype=object)
        seconds = 15 * 3600
        wheel.insert_many([wheel.start + k * SECOND for k in range(seconds)], [1] * seconds)
        wheel.advance_to(wheel.start + seconds * SECOND)
        return wheel, counted

    def test_seconds_alone(self, day):
        wheel, counted = day
        assert wheel.explain(self.START, self.END, plan="wheel").cost == 11_126
        assert counted.cost(wheel.query, self.START, self.END, plan="wheel") == 11_126

    @pytest.mark.parametrize("plan", ["auto", "combined"])
    def test_combined(self, day, plan):
        """37 seconds, 44 minutes, 2 hours, 20 minutes and 50 seconds are 153 slots."""
        wheel, counted = day
        cost = wheel.explain(self.START, self.END, plan=plan).cost
        assert cost == 152 if plan == "combined" else cost <= 152
        assert counted.cost(wheel.query, self.START, self.END, plan=plan) == cost
        assert wheel.query(self.START, self.END, plan=plan) == 11_127

    def test_a_range_of_whole_minutes(self, day):
        """[12:00, 14:30): minutes alone, or hours and minutes."""
        wheel, _ = day
        limits = "2023-11-09T12:00", "2023-11-09T14:30"
        assert wheel.explain(*limits, plan="wheel").cost == 149
        assert wheel.explain(*limits, plan="combined").cost == 31

    def test_what_it_tells(self, day):
        wheel, _ = day
        plan = wheel.explain(self.START, self.END, plan="combined")
        assert (plan.kind, len(plan.parts)) == ("combined", 5)
        for word in ("seconds", "minutes", "hours", "152"):
            assert word in str(plan)
