"""Query.spark: batch or streaming, as the DataFrame is."""

from pyspark.sql import DataFrame

from slidewheel.engine.query import Query
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.spark.batch import batch
from slidewheel.spark.types import arrow_schema, read_columns


def apply(query: Query, df: DataFrame, late_to: str | None = None) -> DataFrame:
    """The answers of the query as a DataFrame."""
    query.check(arrow_schema(df))
    read = read_columns(query, df)
    schema = arrow_schema(read)
    if not df.isStreaming:
        if late_to is not None:
            raise InvalidArgument("late_to= is for streams: in a finite table, no row is late")
        return batch(query, read, schema)
    if query.final != "auto":
        raise Unsupported(f"final={query.final!r} is for comparisons in process: a stream on Spark has final='auto'")
    if late_to is not None and query.late != "keep":
        raise InvalidArgument('late_to= says where rows go that came too late: define the query with late="keep"')
    if query.late == "keep" and late_to is None:
        raise InvalidArgument('late="keep" on Spark needs a folder for the rows: query.spark(df, late_to="...")')
    from slidewheel.spark.streaming import streaming

    return streaming(query, read, schema, late_to)
