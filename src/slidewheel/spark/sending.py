"""The sending side: what the rows of a partition become before they are shuffled.

Every row that Spark shuffles is a packet: the id of a bucket, and bytes. A packet holds either slices, with rows
already combined, or rows as they are, of all keys of the bucket. So a shuffle moves few large things, whatever the
number of keys, and one call of the receiving side handles thousands of keys.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.batches import read_times
from slidewheel.engine.inputs import whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.query import Query
from slidewheel.engine.slices import Slices, sorted_by
from slidewheel.spark.carry import Carried
from slidewheel.spark.cutting import UNCUT, Cutting, with_context
from slidewheel.spark.workers import ready_to_work

PACKET = pa.schema([("bucket", pa.int32()), ("packet", pa.binary())])
PACKET_DDL = "bucket int, packet binary"
FLUSH = 1 << 20
"""Rows after which packets leave, so that memory is bounded."""
TRIAL = 1 << 16
"""Rows after which it is clear whether combining pays."""
WORTH = 0.5
"""Slices for each row up to which it does."""
LIMIT = 1 << 17
"""Bytes of a packet, about. Spark gives a worker up to 10,000 packets at once, and Arrow holds 2 GB in a column."""
SLICES, ROWS, EMPTY = b"S", b"R", b"E"


class Sender:
    """Takes tables, and gives packets of about LIMIT bytes at most. `ids` are those of the buckets."""

    def __init__(
        self, query: Query, schema: pa.Schema, ids: list[int], *, combines: bool, cutting: Cutting = UNCUT
    ) -> None:
        self.query, self.schema, self.ids, self.combines, self.cutting = query, schema, ids, combines, cutting
        self.without_time = 0
        self._tables: list[pa.Table] = []
        self._rows = 0
        self._tried = False

    def add(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """Take rows in; give packets when there is enough for some."""
        self._tables.append(table.cast(self.schema))
        self._rows += table.num_rows
        if self.combines and not self._tried and self._rows >= TRIAL:
            self._tried = True
            self.combines = self._sliced().entries <= WORTH * self._rows
        if self._rows >= FLUSH:
            yield from self.flush()

    def _sliced(self) -> Slices:
        slices = Slices(self.query, self.schema)
        for table in self._tables:
            slices.add(table)
        return slices

    def flush(self) -> Iterator[pa.RecordBatch]:
        """All that is left."""
        if self._tables and self.combines:
            slices = self._sliced()
            slices.settle()  # which counts rows that have no time
            self.without_time += slices.without_time
            yield from (packet(self.ids[b], SLICES, data) for b, data in slices.pack(len(self.ids), LIMIT))
        elif self._tables:
            yield from self._packed_rows(pa.concat_tables(self._tables).combine_chunks())
        self._tables, self._rows = [], 0

    def _packed_rows(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        times = np.zeros(table.num_rows, dtype=np.int64)
        if self.query.late != "keep" or self.cutting != UNCUT:  # else those without a time are to be kept aside
            table, without, times = read_times(table, self.query.time)
            self.without_time += len(without)
        keys = Keys(self.query.keys, [table.schema.field(name).type for name in self.query.keys])
        codes = keys.encode([whole(table[name]) for name in self.query.keys], len(times))
        spread = self.cutting.spread(table, codes, keys.hashes()[codes], times, len(self.ids))
        order, begins = sorted_by(spread.homes, len(self.ids))
        if self.cutting != UNCUT:
            table = with_context(table, spread)
        table = table.take(pa.array(order)).combine_chunks()
        rows = max(1, LIMIT * table.num_rows // max(1, table.nbytes))
        for bucket in range(len(self.ids)):
            lo, hi = int(begins[bucket]), int(begins[bucket + 1])
            for at in range(lo, hi, rows):
                yield packet(self.ids[bucket], ROWS, table_bytes(table.slice(at, min(rows, hi - at))))


class Sending:
    """Rows of a partition to packets; `to_all`: one at least for every bucket, which says how many had no time."""

    def __init__(
        self,
        carried: Carried,
        schema: pa.Schema,
        ids: list[int],
        *,
        combines: bool,
        cutting: Cutting = UNCUT,
        to_all: bool = False,
    ) -> None:
        self.carried, self.schema, self.ids = carried, schema, ids
        self.combines, self.cutting, self.to_all = combines, cutting, to_all

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ready_to_work()
        query = self.carried.query()
        sender = Sender(query, self.schema, self.ids, combines=self.combines, cutting=self.cutting)
        for piece in batches:
            yield from sender.add(pa.Table.from_batches([piece]))
        yield from sender.flush()
        if self.to_all:
            lost = [sender.without_time, *[0] * (len(self.ids) - 1)]
            yield from (packet(id, EMPTY, n.to_bytes(8, "little")) for id, n in zip(self.ids, lost, strict=True))


def packet(bucket: int, kind: bytes, data: bytes) -> pa.RecordBatch:
    held = pa.py_buffer(b"".join([kind, data]))
    ends = pa.py_buffer(np.array([0, held.size], dtype=np.int32))
    packed = pa.Array.from_buffers(pa.binary(), 1, [None, ends, held])  # pa.array would copy it
    return pa.record_batch([pa.array([bucket], pa.int32()), packed], schema=PACKET)


def table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def read_packet(data: bytes | pa.Buffer) -> tuple[bytes, Any]:
    """The kind of a packet, and what it holds: slices as bytes, a table, or a number of rows that had no time."""
    kind, rest = bytes(data[:1]), memoryview(data)[1:]
    if kind == EMPTY:
        return kind, int.from_bytes(rest, "little")
    return kind, pa.ipc.open_stream(rest).read_all() if kind == ROWS else rest
