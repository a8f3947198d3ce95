"""Queries against their meaning: run and stream equal the oracle, for every kind of window."""

import datetime
import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.engine import arena, periodic
from slidewheel.engine import keys as keys_module
from slidewheel.engine import stream as streams
from tests.engine.cases import KINDS, random_case
from tests.engine.harness import build, compare, drive, listed, same_rows
from tests.engine.oracle import Case, Streamed, expected_columns, expected_run, expected_stream, gives_rows
from tests.support import GeoMean, Words, recalculated

GROUPS: dict[str, tuple[str, ...]] = {
    "all": KINDS,
    "periodic": ("sliding", "tumbling"),
    **{kind: (kind,) for kind in KINDS},
}
CHUNK = 40
CASES = 80
MANY = 2000


def judge(case: Case, restore: bool = False) -> None:
    """The stream gives what the oracle gives, step by step, and counts the same late rows."""
    expected = expected_stream(case)
    results, stream = drive(case, restore)
    columns = expected_columns(case)
    for step, (got, wanted) in enumerate(zip(results, expected.steps, strict=True)):
        compare(got, wanted, columns, f"step {step}: ")
    check_late(case, expected, stream.late)
    if expected.watermarks:
        assert stream.watermark == expected.watermarks[-1]


def check_late(case: Case, expected: Streamed, late: Any) -> None:
    told, whole = expected.late, build(case)[1]
    assert late.rows == told.missed
    if told.lost is not None:
        assert late.dropped == told.lost
    assert late.null_times == told.without_time
    assert late.outside == told.outside
    assert late.updates == updates(case, expected)
    handed_back(late.table, whole, told.kept)
    handed_back(late.without_time, whole, told.kept_without_time)


def handed_back(got: pa.Table | None, whole: pa.Table, rows: list[int]) -> None:
    if rows:
        assert got is not None
        same_rows(got, whole, rows)
    else:
        assert got is None or got.num_rows == 0


def updates(case: Case, expected: Streamed) -> int:
    """The windows that came out behind the watermark from before their step."""
    if case.late != "update":
        return 0
    known = [(rows, w) for rows, w in zip(expected.steps[1:], expected.watermarks, strict=True) if w is not None]
    if gives_rows(case):
        return sum(row[case.time] < watermark for rows, watermark in known for row in rows)
    return sum(row["window_end"] <= watermark for rows, watermark in known for row in rows)


def judge_run(case: Case) -> None:
    query, table = build(case)
    compare(query.run(table), expected_run(case), expected_columns(case))


def chunks(first: int, count: int) -> list[tuple[str, int]]:
    return [(group, seed) for group in GROUPS for seed in range(first, first + count, CHUNK)]


def seeds(group: str, first: int) -> Any:
    for seed in range(first, first + CHUNK):
        yield seed, random_case(seed, kinds=GROUPS[group])


