"""Bad input gets a clear error, and a batch that fails leaves the stream as it was."""

import random
from typing import Any

import pyarrow as pa
import pytest

import slidewheel as sw

POISON = 1 << 40
"""The aggregates below fail on values that are as great as this."""


def fragile(where: str, *, compiled: bool, commutative: bool, error: type[BaseException] = ValueError) -> sw.Aggregate:
    """A sum that fails in its lift, combine or lower."""
    if not compiled:

        @sw.aggregate(state=object, commutative=commutative)
        class Fragile:
            identity = 0

            def lift(x):
                if where == "lift" and x >= POISON:
                    raise error("poison")
                return x

            def combine(a, b):
                if where == "combine" and (a >= POISON or b >= POISON):
                    raise error("poison")
                return a + b

            def lower(s):
                if where == "lower" and s >= POISON:
                    raise error("poison")
                return s

        return Fragile("x").alias("total")
    return (COMMUTATIVE if commutative else ORDERED)[where]("x").alias("total")


def _compiled(commutative: bool) -> dict[str, Any]:
    @sw.aggregate(state="i8", commutative=commutative)
    class FailsInLift:
        identity = 0

        def lift(x):
            if x >= 1 << 40:
                raise ValueError("poison")
            return x

        def combine(a, b):
            return a + b

        def lower(s):
            return s

    @sw.aggregate(state="i8", commutative=commutative)
    class FailsInCombine:
        identity = 0

        def lift(x):
            return x

        def combine(a, b):
            if a >= 1 << 40 or b >= 1 << 40:
                raise ValueError("poison")
            return a + b

        def lower(s):
            return s

    @sw.aggregate(state="i8", commutative=commutative)
    class FailsInLower:
        identity = 0

        def lift(x):
            return x

        def combine(a, b):
            return a + b

        def lower(s):
            if s >= 1 << 40:
                raise ValueError("poison")
            return s

    return {"lift": FailsInLift, "combine": FailsInCombine, "lower": FailsInLower}


COMMUTATIVE, ORDERED = _compiled(True), _compiled(False)

WINDOWS: dict[str, list[Any]] = {
    "sliding": [sw.sliding(40, every=15), sw.tumbling(20)],
    "session": [sw.session(4)],
    "rows_every": [sw.rows(7, every=3)],
    "punctuated": [sw.punctuated("end")],
    "trailing": [sw.trailing(30), sw.trailing(9, "both")],
    "rows": [sw.rows(6)],
    "delta": [sw.delta("odo", 3.0)],
    "all that give windows": [
        sw.sliding(40, every=15),
        sw.session(4),
        sw.rows(7, every=3),
        sw.rows(4, every=2),
        sw.punctuated("end"),
    ],
    "all that give rows": [sw.trailing(30), sw.rows(6), sw.delta("odo", 3.0)],
}
SCHEMA = pa.schema(
    {"t": pa.int64(), "k": pa.string(), "x": pa.int64(), "end": pa.bool_(), "odo": pa.float64(), "s": pa.string()}
)
LATENESS = 25


