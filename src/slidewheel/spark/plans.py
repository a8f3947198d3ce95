"""How a query is run on Spark, and why so."""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from slidewheel.engine.query import Query
from slidewheel.engine.slices import joinable
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.spark import cutting
from slidewheel.spark.native import why_not_frames, why_not_native
from slidewheel.spark.session import BATCH_BYTES, NO_LIMIT
from slidewheel.times import format_duration
from slidewheel.windows.specs import Sliding

PLANS = ("auto", "slices", "rows", "native", "frames")
FEW_COPIES = 3
"""Windows that a row may be in, up to which F.window, which copies it for each, is faster in a batch."""
FEW_KEYS = 1000
"""Keys up to which that holds for streams, too: Spark's state has an entry for each key and window."""
VERY_FEW_KEYS = 10
"""Keys up to which Spark's own aggregates make slices faster than the way of all rows to Python."""
SHORT = 60
"""Slices of a window up to which frames over them are fast without Spark's segment tree."""
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"


@dataclass(frozen=True)
class Plan:
    name: str
    """"slices": states are shuffled; "rows": rows are; "native" and "frames": Spark's own, over rows or slices."""
    why: str


def plan_of(query: Query, df: DataFrame, asked: str = "auto", keys: int | None = None) -> Plan:
    """The plan for this DataFrame, with about so many keys; one that is asked for is refused if it is not right."""
    if asked not in PLANS:
        raise InvalidArgument(f"plan= is one of {', '.join(PLANS)}, not {asked!r}")
    if asked in ("native", "frames"):
        reason = (why_not_native if asked == "native" else why_not_frames)(query, df)
        if reason is not None:
            raise Unsupported(f'plan="{asked}" is not possible: {reason}')
        return Plan(asked, "as asked for")
    if asked == "slices" and not joinable(query):
        raise Unsupported(f'plan="slices" is not possible: {_why_rows(query)}')
    if asked != "auto":
        return Plan(asked, "as asked for")
    if not joinable(query):
        return Plan("rows", _why_rows(query))
    spec = query.windows[0]
    assert isinstance(spec, Sliding)
    copies = -(-spec.range // spec.every)
    few_keys = not df.isStreaming or (keys is not None and keys <= FEW_KEYS)
    if few_keys and copies <= FEW_COPIES and why_not_native(query, df) is None:
        more = f", and {keys} keys are few" if df.isStreaming else ""
        return Plan("native", f"a row is in {copies} window(s), so that Spark's own windows copy few rows{more}")
    if keys is not None and keys <= VERY_FEW_KEYS and copies <= SHORT and why_not_frames(query, df) is None:
        return Plan("frames", f"rows of {keys} key(s) are few slices, which Spark's own aggregates make")
    return Plan("slices", "rows are combined before they are shuffled, and a row is in one slice, not in every window")


def _why_rows(query: Query) -> str:
    if query.plan.gives_rows:
        return "every row has a window of its own"
    ordered = [aggregate.output for aggregate in query.aggregates if not aggregate.commutative]
    if ordered:
        return f"the order of rows decides {', '.join(ordered)}"
    others = [spec.name for spec in query.windows if not isinstance(spec, Sliding)]
    return f"{', '.join(others)} can't be put together from slices of time"


def explained(query: Query, df: DataFrame, keys: int | None = None, hot_keys: bool = False) -> str:
    """The plan on Spark as text."""
    plan = plan_of(query, df, keys=keys)
    if hot_keys:
        cutting.check_hot_keys(query, df)
    partitions = df.sparkSession.conf.get("spark.sql.shuffle.partitions")
    lines = [f"on Spark, {'a stream' if df.isStreaming else 'a batch'}: plan {plan.name}, since {plan.why}"]
    if plan.name == "native":
        return "\n".join([*lines, "  groupBy(keys, F.window): no Python, every row copied for each of its windows"])
    if plan.name == "frames":
        lines.append("  groupBy(keys, slices), then frames over the slices that begin with each window: no Python")
        if str(df.sparkSession.conf.get(SEGMENT_TREE, "false")).lower() != "true":
            lines.append("    a frame looks at all slices of its window")
        return "\n".join(lines)
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