@pytest.mark.parametrize(("group", "first"), chunks(0, CASES))
def test_answers_are_the_oracles(group, first):
    for seed, case in seeds(group, first):
        try:
            judge_run(case)
            judge(case)
        except Exception as error:
            raise AssertionError(f"{group}, seed {seed}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize(("group", "first"), chunks(CASES, MANY))
def test_answers_are_the_oracles_at_length(group, first):
    test_answers_are_the_oracles(group, first)


@pytest.mark.parametrize("many", [1, 1 << 40], ids=["as they are", "sorted where one row is behind"])
def test_tables_longer_than_a_step_of_run(many, monkeypatch):
    """A long table goes in piece by piece, and no window closes in between that gets more rows."""
    monkeypatch.setattr(streams, "AT_ONCE", 7)
    monkeypatch.setattr(streams, "MANY", many)
    for group in GROUPS:
        for seed in range(10):
            judge_run(random_case(seed, kinds=GROUPS[group]))


LARGE: dict[str, list[tuple[Any, str, int]]] = {
    "windows in pieces": [(periodic, "AT_ONCE", 3)],
    "one window at a time": [(periodic, "AT_ONCE", 0)],
    "few windows that are far apart": [(periodic, "FEW_WINDOWS", -1), (periodic, "FEW_FOR_EACH", -1)],
    "many keys": [(arena, "MANY_KEYS", 0)],
    "two threads": [(arena, "ENOUGH_FOR_TWO", 0), (periodic, "AT_ONCE", 3)],
    "keys far apart": [(keys_module, "SMALL", -(1 << 40))],
    "all of it": [
        (streams, "AT_ONCE", 7),
        (periodic, "AT_ONCE", 5),
        (arena, "MANY_KEYS", 0),
        (arena, "ENOUGH_FOR_TWO", 0),
    ],
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_done_for_large_data_only(what, monkeypatch):
    """Paths that small tables do not take by themselves."""
    as_if_large(what, monkeypatch, range(1000, 1005))


@pytest.mark.slow
@pytest.mark.parametrize("what", LARGE)
def test_what_is_done_for_large_data_only_at_length(what, monkeypatch):
    as_if_large(what, monkeypatch, range(1005, 1100))


def as_if_large(what: str, monkeypatch: pytest.MonkeyPatch, numbers: range) -> None:
    for place, name, value in LARGE[what]:
        monkeypatch.setattr(place, name, value)
    for group in ("all", "periodic", "trailing", "session"):
        for seed in numbers:
            case = random_case(seed, kinds=GROUPS[group])
            try:
                judge_run(case)
                judge(case, restore=seed % 2 == 0)
            except Exception as error:
                raise AssertionError(f"{group}, seed {seed}: {error}") from error


def test_advancing_before_the_first_row():
    query = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.sum("x")], late="keep")
    stream = query.stream()
    assert stream.advance_to(100).num_rows == 0
    assert stream.watermark == 100
    assert stream.push({"t": [5, 95, 101], "x": [1, 2, 4]}).num_rows == 0
    assert stream.finish()["sum_x"].to_pylist() == [4]
    assert (stream.late.rows, stream.late.dropped, stream.late.table["x"].to_pylist()) == (2, 2, [1, 2])


def test_rows_that_count_in_the_windows_of_later_rows_only():
    stream = sw.query(time="t", windows=[sw.trailing(10)], aggregates=[sw.sum("x")]).stream()
    stream.advance_to(100)
    stream.push({"t": [5, 95, 101], "x": [1, 2, 4]})
    assert stream.finish()["sum_x_10us"].to_pylist() == [6]


# Aggregates of users


@sw.aggregate(state={"a": "f8", "b": "f8"})
class Affine:
    """The composition of x -> a x + b: compiled, and not commutative."""

    identity = (1.0, 0.0)

    def lift(x):
        return 0.5, x

    def combine(first, then):
        return first[0] * then[0], first[1] * then[0] + then[1]

    def lower(s):
        return s[1]


@sw.aggregate(state=object, commutative=True)
class Bag:
    identity = frozenset()

    def lift(x):
        return frozenset([x])

    def combine(a, b):
        return a | b

    def lower(s):
        return sorted(s)


WINDOWS = {
    "sliding": [sw.sliding(40, every=15), sw.tumbling(20)],
    "session": [sw.session(4)],
    "rows_every": [sw.rows(7, every=3)],
    "punctuated": [sw.punctuated("end")],
    "trailing": [sw.trailing(30), sw.trailing(9, "both")],
    "rows": [sw.rows(6)],
    "delta": [sw.delta("odo", 3.0)],
}
IN_WINDOWS = [name for name in WINDOWS if name in ("sliding", "session", "rows_every", "punctuated")]


