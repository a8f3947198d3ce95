"""Sketches keep the errors that they state, are not exact where they can't be, and are the same compiled or not."""

import functools
import math
import random
from collections import Counter
from datetime import datetime

import numba
import numpy as np
import pytest

import slidewheel as sw
from slidewheel.algebra.hashing import hash64, hash_column
from slidewheel.compiler import kernels
from slidewheel.swag.registry import algorithm
from tests.support import agree, recalculated

NAN, INF = math.nan, math.inf
SMALL = {
    "bloom": sw.bloom(bits=128, hashes=2),
    "distinct": sw.distinct(precision=6),
    "quantile": sw.quantile(q=0.3, accuracy=0.05, smallest=1e-3, largest=1e4),
    "top_k": sw.top_k(k=3, capacity=8),
    "count_min": sw.count_min(width=16, depth=3),
}
QUICK = {"algorithm": "recalc"}  # compiles fastest
HASHED = ["bloom", "distinct", "count_min"]


class Folds:
    """The compiled absorb, merge and lower of an aggregate, as an engine would use them."""

    def __init__(self, aggregate, kind):
        self.aggregate, self.monoid = aggregate, aggregate.monoid("hash" if aggregate.prepare else kind)
        module = kernels.kernel(algorithm("recalc"), self.monoid).module
        absorb, merge, lower = module.absorb, module.merge, module.lower

        @numba.njit
        def fold(column, states, row):
            for x in column:
                absorb(states[row], x)

        @numba.njit
        def join(states, into, other):
            merge(states[into], states[other])

        @numba.njit
        def answer(states, row):
            return lower(states[row])

        self.fold, self.join, self.lowered = fold, join, answer

    def states(self, *parts):
        """A state for each of the parts."""
        made = np.zeros(len(parts), dtype=self.monoid.state)
        for row, part in enumerate(parts):
            column = self.aggregate.prepare(part) if self.aggregate.prepare else part
            self.fold(column, made, row)
        return made

    def merged(self, *parts, chance=None):
        """The parts' states, merged in a random tree, or from left to right."""
        states = self.states(*parts)
        rows = list(range(len(parts)))
        while len(rows) > 1:
            if chance is not None:
                chance.shuffle(rows)
            into, other = rows[0], rows.pop(1)
            self.join(states, into, other)
        return states[rows[0] : rows[0] + 1]

    def answer(self, *parts, chance=None):
        state = self.merged(*parts, chance=chance)
        found = self.lowered(state, 0)
        return found if self.aggregate.finish is None else self.aggregate.finish(np.array([found]))[0]


@functools.cache
def folds(name, kind="f", **options):
    return Folds(getattr(sw, name)(**options) if options else SMALL[name], kind)


# distinct


def test_the_error_of_distinct_is_what_it_states():
    stated = 1.04 / math.sqrt(1 << 10)
    estimate = folds("distinct", precision=10).answer
    rng = np.random.default_rng(7)
    for n in (1, 30, 300, 2000, 3000, 5000, 30_000, 300_000):
        errors = []
        for _ in range(40):
            start = int(rng.integers(-(2**62), 2**62))
            errors.append(estimate(np.arange(start, start + n)) / n - 1)
        errors = np.array(errors)
        spread = math.sqrt((errors**2).mean())
        assert spread <= 1.3 * stated, n
        assert abs(errors.mean()) <= 4 * stated / math.sqrt(len(errors)), n
        assert np.abs(errors).max() <= 5 * stated, n
        if n >= 2000:
            assert spread >= 0.6 * stated, n  # nothing of this size can do better


def test_precision_is_what_distinct_pays_for():
    values = np.arange(50_000)
    errors = [abs(folds("distinct", precision=p).answer(values) / len(values) - 1) for p in (4, 12)]
    assert errors[1] < 0.05 and errors[1] < errors[0]


def test_repeats_do_not_count():
    once = folds("distinct").states(np.arange(100))
    again = folds("distinct").states(np.tile(np.arange(100), 50)[::-1].copy())
    assert once.tobytes() == again.tobytes()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([0.0, -0.0, 0], 1),
        ([NAN, float("nan"), NAN], 1),
        ([INF, -INF, NAN, 1.5], 4),
        (["a", "b", "a", ""], 3),
        ([True, False, True], 2),
        ([b"x", b"y"], 2),
        ([datetime(2024, 1, 1), datetime(2024, 1, 2)], 2),
        (np.array(["2024-01-01", "2024-01-02", "NaT"], dtype="M8[s]"), 2),
        ([-1, -2, -(2**63), 2**63 - 1, None, -1], 4),
    ],
)
def test_what_distinct_takes_for_different(values, wanted):
    got = sw.rolling(values, sw.distinct(), size=len(values), **QUICK)
    assert got.dtype == np.int64 and got[-1] == wanted


