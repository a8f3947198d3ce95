"""sw.check accepts what is right and finds a counterexample to every false claim."""

import math

import pytest

import slidewheel as sw
from tests.support import AGGREGATES, GeoMean

NUMBERS = [0, 1, 2, -3, 7, 0.5, 1e9, -1e9]
AWKWARD = [math.nan, math.inf, -math.inf, -0.0]


@pytest.mark.parametrize("name", AGGREGATES)
def test_the_built_in_aggregates_keep_their_laws(name):
    aggregate = AGGREGATES[name]
    samples = NUMBERS if name not in ("product", "geomean") else [1, 2, 4, 0.5, 8]
    if aggregate.arity == 2:
        samples = [(x, k) for k, x in enumerate(samples)]
    sw.check(aggregate, samples)


@pytest.mark.parametrize("name", ["min", "max", "first", "last", "min_count", "max_count", "sum", "span", "count"])
def test_also_for_values_that_are_not_finite(name):
    sw.check(AGGREGATES[name], [1.0, 2.0, *AWKWARD])


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_also_for_pairs_that_are_not_finite(name):
    sw.check(AGGREGATES[name], [(x, k) for k, x in enumerate([1.0, 1.0, *AWKWARD])])


def test_a_users_aggregate():
    sw.check(GeoMean(), [1.0, 2.0, 10.0])
    sw.check(GeoMean, [1.0, 2.0, 10.0])


def broken(state=object, **claims):
    """An aggregate made of the functions given."""
    functions = {k: claims.pop(k) for k in ("lift", "combine", "lower", "inverse", "identity") if k in claims}
    functions.setdefault("lift", lambda x: x)
    return sw.aggregate(state=state, **claims)(type("Broken", (), functions))()


def test_a_commutative_concat():
    wrong = broken(combine=lambda a, b: a + b, identity="", commutative=True)
    with pytest.raises(sw.LawViolation, match="not commutative") as caught:
        sw.check(wrong, ["a", "b", "long text"])
    assert "combine('a', 'b') = 'ab', not 'ba'" in str(caught.value)


def test_a_wrong_identity():
    wrong = broken(combine=lambda a, b: a * b, identity=0)
    with pytest.raises(sw.LawViolation, match=r"identity changes a state: combine\(0, 2\) = 0, not 2"):
        sw.check(wrong, [3, 2])
    wrong = broken(combine=lambda a, b: max(a, b), identity=0)
    with pytest.raises(sw.LawViolation, match="identity"):
        sw.check(wrong, [1, 5, -2])


def test_an_inverse_that_is_none():
    wrong = broken(combine=lambda a, b: max(a, b), identity=-math.inf, inverse=lambda a, b: a)
    with pytest.raises(sw.LawViolation, match="inverse does not take the older part away"):
        sw.check(wrong, [1, 5])
    swapped = broken(combine=lambda a, b: a + b, identity=0, inverse=lambda a, b: b - a)
    with pytest.raises(sw.LawViolation, match="inverse"):
        sw.check(swapped, [1, 5])


def test_subtraction_as_combine():
    with pytest.raises(sw.LawViolation):
        sw.check(broken(combine=lambda a, b: a - b, identity=0), [1, 2])
    # With zeros alone no law but associativity can fail; the identity is right on one side only.
    with pytest.raises(sw.LawViolation):
        sw.check(broken(combine=lambda a, b: a - b if b else a, identity=0), [1, 2, 3])


def test_an_average_of_averages_is_not_associative():
    wrong = broken(combine=lambda a, b: b if a is None else a if b is None else (a + b) / 2, identity=None)
    with pytest.raises(sw.LawViolation, match="not associative"):
        sw.check(wrong, [1.0, 2.0, 3.0])


def test_a_selective_sum():
    wrong = broken(combine=lambda a, b: a + b, identity=0, selective=True)
    with pytest.raises(sw.LawViolation, match="not selective"):
        sw.check(wrong, [1, 2])


def test_the_counterexample_is_the_smallest():
    def combine(a, b):
        return a + b if abs(a) + abs(b) < 100 else a + b + 1

    with pytest.raises(sw.LawViolation) as caught:
        sw.check(broken(combine=combine, identity=0), [1000, 60, 1, 50, 2])
    assert "1000" not in str(caught.value)


def test_rounding_is_no_violation_but_a_digit_is():
    sw.check(sw.sum(), [0.1, 0.2, 0.3, 1e16, -1e16])
    lossy = broken(combine=lambda a, b: round(a + b, 3), identity=0.0)
    with pytest.raises(sw.LawViolation):
        sw.check(lossy, [0.0004, 0.0003, 0.0002])


def test_check_needs_samples():
    with pytest.raises(sw.InvalidArgument, match="sample"):
        sw.check(sw.sum(), [])
