"""Queries by Spark's own means: F.window, or frames over slices of time that Spark's aggregates make."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DecimalType, NumericType, TimestampNTZType, TimestampType

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine.query import Query
from slidewheel.windows.specs import Sliding

NATIVE: dict[str, Callable[[Column, Aggregate], Column]] = {
    "count": lambda column, _: F.count(column),
    "sum": lambda column, _: F.sum(column),
    "mean": lambda column, _: F.avg(column),
    "min": lambda column, _: F.min(column),
    "max": lambda column, _: F.max(column),
    "var": lambda column, a: (F.var_pop, F.var_samp)[_ddof(a)](column),
    "std": lambda column, a: (F.stddev_pop, F.stddev_samp)[_ddof(a)](column),
}
"""Spark's aggregates, by the names of those that give the same."""


def _ddof(aggregate: Aggregate) -> int:
    return int(dict(aggregate.parameters).get("ddof", 1))


def why_not_native(query: Query, df: DataFrame) -> str | None:
    """What Spark's own windows lack for this query; None if they give the same."""
    if len(query.windows) > 1:
        return "Spark takes one kind of window at a time"
    spec = query.windows[0]
    if not isinstance(spec, Sliding) or spec.every > spec.range:
        return f"F.window has no windows like {spec.name}"
    if not isinstance(df.schema[query.time].dataType, (TimestampType, TimestampNTZType)):
        return f"F.window needs a timestamp, and {query.time} is none"
    if query.late != "drop":
        return f'Spark drops late rows, and late is "{query.late}"'
    for aggregate in query.aggregates:
        if aggregate.name not in NATIVE or not aggregate.built_in or _ddof(aggregate) > 1:
            return f"Spark has no {aggregate.name} like ours"
        kinds = [df.schema[name].dataType for name in aggregate.columns if name is not None]
        if aggregate.name in ("var", "std") and not all(map(_plain_number, kinds)):
            return f"{aggregate.output} is typed otherwise there"
    return None


def _plain_number(kind: DataType) -> bool:
    return isinstance(kind, NumericType) and not isinstance(kind, DecimalType)


def native(query: Query, df: DataFrame) -> DataFrame:
    """The query by F.window."""
    [spec] = query.windows
    assert isinstance(spec, Sliding)
    times = [f"{length} microseconds" for length in (spec.range, spec.every, spec.offset)]
    if df.isStreaming:
        df = df.withWatermark(query.time, f"{query.lateness} microseconds")
    window = F.window(F.col(f"`{query.time}`"), *times).alias("slidewheel_window")
    outputs = [NATIVE[a.name](_column_of(a), a).alias(a.output) for a in query.aggregates]
    found = df.groupBy(*(F.col(f"`{key}`") for key in query.keys), window).agg(*outputs)
    return found.select(
        *(F.col(f"`{key}`") for key in query.keys),
        F.col("slidewheel_window.start").alias("window_start"),
        F.col("slidewheel_window.end").alias("window_end"),
        F.lit(spec.name).alias("window"),
        *(F.col(f"`{aggregate.output}`") for aggregate in query.aggregates),
    )


OF_SLICES = {
    "count": {"count": "count({})"},
    "sum": {"sum": "sum({})"},
    "mean": {"sum": "sum(CAST({} AS DOUBLE))", "count": "count({})"},
    "min": {"min": "min({})"},
    "max": {"max": "max({})"},
}
"""What is kept of a slice, as SQL, by the names of the aggregates."""
OVER_SLICES = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""How what is kept of slices becomes that of a window."""


def why_not_frames(query: Query, df: DataFrame) -> str | None:
    """Why Spark's frames over slices do not give the same as this query; None if they do."""
    if df.isStreaming:
        return "Spark has no frames over streams"
    reason = why_not_native(query, df)
    if reason is not None:
        return reason
    [spec] = query.windows
    assert isinstance(spec, Sliding)
    if spec.range % spec.every:
        return f"a window of {spec.name} is not a number of whole slides"
    for aggregate in query.aggregates:
        if aggregate.name not in OF_SLICES:
            return f"Spark can't put {aggregate.output} of a window together from that of slices"
        decimal = [name for name in aggregate.columns if name and isinstance(df.schema[name].dataType, DecimalType)]
        if decimal and aggregate.name in ("sum", "mean"):
            return f"{aggregate.output} is typed otherwise there"
    return None


