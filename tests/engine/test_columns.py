"""What may be passed to sw.rolling, and the types of what comes back."""

import decimal
import math
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import slidewheel as sw
from tests.engine.reference import FIXED_WIDTH, assert_same

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
TIMES = ["M8[s]", "M8[us]", "M8[ns]", "M8[D]", "m8[s]", "m8[ns]"]
OBJECTS = ["collect", "collect_distinct", "concat", "bloom"]
# Those that compute with their values, so that they take numbers only.
ARITHMETIC = ["sum", "product", "mean", "geomean", "var", "std", "span"]
LIKE_THE_INPUT = ["min", "max", "first", "last"]


def result_dtype(name, dtype):
    if name in LIKE_THE_INPUT:
        return np.dtype(dtype)
    if name in ("count", "min_count", "max_count", "argmin", "argmax"):
        return np.dtype("i8")
    if name in OBJECTS:
        return np.dtype(object)
    whole = name in ("sum", "span") and np.dtype(dtype).kind in "iu"
    return np.dtype("i8" if whole else "f8")


@pytest.mark.parametrize("how", [{"size": 3}, {"over": "1s", "times": []}], ids=["count", "time"])
@pytest.mark.parametrize("name", [*FIXED_WIDTH, *OBJECTS])
def test_no_rows(name, how):
    for dtype in [*INTEGERS, *FLOATS, "?", *TIMES]:
        if name in ARITHMETIC and dtype not in INTEGERS + FLOATS:
            continue
        got = sw.rolling(np.empty(0, dtype=dtype), getattr(sw, name)(), **how)
        assert got.shape == (0,)
        assert got.dtype == result_dtype(name, dtype), dtype


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_numbers_keep_their_type(dtype):
    values = np.array([3, 1, 2], dtype=dtype)
    got = sw.rolling(values, sw.max(), size=2)
    assert got.dtype == dtype and got.tolist() == [3, 3, 2]
    total = sw.rolling(values, sw.sum(), size=2)
    assert total.dtype == result_dtype("sum", dtype) and total.tolist() == [3, 4, 3]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_nulls_of_numbers(dtype):
    values = np.ma.MaskedArray(np.array([3, 1, 2], dtype=dtype), mask=[True, False, True])
    got = sw.rolling(values, sw.max(), size=1)
    assert got.dtype == dtype
    assert_same(got, [None, float(1) if dtype in FLOATS else 1, None])
    assert isinstance(got, np.ma.MaskedArray) == (dtype in INTEGERS)


def test_booleans():
    got = sw.rolling([True, False, None, False], sw.max(), size=2)
    assert got.dtype == bool and got.tolist() == [True, True, False, False]
    assert sw.rolling([True, None], sw.first(), size=1).tolist() == [True, None]
    assert sw.rolling([True, False, None], sw.collect(), size=3).tolist() == [[True], [True, False], [True, False]]


@pytest.mark.parametrize("dtype", TIMES)
@pytest.mark.parametrize("order", ["<", ">"])
def test_times_and_durations(dtype, order):
    values = np.array([513, 258, "NaT", 1, -5], dtype=dtype)
    got = sw.rolling(values.astype(order + dtype), sw.max(), size=2)
    np.testing.assert_array_equal(got, np.array([513, 513, 258, 1, 1], dtype=dtype))
    assert got.dtype == np.dtype(order + dtype)
    got = sw.rolling(values, sw.max(), size=1)
    np.testing.assert_array_equal(got, values)


@pytest.mark.parametrize("dtype", ["M8[s]", "M8[us]", "M8[ns]"])
def test_times_stay_times_in_lists(dtype):
    values = np.array(["2024-01-01", "2024-01-02"], dtype=dtype)
    collected = sw.rolling(values, sw.collect(), size=2)[1]
    assert np.array(collected, dtype="M8[us]").tolist() == [datetime(2024, 1, 1), datetime(2024, 1, 2)]


@pytest.mark.parametrize("dtype", ["M8[s]", "M8[us]", "M8[ns]"])
def test_times_are_found_in_filters(dtype):
    values = np.array(["2024-01-01", "2024-01-02", "NaT"], dtype=dtype)
    seen = sw.rolling(values, sw.bloom(bits=128, hashes=3), size=2)[1]
    assert values[0] in seen and values[1] in seen


@pytest.mark.parametrize("dtype", [">i2", ">i8", ">u4", ">f4", ">f8"])
def test_big_endian(dtype):
    got = sw.rolling(np.array([3, 1, 2], dtype=dtype), sw.max(), size=2)
    assert got.tolist() == [3, 3, 2] and got.dtype == np.dtype(dtype)


