"""Plans: which states are shared, that sharing changes no answer, and that explain() counts the combines rightly."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.windows.explain import Cost, cost
from slidewheel.windows.plan import Plan, block_shifts
from slidewheel.windows.sharing import parts_of
from tests.engine.harness import compare, listed
from tests.support import GeoMean


def shared(*aggregates: sw.Aggregate, kind: str = "f") -> tuple[list[str], list[int]]:
    """The names of the states that are kept, and which of them each aggregate reads."""
    kinds = [("f", "i") if a.positional else (kind if a.columns else "i",) for a in aggregates]
    parts, uses = parts_of(aggregates, kinds)
    return [part.monoid.name for part in parts], [use.part for use in uses]


class TestSharing:
    def test_equal_ones(self):
        assert shared(sw.sum("x"), sw.sum("x").alias("again")) == (["sum"], [0, 0])

    @pytest.mark.parametrize("kind", ["f", "i"])
    def test_a_state_that_is_part_of_another(self, kind):
        assert shared(sw.sum("x"), sw.mean("x"), kind=kind) == (["mean"], [0, 0])
        assert shared(sw.min("x"), sw.span("x"), sw.max("x"), kind=kind) == (["span"], [0, 0, 0])

    def test_variance_and_deviation(self):
        assert shared(sw.var("x", ddof=1), sw.std("x", ddof=1)) == (["var"], [0, 0])
        assert shared(sw.var("x", ddof=0), sw.std("x", ddof=2))[1] == [0, 0]

    def test_counts_of_values(self):
        assert shared(sw.count("x"), sw.mean("x")) == (["mean"], [0, 0])
        assert shared(sw.count("x"), sw.var("x"))[1] == [0, 0]

    def test_other_columns_share_nothing(self):
        assert shared(sw.sum("x"), sw.mean("y"))[1] == [0, 1]
        assert shared(sw.count(), sw.mean("x"))[1] == [0, 1]

    def test_objects_share_nothing_but_with_their_equals(self):
        assert shared(sw.sum("x"), sw.mean("x"), kind="O")[1] == [0, 1]

    def test_aggregates_of_users(self):
        assert shared(GeoMean("x"), GeoMean("x").alias("again"), sw.geomean("x"))[1] == [0, 0, 1]


TOGETHER = [
    sw.count(),
    sw.count("x"),
    sw.count("i"),
    sw.sum("x"),
    sw.mean("x"),
    sw.sum("i"),
    sw.mean("i"),
    sw.var("x"),
    sw.std("x", ddof=0).alias("deviation"),
    sw.min("i"),
    sw.max("i"),
    sw.span("i"),
    sw.max("x"),
    sw.span("x"),
    sw.geomean("x"),
]


@pytest.mark.parametrize("windows", [[sw.sliding(40, every=15), sw.tumbling(20)], [sw.session(4)], [sw.trailing(30)]])
@pytest.mark.parametrize("holes", [0.0, 0.3, 1.0])
def test_answers_are_those_of_each_aggregate_alone(windows, holes):
    dice = random.Random(4)

    def column(low: int, high: int, unit: float) -> list[Any]:
        return [None if dice.random() < holes else dice.randint(low, high) * unit for _ in range(200)]

    columns = {
        "t": sorted(dice.sample(range(900), 200)),
        "k": [dice.choice("ab") for _ in range(200)],
        "x": column(1, 80, 0.125),
        "i": column(-9, 9, 1),
    }
    whole = pa.table(columns, pa.schema({"t": pa.int64(), "k": pa.string(), "x": pa.float64(), "i": pa.int64()}))
    together = sw.query(time="t", keys="k", windows=windows, aggregates=TOGETHER).run(whole)
    for aggregate in TOGETHER:
        alone = sw.query(time="t", keys="k", windows=windows, aggregates=[aggregate]).run(whole)
        compare(together.select(alone.column_names), listed(alone))


class TestPlan:
    def test_windows_of_one_slicing_are_one_group(self):
        plan = Plan([sw.sliding("1h", every="5m"), sw.session("5m"), sw.tumbling("1d")], [sw.count()])
        assert [[place for place, _ in group.specs] for group in plan.groups] == [[0, 2]]

    def test_order_is_asked_for_where_it_is_needed(self):
        assert not Plan([sw.tumbling(5), sw.session(5)], [sw.sum("x")]).in_order
        assert Plan([sw.tumbling(5)], [sw.sum("x"), sw.last("x")]).in_order
        assert Plan([sw.rows(5, every=2)], [sw.sum("x")]).in_order

    def test_peers_are_ordered_by_all_that_is_read(self):
        plan = Plan([sw.delta("d", 1)], [sw.sum("x"), sw.argmax("y", "s"), sw.count()])
        assert plan.peers == ["d", "x", "y", "s"]

    def test_the_most_windows_for_a_row(self):
        Plan([sw.sliding(10**6, every=1)], [sw.count()])
        with pytest.raises(sw.PlanTooLarge, match="1,000,001 windows"):
            Plan([sw.sliding(10**6 + 1, every=1)], [sw.count()])


class TestExplain:
    def test_what_it_says(self):
        query = sw.query(
            time="departed",
            keys=["origin", "carrier"],
            windows=[sw.sliding("1h", every="5m"), sw.tumbling("1d", offset="6h"), sw.session("30m")],
            aggregates=[sw.mean("delay"), sw.sum("delay"), sw.count(), sw.concat("tail")],
            lateness="15m",
            late="keep",
        )
        said = query.explain()
        assert said.startswith("time departed, keys origin, carrier, lateness 15m, late rows: keep\n")
        for line in (
            "1h/5m            sliding: 1h every 5m",
            "1d               tumbling: 1d, shifted by 6h",
            "for mean_delay, sum_delay",
            "concat of tail (Python objects)",
            "rows wait for the watermark and are added in the order of their times: it decides concat_tail",
            "slices 1: 1 edge every 5m",
            "session_30m      one for each stretch without a gap",
        ):
            assert line in said

    def test_repair_is_said(self):
        made = sw.query(time="t", windows=[sw.tumbling(5)], aggregates=[sw.count()], late="update", repair="1h")
        assert "late rows: update, repaired for 1h" in made.explain()

    @pytest.mark.parametrize(
        "window", [sw.trailing(5), sw.rows(5), sw.rows(5, every=2), sw.delta("x", 1), sw.punctuated("p"), sw.session(5)]
    )
    def test_every_kind(self, window):
        made = sw.query(time="t", windows=[window], aggregates=[sw.sum("x")])
        assert made.explain().count(window.name) >= 2

    def test_slices_that_are_not_shared(self):
        made = sw.query(time="t", windows=[sw.tumbling("1s"), sw.tumbling(999_983)], aggregates=[sw.count()])
        said = made.explain()
        assert "slices 1:" in said and "slices 2:" in said


CALLS = [0]


@sw.aggregate(state=object, commutative=True)
class Counting:
    identity = 0

    def lift(x):
        return x

    def combine(a, b):
        CALLS[0] += 1
        return a + b

    def lower(s):
        return s


def counted(windows: list[Any], slices: int = 6000, pushes: int = 1) -> tuple[float, Cost]:
    """Combines in a period, for a key with one row in each slice, and what was predicted."""
    query = sw.query(time="t", windows=windows, aggregates=[Counting("x")])
    [group] = query.plan.groups
    known, slicing = cost(group), group.slicing
    turns = range(slices // len(slicing.edges))
    times = np.array([edge + k * slicing.period for k in turns for edge in slicing.edges])
    stream = query.stream()
    CALLS[0] = 0
    for part in np.array_split(times, pushes):
        stream.push({"t": part, "x": np.ones(len(part), dtype=np.int64)})
    return CALLS[0] * known.period / int(times[-1] - times[0]), known


EXACT = {
    "single slices": [sw.tumbling(10)],
    "slices with gaps": [sw.sliding(3, every=10)],
    "hour by five minutes": [sw.sliding("1h", every="5m")],
    "powers of two": [sw.sliding(2048, every=1024)],
    "range no multiple of the slide": [sw.sliding(17, every=3)],
    "a long range": [sw.sliding(100, every=7)],
    "two tumbling": [sw.tumbling(10), sw.tumbling(30)],
    "three that share": [sw.sliding("1h", every="5m"), sw.sliding("15m", every="5m"), sw.tumbling("1h")],
    "gaps beside none": [sw.sliding(3, every=10), sw.sliding(40, every=20)],
}
SHARED = {
    "slides 1, 2, 3": [sw.sliding("6s", every="1s"), sw.sliding("10s", every="2s"), sw.sliding("13s", every="3s")],
    "slides 10, 15": [sw.sliding(25, every=10), sw.sliding(33, every=15)],
    "slides 300, 200": [sw.sliding(1000, every=300, offset=70), sw.sliding(700, every=200, offset=30)],
    "a short slice and a long one": [sw.sliding(11, every=10)],
    "powers of two that share": [sw.sliding(4096, every=512), sw.sliding(3072, every=1024)],
}


class TestCost:
    @pytest.mark.parametrize(
        "windows",
        [pytest.param(w, id=name) for name, w in (EXACT | SHARED).items()],
    )
    def test_combines_are_as_many_as_predicted(self, windows):
        got, known = counted(windows)
        assert got == pytest.approx(known.combines, rel=0.01)
        if known.combines == 0:
            assert got == 0

    @pytest.mark.parametrize("seed", range(20))
    def test_any_single_window(self, seed):
        dice = random.Random(seed)
        every = dice.randint(50, 500)
        length = every * dice.randint(2, 20) + dice.choice([0, 0, dice.randint(0, every)])
        got, known = counted([sw.sliding(length, every=every, offset=dice.randint(0, 99))], 3000)
        assert got == pytest.approx(known.combines, rel=0.03)

    @pytest.mark.parametrize("windows", SHARED.values(), ids=list(SHARED))
    def test_batches_do_not_change_the_count(self, windows):
        """Every prefix and suffix is made once; none is made for slices that are gone when their block is complete."""
        at_once, in_batches = counted(windows, 1000, pushes=1)[0], counted(windows, 1000, pushes=37)[0]
        assert 0.99 * at_once <= in_batches <= at_once

    def test_sharing_pays(self):
        """Windows of about one length extend the same blocks."""
        alone = [sw.sliding(60, every=10), sw.sliding(50, every=10)]
        together, known = counted(alone)
        apart = sum(counted([window])[0] for window in alone)
        assert known.rows == 3
        assert together < 0.8 * apart


class TestBlockShifts:
    def test_one_window_has_the_longest_blocks_that_fit(self):
        assert [block_shifts([length], [1.0]) for length in (1, 2, 3, 4, 1000, 1024)] == [[0], [1], [1], [2], [9], [10]]

    def test_windows_with_few_answers_use_the_next_shorter_blocks(self):
        assert block_shifts([100, 200], [1.0, 1.0]) == [6, 6]
        assert block_shifts([200, 100], [0.1, 5.0]) == [6, 6]

    def test_but_not_if_they_give_many(self):
        assert block_shifts([100, 200, 210, 220], [1.0] * 4) == [6, 7, 7, 7]

    def test_and_never_shorter_ones(self):
        assert block_shifts([100, 200, 400, 800], [1.0] * 4) == [6, 6, 8, 8]
        assert block_shifts([100, 400], [0.1, 0.1]) == [6, 8]

    def test_any(self):
        for seed in range(300):
            dice = random.Random(seed)
            count = dice.randint(1, 8)
            lengths = [dice.randint(1, 10 ** dice.randint(1, 6)) for _ in range(count)]
            for length, shift in zip(lengths, block_shifts(lengths, [dice.random() * 3] * count), strict=True):
                assert 1 << shift <= length < 4 << shift


def test_explain_tells_how_many_parts_a_window_has():
    windows = [sw.sliding("100s", every="1s"), sw.sliding("200s", every="1s")]
    said = sw.query(time="t", windows=windows, aggregates=[sw.count()]).explain()
    assert said.count("at most 3 parts, so 1 or 2 combines") == said.count("at most 5 parts, so 1 to 4 combines") == 1
    trailing = [sw.trailing("100s"), sw.trailing("200s")]
    said = sw.query(time="t", windows=trailing, aggregates=[sw.count()]).explain()
    assert "2 combines an entry, 1 or 2 an answer" in said
    assert "2 combines an entry, 1 to 4 an answer" in said
