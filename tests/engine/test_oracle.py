"""The oracle itself, on examples that were worked out by hand; the random cases and the comparison that use it."""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from slidewheel.times import format_duration, instant
from tests.engine.cases import KINDS, random_case
from tests.engine.harness import compare, same_rows, table
from tests.engine.oracle import (
    COMMUTATIVE,
    Case,
    expected_columns,
    expected_run,
    expected_stream,
    kind,
    rank,
)

COUNT = ("count", None, {})
SUM = ("sum", "x", {})
COLLECT = ("collect", "x", {})
NAN = float("nan")

HERE = Path(__file__).parent
SPARK = json.loads((HERE / "spark_cases.json").read_text())
PAGE = HERE.parents[1] / "docs" / "spark-semantics.md"


def case(names: str, rows: Sequence[tuple], windows: Sequence, aggregates: list, **options: Any) -> Case:
    """Columns by their letters, rows as tuples; a key is a column "k". Each row is a batch unless they are given."""
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    options.setdefault("batches", [[r] for r in range(len(rows))])
    return Case(columns, windows, aggregates, keys=["k"] if "k" in names else [], **options)


def answers(rows: list[dict[str, Any]], *left_out: str) -> list[tuple]:
    return [tuple(v for name, v in row.items() if name not in ("window", *left_out)) for row in rows]


def run(*arguments: Any, **options: Any) -> list[tuple]:
    return answers(expected_run(case(*arguments, **options)))


def stream(*arguments: Any, **options: Any) -> list[list[tuple]]:
    return [answers(step) for step in expected_stream(case(*arguments, **options)).steps]


class TestSliding:
    WINDOW = (("sliding", {"range": 10, "every": 4}),)

    def test_a_row_is_in_each_window_that_holds_it(self):
        # Starts are multiples of 4. 9 is in those from 0, 4 and 8; 10 in those from 4 and 8, since [0, 10) ends.
        assert run("tx", [(9, 1), (10, 2)], self.WINDOW, [COUNT, SUM]) == [
            (0, 10, 1, 1),
            (4, 14, 2, 3),
            (8, 18, 2, 3),
        ]

    def test_before_1970(self):
        assert run("tx", [(-1, 5)], self.WINDOW, [SUM]) == [(-8, 2, 5), (-4, 6, 5)]

    def test_offset(self):
        windows = [("sliding", {"range": 10, "every": 5, "offset": 2})]
        assert run("tx", [(7, 1)], windows, [SUM]) == [(2, 12, 1), (7, 17, 1)]

    def test_a_slide_longer_than_the_range_leaves_rows_out(self):
        windows = [("sliding", {"range": 3, "every": 10})]
        made = case("tx", [(2, 1), (3, 2), (10, 4)], windows, [SUM])
        assert answers(expected_run(made)) == [(0, 3, 1), (10, 13, 4)]
        late = expected_stream(made).late
        assert (late.outside, late.late, late.lost) == (1, 0, 0)

    def test_order_of_windows(self):
        windows = [("sliding", {"range": 10, "every": 5}), ("tumbling", {"every": 5})]
        rows = [("b", 6), ("a", 7), (None, 6)]
        found = [(r["k"], r["window_start"], r["window"]) for r in expected_run(case("kt", rows, windows, [COUNT]))]
        assert found == [
            (None, 0, "10us/5us"),
            (None, 5, "5us"),
            ("a", 0, "10us/5us"),
            ("a", 5, "5us"),
            ("b", 0, "10us/5us"),
            ("b", 5, "5us"),
            (None, 5, "10us/5us"),
            ("a", 5, "10us/5us"),
            ("b", 5, "10us/5us"),
        ]