def test_strides_and_read_only_arrays_and_the_input_is_left_alone():
    values = np.arange(12.0).reshape(6, 2)
    assert sw.rolling(values[:, 1], sw.max(), size=2).tolist() == [1, 3, 5, 7, 9, 11]
    assert sw.rolling(values[::-2, 0], sw.max(), size=2).tolist() == [10, 10, 6]
    fixed = np.array([2.0, 1.0])
    fixed.flags.writeable = False
    got = sw.rolling(fixed, sw.max(), size=1, min_count=1)
    got[0] = 99.0
    assert fixed.tolist() == [2.0, 1.0]
    masked = np.ma.MaskedArray([1, 2], mask=[True, False])
    sw.rolling(masked, sw.max(), size=1)
    assert masked.tolist() == [None, 2]


@pytest.mark.parametrize("name", ["sum", "max", "std", "argmax"])
@pytest.mark.parametrize("how", [{"size": 1}, {"size": 5}, {"over": "1s", "times": [0]}])
def test_one_row(name, how):
    got = sw.rolling(np.array([2.5]), getattr(sw, name)(), **how)
    assert_same(got, [{"std": None, "argmax": 0}.get(name, 2.5)])


SAME_COLUMN = {
    "list": [3, None, 1, 2],
    "tuple": (3, None, 1, 2),
    "objects": np.array([3, None, 1, 2], dtype=object),
    "masked": np.ma.MaskedArray([3, 0, 1, 2], mask=[False, True, False, False]),
    "arrow": pa.array([3, None, 1, 2]),
    "chunks": pa.chunked_array([[3], [None, 1], [], [2]]),
    "slice": pa.array([9, 3, None, 1, 2, 9]).slice(1, 4),
    "dictionary": pa.array([3, None, 1, 2]).dictionary_encode(),
    "pandas": pd.Series([3, None, 1, 2], dtype="Int64", index=[7, 5, 3, 1]),
    "pandas over arrow": pd.Series([3, None, 1, 2], dtype="int64[pyarrow]"),
    "polars": pl.Series([3, None, 1, 2]),
}


@pytest.mark.parametrize("values", SAME_COLUMN.values(), ids=SAME_COLUMN)
def test_one_column_in_many_forms(values):
    assert sw.rolling(values, sw.max(), size=2).tolist() == [3, 3, 1, 2]
    assert sw.rolling(values, sw.max(), size=1).tolist() == [3, None, 1, 2]
    assert sw.rolling(values, sw.collect(), size=2).tolist() == [[3], [3], [1], [1, 2]]


def duckdb_relation(data):
    return duckdb.connect().from_arrow(pa.table(data))


@pytest.mark.parametrize(
    "table", [dict, pa.table, pa.record_batch, pd.DataFrame, pl.DataFrame, duckdb_relation], ids=lambda t: t.__name__
)
def test_tables(table):
    data = {"name": ["a", "b", "c"], "delay": [4, 7, 5], "fare": [0.5, 2.0, 1.0]}
    rows = table(data)
    assert sw.rolling(rows, sw.max("delay"), size=2).tolist() == [4, 7, 7]
    assert sw.rolling(rows, sw.max("fare"), size=2).tolist() == [0.5, 2.0, 2.0]
    assert sw.rolling(rows, sw.concat("name"), size=2).tolist() == ["a", "ab", "bc"]
    assert sw.rolling(rows, sw.argmax("fare", "name"), size=2).tolist() == ["a", "b", "b"]
    assert sw.rolling(rows, sw.argmax("fare"), size=2).tolist() == [0, 1, 1]
    assert sw.rolling(rows, sw.count(), size=2).tolist() == [1, 2, 2]
    with pytest.raises(sw.InvalidArgument, match=r"no column 'late'; there are name, delay, fare"):
        sw.rolling(rows, sw.max("late"), size=2)


