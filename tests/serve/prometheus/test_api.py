"""Prometheus' API: each value is the store's own over the same range, asked for by itself."""

import math

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.serve.limits import Limits
from tests.serve.conftest import START

SECOND = 1_000_000
FIRST, LAST = START // SECOND + 40_000, START // SECOND + 90_000


def data(reply):
    assert reply.status_code == 200, reply.text
    said = reply.json()
    assert said["status"] == "success"
    return said["data"]


def expected(store, output, times, length, offset=0, keys=None):
    """The values by key and time, from a question for each window."""
    found = {}
    for time in times:
        end = math.floor(time - offset) * SECOND
        for row in store.query(end - length * SECOND, end, keys=keys, aggregates=output).to_pylist():
            if row[output] is not None:
                found.setdefault((row["origin"], row["gate"]), {})[time] = row[output]
    return found


def said_by(result):
    """The same from a reply."""
    found = {}
    for one in result:
        key = one["metric"].get("origin"), int(one["metric"]["gate"])
        values = one["values"] if "values" in one else [one["value"]]
        found[key] = {time: float(text) for time, text in values}
    return found


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for key, values in wanted.items():
        assert found[key].keys() == values.keys(), key
        for time, value in values.items():
            assert found[key][time] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)


RANGES = [
    ("flights_flights", "flights", 3600, 3600, 0),
    ("flights_sum_delay offset 90m", "sum_delay", 3600, 3600, 5400),
    ("flights_p90", "p90", 1800, 1800, 0),
    ("sum_over_time(flights_sum_delay[2h])", "sum_delay", 7200, 600, 0),
    ("sum_over_time(flights_sum_seats[2h])", "sum_seats", 7200, 600, 0),
    ("count_over_time(flights_flights[100m])", "flights", 6000, 900, 0),
    ("min_over_time(flights_min_delay[70m])", "min_delay", 4200, 1800, 0),
    ("max_over_time(flights_max_delay[70m] offset 1h)", "max_delay", 4200, 1800, 3600),
    ("max_over_time(flights_max_seats[3h])", "max_seats", 10800, 3600, 0),
    ("avg_over_time(flights_mean_delay[2h])", "mean_delay", 7200, 3600, 0),
    ("avg_over_time(flights_mean_seats[2h])", "mean_seats", 7200, 3600, 0),
    ("quantile_over_time(0.9, flights_p90[2h])", "p90", 7200, 3600, 0),
    ("quantile_over_time(0.9, flights_p90[10m])", "p90", 600, 3600, 0),
]


@pytest.mark.parametrize(("query", "output", "length", "step", "offset"), RANGES, ids=[x[0] for x in RANGES])
def test_range_queries(client, store, query, output, length, step, offset):
    parameters = {"query": query, "start": FIRST, "end": LAST, "step": step}
    found = data(client.get("/api/v1/query_range", params=parameters))
    assert found["resultType"] == "matrix"
    times = range(FIRST, LAST + 1, step)
    wanted = expected(store, output, times, length, offset)
    assert len(wanted) == 15, "all keys are in it"
    same(said_by(found["result"]), wanted)
    named = {one["metric"].get("__name__") for one in found["result"]}
    assert named == ({None} if "(" in query else {f"flights_{output}"})
    assert data(client.post("/api/v1/query_range", data=parameters)) == found


def test_times_between_ticks_and_steps_shorter_than_one(client, store):
    parameters = {"query": "flights_flights", "start": FIRST + 0.25, "end": FIRST + 60, "step": 0.5}
    found = said_by(data(client.get("/api/v1/query_range", params=parameters))["result"])
    same(found, expected(store, "flights", np.arange(FIRST + 0.25, FIRST + 60.1, 0.5).tolist(), 1))


