"""Metrics and labels: each aggregate of a store that gives numbers is a metric, and its keys are labels."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.serve.stores import Served, Stores, numeric


@dataclass(frozen=True)
class Metric:
    """An aggregate of a store under the name that it has here."""

    name: str
    served: Served
    aggregate: Aggregate
    labels: dict[str, str]
    """From the names of labels to key columns."""

    @property
    def about(self) -> str:
        of = ", ".join(column for column in self.aggregate.columns if column)
        return f"{self.aggregate.name}{f' of {of}' if of else ''} in the store {self.served.name}"


def legal(name: str, colons: bool) -> str:
    """A name as Prometheus allows it.

    >>> legal("my flights-2_sum", True), legal("2nd", False)
    ('my_flights_2_sum', '_2nd')
    """
    made = re.sub(r"[^a-zA-Z0-9_:]" if colons else r"[^a-zA-Z0-9_]", "_", name)
    return f"_{made}" if not made or made[0].isdigit() else made


def metrics_of(stores: Stores) -> dict[str, Metric]:
    """All metrics by name."""
    found: dict[str, Metric] = {}
    for served in stores.values():
        types, query = served.types(), served.store.definition.query
        labels: dict[str, str] = {}
        for column in query.keys:
            labels[_unique(legal(column, False), labels)] = column
        for aggregate in query.aggregates:
            if numeric(types.get(aggregate.output)):
                name = _unique(legal(f"{served.name}_{aggregate.output}", True), found)
                found[name] = Metric(name, served, aggregate, labels)
    return found


def _unique(name: str, taken: Iterable[str]) -> str:
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made
