"""sw.create_store and sw.open_store."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import pyarrow as pa

from slidewheel.algebra.define import AggregateType
from slidewheel.engine.parts import described
from slidewheel.engine.query import Query
from slidewheel.errors import InvalidArgument
from slidewheel.store.definition import FOLDED, LEVEL, definition_of
from slidewheel.store.log import delta
from slidewheel.store.store import Store
from slidewheel.times import DurationLike


def create_store(
    path: str | PathLike[str],
    query: Query,
    *,
    levels: Any = None,
    keep: Any = "all",
    tick: DurationLike = "1s",
    schema: pa.Schema | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Store:
    """Make a store for a query's keys and aggregates: an empty Delta table.

    path: a local folder, or any address that the deltalake package takes.
    levels, keep, tick: as in `sw.Wheel`; the first of a list of lengths is the tick. What is not kept any more is
        deleted by `compact`, in whole files.
    schema: the types of the input columns; unless given, those of the first rows.
    """
    package = delta()
    made = definition_of(query, tick, levels, keep)
    if schema is not None:
        made = made.with_schema(schema)
    where = fspath(path)
    try:
        package.DeltaTable.create(
            where,
            schema=made.table_schema(),
            partition_by=[LEVEL, FOLDED],
            name="slidewheel store",
            configuration=made.properties(),
            storage_options=dict(storage_options) if storage_options else None,
            raise_if_key_not_exists=False,
        )
    except package.exceptions.DeltaError as error:
        if package.DeltaTable.is_deltatable(where, storage_options=storage_options):
            raise InvalidArgument(f"there is a table at {where} already: open it with sw.open_store(path)") from None
        raise InvalidArgument(f"a store can't be made at {where}: {error}") from None
    return Store(where, own_types(query), options=storage_options)


def own_types(query: Query) -> list[AggregateType]:
    """The aggregates of a query that are the user's own."""
    own = {a.name: a.monoid() for a in query.aggregates if not a.built_in}
    return [AggregateType(monoid, None) for monoid in own.values()]


def open_store(
    path: str | PathLike[str],
    *,
    aggregates: Sequence[AggregateType] = (),
    version: int | None = None,
    trusted: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Store:
    """Open a store.

    aggregates: those of your own that it holds.
    version: an older version of it, to be asked but not written to.
    trusted: whether states that are objects of any class may be read, which can run code.
    """
    return Store(fspath(path), aggregates, options=storage_options, trusted=trusted, version=version)


def store_for(query: Query, given: Any) -> Store:
    """The store that a query is to write to: one that is open, or at a path, where one is made if there is none."""
    if isinstance(given, Store):
        store = given
    elif isinstance(given, (str, PathLike)):
        where = fspath(given)
        exists = delta().DeltaTable.is_deltatable(where)
        store = Store(where, own_types(query)) if exists else create_store(where, query)
    else:
        raise InvalidArgument(f"store= is a store or its path, not {given!r}")
    mine, theirs = query, store.definition.query
    same = [described(a) for a in mine.aggregates] == [described(a) for a in theirs.aggregates]
    if not same or mine.keys != theirs.keys or mine.time != theirs.time:
        outputs = ", ".join(aggregate.output for aggregate in theirs.aggregates)
        raise InvalidArgument(
            f"the store {store.path} is of another query: time {theirs.time!r}, keys "
            f"{', '.join(theirs.keys) or 'none'}, aggregates {outputs}"
        )
    return store