def trips(rows: int = 150, seed: int = 1) -> dict[str, list[Any]]:
    """Rows of two keys at times of their own, so that their order is clear."""
    dice = random.Random(seed)
    times = sorted(dice.sample(range(-100, 6 * rows), rows))
    return {
        "t": times,
        "k": [dice.choice("ab") for _ in times],
        "x": [dice.randint(1, 40) / 4 for _ in times],
        "i": [dice.randint(1, 9) for _ in times],
        "end": [dice.random() < 0.2 for _ in times],
        "odo": [float(n // 4) for n in range(rows)],
        "s": [dice.choice(["u", "v", "w"]) for _ in times],
    }


def held(columns: dict[str, list[Any]], kind: str) -> list[tuple[Any, ...]]:
    """What each window of a query over `columns` holds, told by `collect`: (key, start, end, name, rows)."""
    numbered = {**columns, "n": list(range(len(columns["t"])))}
    query = sw.query(time="t", keys="k", windows=WINDOWS[kind], aggregates=[sw.collect("n")])
    found = query.run(numbered).to_pylist()
    if kind in IN_WINDOWS:
        return [row["collect_n"] for row in found]
    return [row[f"collect_n_{spec.name}"] or [] for spec in WINDOWS[kind] for row in found]


def same_in_a_stream(query: sw.Query, columns: dict[str, list[Any]], whole: pa.Table) -> None:
    """In any batches to the last bit; rows in disorder up to rounding."""
    assert streamed(query, columns, 0, 5).equals(whole)
    compare(streamed(query, columns, 60, 6), listed(whole))


def streamed(query: sw.Query, columns: dict[str, list[Any]], lateness: int, seed: int) -> pa.Table:
    """The answers of a stream whose rows come in batches, `lateness` out of order."""
    dice = random.Random(seed)
    whole = pa.table(columns)
    order = sorted(range(whole.num_rows), key=lambda r: columns["t"][r] + dice.randint(0, lateness))
    stream, results = query.stream(), []
    while order:
        cut = dice.randint(1, 40)
        results.append(stream.push(whole.take(pa.array(order[:cut]))))
        order = order[cut:]
    results.append(stream.finish())
    assert stream.late.rows == 0
    return pa.concat_tables([r for r in results if r.num_rows])


def answers_of(result: pa.Table, aggregate: sw.Aggregate, kind: str) -> list[Any]:
    if kind in IN_WINDOWS:
        return result[aggregate.output].to_pylist()
    return [v for spec in WINDOWS[kind] for v in result[f"{aggregate.output}_{spec.name}"].to_pylist()]


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("aggregate", [GeoMean("x"), Affine("x"), Words("s"), Bag("i")], ids=lambda a: a.name)
def test_aggregates_of_users(aggregate, kind):
    columns = trips()
    query = sw.query(time="t", keys="k", windows=WINDOWS[kind], aggregates=[aggregate], lateness=60)
    whole = query.run(columns)
    values = columns[aggregate.columns[0]]
    wanted = [recalculated(aggregate, [values[r] for r in rows]) for rows in held(columns, kind)]
    got = answers_of(whole, aggregate, kind)
    assert got == pytest.approx(wanted, rel=1e-12) if isinstance(wanted[0], float) else got == wanted
    same_in_a_stream(query, columns, whole)


SKETCHES = {
    "distinct": sw.distinct,
    "quantile": lambda column: sw.quantile(column, 0.5),
    "bloom": lambda column: sw.bloom(column, bits=128, hashes=2),
    "top_k": lambda column: sw.top_k(column, 3),
    "count_min": lambda column: sw.count_min(column, width=16, depth=2),
}


def plain(answer: Any) -> Any:
    """As a query gives it: sketches as bytes."""
    return answer.to_bytes() if isinstance(answer, (sw.BloomFilter, sw.CountMin)) else answer


def sketched(aggregate: sw.Aggregate, values: list[Any], windows: list[list[int]]) -> list[Any]:
    """The sketch's own answers for these rows of a column."""
    found = []
    for rows in windows:
        window = sw.swag.window(aggregate)
        for r in rows:
            window.insert(values[r])
        found.append(plain(window.query()) if rows else None)
    return found


@pytest.mark.parametrize("kind", ["sliding", "session", "trailing"])
@pytest.mark.parametrize("sketch", SKETCHES)
def test_sketches(sketch, kind):
    columns = trips(60)
    aggregate = SKETCHES[sketch]("i")
    query = sw.query(time="t", keys="k", windows=WINDOWS[kind], aggregates=[aggregate], lateness=60)
    whole = query.run(columns)
    assert answers_of(whole, aggregate, kind) == sketched(aggregate, columns["i"], held(columns, kind))
    same_in_a_stream(query, columns, whole)


@pytest.mark.parametrize(
    "sketch",
    [
        "distinct",
        "bloom",
        "count_min",
        "top_k",
    ],
)
def test_sketches_of_texts(sketch):
    columns = trips(60)
    aggregate = SKETCHES[sketch]("s")
    query = sw.query(time="t", keys="k", windows=WINDOWS["sliding"], aggregates=[aggregate])
    wanted = sketched(aggregate, columns["s"], held(columns, "sliding"))
    assert query.run(columns)[aggregate.output].to_pylist() == wanted


# Types of values and of keys

DAYS = [datetime.date(2024, 1, d) for d in (3, 1, 2, 5, 4)]
TYPED: dict[str, pa.Array] = {
    "decimal": pa.array(
        [Decimal("1.10"), None, Decimal("-2.25"), Decimal("3.30"), Decimal("0.01")], pa.decimal128(9, 2)
    ),
    "string": pa.array(["b", None, "a", "", "é"]),
    "large_string": pa.array(["b", None, "a", "", "é"], pa.large_string()),
    "binary": pa.array([b"b", None, b"a", b"", b"z"]),
    "timestamp": pa.array([None, *(datetime.datetime(2024, 1, d) for d in (4, 1, 9, 2))], pa.timestamp("us")),
    "zoned": pa.array([5, None, 3, 4, -1], pa.timestamp("ns", "Europe/Berlin")),
    "date": pa.array(DAYS),
    "date64": pa.array(DAYS, pa.date64()),
    "time": pa.array([datetime.time(h) for h in (3, 1, 2, 5, 4)]),
    "duration": pa.array([3, None, 1, 2, 0], pa.duration("ms")),
    "boolean": pa.array([True, None, False, True, False]),
    "int8": pa.array([3, None, -1, 2, 0], pa.int8()),
    "uint32": pa.array([3, None, 2**32 - 1, 2, 0], pa.uint32()),
    "float32": pa.array([1.5, None, -0.25, math.inf, 0.0], pa.float32()),
}
TIMES = [1, 2, 3, 4, 15]


def one(aggregate: sw.Aggregate, column: pa.Array, **more: Any) -> pa.Array:
    """The answers of two windows: the first four rows, and the last."""
    query = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[aggregate.alias("out")])
    return query.run({"t": TIMES, "v": column, **more})["out"].combine_chunks()


@pytest.mark.parametrize("name", TYPED)
class TestTypes:
    def test_the_least_the_greatest_the_first_and_the_last(self, name):
        column = TYPED[name]
        some = [v for v in column[:4].to_pylist() if v is not None]
        last = column[4].as_py()
        for aggregate, wanted in (
            (sw.min("v"), min(some)),
            (sw.max("v"), max(some)),
            (sw.first("v"), some[0]),
            (sw.last("v"), some[-1]),
        ):
            got = one(aggregate, column)
            assert got.type == column.type
            assert got.to_pylist() == [wanted, last], aggregate

    def test_as_the_argument_of_argmax(self, name):
        column = TYPED[name]
        got = one(sw.argmax("i", "v"), column, i=[1, 4, 2, 3, 9])
        assert got.type == column.type
        assert got.to_pylist() == column.take(pa.array([1, 4])).to_pylist()

    def test_where_the_greatest_is(self, name):
        column = TYPED[name]
        at = max((v, -r) for r, v in enumerate(column[:4].to_pylist()) if v is not None)[1]
        assert one(sw.argmax("v", "i"), column, i=[0, 1, 2, 3, 4]).to_pylist() == [-at, 4]

    def test_all_of_them(self, name):
        column = TYPED[name]
        got = one(sw.collect("v"), column)
        assert got.type == pa.list_(column.type)
        assert got.to_pylist() == [[v for v in column[:4].to_pylist() if v is not None], [column[4].as_py()]]
        assert one(sw.count("v"), column).to_pylist() == [4 - column[:4].null_count, 1]

    def test_as_a_key(self, name):
        column = TYPED[name]
        query = sw.query(time="t", keys="v", windows=[sw.tumbling(100)], aggregates=[sw.count(), sw.sum("t")])
        got = query.run({"t": TIMES, "v": column})
        merged: dict[Any, int] = {}
        for value, t in zip(column.to_pylist(), TIMES, strict=True):
            merged[value] = merged.get(value, 0) + t
        wanted = [None] * (None in merged) + sorted(v for v in merged if v is not None)
        assert got["v"].type == column.type
        assert got["v"].to_pylist() == wanted
        assert got["sum_t"].to_pylist() == [merged[v] for v in wanted]

    def test_dictionary_encoded(self, name):
        column = TYPED[name]
        coded = column.dictionary_encode()
        assert one(sw.max("v"), coded).equals(one(sw.max("v"), column))
        assert one(sw.count("v"), coded).equals(one(sw.count("v"), column))


class TestDecimals:
    COLUMN = TYPED["decimal"]

    def test_sums_are_exact(self):
        assert one(sw.sum("v"), self.COLUMN).to_pylist() == [Decimal("2.15"), Decimal("0.01")]

    def test_means(self):
        assert one(sw.mean("v"), self.COLUMN).to_pylist()[1] == Decimal("0.01")
        assert float(one(sw.mean("v"), self.COLUMN).to_pylist()[0]) == pytest.approx(2.15 / 3)

    def test_span_and_counts(self):
        assert one(sw.span("v"), self.COLUMN).to_pylist() == [Decimal("5.55"), Decimal("0.00")]
        assert one(sw.max_count("v"), self.COLUMN).to_pylist() == [1, 1]

    def test_the_type_does_not_depend_on_the_values(self):
        stream = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.sum("v"), sw.mean("v")]).stream()
        steps = [stream.push({"t": [t], "v": self.COLUMN[r : r + 1]}) for t, r in ((1, 0), (11, 1), (21, 4))]
        assert len({step.schema for step in [*steps, stream.finish()]}) == 1