def test_nan_is_a_value_in_a_column_and_in_its_table():
    frame = pd.DataFrame({"x": [1.0, math.nan, 2.0]})
    np.testing.assert_array_equal(sw.rolling(frame["x"], sw.max(), size=2), [1.0, math.nan, math.nan])
    np.testing.assert_array_equal(sw.rolling(frame, sw.max("x"), size=2), [1.0, math.nan, math.nan])


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (pa.int8(), "i1"),
        (pa.uint32(), "u4"),
        (pa.uint64(), "u8"),
        (pa.float16(), "f2"),
        (pa.float32(), "f4"),
        (pa.float64(), "f8"),
        (pa.timestamp("s"), "M8[s]"),
        (pa.timestamp("ns", tz="Europe/Paris"), "M8[ns]"),
        (pa.date32(), "M8[D]"),
        (pa.date64(), "M8[ms]"),
        (pa.duration("us"), "m8[us]"),
    ],
    ids=str,
)
def test_arrow_types(kind, dtype):
    days = 86_400_000 if kind == pa.date64() else 1  # whole days, in milliseconds
    ticks = [3 * days, None, 1 * days, 2 * days]
    plain = pa.int32() if kind == pa.date32() else pa.int64()
    column = pa.array(ticks, plain).cast(kind)
    got = sw.rolling(column, sw.max(), size=1)
    assert got.dtype == dtype
    present = [0, 2, 3]
    np.testing.assert_array_equal(got[present], np.array([ticks[k] for k in present]).astype(dtype))
    assert np.ma.getmaskarray(got)[1] or np.isnan(got[1:2].astype("f8" if got.dtype.kind == "f" else got.dtype))[0]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", None, "a", "c"]),
        pa.array(["b", None, "a", "c"]).dictionary_encode(),
        pa.array(["b", None, "a", "c"], pa.large_string()),
        pa.array(["b", None, "a", "c"], pa.string_view()),
        pd.Series(["b", None, "a", "c"], dtype="str"),
        pd.Series(["b", None, "a", "c"], dtype="category"),
        pl.Series(["b", None, "a", "c"]),
        pl.Series(["b", None, "a", "c"], dtype=pl.Categorical),
        ["b", None, "a", "c"],
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'type', '')}".strip(),
)
def test_texts(column):
    assert sw.rolling(column, sw.max(), size=2).tolist() == ["b", "b", "a", "c"]
    assert sw.rolling(column, sw.min(), size=1).tolist() == ["b", None, "a", "c"]
    assert sw.rolling(column, sw.argmin(), size=4).tolist() == [0, 0, 2, 2]
    assert sw.rolling(column, sw.first(), over=2, times=[1, 2, 2, 3]).tolist() == ["b", "b", "b", "a"]


@pytest.mark.parametrize("dtype", ["U1", "S1", "T"])
def test_texts_of_numpy(dtype):
    values = np.array(["b", "a", "c"], dtype=np.dtypes.StringDType() if dtype == "T" else dtype)
    text = [b"b", b"b", b"c"] if dtype == "S1" else ["b", "b", "c"]
    assert sw.rolling(values, sw.max(), size=2).tolist() == text


def test_decimals_are_exact():
    amounts = pa.array([decimal.Decimal(text) for text in ("0.10", "0.20", "0.30")])
    assert sw.rolling(amounts, sw.sum(), size=3).tolist()[-1] == decimal.Decimal("0.60")
    assert sw.rolling(amounts, sw.max(), size=2).tolist()[-1] == decimal.Decimal("0.30")
    assert sw.rolling(amounts, sw.mean(), size=3).tolist()[-1] == decimal.Decimal("0.20")
    assert sw.rolling(amounts, sw.std(), size=3).tolist()[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.timestamp("us"), pa.decimal128(5, 2)], ids=str)
def test_no_chunks(kind):
    got = sw.rolling(pa.chunked_array([], kind), sw.max(), size=2)
    assert got.shape == (0,)


def test_only_nulls():
    assert sw.rolling([None, None], sw.count("value"), size=2).tolist() == [0, 0]
    for column in ([None, None], pa.nulls(2), pa.array([None, None], pa.int64())):
        assert_same(sw.rolling(column, sw.max(), size=2), [None, None])
        assert_same(sw.rolling(column, sw.concat(), size=2), [None, None])


def test_lists_and_pairs_are_values_too():
    assert sw.rolling([(1, 2), (3, 4)], sw.collect(), size=2).tolist() == [[(1, 2)], [(1, 2), (3, 4)]]
    assert sw.rolling(pa.array([[1], [2]]), sw.collect(), size=1).tolist() == [[[1]], [[2]]]


