"""What aggregates say of themselves, and definitions that contradict themselves."""

import math
from fractions import Fraction

import pytest

import slidewheel as sw
from tests.support import AGGREGATES


def test_output_names():
    assert sw.count().output == "count"
    assert sw.count("fare").output == "count_fare"
    assert sw.argmax("delay", "tail").output == "argmax_delay_tail"
    assert sw.sum("delay").alias("total").output == "total"
    assert sw.sum("delay").output == "sum_delay"
    with pytest.raises(sw.InvalidArgument):
        sw.sum().alias("")


def test_traits():
    traits = {n: (a.commutative, a.selective, a.invertible) for n, a in AGGREGATES.items()}
    assert traits["count"] == traits["sum"] == traits["mean"] == traits["std"] == (True, False, True)
    assert traits["max"] == traits["min"] == (True, True, False)
    assert traits["argmax"] == traits["first"] == traits["last"] == (False, True, False)
    assert traits["concat"] == traits["collect"] == traits["collect_distinct"] == (False, False, False)
    assert traits["product"] == traits["bloom"] == traits["span"] == (True, False, False)


def test_float_sums_are_not_kept_by_subtraction_unless_asked():
    for aggregate in (sw.sum(), sw.mean(), sw.std(), sw.geomean()):
        assert aggregate.monoid("f").inverse is None
        assert aggregate.monoid("f", invertible=True).inverse is not None
        assert not aggregate.exact_inverse
    window = sw.swag.window(sw.sum())
    for value in (1e16, 1.0, 1.0):
        window.insert(value)
    window.evict()
    assert window.query() == 2.0


@pytest.mark.parametrize("algorithm", ["two_stacks_lite", "daba", "flatfat", "subtract_on_evict"])
def test_a_large_mean_costs_no_digits(algorithm):
    values = [1e9 + k % 7 * 0.25 for k in range(300)]
    window = sw.swag.window(sw.var(), algorithm)
    for k, value in enumerate(values):
        window.insert(value)
        if k >= 50:
            window.evict()
    exact = [Fraction(v) for v in values[-50:]]
    mean = sum(exact) / 50
    wanted = float(sum((x - mean) ** 2 for x in exact) / 49)
    loose = 1e-4 if algorithm == "subtract_on_evict" else 1e-9
    assert math.isclose(window.query(), wanted, rel_tol=loose)


def define(**members):
    options = {"state": members.pop("state", {"n": "i8", "s": "f8"})}
    functions = {"identity": (0, 0.0), "lift": lambda x: (1, x), "combine": lambda a, b: a} | members
    return sw.aggregate(**options)(type("Mine", (), {k: v for k, v in functions.items() if v is not None}))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"identity": (0,)}, "tuple of 2"),
        ({"identity": 0}, "tuple of 2"),
        ({"identity": (0.5, 0.0)}, "0.5 for n, which is declared i8"),
        ({"identity": (0, "x")}, "'x' for s, which is declared f8"),
        ({"identity": (True, 0.0)}, "declared i8"),
        ({"identity": 300, "state": "i1"}, "declared i1"),
        ({"identity": (2**63, 0.0)}, "declared i8"),
        ({"identity": None}, "needs an identity"),
        ({"lift": None}, "needs a function lift"),
        ({"combine": None}, "needs a function combine"),
        ({"combine": lambda self, a, b: a}, "combine takes 2"),
        ({"lower": lambda: 1}, "lower takes 1"),
        ({"inverse": 7}, "inverse must be a function"),
        ({"lift": lambda a, b, c: a}, "one or two columns"),
        ({"state": {"n": "i8", "s": "U5"}}, "state=object"),
        ({"state": {"not a name": "i8", "s": "f8"}}, "Python name"),
        ({"state": "nonsense"}, "is not a state"),
        ({"state": {}}, "at most 64 bits"),
    ],
)
def test_definitions_that_contradict_themselves(members, said):
    with pytest.raises(sw.InvalidAggregate, match=said):
        define(**members)


def test_too_many_columns():
    with pytest.raises(sw.InvalidAggregate, match="1 column"):
        define()("a", "b")


@pytest.mark.parametrize("ddof", [-1, 1.5, True, "1"])
def test_bad_ddof(ddof):
    with pytest.raises(sw.InvalidArgument, match="ddof"):
        sw.std(ddof=ddof)


@pytest.mark.parametrize("options", [{"bits": 63}, {"bits": 0}, {"bits": 100}, {"hashes": 0}, {"hashes": 2.5}])
def test_bad_bloom(options):
    with pytest.raises(sw.InvalidArgument, match="bloom"):
        sw.bloom(**options)


def test_bloom_error_is_what_it_states():
    """Never a false no, and false yeses about as often as the filter says."""
    window = sw.swag.window(sw.bloom(bits=4096, hashes=4))
    for value in range(500):
        window.insert(value)
    seen = window.query()
    assert all(value in seen for value in range(500))
    wrong = sum(value in seen for value in range(10_000, 30_000)) / 20_000
    stated = (1 - math.exp(-4 * 500 / 4096)) ** 4
    assert seen.error == pytest.approx(stated, rel=0.25)
    assert wrong == pytest.approx(stated, rel=0.25)


def test_bloom_takes_equal_numbers_for_the_same():
    window = sw.swag.window(sw.bloom())
    window.insert(5)
    window.insert("text")
    window.insert(b"bytes")
    window.insert(2.5)
    seen = window.query()
    assert 5.0 in seen
    assert "text" in seen
    assert b"bytes" in seen
    assert 2.5 in seen
    assert 6 not in seen
    assert len(seen.to_bytes()) == 2048
    assert "bits set" in repr(seen)
