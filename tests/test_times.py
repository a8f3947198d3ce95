from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slidewheel.errors import InvalidTime
from slidewheel.times import duration, format_duration, instant, instants

INT64 = np.iinfo(np.int64)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

offsets = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
aware = st.datetimes(timezones=offsets)


@pytest.mark.parametrize(
    ("given_as", "microseconds"),
    [
        ("50us", 50),
        ("250ms", 250_000),
        ("90s", 90_000_000),
        ("5m", 300_000_000),
        ("1h", 3_600_000_000),
        ("1d", 86_400_000_000),
        ("1w", 604_800_000_000),
        ("1h30m", 5_400_000_000),
        (" 1h  30m ", 5_400_000_000),
        (timedelta(days=1, microseconds=1), 86_400_000_001),
        (np.timedelta64(2, "W"), 1_209_600_000_000),
        (np.timedelta64(3, "D"), 259_200_000_000),
        (np.timedelta64(2, "25s"), 50_000_000),
        (np.timedelta64(5_000, "ns"), 5),
        (pd.Timedelta("90s"), 90_000_000),
        (7, 7),
        (np.int32(7), 7),
        (INT64.max, INT64.max),
    ],
)
def test_duration(given_as, microseconds):
    assert duration(given_as) == microseconds
    assert type(duration(given_as)) is int


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        " ",
        "5",
        "h",
        "5 m",
        "1.5h",
        "-5m",
        "5min",
        "5M",
        "5m!",
        "1h-30m",
        "\u0665m",
        "9" * 5_000 + "s",
        "0s",
        0,
        -1,
        True,
        1.5,
        None,
        timedelta(0),
        timedelta(-1),
        INT64.max + 1,
        "999999999w",
        np.timedelta64(1, "M"),
        np.timedelta64(1, "Y"),
        np.timedelta64(5),
        np.timedelta64("NaT", "s"),
        np.timedelta64(1_500, "ns"),
        pd.Timedelta(1_500, "ns"),
        pd.NaT,
    ],
)
def test_duration_refuses(nonsense):
    with pytest.raises(InvalidTime, match=r"duration|round it"):
        duration(nonsense)


def test_duration_of_zero_where_it_is_allowed():
    assert duration("0s", allow_zero=True) == 0
    with pytest.raises(InvalidTime, match="zero or longer"):
        duration(-1, allow_zero=True)


def test_format_duration():
    assert format_duration(duration("300s")) == "5m"
    assert format_duration(duration("24h")) == "1d"
    assert format_duration(duration("1w")) == "7d"
    assert format_duration(0) == "0s"
    with pytest.raises(InvalidTime, match="negative"):
        format_duration(-1)