@pytest.mark.parametrize(
    "aggregate",
    [sw.first("v"), sw.last("v"), sw.argmax("i", "v"), sw.argmin("i", "v")],
    ids=lambda a: a.name,
)
@pytest.mark.parametrize("name", ["string", "decimal"])
def test_dictionary_encoded_values_that_are_handed_through(name, aggregate):
    column = TYPED[name]
    more = {"i": [1, 4, 2, 3, 9]}
    assert one(aggregate, column.dictionary_encode(), **more).equals(one(aggregate, column, **more))


def test_sums_of_dictionary_encoded_numbers():
    assert one(sw.sum("v"), pa.array([1, 2, 2, None, 5]).dictionary_encode()).to_pylist() == [5, 5]


@pytest.mark.parametrize("name", ["date", "timestamp", "boolean"])
def test_top_k_gives_values_in_their_type(name):
    got = one(sw.top_k("v", 2), TYPED[name]).type
    assert got.value_type.field("value").type == TYPED[name].type


def test_dates_are_dates_for_python_aggregates():
    assert one(sw.concat("v", sep=" "), pa.array(DAYS)).to_pylist() == [
        "2024-01-03 2024-01-01 2024-01-02 2024-01-05",
        "2024-01-04",
    ]


def test_the_first_list():
    assert one(sw.first("v"), pa.array([[1], None, [2, 3], [], [4]])).to_pylist() == [[1], [4]]