def frames(query: Query, df: DataFrame) -> DataFrame:
    """The query by a frame over the slices that reaches forward from the start of each window.

    A slice is one slide long. In front of it come the starts of those windows that it is the first slice of: they are
    after the slice before it, if that is near. A start without a slice of its own has nulls there.

    The plan is text, since each part of a plan that is written in Python is dozens of calls of the JVM.
    """
    [spec] = query.windows
    assert isinstance(spec, Sliding)
    keys, time, kind = [_quoted(key) for key in query.keys], _quoted(query.time), df.schema[query.time].dataType
    of_key = f"PARTITION BY {', '.join(keys)} ORDER BY" if keys else "ORDER BY"
    made = [
        f"{sql.format(_sql_of(aggregate))} AS {_kept(number, part)}"
        for number, aggregate in enumerate(query.aggregates)
        for part, sql in OF_SLICES[aggregate.name].items()
    ]
    micros = _micros(query.time, kind)
    at = F.expr(f"{micros} - pmod({micros} - {spec.offset}L, {spec.every}L) AS {AT}")
    slices = df.where(f"{time} IS NOT NULL").groupBy(*keys, at).agg(*map(F.expr, made))
    # Where there is no slice before, this is null, which greatest leaves out.
    before = f"lag({AT}) OVER ({of_key} {AT})"
    first = f"greatest({before}, {AT} - {spec.range}L) + {spec.every}L"
    starts = f"explode(sequence({FIRST}, {AT}, {spec.every}L))"
    placed = slices.selectExpr("*", f"{first} AS {FIRST}").selectExpr("*", f"{starts} AS {START}")
    ahead = f"OVER ({of_key} {START} RANGE BETWEEN CURRENT ROW AND {spec.range - 1}L FOLLOWING)"

    def whole(number: int, part: str) -> str:
        return f"{OVER_SLICES[part]}(CASE WHEN {START} = {AT} THEN {_kept(number, part)} END) {ahead}"

    outputs = []
    for number, aggregate in enumerate(query.aggregates):
        if aggregate.name == "mean":
            value = f"{whole(number, 'sum')} / nullif({whole(number, 'count')}, 0)"
        else:
            value = whole(number, aggregate.name)
        outputs.append(f"{value} AS {_quoted(aggregate.output)}")
    bounds = f"{_instant(START, kind)} AS window_start", f"{_instant(f'{START} + {spec.range}L', kind)} AS window_end"
    return placed.select(*keys, *map(F.expr, bounds), F.lit(spec.name).alias("window"), *map(F.expr, outputs))


AT, FIRST, START = "slidewheel_at", "slidewheel_first", "slidewheel_start"


def _kept(number: int, part: str) -> str:
    return f"slidewheel_{part}_{number}"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _sql_of(aggregate: Aggregate) -> str:
    return "1" if aggregate.columns in ((), (None,)) else _quoted(str(aggregate.columns[0]))


def _column_of(aggregate: Aggregate) -> Column:
    return F.expr(_sql_of(aggregate))


def micros_of(name: str, kind: DataType) -> Column:
    """A column of timestamps as microseconds since 1970, whatever the session's time zone."""
    return F.expr(_micros(name, kind))


EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def _micros(name: str, kind: DataType) -> str:
    if isinstance(kind, TimestampType):
        return f"unix_micros({_quoted(name)})"
    return f"timestampdiff(MICROSECOND, {EPOCH}, {_quoted(name)})"


def _instant(micros: str, kind: DataType) -> str:
    """Back to a timestamp of this kind."""
    if isinstance(kind, TimestampType):
        return f"timestamp_micros({micros})"
    return f"timestampadd(MICROSECOND, {micros}, {EPOCH})"