class TestTumbling:
    def test_start_in_end_out(self):
        assert run("tx", [(0, 1), (9, 2), (10, 4)], [("tumbling", {"every": 10})], [SUM]) == [(0, 10, 3), (10, 20, 4)]

    def test_comes_out_when_the_watermark_reaches_the_end(self):
        rows = [(3, 1), (12, 2), (13, 4)]
        assert stream("tx", rows, [("tumbling", {"every": 10})], [SUM], lateness=3) == [
            [],
            [],
            [(0, 10, 1)],
            [(10, 20, 6)],
        ]

    def test_advance_and_watermarks(self):
        made = case("tx", [(3, 1), (4, 2)], [("tumbling", {"every": 10})], [SUM], lateness=1, advances=[9, 10])
        found = expected_stream(made)
        assert [step for step, _ in made.steps()] == ["push", "advance", "push", "advance", "finish"]
        assert found.watermarks == [2, 9, 9, 10]
        assert [answers(s) for s in found.steps] == [[], [], [], [(0, 10, 3)], []]

    def test_no_watermark_before_the_first_row(self):
        found = expected_stream(case("tx", [(None, 1)], [("tumbling", {"every": 10})], [SUM], batches=[[], [0]]))
        assert found.watermarks == [None, None]
        assert (found.late.without_time, found.late.kept_without_time, found.late.late) == (1, [0], 0)
        assert found.steps == [[], [], []]


class TestSession:
    WINDOW = (("session", {"gap": 5}),)

    def test_exactly_the_gap_still_belongs(self):
        rows = [(0, 1), (5, 2), (11, 4)]
        assert run("tx", rows, self.WINDOW, [SUM]) == [(0, 10, 3), (11, 16, 4)]

    def test_keys_have_sessions_of_their_own(self):
        rows = [("a", 0), ("b", 3), ("a", 6)]
        assert run("kt", rows, self.WINDOW, [COUNT]) == [("a", 0, 5, 1), ("b", 3, 8, 1), ("a", 6, 11, 1)]

    def test_a_row_joins_two(self):
        rows = [(0, 1), (8, 2), (4, 4)]
        assert stream("tx", rows, self.WINDOW, [SUM], lateness=8) == [[], [], [], [(0, 13, 7)]]

    def test_late_alone_or_not_at_all(self):
        # After 20 the watermark is 20. 15 would end at 20: late. 16 ends at 21, and 20 is within its gap.
        found = expected_stream(case("tx", [(20, 1), (15, 2), (16, 4)], self.WINDOW, [SUM], late="keep"))
        assert [answers(s) for s in found.steps] == [[], [], [], [(16, 25, 5)]]
        assert (found.late.late, found.late.lost, found.late.kept) == (1, 1, [1])

    def test_what_has_come_out_is_not_joined(self):
        rows = [("a", 0), ("b", 5), ("a", 5)]
        assert stream("kt", rows, self.WINDOW, [COUNT]) == [
            [],
            [("a", 0, 5, 1)],
            [],
            [("a", 5, 10, 1), ("b", 5, 10, 1)],
        ]


class TestRowsEvery:
    def test_every_second_row_the_last_three(self):
        rows = [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16)]
        assert run("tx", rows, [("rows", {"n": 3, "every": 2})], [SUM]) == [(1, 2, 3), (2, 8, 14)]

    def test_peers_are_ordered_by_what_the_query_reads(self):
        # Ordered: (1, None), (1, 3), (1, 5), (1, 9): both windows end at 1.
        rows = [(1, 9), (1, None), (1, 5), (1, 3)]
        windows = [("rows", {"n": 2, "every": 2})]
        assert run("tx", rows, windows, [COUNT, COLLECT]) == [(1, 1, 2, [3]), (1, 1, 2, [5, 9])]

    def test_a_window_ends_with_a_row_that_the_watermark_has_passed(self):
        rows = [(1, 1), (2, 2), (2, 4), (3, 8)]
        windows = [("rows", {"n": 9, "every": 2})]
        assert stream("tx", rows, windows, [SUM]) == [[], [], [], [(1, 2, 3)], [(1, 3, 15)]]

    def test_a_late_row_is_counted_and_moves_later_ends(self):
        # 2 is the second of the four rows, but its window has closed already; the fourth holds 2, 5 and 9.
        found = expected_stream(case("tx", [(1, 1), (5, 2), (2, 4), (9, 8)], [("rows", {"n": 3, "every": 2})], [SUM]))
        assert [answers(s) for s in found.steps] == [[], [], [], [], [(2, 9, 14)]]
        assert (found.late.late, found.late.lost) == (1, None)