def test_whole_numbers_keep_their_digits(client, store):
    parameters = {"query": "sum_over_time(flights_sum_seats[1d])", "time": LAST}
    found = data(client.get("/api/v1/query", params=parameters))["result"]
    texts = {one["value"][1] for one in found}
    table = store.query((LAST - 86400) * SECOND, LAST * SECOND, aggregates="sum_seats")
    assert texts == {str(value) for value in table["sum_seats"].to_pylist()}
    total = data(client.get("/api/v1/query", params={**parameters, "query": f"sum({parameters['query']})"}))["result"]
    assert [one["value"][1] for one in total] == [str(sum(table["sum_seats"].to_pylist()))]


@pytest.mark.parametrize(
    ("matchers", "fits"),
    [
        ('origin="A1"', lambda origin, gate: origin == "A1"),
        ('origin="A1",gate="2"', lambda origin, gate: (origin, gate) == ("A1", 2)),
        ('origin="A1",origin="A2"', lambda origin, gate: False),
        ('gate="02"', lambda origin, gate: False),
        ('gate="many"', lambda origin, gate: False),
        ('origin!="A1"', lambda origin, gate: origin != "A1"),
        ('origin=""', lambda origin, gate: origin is None),
        ('origin!=""', lambda origin, gate: origin is not None),
        ('origin=~"A[12]"', lambda origin, gate: origin in ("A1", "A2")),
        ('origin=~"A"', lambda origin, gate: False),
        ('origin=~".*",gate!~"0|1"', lambda origin, gate: gate == 2),
        ('origin=~"A.+",origin!="A3",gate="0"', lambda origin, gate: origin not in (None, "A3") and gate == 0),
        ('other=""', lambda origin, gate: True),
        ('other="x"', lambda origin, gate: False),
        ('origin=~"(a+)+$"', lambda origin, gate: False),
    ],
)
def test_matchers(client, store, matchers, fits):
    found = data(client.get("/api/v1/query", params={"query": f"flights_flights{{{matchers}}}[1d]", "time": LAST}))
    keys = {(row["origin"], row["gate"]) for row in store.keys().to_pylist()}
    wanted = {key for key in keys if fits(*key)}
    assert said_by(found["result"]).keys() == wanted
    series = data(client.get("/api/v1/series", params={"match[]": f"flights_flights{{{matchers}}}"}))
    assert {(one.get("origin"), int(one["gate"])) for one in series} == wanted


def test_instant_queries(client, store):
    found = data(client.get("/api/v1/query", params={"query": "flights_flights", "time": LAST + 0.7}))
    assert found["resultType"] == "vector"
    same(said_by(found["result"]), expected(store, "flights", [LAST + 0.7], 300))
    later = data(client.post("/api/v1/query", data={"query": "flights_flights"}))
    assert later["result"] == [], "nothing is known of today"


def test_the_samples_of_a_range(client, store):
    found = data(client.get("/api/v1/query", params={"query": "flights_sum_delay[1h]", "time": LAST}))
    assert found["resultType"] == "matrix"
    ends = [end for end in range(LAST - 3599, LAST + 1) if end % 300 == 0]
    same(said_by(found["result"]), expected(store, "sum_delay", ends, 300))


@pytest.mark.parametrize("function", ["sum", "avg", "min", "max", "count"])
@pytest.mark.parametrize("metric", ["max_delay", "flights", "max_seats"])
def test_aggregations(client, store, function, metric):
    query = f"{function} by (gate) (flights_{metric})"
    parameters = {"query": query, "start": FIRST, "end": LAST, "step": 7200}
    found = {
        one["metric"]["gate"]: one["values"]
        for one in data(client.get("/api/v1/query_range", params=parameters))["result"]
    }
    combine = {"sum": sum, "avg": lambda x: sum(x) / len(x), "min": min, "max": max, "count": len}[function]
    values = {}
    for (_, gate), series in expected(store, metric, range(FIRST, LAST + 1, 7200), 7200).items():
        for time, value in series.items():
            values.setdefault((str(gate), time), []).append(value)
    assert {(gate, time) for gate in found for time, _ in found[gate]} == values.keys()
    for gate, listed in found.items():
        for time, text in listed:
            own = values[gate, time]
            numbers = [x for x in own if x == x] or own if function in ("min", "max") else own
            wanted = combine(numbers)
            assert (
                (int(text) == wanted) if isinstance(wanted, int) else float(text) == pytest.approx(wanted, nan_ok=True)
            )


