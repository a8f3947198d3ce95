"""Queries as plain data: there and back through JSON for every aggregate and window, and what is said of bad data."""

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import slidewheel as sw
from tests.support import GeoMean, Words

AGGREGATES: list[sw.Aggregate] = [
    sw.count(),
    sw.count("x"),
    sw.sum("x"),
    sw.product("x"),
    sw.mean("x"),
    sw.geomean("x"),
    sw.var("x"),
    sw.var("x", ddof=0),
    sw.std("x", ddof=2),
    sw.min("x"),
    sw.max("x"),
    sw.span("x"),
    sw.min_count("x"),
    sw.max_count("x"),
    sw.argmin("x", "y"),
    sw.argmax("x", "y"),
    sw.first("x"),
    sw.last("x"),
    sw.concat("x"),
    sw.concat("x", sep=", "),
    sw.collect("x"),
    sw.collect_distinct("x"),
    sw.bloom("x"),
    sw.bloom("x", bits=128, hashes=2),
    sw.distinct("x", precision=9),
    sw.quantile("x", 0.9, accuracy=0.05, smallest=1e-3, largest=1e9),
    sw.quantile("x", 1),
    sw.top_k("x", 3, capacity=16),
    sw.count_min("x", width=64, depth=2),
]
WINDOWS: list[Any] = [
    sw.sliding("1h", every="7m", offset="90s"),
    sw.sliding(10, every=30, offset=-3),
    sw.tumbling("1d", name="daily"),
    sw.session("30m"),
    sw.rows(1000, every=10),
    sw.punctuated("is_end"),
    sw.trailing("7d"),
    *(sw.trailing(5, closed, name=closed) for closed in ("left", "both", "neither")),
    sw.rows(3),
    sw.delta("odometer", 2.5),
    sw.delta("odometer", 10, name="far"),
]
QUERY: dict[str, Any] = {"time": "t", "windows": [sw.tumbling(10)], "aggregates": [sw.sum("x")]}


def through_json(query: sw.Query, *own: Any) -> sw.Query:
    data = query.to_dict()
    text = json.dumps(data, allow_nan=False)
    again = sw.Query.from_dict(json.loads(text), aggregates=own)
    assert json.dumps(again.to_dict()) == text
    return again


def said_of(aggregate: sw.Aggregate) -> Any:
    return aggregate.name, aggregate.columns, aggregate.parameters, aggregate.named, aggregate.output


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda a: f"{a.output} {dict(a.parameters)}")
def test_every_aggregate(aggregate):
    for given in (aggregate, aggregate.alias("other name")):
        [found] = through_json(sw.query(**QUERY | {"aggregates": [given]})).aggregates
        assert said_of(found) == said_of(given)
        assert (found.commutative, found.invertible) == (given.commutative, given.invertible)


def test_no_aggregate_is_left_out():
    """Whoever adds one to the package adds it here."""
    made = set()
    for name in sw.__all__:
        function = getattr(sw, name)
        if getattr(function, "__module__", "").startswith("slidewheel.algebra.") and name.islower():
            made |= {name} - {"aggregate", "check"}
    assert made == {aggregate.name for aggregate in AGGREGATES}


@pytest.mark.parametrize("spec", WINDOWS, ids=lambda spec: f"{type(spec).__name__} {spec.name}")
def test_every_window(spec):
    [found] = through_json(sw.query(**QUERY | {"windows": [spec]})).windows
    assert found == spec
    assert type(found) is type(spec)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"keys": "k"},
        {"keys": ["k", "ключ", ""]},
        {"time": "moment of departure"},
        {"lateness": "5m", "late": "keep"},
        {"late": "update", "repair": "1h"},
        {"late": "update", "repair": 0},
        {"final": "flatfat"},
    ],
    ids=str,
)
def test_every_option(options):
    query = sw.query(**QUERY | options)
    found = through_json(query)
    for name in ("time", "keys", "windows", "lateness", "late", "repair", "final"):
        assert getattr(found, name) == getattr(query, name)