class Source:
    """Batches of rows that go on in time, with some that are late."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.now = 0

    def batch(self, rows: int, keys: str = "abc", nulls: float = 0.0) -> list[dict[str, Any]]:
        found = []
        for _ in range(rows):
            self.now += self.dice.choice([0, 0, 1, 2, 9])
            back = self.dice.choice([0, 0, 3, 20, 60])
            found.append(
                {
                    "t": self.now - back,
                    "k": self.dice.choice(keys),
                    "x": None if self.dice.random() < nulls else self.dice.randint(0, 9),
                    "end": self.dice.random() < 0.2,
                    "odo": (self.now - back) / 10,
                    "s": self.dice.choice("uvw"),
                }
            )
        return found

    def poisoned(self) -> list[dict[str, Any]]:
        """Rows of known and new keys, nulls, late rows, one or two of poison; the last ones close all windows."""
        was = self.now
        rows = self.batch(self.dice.choice([3, 20, 90]), keys="abcdefgh", nulls=self.dice.choice([0.0, 0.2]))
        near = {"t": self.now + 1, "k": self.dice.choice("abcz"), "x": 1, "end": False, "odo": self.now / 10, "s": "p"}
        bad = {**near, "t": self.now + 2, "x": POISON}
        # Twice in one slice, or once beside another row, which fails when the two slices are combined.
        added = [near, bad, {**bad, "end": True}] if self.dice.random() < 0.5 else [near, {**bad, "end": True}]
        place = self.dice.randrange(len(rows) + 1)
        rows[place:place] = added
        after = {**near, "t": self.now + 500, "end": True}
        self.now = was
        return [*rows, after, {**after, "t": after["t"] + 500}, {**after, "t": after["t"] + 900}]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def same_after_failures(windows: list[Any], aggregate: sw.Aggregate, seed: int, error: Any, **options: Any) -> None:
    """A stream with failing batches in between gives what its twin gives, which never saw them."""
    others = [sw.count(), sw.max("x"), aggregate, sw.count("x"), sw.min_count("x")]
    if not aggregate.commutative:
        others += [sw.last("s"), sw.concat("s")]
    query = sw.query(time="t", keys="k", windows=windows, aggregates=others, lateness=LATENESS, **options)
    stream, twin, source = query.stream(), query.stream(), Source(seed)
    dice = random.Random(seed)
    for step in range(12):
        if step and dice.random() < 0.5:
            bad = table(source.poisoned())
            for _ in range(dice.choice([1, 1, 2])):
                with pytest.raises(error):
                    stream.push(bad)
        if dice.random() < 0.3 and twin.watermark is not None:
            to = twin.watermark + dice.choice([0, 1, 30])
            source.now = max(source.now, to)
            assert stream.advance_to(to).equals(twin.advance_to(to)), f"step {step}, advance"
        good = table(source.batch(dice.choice([0, 1, 5, 20]), nulls=0.1 if step > 6 else 0.0))
        assert stream.push(good).equals(twin.push(good)), f"step {step}"
        assert stream.watermark == twin.watermark
        assert stream.late == twin.late
    assert stream.finish().equals(twin.finish())


SEEDS = range(2)
MANY = range(200, 240)

FORMS = ["compiled", "compiled, in order", "objects", "objects, in order"]
FAILURES = [(windows, form, where) for windows in WINDOWS for form in FORMS for where in ("lift", "combine", "lower")]


@pytest.mark.parametrize(("windows", "form", "where"), FAILURES)
def test_a_batch_that_fails_leaves_no_trace(windows, form, where):
    aggregate = fragile(where, compiled="compiled" in form, commutative="order" not in form)
    same_after_failures(WINDOWS[windows], aggregate, FAILURES.index((windows, form, where)), ValueError)


@pytest.mark.slow
@pytest.mark.parametrize(("windows", "form", "where"), FAILURES)
def test_many_batches_that_fail(windows, form, where):
    aggregate = fragile(where, compiled="compiled" in form, commutative="order" not in form)
    for seed in MANY:
        same_after_failures(WINDOWS[windows], aggregate, seed, ValueError)


@pytest.mark.parametrize("windows", ["sliding", "trailing"])
@pytest.mark.parametrize("where", ["lift", "combine", "lower"])
def test_nor_among_windows_that_are_repaired(windows, where):
    aggregate = fragile(where, compiled=True, commutative=True)
    for seed in SEEDS:
        same_after_failures(WINDOWS[windows], aggregate, seed, ValueError, late="update", repair=30)


@pytest.mark.parametrize("windows", WINDOWS)
def test_nor_among_late_rows_that_are_kept(windows):
    for seed in SEEDS:
        same_after_failures(
            WINDOWS[windows], fragile("lower", compiled=True, commutative=True), seed, ValueError, late="keep"
        )


@pytest.mark.parametrize("windows", list(WINDOWS))
@pytest.mark.parametrize("where", ["lift", "combine", "lower"])
def test_nor_an_interrupt(windows, where):
    aggregate = fragile(where, compiled=False, commutative=True, error=KeyboardInterrupt)
    same_after_failures(WINDOWS[windows], aggregate, len(windows), KeyboardInterrupt)


@pytest.mark.parametrize("windows", WINDOWS)
def test_nor_a_sum_that_overflows(windows, monkeypatch):
    monkeypatch.setitem(globals(), "POISON", (1 << 63) - 1)
    for seed in SEEDS:
        same_after_failures(WINDOWS[windows], sw.sum("x").alias("total"), seed, sw.Overflow)


class TestFailedSteps:
    """Single steps, worked out by hand."""

    QUERY = sw.query(time="t", keys="k", windows=[sw.tumbling(10)], aggregates=[sw.sum("x")])

    def test_advance_and_finish_can_fail_too(self):
        stream = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.sum("x")]).stream()
        stream.push({"t": [1, 2], "x": [2**63 - 1, 1]})
        with pytest.raises(sw.Overflow):
            stream.advance_to(10)
        assert stream.watermark == 2
        with pytest.raises(sw.Overflow):
            stream.finish()
        stream.push({"t": [3], "x": [-1]})
        assert stream.finish()["sum_x"].to_pylist() == [2**63 - 1]

    @pytest.mark.parametrize(
        "windows", [[sw.trailing(30), sw.rows(3)], [sw.sliding(20, every=10), sw.rows(4, every=2)]]
    )
    def test_the_step_after_one_that_failed(self, windows):
        aggregate = fragile("combine", compiled=False, commutative=True)
        query = sw.query(time="t", windows=windows, aggregates=[aggregate])
        stream, twin = query.stream(), query.stream()
        first = {"t": [1, 11], "x": [1, 2]}
        assert stream.push(first).equals(twin.push(first))
        with pytest.raises(ValueError, match="poison"):
            stream.push({"t": [12, 22, 90], "x": [3, POISON, 4]})
        assert stream.advance_to(11).equals(twin.advance_to(11))
        assert stream.finish().equals(twin.finish())

    def test_the_first_batch(self):
        """It is not what tells the types, if it was not taken in."""
        stream = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.sum("x")]).stream()
        with pytest.raises(sw.Overflow):
            stream.push({"t": [1, 2, 30], "x": [2**63 - 1, 1, 1]})
        assert stream.push({"t": [1, 2, 30], "x": [0.5, 1.0, 1.0]})["sum_x"].to_pylist() == [1.5]

    def test_keys_of_a_failed_batch_do_not_come_out(self):
        stream = self.QUERY.stream()
        stream.push({"t": [1], "k": ["a"], "x": [1]})
        with pytest.raises(sw.Overflow):
            stream.push({"t": [2, 3, 50], "k": ["b", "b", "b"], "x": [2**63 - 1, 1, 0]})
        assert stream.watermark == 1
        assert stream.finish().select(["k", "sum_x"]).to_pylist() == [{"k": "a", "sum_x": 1}]

    def test_late_rows_of_a_failed_batch_are_not_counted(self):
        stream = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.sum("x")], late="keep").stream()
        stream.push({"t": [50], "x": [1]})
        with pytest.raises(sw.Overflow):
            stream.push({"t": [1, None, 51, 52, 70], "x": [1, 1, 2**63 - 1, 1, 0]})
        assert stream.late == sw.Late()

    def test_an_object_without_an_order(self):
        """Python's own errors pass through, and change nothing."""
        column = pa.array([{"a": 1}, {"a": 2}])
        stream = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.min("x")]).stream()
        with pytest.raises(TypeError):
            stream.push({"t": [1, 2], "x": column})
        stream.push({"t": [1], "x": column[:1]})
        assert stream.finish()["min_x"].to_pylist() == [{"a": 1}]