def test_distinct_is_an_integer_also_where_it_is_not_compiled():
    got = sw.rolling([1, 2, 2], sw.distinct(precision=6), size=2, algorithm="foa")
    assert got.dtype == np.int64 and got.tolist() == [1, 2, 1]


# quantile


def of_rank(values, q):
    """The value that the answer is about: NaN last, the one of rank ceil(q * n)."""
    return float(np.sort(values)[max(math.ceil(q * len(values)), 1) - 1])


def distributions():
    rng = np.random.default_rng(11)
    yield "lognormal", rng.lognormal(0, 3, 5000)
    yield "normal", rng.normal(0, 100, 5000)
    yield "negative", -rng.pareto(1.5, 5000) - 1e-5
    yield "uniform", rng.uniform(1e6, 2e6, 5000)
    yield "tiny and huge", 10.0 ** rng.uniform(-6, 19, 5000) * rng.choice([-1, 1], 5000)
    yield "the same", np.full(100, 12.34)
    yield "one", np.array([-7.5])
    yield "integers", rng.integers(-(2**63), 2**63 - 1, 3000)
    yield "small integers", rng.integers(-3, 4, 3000)


QS = (0.0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.999, 1.0)


@pytest.mark.parametrize("accuracy", [0.01, 0.1])
def test_the_error_of_quantiles_is_what_it_states(accuracy):
    worst = 0.0
    for name, values in distributions():
        for q in QS:
            monoid = sw.quantile(q=q, accuracy=accuracy).monoid("f")
            states = folds("quantile", str(values.dtype.kind), accuracy=accuracy).states(values)
            got, exact = monoid.lower(states[0]), of_rank(values, q)
            error = abs(got - exact) / abs(exact) if exact else abs(got)
            assert error <= accuracy, (name, q, got, exact)
            worst = max(worst, error)
    assert worst > 0.8 * accuracy  # a sketch, and no finer than it says


def test_quantiles_in_order_beyond_the_range_and_beside_the_numbers():
    values = [NAN, 5.0, -INF, 1e-9, -0.0, INF, -1e9, 1e9, -5.0]
    ordered = [-INF, -1e4, -5.0, 0.0, 0.0, 5.0, 1e4, INF, NAN]
    for rank, wanted in enumerate(ordered, 1):
        aggregate = sw.quantile(q=rank / 9, accuracy=0.05, smallest=1e-3, largest=1e4)
        window = sw.swag.window(aggregate)
        for value in values:
            window.insert(value)
        got = window.query()
        same = got == wanted or (got != got and wanted != wanted)
        assert same or got == pytest.approx(wanted, rel=0.1), (rank, got, wanted)


def test_infinities_and_nan_leave_no_trace():
    values = [1.0, NAN, INF, -INF, 2.0, 2.0, 2.0, None, None]
    got = sw.rolling(values, sw.quantile(q=1), size=2, **QUICK)
    np.testing.assert_allclose(got, [1, NAN, NAN, INF, 2, 2, 2, 2, NAN], rtol=0.01)


def test_a_quantile_needs_numbers():
    with pytest.raises(sw.Unsupported, match="numbers"):
        sw.rolling(["a", "b"], sw.quantile(q=0.5), size=2)


# top_k


def zipf(seed, n=20_000):
    """Few values that are frequent, many that are rare."""
    rng = np.random.default_rng(seed)
    return np.minimum(rng.zipf(1.2, n), 10_000) - 5000


@pytest.mark.parametrize("parts", [1, 7, 100])
@pytest.mark.parametrize("kind", ["i", "f"])
def test_the_error_of_top_k_is_what_it_states(kind, parts):
    lost = 0
    for seed in range(5):
        values = zipf(seed).astype(f"{kind}8")
        exact, most = Counter(values.tolist()), len(values) / 21
        pieces = np.array_split(values, parts)
        found = folds("top_k", kind, k=20, capacity=20).answer(*pieces, chance=random.Random(seed))
        counts = {row["value"]: row["count"] for row in found}
        assert len(counts) == len(found)
        assert [row["count"] for row in found] == sorted(counts.values(), reverse=True)
        for value, count in exact.items():
            assert count - most <= counts.get(value, 0) <= count
            lost += count - counts.get(value, 0)
    assert lost > 0  # 20 counters can't know it all


def test_the_error_of_top_k_is_what_it_states_for_text():
    values = [f"N{x}" for x in zipf(3, 3000)]
    window = sw.swag.window(sw.top_k(k=20, capacity=20))
    for k, value in enumerate(values):
        window.insert(value)
        if k >= 1000:
            window.evict()
        if k % 100 == 99:
            held = values[max(k - 999, 0) : k + 1]
            counts = {row["value"]: row["count"] for row in window.query()}
            for value, count in Counter(held).items():
                assert count - len(held) / 21 <= counts.get(value, 0) <= count


