"""sw.query: one definition of windows and aggregates, for a finished table and for a stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine import definition
from slidewheel.engine.batches import check_columns, read_table
from slidewheel.engine.stream import Stream
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.times import DurationLike, duration
from slidewheel.windows.explain import explain
from slidewheel.windows.plan import Plan
from slidewheel.windows.specs import Delta, Punctuated, Sliding, Spec, Trailing

LATE = ("drop", "keep", "update")


@dataclass(frozen=True, kw_only=True, eq=False)
class Query:
    """A definition: made by `sw.query`, run by `run` or `stream`."""

    time: str
    keys: tuple[str, ...]
    windows: tuple[Spec, ...]
    aggregates: tuple[Aggregate, ...]
    lateness: int
    late: str
    repair: int
    final: str = "auto"

    @cached_property
    def plan(self) -> Plan:
        return Plan(self.windows, self.aggregates, self.final)

    def run(self, table: Any, *, store: Any = None, batch: tuple[str, int] | None = None) -> pa.Table:
        """The answers for a finite table: every row counts, in whatever order they are.

        store: a `sw.Store` or its path, which the rows are also added to, in one commit; made if there is none.
        batch: the id of an application and a number, by which the store adds them once, however often this is run.

        >>> import slidewheel as sw
        >>> query = sw.query(time="t", windows=[sw.tumbling("10s")], aggregates=[sw.sum("x")])
        >>> query.run({"t": [1_000_000, 2_000_000, 11_000_000], "x": [1, 2, 3]})["sum_x"].to_pylist()
        [3, 3]
        """
        if store is None and batch is not None:
            raise InvalidArgument("batch= says as what a store takes the rows: give store= as well")
        if store is None:
            return Stream(self).run(table)
        from slidewheel.store.opening import store_for

        target, given = store_for(self, store), read_table(table)
        answers = Stream(self).run(given)
        target.append(given, batch=batch)
        return answers

    def stream(self, *, store: Any = None, application: str = "stream") -> Stream:
        """An empty stream of this definition.

        store: a `sw.Store` or its path, to which `stream.commit()` adds the rows that have come; made if there is none.
        application: the id by which the store knows this stream.
        """
        if store is None:
            return Stream(self)
        from slidewheel.store.feeding import Feed
        from slidewheel.store.opening import store_for

        return Stream(self, Feed(store_for(self, store), application))

    def spark(
        self,
        df: Any,
        *,
        late_to: str | None = None,
        plan: str = "auto",
        expected_keys: int | None = None,
        hot_keys: bool = False,
    ) -> Any:
        """The answers for a Spark DataFrame, batch or streaming, as a DataFrame; `df.transform(query.spark)` works too.

        late_to: with late="keep" and a stream, a folder that rows go to which came too late, as Parquet files.
        plan: "slices", "rows", "native" or "frames" instead of what `explain(df)` shows.
        expected_keys: about how many keys there are, where that is known; with few, Spark's own windows may be faster.
        hot_keys: a few keys may have most of the rows, so that rows(n) is to use several cores for one key. Spark reads
            the DataFrame once more for that. Other windows that allow it are always spread so.
        """
        try:
            from slidewheel.spark.apply import apply  # the only room that needs pyspark
        except ModuleNotFoundError as error:
            raise Unsupported(f"query.spark needs Spark ({error}): pip install 'slidewheel[spark]'") from None
        return apply(self, df, late_to, plan, expected_keys, hot_keys)

    def explain(self, df: Any = None, *, expected_keys: int | None = None, hot_keys: bool = False) -> str:
        """The plan as text: slices, shared states, algorithms and their cost; with a DataFrame, also that on Spark."""
        text = explain(self.plan, self.time, self.keys, self.lateness, self.late, self.repair)
        if df is None:
            return text
        from slidewheel.spark.plans import explained

        return f"{text}\n\n{explained(self, df, expected_keys, hot_keys)}"

    def to_dict(self) -> dict[str, Any]:
        """The definition as plain data: numbers, texts, lists.

        >>> import slidewheel as sw
        >>> query = sw.query(time="t", windows=[sw.tumbling("1d")], aggregates=[sw.std("x", ddof=0)])
        >>> sw.Query.from_dict(query.to_dict()).to_dict() == query.to_dict()
        True
        """
        return definition.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], aggregates: Sequence[AggregateType] = ()) -> "Query":
        """The query that `to_dict` wrote; aggregates of your own are passed along."""
        return query(**definition.arguments_of(data, list(aggregates)))

    @property
    def columns(self) -> dict[str, str]:
        """The input columns that are read, each with what it is for."""
        needed = {self.time: "time="}
        needed |= {name: "keys=" for name in self.keys}
        for spec in self.windows:
            needed |= {name: f"the window {spec.name}" for name in spec.columns}
        for aggregate in self.aggregates:
            needed |= {name: f"the aggregate {aggregate.output}" for name in aggregate.columns if name is not None}
        return needed

    def check(self, schema: pa.Schema) -> None:
        """Raise unless a table of this schema has all that is read."""
        check_columns(schema, self.columns)
        for spec in self.windows:
            _check_column(spec, schema)
        if self.plan.gives_rows:
            check_columns(schema, {name: "a query that gives rows back" for name in schema.names})
            for name in self.plan.row_outputs:
                if name in schema.names:
                    raise InvalidArgument(
                        f"the input has a column {name!r} already: rename it, or the aggregate with .alias()"
                    )


def _check_column(spec: Spec, schema: pa.Schema) -> None:
    """That the column which decides about windows is of a type that can."""
    for name in spec.columns:
        kind = schema.field(name).type
        if isinstance(spec, Punctuated) and not (pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            raise Unsupported(
                f"the window {spec.name} ends where {name!r} is true, but that column is {kind}, not bool"
            )
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if isinstance(spec, Delta) and not number:
            raise Unsupported(f"the window {spec.name} needs numbers, but {name!r} is {kind}; cast it first")


def query(
    *,
    time: str,
    windows: Spec | Sequence[Spec],
    aggregates: Aggregate | Sequence[Aggregate],
    keys: str | Sequence[str] = (),
    lateness: DurationLike = 0,
    late: str = "drop",
    repair: DurationLike | None = None,
    final: str = "auto",
) -> Query:
    """Windows and aggregates over a table or stream with a time column, defined once.

    time: the column of event times: timestamps, dates, or integers (microseconds since 1970 UTC).
    keys: columns; every key has windows of its own.
    lateness: how far rows may be behind the newest one before windows close without them.
    late: what to do with rows that come too late for a window: "drop" counts them, "keep" also hands them back,
        "update" gives the corrected windows out again, up to `repair` after their close.
    final: how windows are put together from slices: "auto", or one of recalc, flatfat, b_int, flatfit, slickdeque, each
        in its form for many windows. They make their slices anew for every batch, and are here to be compared.

    >>> import slidewheel as sw
    >>> query = sw.query(
    ...     time="departed", keys=["origin"],
    ...     windows=[sw.sliding("1h", every="5m"), sw.tumbling("1d")],
    ...     aggregates=[sw.count().alias("flights"), sw.mean("delay")],
    ...     lateness="15m",
    ... )
    >>> query.windows[0].name, query.lateness
    ('1h/5m', 900000000)
    """
    specs = _listed("windows", windows, Spec)
    found = _listed("aggregates", aggregates, (Aggregate, AggregateType))
    made = tuple(a() if isinstance(a, AggregateType) else a for a in found)
    if isinstance(keys, str):
        keys = (keys,)
    if not isinstance(keys, Sequence):
        raise InvalidArgument(f"keys= takes a list of column names, not {keys!r}")
    names = tuple(keys)
    for name in (time, *names):
        if not isinstance(name, str):
            raise InvalidArgument(f"time= and keys= are column names, not {name!r}")
    if not isinstance(final, str):
        raise InvalidArgument(f"final= is the name of an algorithm, not {final!r}")
    if late not in LATE:
        raise InvalidArgument(f"late must be one of {', '.join(LATE)}, not {late!r}")
    mending = 0 if repair is None else duration(repair, allow_zero=True)
    if (late == "update" and repair is None) or (late != "update" and mending):
        raise InvalidArgument('late="update" and repair="...", for how long closed windows are repaired, go together')
    for aggregate in made:
        if None in aggregate.columns:
            raise InvalidArgument(
                f"{aggregate.name}: say which column it reads, as in sw.{aggregate.name}("
                + ", ".join('"..."' for _ in aggregate.columns)
                + ")"
            )
    result = Query(
        time=time,
        keys=names,
        windows=specs,
        aggregates=made,
        lateness=duration(lateness, allow_zero=True),
        late=late,
        repair=mending,
        final=final,
    )
    _check_names(result)
    if late == "update":
        for spec in specs:
            if not isinstance(spec, (Sliding, Trailing)):
                raise Unsupported(
                    f'late="update" can repair sliding, tumbling and trailing windows, but not {spec.name}: what a '
                    f'late row changes there has no bound; use late="keep"'
                )
    _ = result.plan
    return result


def _listed(what: str, given: Any, kind: Any) -> tuple[Any, ...]:
    items = (given,) if isinstance(given, kind) else given
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence) or not items:
        raise InvalidArgument(f"{what}= takes a list of them, not {given!r}")
    for item in items:
        if not isinstance(item, kind):
            example = 'sw.sliding("1h", every="5m")' if what == "windows" else 'sw.mean("delay")'
            raise InvalidArgument(f"{what}= takes such as {example}, not {item!r}")
    return tuple(items)


def _check_names(made: Query) -> None:
    """Every output column has a name of its own."""
    plan = made.plan
    if plan.gives_rows:
        outputs = plan.row_outputs
    else:
        outputs = [*made.keys, "window_start", "window_end", "window", *(a.output for a in made.aggregates)]
    for names, what in ((plan.names, "two windows are called"), (outputs, "two output columns are called")):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InvalidArgument(f"{what} {twice[0]!r}: give one another name, with name= or .alias()")
    if made.time in made.keys:
        raise InvalidArgument(f"{made.time!r} is both time= and in keys=")
