"""Made-up rows as a source, the same ones again whenever they are asked for.

Row number i has the time `start + i / rate` seconds, less a part of `disorder`; its key, its value and that part are
hashes of i and the seed. So a batch that Spark repeats has the same rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slidewheel.errors import SlidewheelError
from slidewheel.pipeline import sql
from slidewheel.pipeline.rejects import MALFORMED
from slidewheel.pipeline.table import Table
from slidewheel.times import format_duration, format_instant, instant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {"time": "TIMESTAMP", "key": "STRING", "value": "DOUBLE"}


@dataclass(frozen=True)
class Generator:
    rows_in_all: int | None
    rate: int
    keys: int
    disorder: int
    seed: int
    start: int
    at_once: int = 0
    """Rows of a micro-batch."""

    kind = "generator"
    columns = COLUMNS
    keeps_rejects = False

    @property
    def origin(self) -> str:
        return f"made-up rows with the seed {self.seed}, {self.rate} a second, of {self.keys} keys"

    @classmethod
    def read(cls, table: Table) -> "Generator":
        return cls(
            rows_in_all=table.number("rows"),
            rate=table.number("rate", 1000) or 1000,
            keys=table.number("keys", 10) or 10,
            disorder=table.span("disorder", "0s", allow_zero=True),
            seed=table.number("seed", 0, least=0) or 0,
            start=_start(table),
        )

    def rows(self, spark: "SparkSession", *, stream: bool) -> "DataFrame":
        if stream:
            source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", self.at_once)
            numbers = source.load().selectExpr("value as i")
            numbers = numbers if self.rows_in_all is None else numbers.where(f"i < {self.rows_in_all}")
        else:
            numbers = spark.range(self.rows_in_all or 0).selectExpr("id as i")
        late = f"pmod(xxhash64(i, {self.seed}, 'late'), {self.disorder})" if self.disorder else "0"
        return numbers.selectExpr(
            # Whole seconds and the rest apart: i times a million leaves 64 bits too early.
            f"timestamp_micros({self.start} + i div {self.rate} * 1000000 + i % {self.rate} * 1000000 div {self.rate} "
            f"- {late}) as time",
            f"concat('k', pmod(xxhash64(i, {self.seed}, 'key'), {self.keys})) as key",
            f"pmod(xxhash64(i, {self.seed}, 'value'), 1000000) / 10000D as value",
            f"cast(null as string) as {sql.name(MALFORMED)}",
        )

    def is_through(self, offsets: Sequence[Any]) -> bool:
        """A batch that began behind the last row has closed all windows that can be closed."""
        begins = [offset.get("offset", 0) for offset in offsets if isinstance(offset, dict)]
        return self.rows_in_all is not None and bool(begins) and min(begins) >= self.rows_in_all

    def __str__(self) -> str:
        count = "endless" if self.rows_in_all is None else f"{self.rows_in_all:,}"
        disorder = f", up to {format_duration(self.disorder)} out of order" if self.disorder else ""
        return (
            f"{count} made-up rows of {self.keys:,} keys (time, key, value), {self.rate:,} a second from "
            f"{format_instant(self.start)} on{disorder}, seed {self.seed}"
        )


def _start(table: Table) -> int:
    try:
        return instant(table.text("start", "2024-01-01"))
    except SlidewheelError as error:
        table.wrong("start", f"start: {error}")
        return 0