def test_float_keys():
    nan = float("nan")
    keys = [0.0, -0.0, nan, -nan, None, 2.5, np.float64("nan").item(), -math.inf]
    query = sw.query(time="t", keys="k", windows=[sw.tumbling(100)], aggregates=[sw.count()])
    got = query.run({"t": list(range(8)), "k": pa.array(keys, from_pandas=False)})
    assert [repr(k) for k in got["k"].to_pylist()] == ["None", "-inf", "0.0", "2.5", "nan"]
    assert got["count"].to_pylist() == [1, 1, 2, 1, 3]


def test_many_key_columns():
    dice = random.Random(3)
    names = [f"k{n}" for n in range(7)]
    columns: dict[str, Any] = {name: [dice.choice([0, 1, None]) for _ in range(500)] for name in names}
    columns["k3"] = [None if v is None else "ab"[v] for v in columns["k3"]]
    query = sw.query(time="t", keys=names, windows=[sw.tumbling(1000)], aggregates=[sw.count()])
    got = query.run({"t": list(range(500)), **columns})
    counts: dict[Any, int] = {}
    for key in zip(*(columns[name] for name in names), strict=True):
        counts[key] = counts.get(key, 0) + 1
    found = [tuple(row[name] for name in names) for row in got.to_pylist()]
    assert found == sorted(counts, key=lambda key: [(v is not None, v if v is not None else 0) for v in key])
    assert got["count"].to_pylist() == [counts[key] for key in found]


