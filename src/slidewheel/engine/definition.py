"""A query as plain data, for files and other processes."""

from collections.abc import Mapping
from typing import Any

from slidewheel.algebra import bloom, count_min, distinct, extremes, moments, order, quantile, sums, top_k
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.windows import specs

_FILES = (bloom, count_min, distinct, extremes, moments, order, quantile, sums, top_k)
VERSION = 1


def aggregate_to_dict(aggregate: Aggregate) -> dict[str, Any]:
    said: dict[str, Any] = {"aggregate": aggregate.name, "columns": [c for c in aggregate.columns if c is not None]}
    if aggregate.parameters:
        said["parameters"] = dict(aggregate.parameters)
    if aggregate.named is not None:
        said["alias"] = aggregate.named
    return said


def aggregate_from_dict(said: Mapping[str, Any], own: Mapping[str, AggregateType]) -> Aggregate:
    name = said.get("aggregate")
    makers = [getattr(file, str(name)) for file in _FILES if callable(getattr(file, str(name), None))]
    if name in own:
        made = own[str(name)](*said.get("columns", ()))
    elif makers and not str(name).startswith("_"):
        made = makers[0](*said.get("columns", ()), **said.get("parameters", {}))
    else:
        made = None
    if not isinstance(made, Aggregate):
        raise Unsupported(
            f"unknown aggregate {name!r}: if it is one of your own, pass it along: from_dict(d, aggregates=[{name}])"
        )
    return made.alias(said["alias"]) if "alias" in said else made


def to_dict(query: Any) -> dict[str, Any]:
    return {
        "slidewheel": VERSION,
        "time": query.time,
        "keys": list(query.keys),
        "windows": [spec.to_dict() for spec in query.windows],
        "aggregates": [aggregate_to_dict(aggregate) for aggregate in query.aggregates],
        "lateness": query.lateness,
        "late": query.late,
        "repair": query.repair,
        "final": query.final,
    }


def arguments_of(data: Mapping[str, Any], own: list[AggregateType]) -> dict[str, Any]:
    """What to call `sw.query` with."""
    if not isinstance(data, Mapping) or data.get("slidewheel") != VERSION:
        raise InvalidArgument(f"this is not a query as written by to_dict of version {VERSION}: {str(data)[:80]}")
    named = {kind.__name__: kind for kind in own}
    try:
        return {
            "time": data["time"],
            "keys": data["keys"],
            "windows": [specs.from_dict(spec) for spec in data["windows"]],
            "aggregates": [aggregate_from_dict(said, named) for said in data["aggregates"]],
            "lateness": data["lateness"],
            "late": data["late"],
            "repair": data["repair"] if data["late"] == "update" else None,
            "final": data.get("final", "auto"),
        }
    except KeyError as missing:
        raise InvalidArgument(f"a query as plain data needs {missing}") from None