def test_numbers(client):
    found = data(client.get("/api/v1/query", params={"query": "1+1", "time": 5}))
    assert found == {"resultType": "scalar", "result": [5, "2"]}
    found = data(client.get("/api/v1/query_range", params={"query": "-1/0", "start": 0, "end": 1, "step": "500ms"}))
    assert found["result"] == [{"metric": {}, "values": [[0, "-Inf"], [0.5, "-Inf"], [1, "-Inf"]]}]


def test_what_there_is(client, store):
    metrics = data(client.get("/api/v1/label/__name__/values"))
    assert metrics == sorted(
        f"flights_{a.output}" for a in store.definition.query.aggregates if a.output not in ("carriers", "last")
    )
    assert data(client.get("/api/v1/labels")) == ["__name__", "gate", "origin"]
    assert data(client.post("/api/v1/labels", data={"match[]": "nothing"})) == []
    assert data(client.get("/api/v1/label/origin/values")) == ["A1", "A2", "A3", "A4"]
    narrowed = {"match[]": ['{__name__=~"flights_p.*",gate="1"}']}
    assert data(client.get("/api/v1/label/gate/values", params=narrowed)) == ["1"]
    assert data(client.get("/api/v1/label/nothing/values")) == []
    assert len(data(client.post("/api/v1/series", data={"match[]": ["flights_p90", "flights_flights"]}))) == 30
    about = data(client.get("/api/v1/metadata", params={"metric": "flights_mean_delay"}))
    assert about == {
        "flights_mean_delay": [{"type": "gauge", "help": "mean of delay in the store flights", "unit": ""}]
    }
    assert len(data(client.get("/api/v1/metadata", params={"limit": 2}))) == 2
    assert data(client.get("/api/v1/status/buildinfo"))["version"].startswith("2.")
    assert data(client.get("/api/v1/rules")) == {"groups": []}
    assert data(client.get("/api/v1/alerts")) == {"alerts": []}


MISTAKES = [
    ("query?query=x{", 400, "bad_data", "parse error at character 3"),
    ("query", 400, "bad_data", "query: Field required"),
    ("query?query=1&time=soon", 400, "bad_data", "'soon' is neither seconds nor RFC 3339"),
    ("query?query=1&time=1e300", 400, "bad_data", "too far from 1970"),
    ("query?query=rate(x[5m])", 422, "execution", "rate"),
    ('query?query={__name__=~"flights.*"}', 422, "execution", "the name of one metric"),
    ('query?query=flights_flights{origin=~"("}', 400, "bad_data", "not a regular expression"),
    ('query?query=flights_flights{origin=~"a)(b"}', 400, "bad_data", "not a regular expression"),
    ("query?query=flights_flights[9y]", 422, "execution", "use query_range"),
    ("query?query=sum_over_time(flights_flights[5m])", 422, "execution", "needs an aggregate sum"),
    ("query?query=avg_over_time(flights_p90[5m])", 422, "execution", "needs an aggregate mean"),
    ("query?query=quantile_over_time(0.5,flights_p90[5m])", 422, "execution", "quantile with q=0.5"),
    ("query?query=sum_over_time(flights_sum_delay[1500ms])", 422, "execution", "whole number of ticks"),
    ("query_range?query=1&start=0&end=1", 400, "bad_data", "step: Field required"),
    ("query_range?query=1&start=0&end=1&step=0", 400, "bad_data", "zero or negative"),
    ("query_range?query=1&start=0&end=1&step=x", 400, "bad_data", "neither seconds nor a duration"),
    ("query_range?query=1&start=2&end=1&step=1", 400, "bad_data", "must not be before"),
    ("query_range?query=1&start=0&end=11000&step=1", 400, "bad_data", "11,000 points"),
    ("query_range?query=x[5m]&start=0&end=1&step=1", 400, "bad_data", "use it in a function"),
    ("series", 400, "bad_data", "no match[]"),
    ("series?match[]=x[5m]", 400, "bad_data", "not a selector"),
    ("nowhere", 404, "not_found", "Not Found"),
]


