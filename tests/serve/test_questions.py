"""Each endpoint says what the store says."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.serve.encoding import ARROW
from tests.serve.conftest import START

HOUR = 3_600_000_000
MIDDLE = (START // HOUR + 20) * HOUR
QUESTIONS = [
    ({}, {}),
    ({"start": str(START), "end": "2023-11-15T10:00:00Z"}, {"start": START, "end": "2023-11-15T10:00:00Z"}),
    ({"every": "1h"}, {"every": "1h"}),
    ({"every": "day", "timezone": "Europe/Stockholm"}, {"every": "day", "timezone": "Europe/Stockholm"}),
    ({"key": ["origin=A1", "origin=A2"], "every": "6h"}, {"keys": {"origin": ["A1", "A2"]}, "every": "6h"}),
    ({"key": ["origin=A1", "gate=2"]}, {"keys": {"origin": ["A1"], "gate": [2]}}),
    ({"key": ["origin", "gate=0"]}, {"keys": {"origin": [None], "gate": [0]}}),
    ({"key": "origin=nowhere"}, {"keys": {"origin": ["nowhere"]}}),
    ({"aggregate": ["p90", "flights"]}, {"aggregates": ["p90", "flights"]}),
    ({"start": MIDDLE, "end": MIDDLE}, {"start": MIDDLE, "end": MIDDLE}),
]


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def in_json(value):
    """A value of an answer as JSON is to have it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN"
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if hasattr(value, "strftime") else value


@pytest.mark.parametrize(("parameters", "arguments"), QUESTIONS)
def test_a_query_gives_the_answer_of_the_store(client, store, parameters, arguments):
    expected, plan = store.answer(**arguments)
    arrow = client.get("/query", params={**parameters, "format": "arrow"})
    assert arrow.content == stream(expected)
    assert arrow.headers["content-type"] == ARROW
    assert json.loads(arrow.headers["x-slidewheel-plan"])["slots"] == plan.slots
    assert client.get("/query", params=parameters, headers={"accept": f"{ARROW}, */*;q=0.1"}).content == arrow.content
    said = client.get("/query", params=parameters).json()
    assert said["columns"] == expected.column_names
    assert said["data"] == [[in_json(value) for value in column.to_pylist()] for column in expected.columns]
    assert (said["store"], said["version"], said["rows"]) == ("flights", store.version, expected.num_rows)
    assert said["every"] == parameters.get("every")
    assert {name: said["plan"][name] for name in ("slots", "files", "all_files", "rows", "fresh", "answers")} == {
        name: getattr(plan, name) for name in ("slots", "files", "all_files", "rows", "fresh", "answers")
    }
    explained = client.get("/explain", params=parameters).json()
    assert {**explained, "milliseconds": 0, "text": ""} == {**said["plan"], "milliseconds": 0, "text": ""}


def test_numbers_are_kept(client, store):
    said = client.get("/query", params={"aggregate": ["sum_seats", "sum_delay"]})
    totals = store.query(aggregates=["sum_seats", "sum_delay"])
    assert said.json()["data"][-2] == totals["sum_seats"].to_pylist()
    assert min(totals["sum_seats"].to_pylist()) > 2**53
    assert '"NaN"' in said.text, "the random rows hold some"