class TestPunctuated:
    WINDOW = (("punctuated", {"column": "p"}),)

    def test_ends_with_true(self):
        rows = [(1, 1, False), (2, 2, True), (3, 4, None), (4, 8, True), (5, 16, False)]
        assert run("txp", rows, self.WINDOW, [SUM]) == [(1, 2, 3), (3, 4, 12)]

    def test_among_peers_true_is_last(self):
        rows = [(1, 1, True), (1, 2, False), (1, 4, None), (1, 8, True)]
        assert run("txp", rows, self.WINDOW, [COLLECT]) == [(1, 1, [4, 2, 1]), (1, 1, [8])]

    def test_an_end_that_never_came(self):
        assert stream("txp", [(1, 1, True), (2, 2, False)], self.WINDOW, [SUM]) == [[], [(1, 1, 1)], []]

    def test_late_rows(self):
        rows = [
            (5, 1, True),
            (20, 2, False),
            (4, 4, False),
            (5, 8, False),
            (6, 16, True),
            (7, 32, False),
            (20, 64, True),
        ]
        found = expected_stream(case("txp", rows, self.WINDOW, [SUM], late="keep"))
        # The window that ended at 5 came out with 20. 4 and 5 are not later, 6 is true: late. 7 is in the next one.
        assert [answers(s) for s in found.steps] == [[], [(5, 5, 1)], [], [], [], [], [], [(7, 20, 98)]]
        assert (found.late.late, found.late.lost, found.late.kept) == (3, 3, [2, 3, 4])


class TestTrailing:
    @pytest.mark.parametrize(
        ("closed", "sums"),
        [
            ("right", [1, 2 + 4, 2 + 4, 2 + 4 + 8]),
            ("left", [None, 1, 1, 2 + 4]),
            ("both", [1, 1 + 2 + 4, 1 + 2 + 4, 2 + 4 + 8]),
            ("neither", [None, None, None, 2 + 4]),
        ],
    )
    def test_ends(self, closed: str, sums: list):
        # Windows of 3 at 0, 3, 3 and 5: the ends reach 0 from 3, and peers see each other.
        rows = [(0, 1), (3, 2), (3, 4), (5, 8)]
        found = expected_run(case("tx", rows, [("trailing", {"range": 3, "closed": closed})], [SUM]))
        assert [row["sum_x_3us"] for row in found] == sums

    def test_rows_come_back_in_order(self):
        rows = [("b", 2, 1), ("a", 2, 4), ("a", 2, 3), ("a", 1, 8)]
        windows = [("trailing", {"range": 1}), ("trailing", {"range": 9, "name": "all"})]
        assert expected_run(case("ktx", rows, windows, [SUM])) == [
            {"k": "a", "t": 1, "x": 8, "sum_x_1us": 8, "sum_x_all": 8},
            {"k": "a", "t": 2, "x": 3, "sum_x_1us": 7, "sum_x_all": 15},
            {"k": "a", "t": 2, "x": 4, "sum_x_1us": 7, "sum_x_all": 15},
            {"k": "b", "t": 2, "x": 1, "sum_x_1us": 1, "sum_x_all": 1},
        ]

    def test_a_row_comes_out_when_the_watermark_has_passed_it(self):
        rows = [(1, 1), (2, 2), (2, 4)]
        assert stream("tx", rows, [("trailing", {"range": 9})], [SUM]) == [
            [],
            [(1, 1, 1)],
            [],
            [(2, 2, 7), (2, 4, 7)],
        ]

    def test_a_late_row_counts_in_later_windows(self):
        found = expected_stream(case("tx", [(5, 1), (3, 2), (6, 4)], [("trailing", {"range": 9})], [SUM], late="keep"))
        assert [answers(s) for s in found.steps] == [[], [], [(5, 1, 3)], [(6, 4, 7)]]
        assert (found.late.late, found.late.kept) == (1, [1])


class TestRows:
    def test_the_last_two(self):
        rows = [(3, 4), (1, 1), (2, 2)]
        assert run("tx", rows, [("rows", {"n": 2})], [SUM]) == [(1, 1, 1), (2, 2, 3), (3, 4, 6)]

    def test_peers_do_not_see_later_ones(self):
        rows = [("a", 1, 2), ("a", 1, None), ("b", 1, 7), ("a", 1, 1)]
        assert run("ktx", rows, [("rows", {"n": 9})], [COUNT, SUM]) == [
            ("a", 1, None, 1, None),
            ("a", 1, 1, 2, 1),
            ("a", 1, 2, 3, 3),
            ("b", 1, 7, 1, 7),
        ]

    def test_a_late_row_takes_its_place(self):
        # 3 does not come out itself. 5 is still open, and 3 is before it; for 6, 5 is.
        assert stream("tx", [(5, 1), (3, 2), (6, 4)], [("rows", {"n": 2})], [SUM]) == [
            [],
            [],
            [(5, 1, 3)],
            [(6, 4, 5)],
        ]