# What is taken for a table


def as_chunks(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 7), table.slice(8)])


def as_polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def as_duckdb(table: pa.Table) -> Any:
    return pytest.importorskip("duckdb").from_arrow(table)


FORMS = {
    "chunks": as_chunks,
    "record batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(3),
    "dict": lambda table: table.to_pydict(),
    "pandas": lambda table: table.to_pandas(),
    "polars": as_polars,
    "duckdb": as_duckdb,
}
ALL = [sw.sum("x"), sw.max("i"), sw.count("x"), sw.last("s"), sw.argmax("i", "s")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["sliding", "trailing"])
def test_anything_that_is_a_table(kind, form):
    table = pa.table(trips(40))
    query = sw.query(time="t", keys="k", windows=WINDOWS[kind], aggregates=ALL)
    wanted = query.run(table)
    assert query.run(FORMS[form](table)).to_pylist() == wanted.to_pylist()


def test_polars_without_texts():
    table = pa.table(trips(40)).drop(["k", "s"])
    query = sw.query(time="t", windows=WINDOWS["sliding"], aggregates=ALL[:3])
    assert query.run(as_polars(table)).equals(query.run(table))


def test_pandas_missing_numbers_are_nulls():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": [1, 2], "x": [1.0, float("nan")]})
    query = sw.query(time="t", windows=[sw.tumbling(10)], aggregates=[sw.count("x"), sw.sum("x")])
    assert query.run(frame).select(["count_x", "sum_x"]).to_pylist() == [{"count_x": 1, "sum_x": 1.0}]


SCHEMA = pa.schema(
    {
        "t": pa.timestamp("us", "UTC"),
        "k": pa.string(),
        "x": pa.float64(),
        "i": pa.int32(),
        "end": pa.bool_(),
        "odo": pa.float64(),
        "s": pa.string(),
    }
)


@pytest.mark.parametrize("kind", WINDOWS)
class TestSmallTables:
    def query(self, kind: str) -> sw.Query:
        return sw.query(time="t", keys="k", windows=WINDOWS[kind], aggregates=[*ALL, sw.collect("s"), sw.mean("i")])

    def row(self) -> pa.Table:
        return pa.table({"t": [5], "k": ["a"], "x": [2.0], "i": [3], "end": [True], "odo": [0.0], "s": ["u"]}).cast(
            SCHEMA
        )

    def test_no_rows(self, kind):
        """An empty table gives the schema that others have."""
        query = self.query(kind)
        got = query.run(SCHEMA.empty_table())
        assert got.num_rows == 0
        assert got.schema == query.run(self.row()).schema

    def test_one_row(self, kind):
        got = self.query(kind).run(self.row())
        if kind == "rows_every":
            assert got.num_rows == 0
            return
        assert got.num_rows == (4 if kind == "sliding" else 1)
        for name in got.column_names:
            if name.startswith(("sum_x", "mean_i")):
                assert set(got[name].to_pylist()) == {2.0 if name.startswith("sum") else 3.0}

    def test_empty_batches_change_nothing(self, kind):
        stream, twin = self.query(kind).stream(), self.query(kind).stream()
        assert stream.push(SCHEMA.empty_table()).num_rows == 0
        assert stream.watermark is None
        stream.push(self.row()), twin.push(self.row())
        assert stream.push(SCHEMA.empty_table()).num_rows == 0
        assert stream.finish().equals(twin.finish())

    def test_no_row_has_a_time(self, kind):
        nothing = self.row().set_column(0, "t", pa.nulls(1, SCHEMA.field("t").type))
        stream = self.query(kind).stream()
        assert stream.push(nothing).num_rows == 0
        assert stream.finish().num_rows == 0
        assert stream.late.null_times == 1
        assert stream.late.without_time.equals(nothing)