@pytest.mark.parametrize(("address", "status", "kind", "text"), MISTAKES, ids=[x[0] for x in MISTAKES])
def test_mistakes(client, address, status, kind, text):
    path, _, query = address.partition("?")
    reply = client.get(f"/api/v1/{path}", params=[pair.split("=", 1) for pair in query.split("&")] if query else None)
    said = reply.json()
    assert (reply.status_code, said["status"], said["errorType"]) == (status, "error", kind), said
    assert text in said["error"]


def test_forms_that_are_wrong(client):
    assert client.post("/api/v1/query", json={"query": "1"}).status_code == 415
    assert client.post("/api/v1/query", data={"query": "1" * 70_000}).json()["errorType"] == "execution"
    assert "'query': it is missing" in client.post("/api/v1/query", data={"time": "1"}).json()["error"]
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/api/v1/query", content=b"query=%ff\xff", headers=form).status_code == 400


def test_limits(connect, store):
    client = connect(store, limits=Limits(max_points=30, max_keys=15))
    parameters = {"query": "flights_flights", "start": LAST - 3600, "end": LAST, "step": 3600}
    assert client.get("/api/v1/query_range", params=parameters).status_code == 200
    reply = client.get("/api/v1/query_range", params={**parameters, "step": 600})
    assert (reply.status_code, reply.json()["errorType"]) == (422, "execution")
    assert "points" in reply.json()["error"]


def test_many_windows_that_overlap(client, store):
    """Sketches too: each value is the store's answer for its window."""
    parameters = {"query": "quantile_over_time(0.9, flights_p90[2h])", "start": FIRST, "end": LAST, "step": 60}
    found = client.get("/api/v1/query_range", params=parameters).json()["data"]["result"]
    one = next(series for series in found if len(series["values"]) > 700)
    for time, value in one["values"][::200]:
        low, high = (int(time) - 7200) * SECOND, int(time) * SECOND
        table = store.query(low, high, aggregates="p90").to_pylist()
        expected = [
            row["p90"] for row in table if {k: str(v) for k, v in row.items() if k in one["metric"]} == one["metric"]
        ]
        assert float(value) in expected


def test_names_that_prometheus_does_not_allow(connect, tmp_path):
    query = sw.query(
        time="at",
        keys=["from-to", "from/to"],
        windows=sw.tumbling("1h"),
        aggregates=[sw.count().alias("how?many"), sw.sum("x").alias("how-many")],
    )
    store = sw.create_store(tmp_path / "2 fast", query)
    store.append({"at": [0], "from-to": ["a"], "from/to": ["b"], "x": [1.5]})
    client = connect(store)
    assert data(client.get("/api/v1/label/__name__/values")) == ["_2_fast_how_many", "_2_fast_how_many_2"]
    (found,) = data(client.get("/api/v1/query", params={"query": "_2_fast_how_many_2", "time": 60}))["result"]
    assert found == {
        "metric": {"__name__": "_2_fast_how_many_2", "from_to": "a", "from_to_2": "b"},
        "value": [60, "1.5"],
    }


def test_a_store_without_keys(connect, tmp_path):
    query = sw.query(time="at", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.max("x")])
    store = sw.create_store(tmp_path / "s", query)
    client = connect(store)
    assert data(client.get("/api/v1/labels")) == []
    store.append({"at": [0, 90_000_000], "x": [2, 1]})
    parameters = {"query": "s_max_x", "start": 60, "end": 240, "step": 60}
    (found,) = data(client.get("/api/v1/query_range", params=parameters))["result"]
    assert found == {"metric": {"__name__": "s_max_x"}, "values": [[60, "2"], [120, "1"]]}
    assert data(client.get("/api/v1/query", params={"query": "count(s_count)", "time": 60}))["result"] == [
        {"metric": {}, "value": [60, "1"]}
    ]
    assert data(client.get("/api/v1/series", params={"match[]": "s_count"})) == [{"__name__": "s_count"}]