class TestDelta:
    WINDOW = (("delta", {"column": "x", "distance": 2.0}),)

    def test_exactly_the_distance_stays(self):
        rows = [(1, 0.0), (2, 2.0), (3, 2.5), (4, 9.0)]
        assert [row[-1] for row in run("tx", rows, self.WINDOW, [COLLECT])] == [
            [0.0],
            [0.0, 2.0],
            [2.0, 2.5],
            [9.0],
        ]

    def test_what_has_left_does_not_come_back(self):
        # 0 leaves at 5; at 1 the 5 is the oldest, differs by 4 and leaves too.
        rows = [(1, 0.0), (2, 5.0), (3, 1.0)]
        assert [row[-1] for row in run("tx", rows, self.WINDOW, [COLLECT])] == [[0.0], [5.0], [1.0]]

    def test_only_from_the_oldest(self):
        # 3 differs by 2.5 from the newest, but 1 stands before it and stays.
        rows = [(1, 1.0), (2, 3.0), (3, 0.5)]
        assert [row[-1] for row in run("tx", rows, self.WINDOW, [COLLECT])] == [[1.0], [1.0, 3.0], [1.0, 3.0, 0.5]]

    def test_null_has_no_window(self):
        rows = [(1, 1.0), (2, None), (3, 2.0)]
        assert run("tx", rows, self.WINDOW, [COUNT, COLLECT]) == [
            (1, 1.0, 1, [1.0]),
            (2, None, 0, None),
            (3, 2.0, 2, [1.0, 2.0]),
        ]


class TestLate:
    ROWS = ((7, 1), (11, 2), (8, 4), (15, 8))
    WINDOW = (("sliding", {"range": 10, "every": 5}),)

    @pytest.mark.parametrize("late", ["drop", "keep"])
    def test_counts_in_what_is_open(self, late: str):
        # With 11, [0, 10) has closed. 8 is late for it and counts in [5, 15).
        found = expected_stream(case("tx", self.ROWS, self.WINDOW, [SUM], late=late))
        assert [answers(s) for s in found.steps] == [
            [],
            [(0, 10, 1)],
            [],
            [(5, 15, 7)],
            [(10, 20, 10), (15, 25, 8)],
        ]
        assert (found.late.late, found.late.missed, found.late.lost) == (1, 1, 0)
        assert found.late.kept == ([2] if late == "keep" else [])

    def test_update_sends_the_window_again(self):
        found = expected_stream(case("tx", self.ROWS, self.WINDOW, [SUM], late="update", repair=2))
        assert [answers(s) for s in found.steps] == [
            [],
            [(0, 10, 1)],
            [(0, 10, 5)],
            [(5, 15, 7)],
            [(10, 20, 10), (15, 25, 8)],
        ]
        assert (found.late.late, found.late.missed, found.late.lost, found.late.kept) == (1, 0, 0, [])

    def test_update_ends_with_the_repair(self):
        # The watermark is 11, and 10 > 11 - 1 does not hold.
        found = expected_stream(case("tx", self.ROWS, self.WINDOW, [SUM], late="update", repair=1))
        assert answers(found.steps[2]) == []
        assert (found.late.late, found.late.missed, found.late.lost) == (1, 1, 0)

    def test_update_gives_a_window_that_was_empty(self):
        found = stream("tx", [(25, 1), (3, 2)], [("tumbling", {"every": 10})], [SUM], late="update", repair=99)
        assert found == [[], [(0, 10, 2)], [(20, 30, 1)]]

    def test_update_once_for_a_batch_and_in_order(self):
        rows = [("b", 25, 1), ("b", 4, 2), ("a", 3, 4), ("b", 5, 8), ("a", 31, 16)]
        windows = [("tumbling", {"every": 10})]
        found = stream("ktx", rows, windows, [SUM], late="update", repair=99, batches=[[0], [1, 2, 3, 4]])
        assert found[1] == [("a", 0, 10, 4), ("b", 0, 10, 10), ("b", 20, 30, 1)]

    def test_update_of_trailing(self):
        # The watermark is 9. 5 comes out itself; 7 comes out again, 4 does not see it; 9 is still open.
        rows = [(4, 1), (7, 2), (9, 4), (5, 8)]
        windows = [("trailing", {"range": 3})]
        found = expected_stream(case("tx", rows, windows, [SUM], late="update", repair=4))
        assert [answers(s) for s in found.steps] == [
            [],
            [(4, 1, 1)],
            [(7, 2, 2)],
            [(5, 8, 9), (7, 2, 10)],
            [(9, 4, 6)],
        ]
        assert (found.late.late, found.late.missed) == (1, 0)

    def test_update_of_trailing_past_its_repair(self):
        # 5 < 9 - 3: its own window is missed, but that of 7 is repaired.
        rows = [(4, 1), (7, 2), (9, 4), (5, 8)]
        windows = [("trailing", {"range": 3})]
        found = expected_stream(case("tx", rows, windows, [SUM], late="update", repair=3))
        assert answers(found.steps[3]) == [(7, 2, 10)]
        assert (found.late.late, found.late.missed) == (1, 1)

    def test_lost_and_late_for_several_specs(self):
        rows = [(25, 1), (3, 2), (13, 4)]
        windows = [("tumbling", {"every": 10}), ("tumbling", {"every": 30})]
        found = expected_stream(case("tx", rows, windows, [SUM]))
        assert (found.late.late, found.late.lost) == (2, 0)
        assert [answers(s) for s in found.steps] == [[], [], [], [(20, 30, 1), (0, 30, 7)]]


