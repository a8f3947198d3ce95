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
    LongType,
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
COUNTED = [f"slidewheel_{name}" for name in MEASURES]
"""The columns of these figures: null in a row that is an answer."""
PACKED = StructType([StructField("slidewheel_answers", BinaryType())])
AS_THEY_ARE = (NumericType, StringType, BinaryType, BooleanType, DateType, TimestampType, TimestampNTZType)


class Results:
    """Rows for Spark, made in a worker (`frames`), and read in the driver's plan (`answers`)."""

    def __init__(self, answer: StructType) -> None:
        self.answer = answer
        self.packs = not all(isinstance(field.dataType, AS_THEY_ARE) for field in answer)
        held = PACKED if self.packs else answer
        self.type = StructType([*held, *(StructField(name, LongType()) for name in COUNTED)])
        self._schema = to_arrow_schema(held, timezone="UTC")

    def frames(self, table: pa.Table, counts: Sequence[int]) -> Iterator[pd.DataFrame]:
        """One row with the counts, and then the answers."""
        yield self._frame(self._schema.empty_table().columns, counts)
        for first in range(0, table.num_rows, AT_ONCE):
            piece = table.slice(first, AT_ONCE)
            if self.packs:
                yield self._frame([pa.chunked_array([pa.array([table_bytes(piece)])])])
            else:
                yield self._frame(piece.cast(self._schema).columns)

    def _frame(self, held: Sequence[pa.ChunkedArray], counts: Sequence[int] = ()) -> pd.DataFrame:
        rows = 1 if counts else len(held[0])
        columns = [pa.nulls(rows, one.type) if counts else one.combine_chunks() for one in held]
        said = [pa.array([count]) for count in counts] or [pa.nulls(rows, pa.int64())] * len(COUNTED)
        arrays = [pd.Series(pd.arrays.ArrowExtensionArray(one)) for one in (*columns, *said)]
        return pd.DataFrame(dict(zip(self.type.names, arrays, strict=True)), copy=False)

    def answers(self, df: DataFrame) -> DataFrame:
        """The answers among the rows, whose counts are observed on the way."""
        measures = [measure(F.col(name)) for name, measure in zip(COUNTED, MEASURES.values(), strict=True)]
        counted = df.observe(METRICS, *(one.alias(name) for name, one in zip(MEASURES, measures, strict=True)))
        found = counted.where(F.col(COUNTED[0]).isNull()).drop(*COUNTED)
        return found.mapInArrow(Unpacking(), self.answer) if self.packs else found


class Unpacking:
    """Answers as Spark's rows."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ready_to_work()
        for piece in batches:
            for data in piece.column(0):
                yield from pa.ipc.open_stream(data.as_buffer()).read_all().to_batches()
