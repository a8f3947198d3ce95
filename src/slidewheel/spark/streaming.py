"""Structured Streaming: packets are sent, grouped by bucket, and merged into the state of the bucket.

    withWatermark -> mapInArrow: packets, one at least for every bucket -> groupBy(bucket).transformWithStateInPandas
    -> mapInArrow: answers

The packets have no column of event time, so that Spark does not drop late ones: what is late is decided window by
window, as F.window decides it. A bucket is called in every micro-batch with rows; a timer calls it when the watermark
rises in one without.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import (
    BinaryType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from slidewheel.algebra.sums import count
from slidewheel.engine.query import Query
from slidewheel.engine.resting import Resting
from slidewheel.engine.slices import joinable
from slidewheel.engine.whole import Whole
from slidewheel.errors import Unsupported
from slidewheel.spark.batch import AT_ONCE
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.carry import Carried
from slidewheel.spark.late import keep_aside
from slidewheel.spark.sending import EMPTY, PACKET_DDL, Sending, read_packet, table_bytes
from slidewheel.spark.sockets import acknowledge_at_once
from slidewheel.spark.types import output_type

EVENT = "slidewheel_event_time"
COUNTED = "slidewheel_rows"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PART_NAME = StructType([StructField("name", StringType())])
PART_DATA = StructType([StructField("data", BinaryType())])
"""Types as objects: one that is written as text, the worker asks Spark about in every micro-batch."""
METRICS = "slidewheel"
"""The name under which counts are among the observed metrics of a query's progress."""


def streaming(query: Query, df: DataFrame, schema: pa.Schema, late_to: str | None, combines: bool) -> DataFrame:
    """The answers for a streaming DataFrame whose columns are those of the schema."""
    conf = df.sparkSession.conf
    if "RocksDB" not in str(conf.get(PROVIDER, "")):
        raise Unsupported(
            f"streams keep their state in RocksDB: start the session with slidewheel.spark.session(), or call "
            f'spark.conf.set("{PROVIDER}", "{ROCKS}") before the query starts'
        )
    ids = bucket_ids(int(conf.get("spark.sql.shuffle.partitions") or 200))
    kept = with_count(query)
    carried = Carried(kept)
    timed = df.withColumn(EVENT, event_time(query, df)).withWatermark(EVENT, f"{query.lateness} microseconds")
    sending = Sending(carried, schema, ids, combines=combines and rests_in_slices(query), to_all=True)
    packets = timed.select(*df.columns).mapInArrow(sending, PACKET_DDL)
    results = packets.groupBy("bucket").transformWithStateInPandas(
        Processor(carried, schema, len(ids), late_to),
        outputStructType=RESULT_DDL,
        outputMode="Update" if query.late == "update" else "Append",
        timeMode="EventTime",
    )
    counted = results.observe(METRICS, *(measure(name).alias(name) for name, measure in MEASURES.items()))
    answers = counted.select("answers").where("answers is not null")
    return answers.mapInArrow(Unpacking(), output_type(query, schema))


MEASURES = {
    "late_rows": F.sum,
    "dropped_rows": F.sum,
    "rows_without_time": F.sum,
    "open_windows": F.max,  # these are of all keys, so that all buckets have about the same
    "open_sessions": F.sum,
}
"""What a bucket says of a step, and how the figures of all buckets become one."""
RESULT_DDL = ", ".join(["answers binary", *(f"{name} long" for name in MEASURES)])


def rests_in_slices(query: Query) -> bool:
    """Whether the state of the query is slices that are read only where needed."""
    return joinable(query) and query.late == "drop"


def with_count(query: Query) -> Query:
    """The query with a count of rows behind its aggregates, by which late rows are counted."""
    if not rests_in_slices(query):
        return query
    return replace(query, aggregates=(*query.aggregates, count().alias(COUNTED)))