class TestValues:
    WINDOW = (("tumbling", {"every": 10}),)

    def one(self, names: str, rows: list[tuple], *aggregates: tuple) -> tuple:
        return run(names, rows, self.WINDOW, list(aggregates))[0][2:]

    def test_nulls(self):
        found = self.one("tx", [(1, None), (2, None)], COUNT, ("count", "x", {}), SUM, COLLECT, ("first", "x", {}))
        assert found == (2, 0, None, None, None)

    def test_nan_is_greatest(self):
        found = self.one("tx", [(1, NAN), (2, 3.0)], ("min", "x", {}), ("max", "x", {}), ("max_count", "x", {}))
        assert found[0] == 3.0 and math.isnan(found[1]) and found[2] == 1

    def test_spread(self):
        var = [("var", "x", {"ddof": ddof, "alias": f"v{ddof}"}) for ddof in (0, 1, 2)]
        assert self.one("tx", [(1, 1.0), (2, 3.0)], *var, ("std", "x", {})) == (1.0, 2.0, None, math.sqrt(2.0))

    def test_arg_of_equal_values_is_the_first(self):
        rows = [(2, 5, "later"), (1, 5, "b"), (1, 5, "a"), (1, None, "none")]
        found = self.one("txs", rows, ("argmax", ("x", "s"), {}), ("argmin", ("x", "s"), {"alias": "least"}))
        assert found == ("a", "a")

    def test_arg_may_be_null(self):
        assert self.one("txs", [(1, 5, None), (2, 4, "a")], ("argmax", ("x", "s"), {})) == (None,)

    def test_text_and_lists(self):
        rows = [(3, "c"), (1, "a"), (2, "c"), (2, None)]
        kinds = [("concat", "x", {"sep": "-"}), COLLECT, ("collect_distinct", "x", {}), ("last", "x", {})]
        assert self.one("tx", rows, *kinds) == ("a-c-c", ["a", "c", "c"], ["a", "c"], "c")

    def test_means(self):
        rows = [(1, 1), (2, 4)]
        kinds = [("mean", "x", {}), ("geomean", "x", {}), ("product", "x", {}), ("span", "x", {}), SUM]
        mean, geomean, product, span, total = self.one("tx", rows, *kinds)
        assert (mean, product, span, total) == (2.5, 4.0, 3, 5)
        assert math.isclose(geomean, 2.0)

    def test_keys(self):
        rows = [(NAN, 1), (0.0, 1), (None, 1), (-0.0, 1), (-NAN, 1)]
        found = run("kt", rows, self.WINDOW, [COUNT])
        assert [(row[0], row[-1]) for row in found[:2]] == [(None, 1), (0.0, 2)]
        assert math.isnan(found[2][0]) and found[2][-1] == 2

    def test_peers_by_the_columns_of_windows_first(self):
        # p, x and y are read, in this order; y is named last.
        rows = [(1, 5, 1, False), (1, 4, 2, True), (1, 4, 3, False), (1, None, 4, False)]
        windows = [("punctuated", {"column": "p"})]
        assert run("txyp", rows, windows, [("count", "x", {}), ("collect", "y", {})]) == [(1, 1, 3, [4, 3, 1, 2])]


