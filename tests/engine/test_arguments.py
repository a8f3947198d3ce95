"""What sw.rolling refuses, and what it says then."""

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw

VALUES = [1.0, 2.0, 3.0]


@sw.aggregate(state={"top": "f8", "bottom": "f8"})
class Weighted:
    identity = (0.0, 0.0)

    def lift(value, weight):
        return value * weight, weight

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    def lower(s):
        return s[0] / s[1]


WRONG = {
    "neither size nor over": ({}, r"either size=\.\.\., a number of rows, or over=\.\.\., a duration"),
    "both": ({"size": 2, "over": "1s", "times": [1, 2, 3]}, "either size"),
    "size 0": ({"size": 0}, "size must be a whole number of at least 1, not 0"),
    "size -1": ({"size": -1}, "at least 1, not -1"),
    "size 2.0": ({"size": 2.0}, "whole number of at least 1, not 2.0"),
    "size True": ({"size": True}, "not True"),
    "size np.True": ({"size": np.True_}, "whole number"),
    "size text": ({"size": "2"}, "not '2'"),
    "size with times": ({"size": 2, "times": [1, 2, 3]}, "times goes with over"),
    "over without times": ({"over": "1s"}, "over=... needs times=..."),
    "over 0": ({"over": 0, "times": [1, 2, 3]}, "longer than zero"),
    "over negative": ({"over": -5, "times": [1, 2, 3]}, "longer than zero"),
    "over nonsense": ({"over": "soon", "times": [1, 2, 3]}, "'soon' is not a duration"),
    "over a float": ({"over": 1.5, "times": [1, 2, 3]}, "is not a duration"),
    "over True": ({"over": True, "times": [1, 2, 3]}, "is not a duration"),
    "times go back": ({"over": "1s", "times": [1, 5, 4]}, "row 2 is earlier than row 1; sort"),
    "too few times": ({"over": "1s", "times": [1, 2]}, "3 values but 2 times"),
    "too many times": ({"over": "1s", "times": [1, 2, 3, 4]}, "3 values but 4 times"),
    "null time": ({"over": "1s", "times": [1, None, 3]}, "position 1 is null"),
    "null time in Arrow": ({"over": "1s", "times": pa.array([1, 2, None])}, "position 2 is null"),
    "NaT": ({"over": "1s", "times": np.array([1, "NaT", 3], "M8[s]")}, "position 1 is null"),
    "float times": ({"over": "1s", "times": np.array([1.0, 2.0, 3.0])}, "float64 is not a column of times"),
    "closed unknown": ({"size": 2, "closed": "middle"}, "right, left, both, neither, not 'middle'"),
    "closed None": ({"size": 2, "closed": None}, "right, left, both, neither, not None"),
    "algorithm misspelt": ({"size": 2, "algorithm": "dabba"}, "unknown algorithm 'dabba': did you mean daba"),
    "algorithm two stack": ({"size": 2, "algorithm": "two_stack"}, "did you mean two_stacks"),
    "algorithm far off": ({"size": 2, "algorithm": "zzz"}, "there are recalc, subtract_on_evict"),
    "min_count above size": ({"size": 2, "min_count": 3}, "min_count=3 can't be reached in a window of size=2"),
    "min_count above numpy's size": ({"size": np.int64(2), "min_count": 3}, "min_count=3 can't be reached"),
    "min_count negative": ({"size": 2, "min_count": -1}, "min_count must be a whole number of at least 0"),
    "min_count float": ({"size": 2, "min_count": 1.0}, "min_count must be a whole number"),
    "min_count True": ({"size": 2, "min_count": True}, "min_count must be a whole number"),
    "mask too short": ({"size": 2, "mask": [True]}, r"3 of them; got bool of shape \(1,\)"),
    "mask of integers": ({"size": 2, "mask": [0, 1, 0]}, "one boolean per row .*got int64"),
    "mask of two dimensions": ({"size": 2, "mask": [[True], [False], [True]]}, r"shape \(3, 1\)"),
    "inverse missing": ({"size": 2, "algorithm": "subtract_on_evict"}, r"needs an inverse: inverse\(a, b\).*max has"),
}


@pytest.mark.parametrize(("wrong", "said"), WRONG.values(), ids=WRONG)
def test_arguments(wrong, said):
    with pytest.raises(sw.SlidewheelError, match=said):
        sw.rolling(VALUES, sw.max(), **wrong)


