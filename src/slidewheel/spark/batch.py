"""Batch: packets are sent, shuffled once, and answered."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slidewheel.engine.query import Query
from slidewheel.engine.slices import Slices, joinable
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.carry import Carried
from slidewheel.spark.cutting import UNCUT, Cutting, answered, by_time, hot_keys, with_cuts
from slidewheel.spark.sending import PACKET_DDL, SLICES, Sending, read_packet
from slidewheel.spark.types import arrow_schema, output_type
from slidewheel.spark.workers import ready_to_work

Packet = tuple[int, bytes, Any]
"""A bucket, the kind of a packet, and what it holds."""
AT_ONCE = 1 << 16
"""Rows of an answer that go back to Spark in one piece."""


def batch(query: Query, df: DataFrame, combines: bool, hot: bool) -> DataFrame:
    """The answers for a finite DataFrame; `combines` rows before the shuffle; `hot`: one key may have most of them."""
    schema = arrow_schema(df)
    partitions = int(df.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    ids = bucket_ids(partitions)
    carried = Carried(query)
    cutting: Cutting = by_time(query) or UNCUT
    some = hot_keys(query, partitions) if hot else None
    if some is not None and some.pieces > 1:
        cutting, df = some, with_cuts(query, df, some.pieces)
    sending = Sending(carried, arrow_schema(df), ids, combines=combines, cutting=cutting)
    packets = df.mapInArrow(sending, PACKET_DDL)
    shuffled = packets.repartition(F.col("bucket"))
    return shuffled.mapInArrow(Answering(carried, schema), output_type(query, schema))


class Answering:
    """Packets of a partition to answers."""

    def __init__(self, carried: Carried, schema: pa.Schema) -> None:
        self.carried, self.schema = carried, schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ready_to_work()
        query = self.carried.query()
        packets = (
            (bucket.as_py(), *read_packet(data.as_buffer()))
            for piece in batches
            for bucket, data in zip(piece.column(0), piece.column(1), strict=True)
        )
        answers = self._joined if joinable(query) else self._run
        for table in answers(query, packets):
            yield from table.to_batches(max_chunksize=AT_ONCE)

    def _joined(self, query: Query, packets: Iterator[Packet]) -> Iterator[pa.Table]:
        slices = Slices(query, self.schema)
        for _, kind, held in packets:
            if kind == SLICES:
                slices.join(held)
            else:
                slices.add(held)
        yield from slices.windows()

    def _run(self, query: Query, packets: Iterator[Packet]) -> Iterator[pa.Table]:
        """Bucket by bucket, since where keys are cut a row may be in two of them: once as itself, once as context."""
        tables: dict[int, list[pa.Table]] = {}
        for bucket, _, held in packets:
            tables.setdefault(bucket, []).append(held)
        for bucket in sorted(tables):
            yield answered(query, pa.concat_tables(tables.pop(bucket)))
