"""A query as plain data, for files and other processes."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from slidewheel.algebra import bloom, count_min, distinct, extremes, moments, order, quantile, sums, top_k
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.windows import specs

MADE_IN: dict[str, Any] = {
    **dict.fromkeys(("count", "sum", "product", "mean", "geomean"), sums),
    **dict.fromkeys(("var", "std"), moments),
    **dict.fromkeys(("min", "max", "span", "min_count", "max_count", "argmin", "argmax"), extremes),
    **dict.fromkeys(("first", "last", "concat", "collect", "collect_distinct"), order),
    **{"bloom": bloom, "distinct": distinct, "quantile": quantile, "top_k": top_k, "count_min": count_min},
}
"""The aggregates that are here, and where."""
VERSION = 1


def aggregate_to_dict(aggregate: Aggregate) -> dict[str, Any]:
    said: dict[str, Any] = {"aggregate": aggregate.name, "columns": [c for c in aggregate.columns if c is not None]}
    if aggregate.parameters:
        said["parameters"] = {name: _plain(value) for name, value in aggregate.parameters}
    if aggregate.named is not None:
        said["alias"] = aggregate.named
    return said


def _plain(value: Any) -> Any:
    """Numbers of other libraries as Python's own."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def aggregate_from_dict(said: Any, own: Mapping[str, AggregateType]) -> Aggregate:
    if not isinstance(said, Mapping):
        raise InvalidArgument(f"an aggregate as plain data is a dict, not {said!r}")
    name, columns = said.get("aggregate"), said.get("columns", ())
    if not isinstance(name, str) or (name not in own and name not in MADE_IN):
        raise Unsupported(
            f"unknown aggregate {name!r}: if it is one of your own, pass it along: from_dict(d, aggregates=[{name}])"
        )
    if not isinstance(columns, (list, tuple)) or not all(isinstance(column, str) for column in columns):
        raise InvalidArgument(f"the columns of {name} are a list of names, not {columns!r}")
    try:
        maker = own[name] if name in own else getattr(MADE_IN[name], name)
        made: Aggregate = maker(*columns, **said.get("parameters", {}))
    except TypeError as error:
        raise InvalidArgument(f"the aggregate {name} can't be made of {dict(said)!r}: {error}") from None
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
    for name in ("windows", "aggregates"):
        if name in data and not isinstance(data[name], (list, tuple)):
            raise InvalidArgument(f"a query as plain data needs a list of {name}, not {data.get(name)!r}")
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