def test_top_k_is_exact_as_long_as_there_is_room():
    values = np.repeat(np.arange(20.0), np.arange(1, 21))
    np.random.default_rng(5).shuffle(values)
    found = folds("top_k", "f", k=20, capacity=20).answer(*np.array_split(values, 9))
    assert found == [{"value": 19.0 - k, "count": 20 - k} for k in range(20)]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([2, 1, 2, 1, 3], [(1, 2), (2, 2)]),
        ([NAN, -0.0, float("nan"), 0.0, 5.0], [(0.0, 2), (NAN, 2)]),
        ([INF, -INF, None], [(-INF, 1), (INF, 1)]),
        (["b", "a", "b", None, "a", "c"], [("a", 2), ("b", 2)]),
        ([True, False, True], [(True, 2), (False, 1)]),
        ([(1, 2), "x", 7, (1, 2)], [((1, 2), 2), (7, 1)]),
        (np.array(["2024-01-02", "2024-01-01"], dtype="M8[s]"), [(datetime(2024, 1, 1), 1), (datetime(2024, 1, 2), 1)]),
        (np.array([1, 1, 2], dtype="u1"), [(1, 2), (2, 1)]),
    ],
)
def test_what_top_k_answers(values, wanted):
    found = sw.rolling(values, sw.top_k(k=2, capacity=8), size=len(values), **QUICK)[-1]
    assert agree([row["value"] for row in found], [value for value, _ in wanted])
    assert [row["count"] for row in found] == [count for _, count in wanted]
    assert [type(row["value"]) for row in found] == [type(value) for value, _ in wanted]


# count_min


@pytest.mark.parametrize(("width", "depth"), [(64, 3), (200, 2), (1000, 1)])
def test_the_error_of_count_min_is_what_it_states(width, depth):
    too_high = wrong = asked = 0
    for seed in range(10):
        values = zipf(seed)
        seen = folds("count_min", width=width, depth=depth).answer(values)
        assert seen.total == len(values)
        assert seen.error == pytest.approx(math.e / width * len(values))
        for value, count in Counter(values.tolist()).items():
            over = seen.count(value) - count
            assert over >= 0
            too_high += over > seen.error
            wrong += over > 0
            asked += 1
    assert too_high / asked <= math.exp(-depth)
    assert wrong / asked > 0.1  # far fewer counters than values


def test_count_min_of_all_kinds_of_values():
    window = sw.swag.window(sw.count_min())
    for value in (5, 5.0, "text", b"bytes", NAN, float("nan"), -0.0, None, -3):
        window.insert(value)
    seen = window.query()
    assert [seen.count(v) for v in (5, "text", b"bytes", NAN, 0, -3, "none")] == [2, 1, 1, 2, 1, 1, 0]
    assert seen.total == 8 and "8 values" in repr(seen)
    assert len(seen.to_bytes()) == 4 * (1024 * 4 + 1)
    assert seen == window.query() and hash(seen) == hash(window.query())
    window.insert(1)
    assert seen != window.query() and seen != "something else"


# All of them


@pytest.mark.parametrize("name", SMALL)
def test_parts_merge_to_the_same_state_in_any_order(name):
    few = name == "top_k"  # as many values as there is room for
    values = np.random.default_rng(3).normal(0, 2 if few else 100, 600).round().clip(-3, 4) if few else zipf(1, 600) / 8
    whole = folds(name).states(values)
    chance = random.Random(9)
    for parts in (2, 5, 40):
        shuffled = values.copy()
        chance.shuffle(shuffled)
        cuts = sorted(chance.choices(range(len(values) + 1), k=parts - 1))  # empty parts too
        merged = folds(name).merged(*np.split(shuffled, cuts), chance=chance)
        assert merged.tobytes() == whole.tobytes()


