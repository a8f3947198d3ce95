"""Structured Streaming: packets are sent, grouped by bucket, and merged into the state of the bucket.

    withWatermark -> mapInArrow: packets, one at least for every bucket -> groupBy(bucket).transformWithStateInPandas
    -> answers (results.py)

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
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.carry import Carried
from slidewheel.spark.late import keep_aside
from slidewheel.spark.native import micros_of
from slidewheel.spark.results import Results, in_common
from slidewheel.spark.sending import EMPTY, PACKET_DDL, Sending, read_packet
from slidewheel.spark.types import output_type
from slidewheel.spark.workers import ready_to_work

EVENT = "slidewheel_event_time"
COUNTED = "slidewheel_rows"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PART_NAME = StructType([StructField("name", StringType())])
PART_DATA = StructType([StructField("data", BinaryType())])
"""Types as objects: one that is written as text, the worker asks Spark about in every micro-batch."""


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
    results = Results(output_type(query, schema), in_common(query))
    rows = packets.groupBy("bucket").transformWithStateInPandas(
        Processor(carried, schema, len(ids), results, late_to),
        outputStructType=results.type,
        outputMode="Update" if query.late == "update" else "Append",
        timeMode="EventTime",
    )
    return results.answers(rows)


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
        return F.timestamp_micros(micros_of(query.time, kind))
    if isinstance(kind, LongType):
        return F.timestamp_micros(column)
    raise Unsupported(f"the time column {query.time!r} is {kind.simpleString()}: cast it to timestamp first")


class Processor(StatefulProcessor):
    """The state of the buckets, and what a micro-batch makes of it."""

    def __init__(
        self, carried: Carried, schema: pa.Schema, buckets: int, results: Results, late_to: str | None
    ) -> None:
        self.carried, self.schema, self.buckets = carried, schema, buckets
        self.results, self.late_to = results, late_to

    def init(self, handle: Any) -> None:
        ready_to_work()
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
            for table in state.steps(packets, millis * 1000):
                yield from self.results.frames(table)
            if self.late_to is not None:
                keep_aside(self.late_to, key[0], store, state)
            if state.open:
                self.handle.registerTimer(millis + 1)
            after = state.counts
            lost = (after.rows - before.rows, after.dropped - before.dropped, after.without_time - before.without_time)
            yield self.results.counted([*lost, *state.open_windows()])

    def close(self) -> None:
        pass


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