def test_times_in_microseconds(client, store):
    said = client.get("/query", params={"every": "1h", "times": "us"}).json()
    assert said["data"][0] == store.query(every="1h")["start"].cast(pa.int64()).to_pylist()
    assert (said["start"], said["end"]) == (store.span[0] // HOUR * HOUR, store.span[1])


@pytest.mark.parametrize("points", [1, 7, 100, 5000])
def test_points(client, store, points):
    start, end = store.span
    said = client.get("/query", params={"points": points, "aggregate": "flights", "times": "us"}).json()
    length = sw.times.duration(said["every"])
    assert (said["end"] - said["start"]) // length <= points
    assert said["start"] % length == said["end"] % length == 0
    assert said["start"] <= start and end <= said["end"]
    expected = store.query(said["start"], said["end"], every=said["every"], aggregates="flights")
    assert said["data"][-1] == expected["flights"].to_pylist()


def test_stores(client, store):
    (said,) = client.get("/stores").json()
    schema = store.query(0, 0).schema
    kinds = [(a["name"], a["type"]) for a in said["aggregates"]]
    assert kinds == [(a.output, str(schema.field(a.output).type)) for a in store.definition.query.aggregates]
    assert {a["name"] for a in said["aggregates"] if not a["numeric"]} == {"carriers", "last"}
    assert said["levels"][1] == {"name": "1m", "length": 60.0, "keep": "all"}
    assert (said["tick"], said["version"], said["windows"]) == (1.0, store.version, ["2h/30m", "1d"])
    assert (sw.times.instant(said["start"]), sw.times.instant(said["end"])) == store.span


def test_keys(client, store):
    expected = [list(row.values()) for row in store.keys().to_pylist()]
    assert client.get("/keys").json() == {"keys": expected, "total": len(expected)}
    assert client.get("/keys?limit=2").json() == {"keys": expected[:2], "total": len(expected)}
    found = client.get("/keys?prefix=A3").json()
    assert found == {"keys": [key for key in expected if key[0] == "A3"], "total": 3}
    assert client.get("/keys?prefix=zz").json() == {"keys": [], "total": 0}


def test_new_keys_are_seen(connect, tmp_path):
    query = sw.query(time="at", keys="k", windows=sw.tumbling("1h"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "s", query)
    client = connect(store)
    assert client.get("/stores").json()[0]["aggregates"] == [{"name": "count", "type": None, "numeric": False}]
    assert client.get("/keys").json() == {"keys": [], "total": 0}
    assert client.get("/query").status_code == 400, "the store is empty"
    store.append({"at": [0], "k": ["a"]})
    assert client.get("/keys").json() == {"keys": [["a"]], "total": 1}
    store.append({"at": [0], "k": ["b"]})
    assert client.get("/keys").json() == {"keys": [["a"], ["b"]], "total": 2}
    assert client.get("/query").json()["data"] == [["a", "b"], [1, 1]]


@pytest.mark.parametrize("window", [None, "1d"])
def test_windows(client, store, window):
    parameters = {"key": "origin=A1", "start": START - START % HOUR} | ({} if window is None else {"window": window})
    expected = store.windows(START - START % HOUR, window=window, keys={"origin": ["A1"]})
    assert expected.num_rows > 5
    assert client.get("/windows", params={**parameters, "format": "arrow"}).content == stream(expected)
    said = client.get("/windows", params=parameters).json()
    assert said["columns"] == expected.column_names
    assert said["data"] == [[in_json(value) for value in column.to_pylist()] for column in expected.columns]


def test_windows_that_slots_do_not_make(connect, tmp_path):
    query = sw.query(time="at", keys="k", windows=sw.session("5m"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "s", query)
    store.append({"at": [0], "k": ["a"]})
    reply = connect(store).get("/windows")
    assert reply.status_code == 400 and "needs the rows" in reply.json()["error"]


def test_several_stores(connect, store, path):
    client = connect(store, sw.open_store(path))
    assert [one["name"] for one in client.get("/stores").json()] == ["flights", "flights-2"]
    assert client.get("/query", params={"store": "flights-2"}).status_code == 200
    assert "say which store" in client.get("/query").json()["error"]
    assert client.get("/query", params={"store": "x"}).status_code == 404


def test_keys_of_other_types(connect, tmp_path):
    import datetime
    import decimal

    columns = {
        "at": pa.array([0, 1_000_000], pa.timestamp("us")),
        "day": pa.array([datetime.date(2024, 2, 29), None]),
        "since": pa.array([1_500_000, 2_000_000], pa.timestamp("us", "UTC")),
        "id": pa.array([b"\x00\xff", b""]),
        "price": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.00")]),
        "open": pa.array([True, False]),
    }
    keys = [name for name in columns if name != "at"]
    query = sw.query(time="at", keys=keys, windows=sw.tumbling("1h"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "s", query)
    store.append(pa.table(columns))
    client = connect(store)
    found = client.get("/keys").json()["keys"]
    assert sorted(found, key=str) == sorted(
        [
            ["2024-02-29", "1970-01-01T00:00:01.500000Z", "AP8=", "1.50", True],
            [None, "1970-01-01T00:00:02.000000Z", "", "2.00", False],
        ],
        key=str,
    )
    for key in found:
        pairs = [
            name if value is None else f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in zip(keys, key, strict=True)
        ]
        assert client.get("/query", params={"key": pairs}).json()["data"][-1] == [1], pairs


def test_many_at_once(connect, client, path):
    """Threads share what has been read and decoded; a new store has nothing of it yet."""
    asked = [
        {"key": f"gate={k % 3}", "every": every, "aggregate": name, "format": "arrow"}
        for k, name in enumerate(["flights", "p90", "carriers", "mean_delay", "last", "max_seats"])
        for every in ("1h", "5h", "1d")
    ] * 2
    expected = [client.get("/query", params=parameters).content for parameters in asked[:18]]
    client = connect(sw.open_store(path))
    with ThreadPoolExecutor(12) as threads:
        replies = list(threads.map(lambda parameters: client.get("/query", params=parameters), asked))
    assert [reply.status_code for reply in replies] == [200] * len(asked)
    assert [reply.content for reply in replies] == expected * 2
