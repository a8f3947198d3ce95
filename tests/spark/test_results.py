"""The rows in which answers leave a worker."""

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from slidewheel.spark.results import BYTES, COUNTS, FRAME, ROW, WINDOW, Results

TYPE = StructType(
    [
        StructField("k", StringType()),
        *(StructField(name, LongType()) for name in WINDOW[:2]),
        StructField("window", StringType()),
        StructField("mean_x", DoubleType()),
    ]
)


def answers(starts: np.ndarray, key: str = "k") -> pa.Table:
    count = len(starts)
    names = ["k", *WINDOW, "mean_x"]
    return pa.table([[key] * count, starts, starts + 10, ["w"] * count, np.arange(count) / 2], names=names)


def spread(frame) -> list[tuple]:
    """What Spark's posexplode makes of a frame."""
    return [
        (key, start, end, window, mean)
        for keys, start, end, window, means, _ in frame.itertuples(index=False)
        for key, mean in zip(keys, means, strict=True)
    ]


def test_a_row_has_one_window_and_some_thousands_of_its_answers():
    table = answers(np.repeat([0, 10, 20], [ROW + 1, 2, 1]))
    [frame] = Results(TYPE, WINDOW).frames(table)
    assert list(map(len, frame["k"])) == [0, ROW, 1, 2, 1]
    assert frame[COUNTS].isna().all()
    assert spread(frame) == list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_without_a_common_window_all_columns_are_lists():
    table = answers(np.arange(5))
    [frame] = Results(TYPE, ()).frames(table)
    assert list(map(len, frame["window_start"])) == [0, 5]
    assert frame["window"][1] == ["w"] * 5


def test_large_answers_are_few_in_a_row_and_in_a_frame():
    table = answers(np.zeros(1000, dtype=np.int64), key="x" * 100 * BYTES)
    frames = list(Results(TYPE, WINDOW).frames(table))
    longest = max(len(keys) for frame in frames for keys in frame["k"])
    assert 0 < longest <= ROW // 100
    assert all(sum(map(len, frame["k"])) <= FRAME // 100 for frame in frames)
    assert sum(len(spread(frame)) for frame in frames) == 1000


def test_counts_come_without_an_answer():
    frame = Results(TYPE, WINDOW).counted([1, 2, 3, 4, 5])
    assert frame[COUNTS].tolist() == ["1,2,3,4,5"]
    assert spread(frame) == []
    assert list(Results(TYPE, WINDOW).frames(answers(np.empty(0, dtype=np.int64)))) == []