def test_all_of_them_at_once():
    windows = [spec for spec in WINDOWS if not sw.query(**QUERY | {"windows": [spec]}).plan.gives_rows]
    named = [a.alias(f"a{n}") for n, a in enumerate(AGGREGATES)]
    found = through_json(sw.query(time="t", windows=windows, aggregates=named))
    assert found.windows == tuple(windows)
    assert list(map(said_of, found.aggregates)) == list(map(said_of, named))


def test_the_same_answers():
    table = {"t": list(range(40)), "x": [n * 7 % 11 for n in range(40)], "y": [f"{n}" for n in range(40)]}
    aggregates = [sw.std("x", ddof=0), sw.concat("y", sep="-"), sw.argmax("x", "y").alias("top")]
    query = sw.query(time="t", windows=[sw.sliding(9, every=4)], aggregates=aggregates)
    assert through_json(query).run(table).equals(query.run(table))


def test_a_snapshot_can_be_read_by_the_query_that_was_read():
    query = sw.query(**QUERY | {"aggregates": [sw.var("x"), GeoMean("x")]})
    stream = query.stream()
    stream.push({"t": [1, 2], "x": [3.0, 4.0]})
    again = sw.Stream.restore(through_json(query, GeoMean), stream.snapshot())
    assert again.finish().equals(stream.finish())


@pytest.mark.parametrize("q", [np.float32(0.5), Fraction(1, 2)], ids=repr)
def test_numbers_of_other_libraries_become_plain(q):
    through_json(sw.query(**QUERY | {"aggregates": [sw.quantile("x", q)]}))


def test_reading_leaves_the_data_as_they_are():
    data = sw.query(**QUERY | {"aggregates": [sw.var("x", ddof=0).alias("v")]}).to_dict()
    before = copy.deepcopy(data)
    sw.Query.from_dict(data)
    assert data == before


def test_what_is_written_is_not_tied_to_the_query():
    query = sw.query(**QUERY | {"keys": ["k"]})
    data = query.to_dict()
    data["keys"].append("other")
    data["windows"][0]["range"] = 99
    assert query.to_dict()["keys"] == ["k"]
    assert query.windows[0].range == 10


class TestOwnAggregates:
    def test_are_passed_along(self):
        query = sw.query(**QUERY | {"aggregates": [GeoMean("x"), Words("s").alias("said"), sw.count()]})
        found = through_json(query, GeoMean, Words)
        assert [said_of(a) for a in found.aggregates] == [said_of(a) for a in query.aggregates]
        table = {"t": [1, 2, 11], "x": [1.0, 4.0, 2.0], "s": ["a", "b", "c"]}
        assert found.run(table).equals(query.run(table))

    def test_must_be(self):
        data = sw.query(**QUERY | {"aggregates": [GeoMean("x")]}).to_dict()
        with pytest.raises(sw.Unsupported, match=r"unknown aggregate 'GeoMean'.*aggregates=\[GeoMean\]"):
            sw.Query.from_dict(data)
        with pytest.raises(sw.Unsupported, match="unknown aggregate 'GeoMean'"):
            sw.Query.from_dict(data, aggregates=[Words])

    def test_come_before_those_of_the_package(self):
        @sw.aggregate(state="f8", commutative=True)
        class span:
            identity = 0.0

            def lift(x):
                return x

            def combine(a, b):
                return a + b

        query = sw.query(**QUERY | {"aggregates": [span("x")]})
        found = through_json(query, span)
        assert found.aggregates[0].monoid("f") is span.monoid
        assert sw.Query.from_dict(query.to_dict()).aggregates[0].name == "span"

    def test_of_two_columns(self):
        @sw.aggregate(state="f8", commutative=True)
        class Weighed:
            identity = 0.0

            def lift(x, weight):
                return x * weight

            def combine(a, b):
                return a + b

        query = sw.query(**QUERY | {"aggregates": [Weighed("x", "w")]})
        assert through_json(query, Weighed).aggregates[0].columns == ("x", "w")


def changed(**changes: Any) -> dict[str, Any]:
    return {**sw.query(**QUERY).to_dict(), **changes}


def summed(**changes: Any) -> dict[str, Any]:
    return changed(aggregates=[{"aggregate": "sum", "columns": ["x"], **changes}])