class TestNames:
    def test_windows(self):
        windows = [
            ("sliding", {"range": 3_600_000_000, "every": 300_000_000}),
            ("session", {"gap": 1_800_000_000}),
            ("rows", {"n": 1000, "every": 10}),
            ("punctuated", {"column": "p"}),
            ("tumbling", {"every": 86_400_000_000}),
        ]
        made = case("ktxp", [("a", 0, 1, True)] * 10, windows, [COUNT, SUM])
        assert {row["window"] for row in expected_run(made)} == {"1h/5m", "session_30m", "1000rows/10", "p", "1d"}
        assert expected_columns(made) == ["k", "window_start", "window_end", "window", "count", "sum_x"]
        assert list(expected_run(made)[0]) == expected_columns(made)

    def test_rows(self):
        windows = [("trailing", {"range": 1}), ("rows", {"n": 3}), ("delta", {"column": "x", "distance": 10.0})]
        made = case("tx", [(0, 1)], windows, [("max", "x", {"alias": "top"})])
        assert list(expected_run(made)[0]) == ["t", "x", "top_1us", "top_3rows", "top_x_10"] == expected_columns(made)


class TestCases:
    @pytest.mark.parametrize("seed", range(150))
    def test_in_time_a_stream_gives_what_a_run_gives(self, seed: int):
        made = random_case(seed, on_time=True)
        found = expected_stream(made)
        together = [row for step in found.steps for row in step]
        assert found.late.late == 0
        assert sorted(map(comparable, together)) == sorted(map(comparable, expected_run(made)))

    @pytest.mark.parametrize("seed", range(50))
    def test_a_case_is_well_formed(self, seed: int):
        made = random_case(seed)
        assert repr(made) == repr(random_case(seed))
        assert sorted(r for batch in made.batches for r in batch) == list(range(len(made.columns["t"])))
        assert table(made).column_names == list(made.columns)
        assert all(set(row) == set(expected_columns(made)) for row in expected_run(made))

    def test_options(self):
        for seed in range(100):
            made = random_case(seed, kinds=["session", "trailing"], commutative=True, rows=7)
            assert {kind(w) for w in made.windows} in ({"session"}, {"trailing"})
            assert {a[0] for a in made.aggregates} <= set(COMMUTATIVE)
            assert len(made.columns["t"]) <= 7

    def test_everything_occurs(self):
        made = [random_case(seed, on_time=False) for seed in range(300)]
        late = [expected_stream(c).late for c in made]
        assert {kind(w) for c in made for w in c.windows} == set(KINDS)
        assert {c.late for c in made} == {"drop", "keep", "update"}
        assert sum(found.late > 0 for found in late) > 60
        assert any(found.missed < found.late for found in late) and any(found.outside for found in late)
        assert any(found.without_time for found in late) and any(found.kept for found in late)


def comparable(row: dict[str, Any]) -> str:
    return repr([(name, listed(row[name])) for name in sorted(row)]).replace("-0.0", "0.0")


def listed(value: Any) -> Any:
    return list(map(rank, value)) if isinstance(value, list) else rank(value)


