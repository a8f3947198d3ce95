"""Query.spark: batch or streaming, as the DataFrame is."""

from pyspark.sql import DataFrame

from slidewheel.engine.query import Query
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.spark.batch import batch
from slidewheel.spark.cutting import check_hot_keys
from slidewheel.spark.native import frames, native
from slidewheel.spark.plans import plan_of
from slidewheel.spark.types import arrow_schema, read_columns


def apply(
    query: Query,
    df: DataFrame,
    late_to: str | None = None,
    plan: str = "auto",
    expected_keys: int | None = None,
    hot_keys: bool = False,
) -> DataFrame:
    """The answers of the query as a DataFrame."""
    query.check(arrow_schema(df))
    _check_late(query, df, late_to)
    if hot_keys:
        check_hot_keys(query, df)
    read = read_columns(query, df)
    chosen = plan_of(query, read, plan, expected_keys)
    if chosen.name == "native":
        return native(query, read)
    if chosen.name == "frames":
        return frames(query, read)
    combines = chosen.name == "slices"
    if not df.isStreaming:
        return batch(query, read, combines, hot_keys)
    if query.final != "auto":
        raise Unsupported(f"final={query.final!r} is for comparisons in process: a stream on Spark has final='auto'")
    from slidewheel.spark.streaming import streaming

    return streaming(query, read, arrow_schema(read), late_to, combines)


def _check_late(query: Query, df: DataFrame, late_to: str | None) -> None:
    if late_to is not None and not df.isStreaming:
        raise InvalidArgument("late_to= is for streams: in a finite table, no row is late")
    if late_to is not None and query.late != "keep":
        raise InvalidArgument('late_to= says where rows go that came too late: define the query with late="keep"')
    if df.isStreaming and query.late == "keep" and late_to is None:
        raise InvalidArgument('late="keep" on Spark needs a folder for the rows: query.spark(df, late_to="...")')