def query(windows: Any = None, aggregates: Any = None, **options: Any) -> sw.Query:
    return sw.query(time="t", windows=windows or [sw.tumbling(10)], aggregates=aggregates or [sw.sum("x")], **options)


class TestDefinitions:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"windows": "1h"}, "windows= takes a list"),
            ({"windows": []}, "windows= takes a list"),
            ({"windows": ["1h"]}, "windows= takes such as sw.sliding"),
            ({"aggregates": []}, "aggregates= takes a list"),
            ({"aggregates": ["x"]}, "aggregates= takes such as sw.mean"),
            ({"aggregates": [sw.mean()]}, 'say which column it reads, as in sw.mean\\("..."\\)'),
            ({"time": 3}, "time= and keys= are column names, not 3"),
            ({"keys": [None]}, "time= and keys= are column names, not None"),
            ({"keys": ["t"]}, "'t' is both time= and in keys="),
            ({"keys": ["k", "k"]}, "two output columns are called 'k'"),
            ({"late": "later"}, "late must be one of drop, keep, update, not 'later'"),
            ({"lateness": "-5m"}, "-5m"),
            ({"lateness": -1}, "zero or longer"),
            ({"aggregates": [sw.sum("x"), sw.sum("x")]}, "two output columns are called 'sum_x'"),
            ({"aggregates": [sw.sum("x").alias("window")]}, "two output columns are called 'window'"),
            ({"aggregates": [sw.sum("x").alias("k")], "keys": "k"}, "two output columns are called 'k'"),
            ({"windows": [sw.tumbling(10), sw.tumbling(10, offset=5)]}, "two windows are called '10us'"),
            ({"windows": [sw.trailing(10), sw.trailing(10, "both")]}, "two windows are called '10us'"),
            ({"windows": [sw.trailing(10), sw.tumbling(20)]}, "10us give the input rows back, and 20us a row for each"),
            ({"windows": [sw.rows(3), sw.rows(3, every=2)]}, "put them into two queries"),
        ],
    )
    def test_what_can_not_be_meant(self, options, says):
        given = {"time": "t", "windows": [sw.tumbling(10)], "aggregates": [sw.sum("x")], **options}
        with pytest.raises(sw.InvalidArgument, match=says):
            sw.query(**given)

    @pytest.mark.parametrize("late", ["drop", "keep"])
    def test_repair_belongs_to_update(self, late):
        with pytest.raises(sw.InvalidArgument, match="go together"):
            query(late=late, repair="5m")
        with pytest.raises(sw.InvalidArgument, match="go together"):
            query(late="update")
        assert query(late="update", repair="5m").repair == 300_000_000
        assert query(late="update", repair=0).repair == 0
        assert query(late=late, repair=0).repair == 0

    @pytest.mark.parametrize(
        "window", [sw.session(5), sw.rows(3), sw.rows(3, every=2), sw.delta("x", 1.0), sw.punctuated("p")]
    )
    def test_windows_that_can_not_be_repaired(self, window):
        with pytest.raises(sw.Unsupported, match='use late="keep"'):
            query([window], late="update", repair=5)

    def test_plans_that_no_stream_could_use(self):
        with pytest.raises(sw.PlanTooLarge, match="every row would be in 86,400,000 windows of 1d/1ms"):
            query([sw.sliding("1d", every="1ms")])
        query([sw.sliding(1_000_000, every=1)])

    def test_a_slide_longer_than_the_range_is_said(self):
        made = query([sw.sliding("10s", every="1m")])
        assert "10s/1m leaves gaps of 50s between its windows; rows in them are in none" in made.explain()
        assert made.run({"t": [9_999_999, 10_000_000], "x": [1, 2]})["sum_x"].to_pylist() == [1]

    def test_an_output_that_is_called_as_an_input(self):
        with pytest.raises(sw.InvalidArgument, match="sum_x_w"):
            query([sw.trailing(10, name="w")]).run({"t": [1], "x": [1], "sum_x_w": [2]})