class TestCompare:
    @pytest.mark.parametrize("seed", range(40))
    def test_what_is_wanted_is_like_itself(self, seed: int):
        made = random_case(seed)
        wanted = expected_run(made)
        columns = expected_columns(made)
        got = pa.table({name: pa.array([row[name] for row in wanted], from_pandas=False) for name in columns})
        for name in set(columns) & {"window_start", "window_end", "t"}:
            got = got.set_column(columns.index(name), name, got[name].cast(pa.int64()).cast(pa.timestamp("us")))
        compare(got, wanted, columns)
        if wanted:
            with pytest.raises(AssertionError, match="rows, not"):
                compare(got, wanted[:-1], columns)

    def test_differences_are_told(self):
        wanted = [{"a": 1, "b": 0.5}, {"a": 2, "b": NAN}]
        compare(pa.table({"a": [1, 2], "b": [0.5 + 1e-12, NAN]}), wanted)
        with pytest.raises(AssertionError, match=r"row 1 of 2 differs in \['b'\]"):
            compare(pa.table({"a": [1, 2], "b": pa.array([0.5, None])}), wanted)
        with pytest.raises(AssertionError, match=r"row 0 of 2 differs in \['a'\]"):
            compare(pa.table({"a": [1.0, 2.0], "b": [0.5, NAN]}), wanted)
        with pytest.raises(AssertionError, match="1 rows, not 2"):
            compare(pa.table({"a": [1], "b": [0.5]}), wanted)

    def test_rows_handed_back(self):
        whole = pa.table({"a": [1, 2, 3], "b": ["x", None, "y"]})
        same_rows(whole.take([2, 1]), whole, [1, 2])
        with pytest.raises(AssertionError):
            same_rows(whole.take([2]), whole, [1])

    @pytest.mark.parametrize("unit", ["us", "utc", "ns", "int64"])
    def test_time_columns(self, unit: str):
        made = case("t", [(1_500_000,), (None,), (-1,)], [("tumbling", {"every": 1})], [COUNT], time_type=unit)
        column = table(made)["t"]
        assert column.null_count == 1
        assert column.cast(pa.int64()).to_pylist()[2] == (-1000 if unit == "ns" else -1)


MINUTE = 60_000_000


def spark_case(told: dict[str, Any]) -> Case:
    rows = [row for batch in told["batches"] for row in batch]
    cuts = [sum(map(len, told["batches"][:k])) for k in range(len(told["batches"]) + 1)]
    name, lengths = told["window"]
    return Case(
        {
            "k": [k for k, _, _ in rows],
            "t": [None if t is None else spark_time(told, t) for _, t, _ in rows],
            "x": [x for _, _, x in rows],
        },
        [(name, {option: MINUTE * minutes for option, minutes in lengths.items()})],
        [COUNT, SUM],
        keys=["k"],
        lateness=told["lateness"] * MINUTE,
        late="keep",
        batches=[list(range(a, b)) for a, b in pairwise(cuts)],
    )


def spark_time(told: dict[str, Any], clock: str) -> int:
    return instant(f"{told.get('day', '2024-01-01')}T{clock}")


def clock(t: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=t)).strftime("%H:%M")


@pytest.mark.parametrize("told", SPARK["cases"], ids=[told["name"] for told in SPARK["cases"]])
def test_as_in_spark(told: dict[str, Any]):
    made = spark_case(told)
    found = expected_stream(made)
    out = [[[k, clock(a), clock(b), *rest] for k, a, b, *rest in answers(step)] for step in found.steps]
    assert out == [*told["out"], told["finish"]]
    rows = [row for batch in told["batches"] for row in batch]
    assert [rows[r] for r in found.late.kept] == [row for late in told["late"] for row in late]


def spark_table() -> str:
    """The cases as the table of the page."""
    lines = ["| case | window, lateness | batch | rows | comes out | late |", "|---|---|---|---|---|---|"]
    for told in SPARK["cases"]:
        spec = " ".join(
            [told["window"][0], *(f"{k} {format_duration(v * MINUTE)}" for k, v in told["window"][1].items())]
        )
        head = f"**{told['name']}**: {told['says']} | {spec}, {format_duration(told['lateness'] * MINUTE)}"
        for k, batch in enumerate(told["batches"]):
            first = head if k == 0 else "|"
            lines.append(
                f"| {first} | {k + 1} | {_rows(batch)} | {_windows(told['out'][k])} | {_rows(told['late'][k])} |"
            )
        lines.append(f"| | | finish | | {_windows(told['finish'])} | |")
    return "\n".join(line.replace("  ", " ") for line in lines)


def _rows(rows: list[list[Any]]) -> str:
    return ", ".join(f"{k or 'null'} {t or 'null'} = {'null' if x is None else x}" for k, t, x in rows)


def _windows(windows: list[list[Any]]) -> str:
    return ", ".join(f"{k or 'null'} [{a}, {b}) n={n} sum={'null' if s is None else s}" for k, a, b, n, s in windows)


def test_the_page_shows_these_cases():
    assert spark_table() in PAGE.read_text()
