"""Columns of all types as JSON."""

import datetime
import decimal
import json

import pyarrow as pa
import pytest

from slidewheel.serve.encoding import json_table, listed, wants_arrow

NAN, INFINITY = float("nan"), float("inf")
COLUMNS = [
    (pa.array([1, None, 2**63 - 1]), [1, None, 2**63 - 1]),
    (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
    (pa.array([0.1, None, NAN, INFINITY, -INFINITY]), [0.1, None, "NaN", "Infinity", "-Infinity"]),
    (pa.array([0.5, None], pa.float32()), [0.5, None]),
    (pa.array([True, None]), [True, None]),
    (pa.array(["a", None, '"\n'], pa.large_string()), ["a", None, '"\n']),
    (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
    (pa.array([None, None]), [None, None]),
    (pa.array([b"\xff\x00", None]), ["/wA=", None]),
    (pa.array([decimal.Decimal("1.10"), None]), ["1.10", None]),
    (pa.array([datetime.date(1969, 12, 31), None]), ["1969-12-31", None]),
    (pa.array([datetime.time(1, 2, 3), None]), ["01:02:03", None]),
    (pa.array([datetime.timedelta(seconds=1), None]), [1_000_000, None]),
    (pa.array([0, None], pa.timestamp("s")), ["1970-01-01T00:00:00", None]),
    (pa.array([0, -1_000_000], pa.timestamp("us", "UTC")), ["1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z"]),
    (pa.array([1, None], pa.timestamp("us", "UTC")), ["1970-01-01T00:00:00.000001Z", None]),
    (pa.array([[1.0, NAN], None, []]), [[1.0, "NaN"], None, []]),
    (pa.array([[{"value": b"a", "count": 2}]]), [[{"value": "YQ==", "count": 2}]]),
    (pa.array([], pa.float64()), []),
]


@pytest.mark.parametrize(("column", "expected"), COLUMNS, ids=lambda x: str(getattr(x, "type", "")))
def test_columns(column, expected):
    assert listed(column, "iso") == expected
    assert listed(pa.chunked_array([column]), "iso") == expected
    read = json.loads(f"{{{json_table(pa.table({'x': column}), 'iso')}}}")
    assert read == {"columns": ["x"], "data": [expected], "rows": len(expected)}


def test_times_in_microseconds():
    assert listed(pa.array([1_500, None], pa.timestamp("ns", "UTC")), "us") == [1, None]
    assert listed(pa.array([-1, None], pa.timestamp("s")), "us") == [-1_000_000, None]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("application/json", False),
        ("application/vnd.apache.arrow.stream", True),
        ("text/html, Application/vnd.apache.arrow.stream;q=0.5", True),
        ("application/vnd.apache.arrow.stream;q=0", False),
    ],
)
def test_accept(accept, wanted):
    assert wants_arrow(accept) is wanted