EVERY_COLUMN = sw.query(time="t", keys="k", windows=[sw.punctuated("p")], aggregates=[sw.sum("x"), sw.argmax("x", "s")])
GOOD: dict[str, Any] = {"t": [1], "k": ["a"], "p": [True], "x": [1], "s": ["u"]}


class TestTables:
    @pytest.mark.parametrize(
        ("missing", "purpose"),
        [
            ("t", "time="),
            ("k", "keys="),
            ("p", "the window p"),
            ("x", "the aggregate argmax_x_s"),
            ("s", "the aggregate argmax_x_s"),
        ],
    )
    def test_a_column_is_missing(self, missing, purpose):
        lacking = {name: values for name, values in GOOD.items() if name != missing}
        says = f"no column '{missing}', which {purpose} reads; there are {', '.join(lacking)}"
        with pytest.raises(sw.InvalidArgument, match=says):
            EVERY_COLUMN.run(lacking)
        stream = EVERY_COLUMN.stream()
        stream.push(GOOD)
        with pytest.raises(sw.InvalidArgument, match=says):
            stream.push(lacking)
        assert stream.finish().num_rows == 1

    def test_a_column_is_there_twice(self):
        table = pa.table([[1], [2], [3]], names=["t", "x", "x"])
        with pytest.raises(sw.InvalidArgument, match="2 columns are called 'x', which the aggregate sum_x reads"):
            query().run(table)

    def test_another_column_is_there_twice(self):
        table = pa.table([[1], [2], [3], [4]], names=["t", "x", "z", "z"])
        assert query().run(table)["sum_x"].to_pylist() == [2]

    def test_another_column_is_there_twice_and_is_to_be_given_back(self):
        table = pa.table([[1], [2], [3], [4]], names=["t", "x", "z", "z"])
        with pytest.raises(sw.InvalidArgument, match="'z'"):
            query([sw.trailing(10)]).run(table)

    @pytest.mark.parametrize("values", [["2024-01-01"], [1.5], [True], [b"x"], [[1]]])
    def test_a_time_that_is_none(self, values):
        with pytest.raises(sw.InvalidTime, match=r"the time column 't' is .*; cast it to a timestamp"):
            query().run({"t": values, "x": [1]})

    def test_times_too_far_away(self):
        for time in (2**62, -(2**62)):
            with pytest.raises(sw.InvalidArgument, match="70,000 years"):
                query().run({"t": [time], "x": [1]})

    def test_not_a_table(self):
        for thing in ([1, 2], "t", 3, None):
            with pytest.raises(sw.InvalidArgument, match="a batch is a table"):
                query().run(thing)
        with pytest.raises(sw.InvalidArgument, match="can't be read as a table"):
            query().run({"t": [1, 2], "x": [1]})

    @pytest.mark.parametrize("aggregate", [sw.sum("x"), sw.mean("x"), sw.var("x"), sw.quantile("x", 0.5)])
    @pytest.mark.parametrize("values", [["a"], [True], pa.array([1], pa.timestamp("us"))])
    def test_aggregates_that_need_numbers(self, aggregate, values):
        with pytest.raises(sw.Unsupported, match="needs numbers, but the column 'x' is"):
            query(aggregates=[aggregate]).run({"t": [1], "x": values})

    def test_nested_keys(self):
        with pytest.raises(sw.Unsupported, match="can't be a key"):
            query(keys="k").run({"t": [1], "x": [1], "k": [[1]]})

    def test_punctuation_that_is_no_boolean(self):
        with pytest.raises(sw.SlidewheelError, match="'p'"):
            query([sw.punctuated("p")]).run({"t": [1], "x": [1], "p": [1]})

    @pytest.mark.parametrize("values", [["a"], [[1]]])
    def test_distances_of_what_has_none(self, values):
        with pytest.raises(sw.SlidewheelError, match="'d'"):
            query([sw.delta("d", 1.0)]).run({"t": [1], "x": [1], "d": values})

    @pytest.mark.parametrize("window", [sw.trailing, sw.session, sw.tumbling])
    def test_ranges_too_long_for_any_time(self, window):
        with pytest.raises(sw.InvalidTime, match="longer than any window"):
            window(2**63 - 1)

    def test_advancing_as_far_as_can_be(self):
        stream = query([sw.sliding(2, every=1), sw.sliding(3, every=1)]).stream()
        stream.push({"t": [1], "x": [1]})
        assert stream.advance_to(2**63 - 1).num_rows == 5


