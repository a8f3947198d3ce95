"""What a step of the state gives to Spark: its answers, and what is counted of it, as rows of one kind.

Answers whose types Spark takes from pandas as they are go out as columns, so that they cross to Spark once. Others
(lists, structs, maps) would be taken apart value by value: they go out as bytes, which a second worker unpacks.
"""

from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DateType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from slidewheel.spark.batch import AT_ONCE
from slidewheel.spark.sending import table_bytes
from slidewheel.spark.workers import ready_to_work

METRICS = "slidewheel"
"""The name under which counts are among the observed metrics of a query's progress."""
MEASURES = {
    "late_rows": F.sum,
    "dropped_rows": F.sum,
    "rows_without_time": F.sum,
    "open_windows": F.max,  # these are of all keys, so that all buckets have about the same
    "open_sessions": F.sum,
}
"""What a bucket says of a step, and how the figures of all buckets become one."""
COUNTS = "slidewheel_counts"
"""The column of these figures, as text with commas; null in a row that is an answer. Five columns took longer."""
PACKED = StructType([StructField("slidewheel_answers", BinaryType())])
AS_THEY_ARE = (NumericType, StringType, BinaryType, BooleanType, DateType, TimestampType, TimestampNTZType)


class Results:
    """Rows for Spark, made in a worker (`frames`), and read in the driver's plan (`answers`)."""

    def __init__(self, answer: StructType) -> None:
        self.answer = answer
        self.packs = not all(isinstance(field.dataType, AS_THEY_ARE) for field in answer)
        held = PACKED if self.packs else answer
        self.type = StructType([*held, StructField(COUNTS, StringType())])
        self._schema = to_arrow_schema(held, timezone="UTC")

    def frames(self, table: pa.Table, counts: Sequence[int]) -> Iterator[pd.DataFrame]:
        """One row with the counts, and then the answers."""
        yield self._frame([pa.nulls(1, field.type) for field in self._schema], ",".join(map(str, counts)))
        for first in range(0, table.num_rows, AT_ONCE):
            piece = table.slice(first, AT_ONCE)
            if self.packs:
                yield self._frame([pa.array([table_bytes(piece)])])
            else:
                yield self._frame([column.combine_chunks() for column in piece.cast(self._schema).columns])

    def _frame(self, held: Sequence[pa.Array], counts: str | None = None) -> pd.DataFrame:
        said = pa.nulls(len(held[0]), pa.string()) if counts is None else pa.array([counts])
        arrays = [pd.Series(pd.arrays.ArrowExtensionArray(one)) for one in (*held, said)]
        return pd.DataFrame(dict(zip(self.type.names, arrays, strict=True)), copy=False)

    def answers(self, df: DataFrame) -> DataFrame:
        """The answers among the rows, whose counts are observed on the way."""
        figures = F.split(F.col(COUNTS), ",")
        counted = df.observe(
            METRICS,
            *(measure(figures[k].cast("long")).alias(name) for k, (name, measure) in enumerate(MEASURES.items())),
        )
        found = counted.where(F.col(COUNTS).isNull()).drop(COUNTS)
        return found.mapInArrow(Unpacking(), self.answer) if self.packs else found


class Unpacking:
    """Answers as Spark's rows."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ready_to_work()
        for piece in batches:
            for data in piece.column(0):
                yield from pa.ipc.open_stream(data.as_buffer()).read_all().to_batches()