ROWS = {
    "floats": [0.0, -0.0, NAN, INF, -INF, None, 2.5, -2.5, 1e-12, 1e300, None, None, None, None, 2.5, 7.0, NAN, 5e-324],
    "integers": [3, 3, -1, None, 0, 2**63 - 1, -(2**63), 7, 7, None, None, None, None, 1],
    "texts": ["a", "b", None, "a", "", "é", "a", None, None, None, None, "b"],
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", SMALL)
def test_rolling_and_windows_are_recalculation(name, rows):
    if name == "quantile" and rows == "texts":
        return
    aggregate, values = SMALL[name], ROWS[rows]
    wanted = [recalculated(aggregate, values[max(k - 3, 0) : k + 1]) for k in range(len(values))]
    assert None in wanted
    rolled = sw.rolling(values, aggregate, size=4)
    window = sw.swag.window(aggregate)
    for k, value in enumerate(values):
        window.insert(value)
        if k >= 4:
            window.evict()
        assert same_answer(window.query(), wanted[k]), k
        assert same_answer(rolled[k], wanted[k]), k


def same_answer(got, wanted):
    if isinstance(wanted, list):  # of top_k
        return all(agree(list(g.values()), list(w.values())) for g, w in zip(got, wanted, strict=True))
    if wanted is None:
        return got is None or got is np.ma.masked or got != got
    return agree(got.item() if isinstance(got, np.generic) else got, wanted, 0.0)


@pytest.mark.parametrize("name", SMALL)
def test_the_laws(name):
    numbers = [0, 1, 2, -3, 7, 0.5, 1e9, NAN]
    sw.check(SMALL[name], numbers)
    if name != "quantile":
        sw.check(SMALL[name], ["a", "b", "", "c", None])


@pytest.mark.parametrize("name", ["quantile", "count_min"])
def test_taking_away_is_exact(name):
    values = zipf(2, 60).astype(float)
    aggregate = SMALL[name]
    assert sw.swag.window(aggregate).algorithm == "subtract_on_evict"
    got = sw.rolling(values, aggregate, size=7, algorithm="subtract_on_evict")
    for g, w in zip(got, sw.rolling(values, aggregate, size=7, algorithm="recalc"), strict=True):
        assert g == w


@pytest.mark.parametrize("name", SMALL)
def test_no_rows_and_only_nulls(name):
    assert len(sw.rolling([], SMALL[name], size=3)) == 0
    got = sw.rolling(np.ma.MaskedArray([1.0, 2.0], mask=True), SMALL[name], size=2)
    assert all(same_answer(g, None) for g in got)
    assert sw.swag.window(SMALL[name]).query() is None


@pytest.mark.parametrize("name", ["quantile", "count_min"])
def test_more_values_than_a_counter_counts(name):
    monoid = SMALL[name].monoid("hash" if name in HASHED else "f")
    full = np.zeros(1, dtype=monoid.state)
    full[0, -1] = 2**32 - 1
    with pytest.raises(OverflowError, match="4,294,967,295"):
        monoid.merge(full[0], folds(name).states(np.array([1.0]))[0])
    with pytest.raises(OverflowError, match="4,294,967,295"):
        folds(name).fold(np.array([1]) if name in HASHED else np.array([1.0]), full, 0)
    place = monoid.state.shape[0] - 1
    with pytest.raises(sw.Overflow, match="4,294,967,295"):
        SMALL[name].monoid().lower({place: 2**32})


def test_a_column_of_hashes_is_the_hash_of_each():
    floats = [0.0, -0.0, 1.0, -1.5, 1e300, -1e300, NAN, -NAN, INF, -INF, 2.0**63, -(2.0**63), 2.0**62, 5e-324, 0.1]
    integers = [0, 1, -1, 2**63 - 1, -(2**63)]
    with np.errstate(over="ignore"):
        narrow = np.array(floats, dtype="f4")
    for values in (np.array(floats), narrow, np.array(integers), np.array([True, False])):
        assert hash_column(values).view(np.uint64).tolist() == [hash64(value) for value in values.tolist()]


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (sw.distinct, {"precision": 3}, "precision"),
        (sw.distinct, {"precision": 17}, "precision"),
        (sw.distinct, {"precision": 12.0}, "precision"),
        (sw.distinct, {"precision": True}, "precision"),
        (sw.quantile, {"q": -0.1}, "q must be"),
        (sw.quantile, {"q": 1.1}, "q must be"),
        (sw.quantile, {"q": NAN}, "q must be"),
        (sw.quantile, {"q": "0.5"}, "q must be a number"),
        (sw.quantile, {"column": 0.5}, "the column comes first"),
        (sw.quantile, {"accuracy": 0}, "accuracy"),
        (sw.quantile, {"accuracy": 0.9}, "accuracy"),
        (sw.quantile, {"smallest": 0.0}, "smallest"),
        (sw.quantile, {"smallest": 10, "largest": 1}, "smallest"),
        (sw.quantile, {"largest": INF}, "largest"),
        (sw.top_k, {"k": 0}, "k must be"),
        (sw.top_k, {"k": 2.5}, "k must be"),
        (sw.top_k, {"k": 10, "capacity": 9}, "capacity of at least 10"),
        (sw.top_k, {"column": 5}, "the column comes first"),
        (sw.count_min, {"width": 1}, "width"),
        (sw.count_min, {"depth": 0}, "depth"),
        (sw.count_min, {"depth": True}, "depth"),
        (sw.count_min, {"width": 1 << 20, "depth": 17}, "width \\* depth"),
    ],
)
def test_bad_arguments(make, options, said):
    with pytest.raises(sw.InvalidArgument, match=said):
        make(**options)