@pytest.mark.parametrize(
    "data", [None, [], "query", {}, 3, {"time": "t"}, changed(slidewheel=2), changed(slidewheel="1")]
)
def test_data_that_are_no_query(data):
    with pytest.raises(sw.InvalidArgument, match="not a query as written by to_dict of version 1"):
        sw.Query.from_dict(data)


@pytest.mark.parametrize("name", ["time", "keys", "windows", "aggregates", "lateness", "late"])
def test_something_is_missing(name):
    data = changed()
    del data[name]
    with pytest.raises(sw.InvalidArgument, match=f"needs '{name}'"):
        sw.Query.from_dict(data)


def test_repair_may_be_missing_where_nothing_is_repaired():
    data = changed()
    del data["final"], data["repair"]
    with pytest.raises(sw.InvalidArgument, match="needs 'repair'"):
        sw.Query.from_dict({**data, "late": "update"})
    assert sw.Query.from_dict(data).to_dict() == changed()


REFUSED = {
    "an aggregate that there is not": (summed(aggregate="summ"), "unknown aggregate 'summ'"),
    "an aggregate without a name": (changed(aggregates=[{}]), "unknown aggregate None"),
    "a function that makes no aggregate": (summed(aggregate="checked"), "unknown aggregate 'checked'"),
    "a function of the package's own": (summed(aggregate="_sum"), "unknown aggregate '_sum'"),
    "no column": (summed(columns=[]), "say which column it reads"),
    "an alias that is no name": (summed(alias=3), "alias needs a non-empty name"),
    "a parameter that can't be": (summed(aggregate="var", parameters={"ddof": -1}), "ddof"),
    "no aggregates": (changed(aggregates=[]), "aggregates= takes a list"),
    "no windows": (changed(windows=[]), "windows= takes a list"),
    "a window that there is not": (changed(windows=[{"kind": "hopping"}]), "unknown kind of window 'hopping'"),
    "half a window": (changed(windows=[{"kind": "sliding", "name": "w"}]), "'sliding' can't be read"),
    "keys that are no list": (changed(keys=3), "keys= takes a list"),
    "keys that are no names": (changed(keys=[3]), "column names"),
    "a time that is no name": (changed(time=None), "column names"),
    "a lateness that is none": (changed(lateness="soon"), "not a duration"),
    "late rows": (changed(late="forget"), "late must be one of"),
    "a repair that is none": (changed(late="update", repair=None), "go together"),
    "an algorithm that there is not": (changed(final="flatfot"), "flatfat"),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_bad_data(data):
    with pytest.raises(sw.SlidewheelError, match=data[1]):
        sw.Query.from_dict(data[0])


UNCLEAR = {
    "an unknown parameter": summed(parameters={"skip": 1}),
    "parameters in a list": summed(parameters=[1]),
    "too many columns": summed(columns=["x", "y"]),
    "a column that is no name": summed(columns=[3]),
    "a helper of the package": summed(aggregate="record"),
    "a class of the package": summed(aggregate="Monoid"),
    "a list in place of a name": summed(aggregate=["sum"]),
    "an aggregate as text": changed(aggregates=["sum"]),
    "null for aggregates": changed(aggregates=None),
    "null for windows": changed(windows=None),
    "a window as text": changed(windows=["tumbling"]),
    "a window without a length": changed(windows=[{"kind": "sliding", "name": "w", "range": 0, "every": 0}]),
    "a window with a negative length": changed(windows=[{"kind": "session", "name": "w", "gap": -1}]),
    "lengths as text": changed(windows=[{"kind": "sliding", "name": "w", "range": "1h", "every": "5m"}]),
    "a side that there is not": changed(windows=[{"kind": "trailing", "name": "w", "range": 5, "closed": "up"}]),
    "a window whose name is a number": changed(windows=[{"kind": "session", "name": 3, "gap": 5}]),
    "a list for an algorithm": changed(final=["flatfat"]),
}


@pytest.mark.parametrize("data", UNCLEAR.values(), ids=UNCLEAR)
def test_data_of_the_wrong_types(data):
    with pytest.raises(sw.SlidewheelError):
        try:
            sw.Query.from_dict(data)
        except sw.SlidewheelError:
            raise
        except Exception as error:
            raise AssertionError("not an error of slidewheel") from error
