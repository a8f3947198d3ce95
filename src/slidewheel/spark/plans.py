"""How a query is run on Spark, and why so."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DecimalType, NumericType, TimestampNTZType, TimestampType

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine.query import Query
from slidewheel.engine.slices import joinable
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.spark import cutting
from slidewheel.spark.session import BATCH_BYTES, NO_LIMIT
from slidewheel.times import format_duration
from slidewheel.windows.specs import Sliding

PLANS = ("auto", "slices", "rows", "native")
FEW_COPIES = 3
"""Windows that a row may be in, up to which F.window, which copies it for each, is faster in a batch."""
FEW_KEYS = 1000
"""Keys up to which that holds for streams, too: Spark's state has an entry for each key and window."""


@dataclass(frozen=True)
class Plan:
    name: str
    """"slices": states are shuffled; "rows": rows are; "native": Spark's own windows."""
    why: str


def plan_of(query: Query, df: DataFrame, asked: str = "auto", keys: int | None = None) -> Plan:
    """The plan for this DataFrame, with about so many keys; one that is asked for is refused if it is not right."""
    if asked not in PLANS:
        raise InvalidArgument(f"plan= is one of {', '.join(PLANS)}, not {asked!r}")
    if asked == "native":
        reason = why_not_native(query, df)
        if reason is not None:
            raise Unsupported(f'plan="native" is not possible: {reason}')
        return Plan("native", "as asked for")
    if asked == "slices" and not joinable(query):
        raise Unsupported(f'plan="slices" is not possible: {_why_rows(query)}')
    if asked != "auto":
        return Plan(asked, "as asked for")
    if not joinable(query):
        return Plan("rows", _why_rows(query))
    spec = query.windows[0]
    few_keys = not df.isStreaming or (keys is not None and keys <= FEW_KEYS)
    if few_keys and isinstance(spec, Sliding) and why_not_native(query, df) is None:
        copies = -(-spec.range // spec.every)
        if copies <= FEW_COPIES:
            more = f", and {keys} keys are few" if df.isStreaming else ""
            return Plan("native", f"a row is in {copies} window(s), so that Spark's own windows copy few rows{more}")
    return Plan("slices", "rows are combined before they are shuffled, and a row is in one slice, not in every window")


def _why_rows(query: Query) -> str:
    if query.plan.gives_rows:
        return "every row has a window of its own"
    ordered = [aggregate.output for aggregate in query.aggregates if not aggregate.commutative]
    if ordered:
        return f"the order of rows decides {', '.join(ordered)}"
    others = [spec.name for spec in query.windows if not isinstance(spec, Sliding)]
    return f"{', '.join(others)} can't be put together from slices of time"


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
    outputs = []
    for aggregate in query.aggregates:
        column = F.lit(1) if aggregate.columns in ((), (None,)) else F.col(f"`{aggregate.columns[0]}`")
        outputs.append(NATIVE[aggregate.name](column, aggregate).alias(aggregate.output))
    found = df.groupBy(*(F.col(f"`{key}`") for key in query.keys), window).agg(*outputs)
    return found.select(
        *(F.col(f"`{key}`") for key in query.keys),
        F.col("slidewheel_window.start").alias("window_start"),
        F.col("slidewheel_window.end").alias("window_end"),
        F.lit(spec.name).alias("window"),
        *(F.col(f"`{aggregate.output}`") for aggregate in query.aggregates),
    )


def explained(query: Query, df: DataFrame, keys: int | None = None, hot_keys: bool = False) -> str:
    """The plan on Spark as text."""
    plan = plan_of(query, df, keys=keys)
    if hot_keys:
        cutting.check_hot_keys(query, df)
    partitions = df.sparkSession.conf.get("spark.sql.shuffle.partitions")
    lines = [f"on Spark, {'a stream' if df.isStreaming else 'a batch'}: plan {plan.name}, since {plan.why}"]
    if plan.name == "native":
        return "\n".join([*lines, "  groupBy(keys, F.window): no Python, every row copied for each of its windows"])
    objects = [a.output for a in query.aggregates if a.monoid().state is None and not a.built_in]
    if plan.name == "slices":
        lines.append(
            "  mapInArrow: the rows of a partition into slices, by the compiled engine; where there are about as"
        )
        lines.append("    many slices as rows, rows are sent as they are")
    else:
        lines.append("  mapInArrow: the columns that are read, as they are")
    if not df.isStreaming:
        lines += _cuts(query, int(partitions or 200), hot_keys)
    lines.append(f"  one shuffle, of packets: a packet holds all keys of one of {partitions} buckets")
    if not df.isStreaming:
        lines.append("  mapInArrow: the windows of all keys of a partition, by the compiled engine")
    else:
        from slidewheel.spark.streaming import rests_in_slices

        lines.append(
            f"  transformWithState: one call for each bucket; watermark {format_duration(query.lateness)} behind"
        )
        lines.append(
            "    state: slices in chunks of time and totals over them; a step reads those at the edges of its windows"
            if rests_in_slices(query)
            else "    state: all of it is read in every micro-batch"
        )
    if df.sparkSession.conf.get(BATCH_BYTES, None) not in (None, str(NO_LIMIT)):
        lines.append(
            "  Spark adds up the size of what goes to Python after each row, which can take longer than all else:"
        )
        lines.append(f'    spark.conf.set("{BATCH_BYTES}", {NO_LIMIT}) spares it')
    if objects:
        lines.append(f"  states of {', '.join(objects)} are Python objects: interpreted, and pickled on the way")
    return "\n".join(lines)


def _cuts(query: Query, partitions: int, hot: bool) -> list[str]:
    """How the time of a key is cut, so that one key can be on several cores."""
    everywhere, some = cutting.by_time(query), cutting.hot_keys(query, partitions)
    if everywhere is not None:
        length = format_duration(everywhere.length)
        return [f"    time is cut into pieces of {length}, so that one key can be on several cores"]
    if some is None:
        return []
    if some.pieces == 1:
        return ["    a key is on one core: for windows as long as these, its time can't be cut"]
    if not hot:
        return ["    a key is on one core; if one has most of the rows: query.spark(df, hot_keys=True)"]
    what = (
        f"keys of {cutting.HOT:,} rows and more are cut into {some.pieces} pieces, so that one can be on several cores"
    )
    return [f"    {what};", "    where, Spark finds in the keys and times beforehand"]