@given(st.integers(1, INT64.max))
def test_duration_reads_what_format_duration_writes(microseconds):
    assert duration(format_duration(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("given_as", "microseconds"),
    [
        ("1970-01-01", 0),
        ("1969-12-31", -86_400_000_000),
        ("1970-01-01T00:00", 0),
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01T00:00:01.5Z", 1_500_000),
        ("1969-12-31T23:59:59.999999", -1),
        ("1970-01-01T00:00:00.000001999", 1),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01T00:00:00-0530", 19_800_000_000),
        ("2023-11-09T10:15:23", 1_699_524_923_000_000),
        ("0001-01-01T00:00+05:00", -62_135_614_800_000_000),
        (datetime(1970, 1, 2), 86_400_000_000),
        (datetime(2023, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")), 1_688_205_600_000_000),
        (datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")), 1_698_543_000_000_000),
        (date(1969, 12, 31), -86_400_000_000),
        (pd.Timestamp("1969-12-31T23:59:59.999999999"), -1),
        (pd.Timestamp("2023-07-01T12:00", tz="Europe/Berlin"), 1_688_205_600_000_000),
        (np.datetime64("1971", "Y"), 31_536_000_000_000),
        (np.datetime64("1969-12", "M"), -2_678_400_000_000),
        (np.datetime64("1970-01-08", "W"), 604_800_000_000),
        (np.datetime64(-1, "ns"), -1),
        (np.datetime64(INT64.min + 1, "ns"), -9_223_372_036_854_776),
        (np.datetime64(2, "25s"), 50_000_000),
        (np.datetime64(-1, "7ns"), -1),
        (-5, -5),
        (np.uint8(5), 5),
        (INT64.min, INT64.min),
    ],
)
def test_instant(given_as, microseconds):
    assert instant(given_as) == microseconds
    assert type(instant(given_as)) is int


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "yesterday",
        "20231109",
        "2023-13-01",
        "2023-02-30T10:00",
        "2023-11-09x10:15",
        "2023-11-09T10:15:23 Europe/Berlin",
        "0000-01-01",
        1.5,
        float("nan"),
        True,
        np.True_,
        None,
        INT64.max + 1,
        timedelta(1),
        np.timedelta64(1, "s"),
        np.datetime64("NaT"),
        np.datetime64("NaT", "us"),
        pd.NaT,
    ],
)
def test_instant_refuses(nonsense):
    with pytest.raises(InvalidTime, match="is not an instant: "):
        instant(nonsense)


@pytest.mark.parametrize("several", [np.arange(500), list(range(500)), b"2024"])
def test_instant_refuses_a_column_without_showing_all_of_it(several):
    with pytest.raises(InvalidTime, match=r"^(ndarray|list|bytes) is not an instant: .* one at a time$"):
        instant(several)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms"])
def test_instant_refuses_what_would_overflow(unit):
    for ticks in (INT64.max, INT64.min + 1, 2**62):
        with pytest.raises(InvalidTime, match="does not fit"):
            instant(np.datetime64(ticks, unit))


@given(aware)
def test_instant_of_datetimes_and_their_text(moment):
    expected = (moment - EPOCH) // MICROSECOND
    assert instant(moment) == expected
    if moment.utcoffset() % timedelta(minutes=1) == timedelta(0):
        assert instant(moment.isoformat()) == expected


@given(st.datetimes())
def test_datetime_from_instant(naive):
    assert EPOCH.replace(tzinfo=None) + timedelta(microseconds=instant(naive)) == naive


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(
    st.integers(INT64.min + 1, INT64.max),
    st.sampled_from(["Y", "M", "W", "D", "h", "s", "ms", "us", "ns", "as", "7s"]),
)
def test_datetime64_is_exact_or_refused(ticks, unit):
    # Python's integers cannot overflow: months are counted by numpy, but only within a safe range.
    if unit in ("Y", "M"):
        ticks %= 250_000
        expected = int(np.datetime64(ticks, unit).astype("M8[D]").astype(int)) * 86_400_000_000
    else:
        scale = {"W": 604_800, "D": 86_400, "h": 3_600, "s": 1, "7s": 7}.get(unit, 0) * 10**6
        divide = {"us": 1, "ns": 10**3, "as": 10**12}
        expected = ticks // divide[unit] if unit in divide else ticks * (scale or 1_000)
    value = np.datetime64(ticks, unit)
    if INT64.min < expected <= INT64.max:
        assert instant(value) == expected
    else:
        with pytest.raises(InvalidTime, match="does not fit"):
            instant(value)


TEXTS = ["1969-12-31T23:59:58", "1970-01-01T00:00:00", "2023-11-09T10:15:23"]
EXPECTED = [-2_000_000, 0, 1_699_524_923_000_000]
seconds = np.array(TEXTS, "datetime64[s]")
arrow = pa.array(seconds)
COLUMNS = {
    "texts": TEXTS,
    "tuple": tuple(TEXTS),
    "mixed list": [TEXTS[0], datetime(1970, 1, 1), EXPECTED[2]],
    "generator": lambda: (text for text in TEXTS),
    "text array": np.array(TEXTS),
    "object array": np.array(TEXTS, dtype=object),
    "s": seconds,
    "ms": seconds.astype("M8[ms]"),
    "us": seconds.astype("M8[us]"),
    "ns": seconds.astype("M8[ns]"),
    "big-endian": seconds.astype(">M8[s]"),
    "strided": np.repeat(seconds, 2)[::2],
    "int64": np.array(EXPECTED),
    "masked, nothing hidden": np.ma.array(seconds, mask=False),
    "arrow s": arrow,
    "arrow ns": arrow.cast(pa.timestamp("ns")),
    "arrow zone": arrow.cast(pa.timestamp("us", "Asia/Tokyo")),
    "arrow int64": pa.array(EXPECTED),
    "arrow uint64": pa.array([0, 0, EXPECTED[2]], pa.uint64()),
    "arrow slice": pa.concat_arrays([arrow, arrow]).slice(3),
    "arrow chunks": pa.chunked_array([arrow[:1], arrow[1:]]),
    "pandas": pd.Series(seconds),
    "pandas ns": pd.Series(seconds).astype("M8[ns]"),
    "pandas zone": pd.Series(seconds).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
    "pandas index": pd.DatetimeIndex(seconds),
    "pandas index zone": pd.DatetimeIndex(seconds, tz="UTC").tz_convert("Europe/Berlin"),
    "pandas int": pd.Series(EXPECTED),
    "polars": pl.Series(arrow),
    "polars ns": pl.Series(arrow).cast(pl.Datetime("ns")),
    "polars zone": pl.Series(arrow).cast(pl.Datetime("us", "America/New_York")),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_instants(name):
    column = COLUMNS[name]
    result = instants(column() if callable(column) else column)
    expected = [0, 0, EXPECTED[2]] if name == "arrow uint64" else EXPECTED
    assert result.dtype == np.int64
    assert result.tolist() == expected


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_instants_of_dates(kind):
    days = pa.array([date(1969, 12, 31), date(1970, 1, 2)], kind)
    assert instants(days).tolist() == [-86_400_000_000, 86_400_000_000]
    assert instants(pl.Series(days)).tolist() == [-86_400_000_000, 86_400_000_000]


def test_instants_of_int32():
    assert instants(np.array([-1, 2], np.int32)).tolist() == [-1, 2]
    assert instants(pa.array([-1, 2], pa.int32())).tolist() == [-1, 2]


def test_instants_floors_nanoseconds():
    ticks = np.array([-1_001, -1, 0, 999, 1_000, INT64.min + 1])
    expected = [-2, -1, 0, 0, 1, -9_223_372_036_854_776]
    assert instants(ticks.view("M8[ns]")).tolist() == expected
    assert instants(pa.array(ticks).cast(pa.timestamp("ns"))).tolist() == expected


@pytest.mark.parametrize(
    "empty",
    [
        [],
        np.array([], "M8[s]"),
        np.array([], "M8[7ns]"),
        np.array([], "M8"),
        pa.array([]),
        pa.chunked_array([], pa.timestamp("ms")),
        pd.Series([], dtype="M8[ns]"),
        pl.Series([]),
    ],
)
def test_instants_of_nothing(empty):
    assert instants(empty).tolist() == []
    assert instants(empty).dtype == np.int64


def test_microseconds_are_not_copied():
    column = np.array(TEXTS, "datetime64[us]")
    assert np.shares_memory(instants(column), column)
    arrow_column = pa.array(column)
    assert instants(arrow_column).ctypes.data == arrow_column.buffers()[1].address
    assert instants(pa.chunked_array([arrow_column])).ctypes.data == arrow_column.buffers()[1].address


@pytest.mark.parametrize(
    "column",
    [
        [0, None, None],
        np.array(["1970", "NaT", "NaT"], "M8[s]"),
        np.ma.array([0, 1, 2], mask=[False, True, True]),
        pa.array([0, None, None], pa.timestamp("us")),
        pa.chunked_array([pa.array([0]), pa.array([None, None], pa.int64())]),
        pd.Series(pd.to_datetime(["1970-01-01", None, None])),
        pd.DatetimeIndex(["1970-01-01", None, None], tz="Europe/Berlin"),
        pl.Series([datetime(1970, 1, 1), None, None]),
    ],
    ids=lambda column: type(column).__module__ + "." + type(column).__name__,
)
def test_instants_names_the_first_null(column):
    with pytest.raises(InvalidTime, match="position 1 is null"):
        instants(column)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([0, "soon"], "at position 1: 'soon' is not an instant"),
        ([0, pd.NaT], "at position 1: NaT"),
        (np.array([0, 2**62, 2**62], "M8[s]"), "position 1 does not fit"),
        (pa.array([0, 2**62], pa.timestamp("ms")), "position 1 does not fit"),
        (np.array([0, 2**63], np.uint64), "at position 1: 9223372036854775808"),
        (np.array([5]).view("M8"), "without a unit"),
        (np.array([1.5]), "array of float64"),
        (np.array([True]), "array of bool"),
        (np.zeros((2, 2), np.int64), "2 dimensions"),
        (pa.array([1.5]), "Arrow column of double"),
        (pa.array(["1970-01-01"]), "Arrow column of string"),
        (pa.table({"t": [1]}), "column of times"),
        (pd.Series([1, "a"], dtype=object), "column of times"),
        ("1970-01-01", "column of times"),
        (5, "column of times"),
    ],
)
def test_instants_refuses(column, message):
    with pytest.raises(InvalidTime, match=message):
        instants(column)
