"""What a step of the state gives to Spark: its answers, in lists that Spark spreads, and what is counted of the step.

A row from the worker is some thousands of answers: a list for each column. What all of them have in common, the window,
is in the row once. Spark observes the counts row by row, and keeps their column in each: so there are few rows.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from slidewheel.engine.columns import Array
from slidewheel.engine.query import Query
from slidewheel.windows.specs import Sliding

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
"""The column of these figures, as text with commas. Five columns took longer."""
POSITION = "slidewheel_position"
WINDOW = ("window_start", "window_end", "window")
ROW, FRAME = 1 << 12, 1 << 18
"""Answers in a row, and in a frame of rows, at most. pandas takes a while for each frame."""
BYTES = 1 << 8
"""Of an answer, about, up to which there are so many; fewer if answers are larger."""


def in_common(query: Query) -> tuple[str, ...]:
    """The columns that answers in a row have in common: their window, where many keys have the same."""
    return WINDOW if len(query.windows) == 1 and isinstance(query.windows[0], Sliding) else ()


class Results:
    """Rows for Spark, made in a worker (`frames`), and read in the driver's plan (`answers`)."""

    def __init__(self, answer: StructType, common: Sequence[str]) -> None:
        self.answer, self.common = answer, common
        held = [field if field.name in common else _of_lists(field) for field in answer]
        self.type = StructType([*held, StructField(COUNTS, StringType())])
        self._schema = to_arrow_schema(answer, timezone="UTC")

    def frames(self, table: pa.Table) -> Iterator[pd.DataFrame]:
        """The answers."""
        held = table.cast(self._schema)
        for piece in held.to_batches(max_chunksize=_at_most(FRAME, held)):
            yield self._frame(piece, None)

    def counted(self, counts: Sequence[int]) -> pd.DataFrame:
        """What is counted, without an answer."""
        return self._frame(pa.RecordBatch.from_pylist([], schema=self._schema), ",".join(map(str, counts)))

    def _frame(self, piece: pa.RecordBatch, said: str | None) -> pd.DataFrame:
        """Its first row holds no answer, since pandas makes Python objects of that row."""
        firsts = self._firsts(piece)
        offsets = pa.array(np.concatenate([[0], firsts, [piece.num_rows]]), pa.int32())
        arrays: list[pa.Array] = []
        for name, column in zip(piece.schema.names, piece.columns, strict=True):
            if name in self.common:
                arrays.append(pa.concat_arrays([pa.nulls(1, column.type), column.take(pa.array(firsts))]))
            else:
                arrays.append(pa.ListArray.from_arrays(offsets, column))
        arrays.append(pa.array([said, *[None] * len(firsts)], pa.string()))
        columns = [pd.Series(Given(array)) for array in arrays]
        return pd.DataFrame(dict(zip(self.type.names, columns, strict=True)), copy=False)

    def _firsts(self, piece: pa.RecordBatch) -> Array:
        """Where rows begin: with each window, and after so many answers."""
        begins_anyway = np.arange(0, piece.num_rows, _at_most(ROW, piece))
        if not self.common:
            return begins_anyway
        begins = np.flatnonzero(np.diff(piece[self.common[0]].view(pa.int64()).to_numpy())) + 1
        return np.union1d(begins, begins_anyway)

    def answers(self, df: DataFrame) -> DataFrame:
        """The answers in the rows, whose counts are observed on the way."""
        figures = F.split(F.col(COUNTS), ",")
        counted = df.observe(
            METRICS,
            *(measure(figures[k].cast("long")).alias(name) for k, (name, measure) in enumerate(MEASURES.items())),
        )
        first, *others = (name for name in self.answer.names if name not in self.common)
        spread = counted.select(
            *map(_column, [*self.common, *others]), F.posexplode(_column(first)).alias(POSITION, first)
        )
        return spread.select(
            *(
                F.get(_column(name), POSITION).alias(name) if name in others else _column(name)
                for name in self.answer.names
            )
        )


def _at_most(count: int, held: pa.Table | pa.RecordBatch) -> int:
    most = count * BYTES * held.num_rows // max(1, held.nbytes)
    return max(1, min(count, int(most)))


def _of_lists(field: StructField) -> StructField:
    return StructField(field.name, ArrayType(field.dataType))


def _column(name: str) -> Any:
    return F.col(f"`{name}`")


class Given(pd.arrays.ArrowExtensionArray):  # type: ignore[misc]
    """A column that Spark takes as it is.

    Spark would make lists of Python objects of the values of a list, by a function for each, only for Arrow to take
    them apart again.
    """

    def map(self, mapper: Callable[[Any], Any], na_action: Any = None) -> "Given":
        return self