def event_time(query: Query, df: DataFrame) -> Any:
    """The time column as the kind of timestamp that a watermark takes: the same microseconds."""
    kind, column = df.schema[query.time].dataType, F.col(f"`{query.time}`")
    if isinstance(kind, TimestampType):
        return column
    if isinstance(kind, TimestampNTZType):
        return F.expr(
            f"timestamp_micros(timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00', `{query.time}`))"
        )
    if isinstance(kind, LongType):
        return F.timestamp_micros(column)
    raise Unsupported(f"the time column {query.time!r} is {kind.simpleString()}: cast it to timestamp first")


class Processor(StatefulProcessor):
    """The state of the buckets, and what a micro-batch makes of it."""

    def __init__(self, carried: Carried, schema: pa.Schema, buckets: int, late_to: str | None) -> None:
        self.carried, self.schema, self.buckets, self.late_to = carried, schema, buckets, late_to

    def init(self, handle: Any) -> None:
        acknowledge_at_once()
        self.handle = handle
        self.parts = handle.getMapState("parts", PART_NAME, PART_DATA)
        self._called: set[Any] = set()

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        self._called.add(key)
        packets = [read_packet(data) for frame in rows for data in frame["packet"]]
        without_time = sum(held for kind, held in packets if kind == EMPTY)
        return self._step(key, [held for kind, held in packets if kind != EMPTY], timerValues, without_time)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        return iter(()) if key in self._called else self._step(key, [], timerValues)

    def _step(self, key: Any, packets: list[Any], timers: Any, without_time: int = 0) -> Iterator[pd.DataFrame]:
        query, store = self.carried.query(), Parts(self.parts)
        store.check_buckets(self.buckets)
        state: Any = (Resting if rests_in_slices(query) else Whole)(query, self.schema, store)
        millis = timers.getCurrentWatermarkInMs()
        before = replace(state.counts)
        before.without_time -= without_time
        if packets or without_time or state.watermark != millis * 1000:
            table = state.step(packets, millis * 1000)
            if self.late_to is not None:
                keep_aside(self.late_to, key[0], store, state)
            if state.open:
                self.handle.registerTimer(millis + 1)
            after = state.counts
            lost = (after.rows - before.rows, after.dropped - before.dropped, after.without_time - before.without_time)
            yield from self._rows(table, [*lost, *state.open_windows()])

    def _rows(self, table: pa.Table, counts: list[int]) -> Iterator[pd.DataFrame]:
        if COUNTED in table.column_names:
            table = table.drop_columns([COUNTED])
        pieces: list[Any] = [
            table_bytes(table.slice(first, AT_ONCE)) for first in range(0, table.num_rows, AT_ONCE)
        ] or [None]
        for piece in pieces:
            yield pd.DataFrame({"answers": [piece], **{name: [n] for name, n in zip(MEASURES, counts, strict=True)}})
            counts = [0] * len(counts)

    def close(self) -> None:
        pass


class Unpacking:
    """Answers as Spark's rows."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        acknowledge_at_once()
        for piece in batches:
            for data in piece.column(0):
                yield from pa.ipc.open_stream(data.as_buffer()).read_all().to_batches()


class Parts:
    """Spark's state as a store of parts."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def get(self, name: str) -> bytes | None:
        found = self.state.getValue((name,))
        return None if found is None else bytes(found[0])

    def put(self, name: str, data: bytes) -> None:
        self.state.updateValue((name,), (data,))

    def delete(self, name: str) -> None:
        self.state.removeKey((name,))

    def check_buckets(self, count: int) -> None:
        """Keys are spread over as many buckets as when the state was made."""
        known = self.get("buckets")
        if known is None:
            self.put("buckets", str(count).encode())
        elif int(known) != count:
            raise Unsupported(
                f"the checkpoint was made with {int(known)} shuffle partitions, and the session has {count}: "
                f'spark.conf.set("spark.sql.shuffle.partitions", {int(known)})'
            )