def test_the_kind_of_an_error():
    cases = {
        sw.InvalidArgument: {"size": 0},
        sw.InvalidTime: {"over": "1s", "times": [3, 2, 1]},
        sw.UnknownAlgorithm: {"size": 1, "algorithm": "fast"},
        sw.Unsupported: {"size": 1, "algorithm": "subtract_on_evict"},
    }
    for kind, wrong in cases.items():
        with pytest.raises(kind):
            sw.rolling(VALUES, sw.max(), **wrong)


@pytest.mark.parametrize(("algorithm", "missing"), [("subtract_on_evict", "an inverse"), ("slickdeque", "selective")])
def test_an_algorithm_whose_needs_are_not_met(algorithm, missing):
    with pytest.raises(sw.Unsupported, match=rf"{algorithm} needs .*{missing}.*concat has none.*algorithm='auto'"):
        sw.rolling(["a"], sw.concat(), size=1, algorithm=algorithm)


def test_an_algorithm_that_knows_no_objects_says_so():
    with pytest.raises(sw.SlidewheelError) as caught:
        sw.rolling(["a", "b"], sw.max(), size=1, algorithm="blocks")
    assert "use sw.rolling" not in str(caught.value), "it was sw.rolling that was called"


def test_min_count_may_be_all_that_fits():
    """A window that is closed on both ends holds one row more."""
    assert sw.rolling([1.0, 2.0, 3.0], sw.sum(), size=2, closed="both", min_count=3)[2] == 6.0
    assert sw.rolling([1.0, 2.0], sw.sum(), size=2, min_count=2)[1] == 3.0


COLUMNLESS = {
    "a table of numbers": (np.zeros((2, 2)), "one dimension, not 2; pass one column at a time"),
    "an array of no dimension": (np.array(5.0), "one dimension, not 0"),
    "a text": ("text", "an array, a list or an Arrow column, not str"),
    "bytes": (b"bytes", "not bytes"),
    "nothing": (None, "not NoneType"),
    "a number": (5, "not int"),
    "a set": ({1, 2}, "not set"),
    "an iterator": (iter([1, 2]), "not list_iterator"),
    "no columns": ({}, "no column 'v'"),
    "other columns": ({"a": [1, 2], "b": [1]}, "no column 'v'; there are a, b"),
}


@pytest.mark.parametrize(("values", "said"), COLUMNLESS.values(), ids=COLUMNLESS)
def test_values_that_are_no_column(values, said):
    with pytest.raises(sw.SlidewheelError, match=said):
        sw.rolling(values, sw.max("v"), size=2)


def test_a_table_without_columns():
    with pytest.raises(sw.InvalidArgument):
        sw.rolling({}, sw.count(), size=1)


@pytest.mark.parametrize(
    "aggregate", [sw.max, "max", None, [sw.max()]], ids=["a function", "a name", "nothing", "a list"]
)
def test_something_that_is_no_aggregate(aggregate):
    with pytest.raises(sw.InvalidArgument, match=r"needs an aggregate such as sw\.max\(\)"):
        sw.rolling(VALUES, aggregate, size=2)


def test_columns_of_different_lengths():
    with pytest.raises(sw.InvalidArgument, match="argmax: columns of different lengths: 3 and 2"):
        sw.rolling((VALUES, ["a", "b"]), sw.argmax(), size=2)
    with pytest.raises(sw.InvalidArgument, match="Weighted: columns of different lengths: 1 and 3"):
        sw.rolling({"v": [1.0], "w": VALUES}, Weighted("v", "w"), size=2)


def test_too_many_or_too_few_columns():
    with pytest.raises(sw.InvalidArgument, match="argmax takes one column or a pair of columns, not 3"):
        sw.rolling((VALUES, VALUES, VALUES), sw.argmax(), size=2)
    with pytest.raises(sw.SlidewheelError, match=r"Weighted.*(two|2|pair)"):
        sw.rolling(VALUES, Weighted(), size=2)
    with pytest.raises(sw.SlidewheelError, match="Weighted takes 2"):
        Weighted("a", "b", "c")


def test_values_that_can_not_be_compared():
    with pytest.raises(sw.SlidewheelError):
        sw.rolling([1, "a"], sw.max(), size=2)