class TestLaterBatches:
    def stream(self, windows: Any = None) -> sw.Stream:
        stream = query(windows).stream()
        stream.push(pa.table({"t": [1], "x": [1]}))
        return stream

    @pytest.mark.parametrize("windows", [[sw.tumbling(10)], [sw.trailing(10)]])
    @pytest.mark.parametrize("values", [["a"], [1.5], [[1]], [2**64 - 1]])
    def test_other_types(self, windows, values):
        stream = self.stream(windows)
        column = pa.array(values, pa.uint64()) if values == [2**64 - 1] else pa.array(values)
        with pytest.raises(sw.InvalidArgument, match="not of the types that the first batch had"):
            stream.push({"t": [90], "x": column})
        assert stream.watermark == 1
        assert stream.finish().num_rows == 1

    def test_types_that_hold_the_same(self):
        stream = self.stream()
        stream.push({"x": pa.array([2, 3], pa.int8()), "t": pa.array([2, 3], pa.timestamp("us")), "more": ["a", "b"]})
        stream.push({"x": [4.0], "t": [4]})
        assert stream.finish()["sum_x"].to_pylist() == [10]

    def test_a_time_that_is_none(self):
        stream = self.stream()
        with pytest.raises(sw.InvalidTime, match="the time column 't' is string"):
            stream.push({"t": ["later"], "x": [1]})
        assert stream.finish()["sum_x"].to_pylist() == [1]

    def test_a_column_that_is_given_back_is_missing(self):
        stream = query([sw.trailing(10)]).stream()
        stream.push({"t": [1], "x": [1], "note": ["a"]})
        with pytest.raises(sw.InvalidArgument, match="no column 'note', which the first batch had; there are t, x"):
            stream.push({"t": [2], "x": [2]})
        stream.push({"t": [2], "x": [2], "note": [None]})
        assert stream.finish()["note"].to_pylist() == [None]

    def test_the_first_batch_has_no_times(self):
        stream = query().stream()
        stream.push({"t": [None], "x": [1]})
        stream.push({"t": [1], "x": [2]})
        assert stream.finish()["sum_x"].to_pylist() == [2]

    def test_nothing_after_the_end(self):
        stream = self.stream()
        stream.finish()
        for call in (lambda: stream.push({"t": [1], "x": [1]}), lambda: stream.advance_to(5), stream.finish):
            with pytest.raises(sw.SlidewheelError, match=r"the stream is finished: make another with query.stream\(\)"):
                call()

    def test_rows_without_a_time(self):
        stream = self.stream()
        assert stream.push({"t": [None, 2, None], "x": [7, 2, 8]}).num_rows == 0
        assert stream.late.null_times == 2
        assert stream.late.without_time["x"].to_pylist() == [7, 8]
        assert (stream.late.rows, stream.late.table) == (0, None)
        assert stream.finish()["sum_x"].to_pylist() == [3]
