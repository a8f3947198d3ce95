"""Keyed wheels against one model for each key."""

import random

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from tests.wheel.harness import alike, room
from tests.wheel.model import SECOND, Model, answered

LEVELS = {"a": 4, "b": 3, "c": 5}
KEYS = {
    "ints": (["k"], [3, -1, 0, 2**40]),
    "texts": (["k"], ["a", "", "é", "zz"]),
    "nulls": (["k"], [None, "a", "b"]),
    "several": (["k", "g"], [("a", 1), ("a", 2), ("b", 1), (None, 1), ("a", None), (None, None)]),
}
AGGREGATES = [
    sw.count(),
    sw.count("i").alias("known"),
    sw.sum("i"),
    sw.mean("x"),
    sw.max("x"),
    sw.argmax("i", "s"),
]


class Keyed:
    """A keyed wheel and its models: one for each key and aggregate."""

    def __init__(self, kind, seed, aggregates=AGGREGATES, start=0, **settings):
        self.dice = random.Random(f"{kind} {seed}")
        self.columns, self.keys = KEYS[kind]
        self.aggregates, self.start = aggregates, start
        self.settings = {"keys": self.columns, "time": "t", "start": start, "tick": 1, "levels": LEVELS, **settings}
        self.wheel = sw.KeyedWheel(aggregates, **self.settings)
        self.models: dict = {}
        self.watermark, self.late = start, 0

    def parts(self, key):
        return key if len(self.columns) > 1 else (key,)

    def rows(self, count):
        dice = self.dice
        keys = self.keys[: dice.randint(1, len(self.keys))]
        rows = []
        for _ in range(count):
            row = {"t": self.watermark + dice.choice([-2, 0, 0, 1, 3, 9, 70, 300])}
            row |= dict(zip(self.columns, self.parts(dice.choice(keys)), strict=True))
            row["i"] = dice.choice([None, *range(-5, 6)])
            row["x"] = dice.choice([None, 0.5, -1.25, 3.0, 8.0])
            row["s"] = dice.choice([None, "u", "v", "w"])
            rows.append(row)
        return rows

    def table(self, rows):
        known = {"t": pa.int64(), "i": pa.int64(), "x": pa.float64(), "s": pa.string(), "g": pa.int64()}
        known["k"] = pa.int64() if isinstance(self.keys[0], int) else pa.string()
        names = ["t", *self.columns, "i", "x", "s"]
        return pa.table({name: pa.array([row[name] for row in rows], known[name]) for name in names})

    def insert(self, rows):
        assert self.wheel.insert(self.table(rows)) == sum(self.add(row) for row in rows)
        assert self.wheel.late == self.late
        assert self.wheel.key_count == len(self.models)

    def add(self, row):
        if row["t"] < self.watermark:
            self.late += 1
            return False
        key = row[self.columns[0]] if len(self.columns) == 1 else tuple(row[c] for c in self.columns)
        if key not in self.models:
            self.models[key] = [Model(a, start=self.start, tick=1) for a in self.aggregates]
        for model in self.models[key]:
            columns = [c for c in model.aggregate.columns if c is not None]
            values = [row[c] for c in columns]
            value = tuple(values) if len(values) == 2 else values[0] if values else 1
            model.insert(row["t"], value)
        return True

    def advance(self, step):
        self.watermark += step
        self.wheel.advance_to(self.watermark)
        for models in self.models.values():
            for model in models:
                model.watermark = self.watermark
        assert self.wheel.watermark == self.watermark

    def wanted(self, start, end, keys=None):
        listed = keys or sorted(self.models, key=lambda key: [(p is not None, p) for p in self.parts(key)])
        return [(key, [m.values(start, end) for m in self.models[key]]) for key in listed]

    def same(self, table, wanted, before=()):
        names = [a.output for a in self.aggregates]
        assert table.column_names == [*before, *self.columns, *names]
        rows = table.to_pylist()
        assert [tuple(row[c] for c in self.columns) for row in rows] == [self.parts(key) for key, _ in wanted]
        for row, (key, held) in zip(rows, wanted, strict=True):
            for aggregate, values in zip(self.aggregates, held, strict=True):
                want = answered(aggregate, values)
                assert alike(row[aggregate.output], want, room(aggregate, values)), (key, aggregate.output, row, want)

    def range(self):
        return sorted(self.dice.randint(self.start, self.watermark) for _ in range(2))

    def check(self):
        for _ in range(5):
            start, end = self.range()
            self.same(self.wheel.query(start, end), self.wanted(start, end))
        self.same(self.wheel.landmark(), self.wanted(self.start, self.watermark))
        if self.models:
            start, end = self.range()
            known = list(self.models)
            key = self.dice.choice(known)
            some = self.dice.sample(known, self.dice.randint(1, len(known)))
            self.same(self.wheel.query(start, end, keys=some), self.wanted(start, end, some))
            if key is not None:
                self.same(self.wheel.query(start, end, keys=key), self.wanted(start, end, [key]))
            self.groups(*self.range())

    def groups(self, start, end):
        every = max((end - start) // 3, 1)
        table = self.wheel.group_by(start, end, every)
        wanted = []
        for low in range(start, end, every):
            wanted += [(low, min(low + every, end), *each) for each in self.wanted(low, min(low + every, end))]
        # By bucket and then by key, or by key and then by bucket: the rows are the same.
        micros = [table[name].cast(pa.int64()).to_pylist() for name in ("start", "end")]
        keys = [tuple(row[c] for c in self.columns) for row in table.select(self.columns).to_pylist()]
        places = {where: k for k, where in enumerate(zip(*micros, keys, strict=True))}
        assert len(places) == table.num_rows == len(wanted)
        order = [places[low, high, self.parts(key)] for low, high, key, _ in wanted]
        self.same(table.take(pa.array(order, pa.int64())), [each[2:] for each in wanted], ["start", "end"])

    def restore(self):
        self.wheel = sw.KeyedWheel.restore(self.aggregates, self.wheel.snapshot())


def run(kind, seed, **settings):
    made = Keyed(kind, seed, **settings)
    made.check()
    for _ in range(12):
        made.insert(made.rows(made.dice.choice([0, 1, 20])))
        if made.dice.random() < 0.6:
            made.advance(made.dice.choice([0, 1, 4, 13, 100]))
        if made.dice.random() < 0.2:
            made.restore()
        if made.dice.random() < 0.4:
            made.check()
    made.check()


@pytest.mark.parametrize("settings", [{}, {"start": -77, "write_ahead": 3}, {"write_ahead": 512}], ids=str)
@pytest.mark.parametrize("kind", KEYS)
def test_any_keys(kind, settings):
    run(kind, 0, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYS)
def test_many_scripts(kind):
    for seed in range(1, 100):
        run(kind, seed, start=random.Random(seed).randrange(-500, 500))


INVERTIBLE = [sw.count(), sw.sum("i")]


@pytest.mark.parametrize("prefix", [True, ["a"], ["b", "c"]], ids=str)
def test_prefix_sums(prefix):
    run("texts", 5, aggregates=INVERTIBLE, prefix=prefix)


@pytest.mark.slow
def test_prefix_sums_of_means():
    run("texts", 5, aggregates=[*INVERTIBLE, sw.mean("i")], prefix=True)


@pytest.mark.parametrize("plan", ["combined", "wheel", "inverse_landmark", "prefix"])
def test_every_plan(plan):
    made = Keyed("texts", 9, aggregates=INVERTIBLE, prefix=True)
    made.insert(made.rows(200))
    made.advance(250)
    for _ in range(20):
        start, end = made.range()
        if start < end:
            made.same(made.wheel.query(start, end, plan=plan), made.wanted(start, end))


def test_old_slots_are_dropped():
    made = Keyed("ints", 1, keep={"a": 10})
    made.insert(made.rows(50))
    made.advance(100)
    made.same(made.wheel.query(90, 100), made.wanted(90, 100))
    made.same(made.wheel.query(12, 96), made.wanted(12, 96))
    with pytest.raises(sw.SlidewheelError, match=r"kept|keep"):
        made.wheel.query(13, 20)


def test_keys_that_come_late():
    made = Keyed("texts", 0)
    made.insert([{"t": 0, "k": "a", "i": 1, "x": 1.0, "s": "u"}])
    made.advance(500)
    made.insert([{"t": 500, "k": "b", "i": 2, "x": 2.0, "s": "v"}])
    made.advance(10)
    assert made.wheel.key_count == 2
    made.same(made.wheel.query(0, 500), made.wanted(0, 500))
    made.same(made.wheel.query(0, 510), made.wanted(0, 510))


class TestTop:
    @pytest.fixture(scope="class")
    @classmethod
    def wheel(cls):
        wheel = sw.KeyedWheel([sw.sum("v"), sw.count()], keys="k", time="t", start=0, tick=1)
        dice = random.Random(3)
        keys = [f"k{n}" for n in range(50)]
        rows = [(dice.randrange(100), dice.choice(keys), dice.randrange(-20, 1000)) for _ in range(2000)]
        wheel.insert(pa.table({"t": [r[0] for r in rows], "k": [r[1] for r in rows], "v": [r[2] for r in rows]}))
        wheel.advance_to(100)
        return wheel, rows

    @pytest.mark.parametrize("smallest", [False, True])
    @pytest.mark.parametrize("by", [None, "sum_v", "count"])
    @pytest.mark.parametrize("k", [1, 7, 50, 200])
    def test_the_first_ones(self, wheel, k, by, smallest):
        wheel, rows = wheel
        found = wheel.top(k, 20, 90, by=by, smallest=smallest).to_pylist()
        totals: dict = {}
        for t, key, value in rows:
            if 20 <= t < 90:
                total, count = totals.get(key, (0, 0))
                totals[key] = total + value, count + 1
        place = 1 if by == "count" else 0
        wanted = sorted((v[place] for v in totals.values()), reverse=not smallest)[:k]
        assert [row[by or "sum_v"] for row in found] == wanted
        assert all(totals[row["k"]] == (row["sum_v"], row["count"]) for row in found)
        assert len({row["k"] for row in found}) == len(found)

    @pytest.mark.parametrize(("k", "by"), [(0, None), (-1, None), (1.5, None), (3, "nothing")])
    def test_what_is_wrong(self, wheel, k, by):
        with pytest.raises(sw.SlidewheelError):
            wheel[0].top(k, 0, 10, by=by)


def test_keys_without_rows_in_the_range_are_not_at_the_top():
    wheel = sw.KeyedWheel([sw.max("v")], keys="k", time="t", start=0, tick=1)
    wheel.insert(pa.table({"t": [0, 50], "k": ["old", "new"], "v": [100.0, 1.0]}))
    wheel.advance_to(60)
    assert [row["k"] for row in wheel.top(1, 40, 60).to_pylist()] == ["new"]


@pytest.mark.parametrize("kind", KEYS)
def test_a_replica(kind):
    made = Keyed(kind, 4)
    replica = sw.KeyedWheel(AGGREGATES, **made.settings)
    synced = 0
    for step in (5, 60, 1, 300):
        made.insert(made.rows(30))
        made.advance(step)
        replica.apply(made.wheel.deltas(synced))
        synced = replica.watermark
        assert synced == made.watermark
        finished = {key for key, held in made.wanted(0, synced) if held[0]}
        for start, end in ((0, synced), made.range(), made.range()):
            mine, its = (by_key(w.query(start, end), made.columns) for w in (made.wheel, replica))
            # A replica knows a key once something of it is finished.
            assert {made.parts(key) for key in finished} <= set(its) <= set(mine)
            assert its == {key: mine[key] for key in its}


def by_key(table, columns):
    return {tuple(row[c] for c in columns): row for row in table.to_pylist()}


def merge_halves(kind, aggregates, *layouts):
    """Each half of a stream has a wheel, and they know different keys."""
    one, two = (Keyed(kind, k, aggregates=aggregates, **layout) for k, layout in enumerate(layouts, 1))
    whole = Keyed(kind, 3, aggregates=aggregates)
    for part, keys in ((one, one.keys[:-1]), (two, two.keys[1:])):
        part.keys = keys
        rows = part.rows(60)
        part.insert(rows)
        for row in rows:
            whole.add(row)
    one.advance(30)
    two.advance(80)
    before = two.wheel.snapshot()
    one.wheel.merge(two.wheel)
    assert two.wheel.snapshot() == before
    whole.wheel, whole.watermark, whole.late = one.wheel, 80, 0
    for models in whole.models.values():
        for model in models:
            model.watermark = 80
    assert one.wheel.watermark == 80
    for start, end in ((0, 80), whole.range(), whole.range()):
        keys = list(whole.models)
        whole.same(one.wheel.query(start, end, keys=keys), whole.wanted(start, end, keys))


@pytest.mark.parametrize("kind", KEYS)
def test_merged_with_other_keys(kind):
    merge_halves(kind, [sw.count(), sw.sum("i"), sw.max("x")], {}, {})


PREFIXED = [({"prefix": True}, {}), ({}, {"prefix": True}), ({"prefix": ["b"]}, {"prefix": True})]


@pytest.mark.parametrize("layouts", PREFIXED, ids=str)
@pytest.mark.parametrize(
    "aggregates",
    [
        INVERTIBLE,
        pytest.param([*INVERTIBLE, sw.mean("i"), sw.mean("x"), sw.sum("x"), sw.var("x")], marks=pytest.mark.slow),
    ],
    ids=["exact", "of two forms"],
)
def test_merged_where_one_has_prefix_sums(aggregates, layouts):
    merge_halves("texts", aggregates, *layouts)


def test_not_commutative_is_not_merged():
    one, two = (sw.KeyedWheel([sw.count(), sw.last("v")], keys="k", time="t", start=0) for _ in range(2))
    with pytest.raises(sw.SlidewheelError, match="commutative"):
        one.merge(two)


class TestMistakes:
    @pytest.fixture
    def wheel(self):
        wheel = sw.KeyedWheel([sw.sum("v")], keys="k", time="t", start=0)
        wheel.insert(pa.table({"t": [0, SECOND], "k": ["a", "b"], "v": [1, 2]}))
        wheel.advance_to(SECOND)
        return wheel

    @pytest.mark.parametrize(
        ("table", "word"),
        [
            ({"k": ["a"], "v": [1]}, "t"),
            ({"t": [SECOND], "v": [1]}, "k"),
            ({"t": [SECOND], "k": ["a"]}, "v"),
            ({"t": ["soon"], "k": ["a"], "v": [1]}, "t"),
            ({"t": [SECOND], "k": ["a"], "v": ["text"]}, "v"),
            ({"t": [SECOND, SECOND], "k": ["a", "z"], "v": [1.5, 2.0]}, "v"),
        ],
        ids=["no time", "no key", "no value", "text as time", "text as value", "floats"],
    )
    def test_tables(self, wheel, table, word):
        before = wheel.snapshot()
        with pytest.raises(sw.SlidewheelError, match=word):
            wheel.insert(pa.table(table))
        assert wheel.snapshot() == before

    @pytest.mark.parametrize("limits", [(0, 2 * SECOND), (SECOND, 0), (-SECOND, SECOND), (0, 5)])
    def test_ranges(self, wheel, limits):
        for ask in (wheel.query, lambda *r: wheel.top(1, *r), lambda *r: wheel.group_by(*r, "1s")):
            with pytest.raises(sw.SlidewheelError):
                ask(*limits)

    def test_unknown_keys_have_no_rows(self, wheel):
        """A key that never came is one without rows, or an error that names it."""
        try:
            found = wheel.query(0, SECOND, keys=["a", "nobody"]).to_pylist()
        except sw.SlidewheelError as error:
            assert "nobody" in str(error)
        else:
            assert found == [{"k": "a", "sum_v": 1}, {"k": "nobody", "sum_v": None}]

    @pytest.mark.parametrize(
        "settings",
        [{"keys": []}, {"keys": ["k", "k"]}, {"keys": None}, {"aggregates": []}, {"aggregates": [sw.sum()]}],
        ids=["no key", "twice", "None", "no aggregate", "no column"],
    )
    def test_settings(self, settings):
        settings = {"aggregates": [sw.sum("v")], "keys": "k", "start": 0, **settings}
        with pytest.raises(sw.SlidewheelError):
            sw.KeyedWheel(settings.pop("aggregates"), **settings)

    def test_damaged_snapshots(self, wheel):
        data = wheel.snapshot()
        for place in range(0, len(data), max(len(data) // 60, 1)):
            broken = bytearray(data)
            broken[place] ^= 0x55
            with pytest.raises(sw.InvalidSnapshot):
                sw.KeyedWheel.restore([sw.sum("v")], bytes(broken))


def test_many_keys_take_what_their_slots_take():
    """100,000 keys and few slots: a state for each key and slot, and what the keys themselves need."""
    keys, slots = 100_000, 5
    wheel = sw.KeyedWheel(
        [sw.count()], keys="k", time="t", start=0, tick="1s", write_ahead=8, levels={"a": 10, "b": 10}
    )
    empty = wheel.nbytes
    for slot in range(slots):
        times = np.full(keys, slot * SECOND)
        assert wheel.insert(pa.table({"t": times, "k": np.arange(keys)})) == keys
        wheel.advance_to((slot + 1) * SECOND)
    assert wheel.key_count == keys
    states = 8 * keys * (slots + 2 + 8)  # finished ones, the levels' totals, and those that are written ahead
    assert 8 * keys * slots < wheel.nbytes < empty + 1.3 * states + 40 * keys
    found = wheel.query(SECOND, 4 * SECOND)
    assert found.num_rows == keys
    assert set(found["count"].to_pylist()) == {3}


@pytest.mark.slow
def test_many_keys_and_a_day_of_minutes():
    """100,000 keys, each with a row in each minute of a day: 1.2 GB of states for count, and twice that for mean."""
    keys, minutes, minute = 100_000, 1440, 60 * SECOND
    wheel = sw.KeyedWheel(
        [sw.count(), sw.mean("v")],
        keys="k",
        time="t",
        start=0,
        tick="1m",
        write_ahead=4,
        levels={"minutes": 60, "hours": 24},
    )
    names, chance = np.arange(keys), np.random.default_rng(7)
    some = chance.integers(0, keys, 20)
    kept = np.empty((minutes, len(some)))
    for slot in range(minutes):
        values = chance.random(keys)
        kept[slot] = values[some]
        times = np.full(keys, slot * minute)
        assert wheel.insert(pa.table({"t": times, "k": names, "v": values})) == keys
        wheel.advance_to((slot + 1) * minute)
    needed = (8 + 16) * keys * (minutes + 24)
    assert needed < wheel.nbytes < 1.15 * needed
    for first, last in ((0, minutes), (59, 61), (61, 1439), (600, 720)):
        found = wheel.query(first * minute, last * minute, keys=some.tolist())
        assert set(found["count"].to_pylist()) == {last - first}
        place = {name: k for k, name in enumerate(some.tolist())}
        for name, mean in zip(found["k"].to_pylist(), found["mean_v"].to_pylist(), strict=True):
            assert mean == pytest.approx(kept[first:last, place[name]].mean(), rel=1e-12)
    everyone = wheel.query(61 * minute, 1439 * minute)
    assert everyone.num_rows == keys and set(everyone["count"].to_pylist()) == {1378}