def test_python_dates():
    days = [date(2024, 1, 2), None, date(2024, 1, 1)]
    assert sw.rolling(days, sw.max(), size=2).tolist() == [days[0], days[0], days[2]]
    stamps = [datetime(2024, 1, 2), datetime(2024, 1, 1)]
    assert sw.rolling(stamps, sw.argmin(), size=2).tolist() == [0, 1]
    assert sw.rolling(pl.Series(days), sw.max(), size=2).tolist() == [days[0], days[0], days[2]]


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["x", "y", None, "z"], ["x", "x", None, None]),
        ([10, 20, 30, 40], [10, 10, 30, 30]),
        (pa.array([10, 20, None, 40]), [10, 10, None, None]),
        (np.array([1.5, 2.5, math.nan, 3.5]), [1.5, 1.5, math.nan, math.nan]),
        (
            np.array(["2024-01-01", "NaT", "2024-01-03", "NaT"], "M8[s]"),
            ["2024-01-01", "2024-01-01"] + ["2024-01-03"] * 2,
        ),
    ],
    ids=["texts", "integers", "nulls", "floats", "times"],
)
def test_pairs(args, wanted):
    """The argument is looked up where the value is largest, and may itself be null."""
    got = sw.rolling(([3.0, None, 5.0, 5.0], args), sw.argmax(), size=2)
    if got.dtype.kind == "M":
        np.testing.assert_array_equal(got, np.array(wanted, "M8[s]"))
    else:
        assert_same(got, [None if w != w else w for w in wanted])
    by_name = sw.rolling({"v": [3.0, None, 5.0, 5.0], "a": args}, sw.argmax("v", "a"), size=2)
    np.testing.assert_array_equal(np.ma.getdata(by_name), np.ma.getdata(got))


def test_a_window_without_values_has_no_argument():
    got = sw.rolling(([None, 1.0], [7, 8]), sw.argmax(), size=1)
    assert np.ma.is_masked(got) and got.tolist() == [None, 8]
    assert sw.rolling(([None, 1.0], ["x", "y"]), sw.argmax(), size=1).tolist() == [None, "y"]


@pytest.mark.parametrize("dtype", ["i1", "f4", "M8[s]"])
@pytest.mark.parametrize("name", ["max", "first", "sum", "mean", "count", "argmax"])
def test_the_algorithm_does_not_decide_the_type(name, dtype):
    """foa only runs interpreted, over Python's own numbers."""
    if dtype == "M8[s]" and name in ARITHMETIC:
        dtype = "u8"
    values = np.array([2, 1, 3], dtype=dtype)
    got = sw.rolling(values, getattr(sw, name)(), size=2, algorithm="foa")
    assert got.dtype == result_dtype(name, dtype)
    assert got.tolist()[1] == {"sum": 3, "mean": 1.5, "count": 2, "argmax": 0}.get(name, values.tolist()[0])


def test_the_mask_says_what_is_null():
    assert sw.rolling([1, 2, 3], sw.max(), size=1, mask=[True, False, True]).tolist() == [None, 2, None]
    assert sw.rolling([1, None, 3], sw.max(), size=1, mask=np.array([True, False, False])).tolist() == [None, None, 3]
    assert sw.rolling(["a", "b"], sw.max(), size=1, mask=[True, False]).tolist() == [None, "b"]
    assert sw.rolling(([1.0, 2.0], [5, 6]), sw.argmax(), size=1, mask=[True, False]).tolist() == [None, 6]


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize(
    "values",
    [
        [True, False],
        pa.array([True, None]),
        np.array(["2024", "2025"], "M8[s]"),
        np.array([1, 2], "m8[s]"),
        np.array(["a", "b"]),
        ["a", "b"],
        pa.array(["a", "b"]),
        [datetime(2024, 1, 1)],
    ],
    ids=["bools", "arrow bools", "times", "durations", "texts", "list of texts", "arrow texts", "list of times"],
)
def test_only_numbers_can_be_computed_with(name, values):
    with pytest.raises(sw.Unsupported, match=rf"{name} needs numbers, not .*; cast"):
        sw.rolling(values, getattr(sw, name)(), size=2)


def test_large_unsigned_integers():
    assert sw.rolling(np.array([2**63 - 1, 1], "u8"), sw.max(), size=2).tolist() == [2**63 - 1] * 2
    for column in (np.array([2**63, 1], "u8"), pa.array([2**63, 1], pa.uint64())):
        with pytest.raises(sw.Unsupported, match=r"2\*\*63 - 1.*cast to float64"):
            sw.rolling(column, sw.max(), size=2)


def test_large_integers_in_lists_stay_exact():
    assert sw.rolling([2**70, 2**70 + 1], sw.max(), size=2).tolist() == [2**70, 2**70 + 1]
    assert sw.rolling([2**63 + 1, -1], sw.max(), size=1).tolist() == [2**63 + 1, -1]
    with pytest.raises(sw.Overflow):
        sw.rolling([2**63, 1], sw.sum(), size=1)


@pytest.mark.parametrize("dtype", ["c16", "g", "V4"])
def test_types_without_an_order_or_a_width(dtype):
    with pytest.raises(sw.Unsupported, match="not supported; cast"):
        sw.rolling(np.zeros(2, dtype=dtype), sw.max(), size=2)
