"""What the suites on Spark share: a session, rows in Parquet files, and answers as numbers to compare."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from bench.harness import SEED, Report, Timing, figure
from slidewheel.spark import java
from slidewheel.spark.session import session

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
STEP = 5000
"""Microseconds between two rows of a finite table."""
CROWD = 10_000
"""With more keys than these, rows come faster, or most windows of a key would hold one row."""
FILES = 4
CONFIG = {"spark.driver.memory": "6g", "spark.sql.session.timeZone": "UTC"}


@contextmanager
def started(report: Report) -> Iterator[SparkSession]:
    """A session on two cores. One that runs already is used, and left running."""
    before = SparkSession.getActiveSession()
    spark = session("local[2]", CONFIG, app_name="slidewheel bench")
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    report.say(f"Spark {spark.version}, Java {java.find().version}, local[2], {partitions} shuffle partitions")
    try:
        yield spark
    finally:
        if before is None:
            spark.stop()


class Part(NamedTuple):
    """Some of the rows, and how many."""

    df: DataFrame
    rows: int


class Rows:
    """Rows in the order of their times; what is read of them is in Parquet files, written once."""

    def __init__(self, spark: SparkSession, folder: Path, rows: int, keys: int, hot: float = 0.0) -> None:
        """`hot`: the part of the rows that is of key 0."""
        self.spark, self.folder, self.rows, self.keys, self.hot = spark, folder, rows, keys, hot
        random = np.random.default_rng(SEED)
        step = STEP * min(keys, CROWD) // keys
        ids = np.where(random.random(rows) < hot, 0, random.integers(0, keys, rows))
        times = BEGIN + np.arange(rows) * step + random.integers(0, step, rows)
        self.table = table_of(times, ids, random.lognormal(3.0, 1.0, rows))
        self._parts: dict[tuple[int, int], Part] = {}

    def part(self, rows: int) -> Part:
        """About so many rows. Fewer of them are fewer keys, each as full as before; with a hot key, the first rows."""
        fewer = max(1, self.keys * rows // self.rows)
        return self._written(self.keys if self.hot or rows >= self.rows else fewer, rows)

    def sample(self, rows: int) -> Part:
        """So many rows at most, of few keys."""
        return self._written(min(self.keys, 5), rows)

    def _written(self, keys: int, rows: int) -> Part:
        if (keys, rows) not in self._parts:
            table = self.table
            if keys < self.keys:
                table = table.filter(pa.array(table["k"].to_numpy() < keys))
            table = table.slice(0, rows)
            folder = self.folder / f"{keys}-{rows}"
            folder.mkdir(parents=True)
            each = -(-table.num_rows // FILES)
            for number in range(FILES):
                pq.write_table(table.slice(number * each, each), folder / f"{number}.parquet")
            self._parts[keys, rows] = Part(self.spark.read.parquet(str(folder)), table.num_rows)
        return self._parts[keys, rows]


def table_of(times: np.ndarray, keys: np.ndarray, values: np.ndarray) -> pa.Table:
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "k": keys, "x": values})


def numbers(df: DataFrame, identity: Sequence[str], values: Sequence[str]) -> np.ndarray:
    """The answers in one order, as numbers: first what tells them apart, times in seconds, then the values."""
    table = df.select(*identity, *values).toArrow()
    columns = []
    for column in table.itercolumns():
        if pa.types.is_timestamp(column.type):
            micros = column.cast(pa.timestamp("us")).to_numpy().astype(np.int64)
            columns.append((micros - BEGIN) / SECOND)
        else:
            columns.append(column.to_numpy().astype(float))
    found = np.stack(columns, axis=1)
    return found[np.lexsort(found.T[::-1])]


def difference(found: np.ndarray, expected: np.ndarray, identity: int, within: float = 1e-9) -> str | None:
    """Where answers differ, or None: the first columns at all, the others by more than `within`."""
    if len(expected) == 0:
        return "there are no answers to compare"
    if found.shape != expected.shape:
        return f"{len(found)} answers, not {len(expected)}"
    same = np.isclose(found, expected, rtol=within, atol=1e-9, equal_nan=True)
    same[:, :identity] = found[:, :identity] == expected[:, :identity]
    wrong = ~same.all(axis=1)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong))
    return f"{wrong.sum()} of {len(wrong)} answers differ, first {found[row]}, not {expected[row]}"


def affordable(seconds: float, rows: int, most: int, taken: Callable[[int], float]) -> int:
    """As many rows as are done in this time: more and more of them, for as long as that is likely to do.

    What the first few rows take is the cost of a start, not of rows. It does not count, or a plan that is slow to start
    would be timed at nothing else.
    """
    if rows >= most:
        return most
    start, spent = taken(rows), 0.0
    while rows < most and spent < seconds / 2:
        rows = int(min(most, rows * seconds / max(spent, seconds / 10)))
        spent = taken(rows) - start
    return rows


def short(number: float) -> str:
    """In thousands or millions: 1.23M, 250k, 999."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return figure(number / size).removesuffix(".00").removesuffix(".0") + letter
    return f"{number:.0f}"


def rate(timing: Timing) -> str:
    """Rows a second, and the spread."""
    return f"{short(1e9 / timing.median)} ±{timing.spread:.0%}"
