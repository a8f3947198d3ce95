"""Spark to a store: executors write data files, and the driver puts all of a batch into the store with one commit."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from slidewheel.engine.query import Query
from slidewheel.errors import InvalidArgument
from slidewheel.spark.carry import Carried
from slidewheel.spark.types import arrow_schema, read_columns
from slidewheel.spark.workers import ready_to_work
from slidewheel.store.batches import Appended, Batch, checked_batch
from slidewheel.store.definition import Definition
from slidewheel.store.files import Folder, Written, local_path, write_rows
from slidewheel.store.opening import store_for
from slidewheel.store.partials import AT_ONCE, Partials
from slidewheel.store.store import Store
from slidewheel.wheel.levels import Level

WRITTEN_DDL = (
    "path string, level string, folded boolean, size long, statistics string, partials long, without_time long"
)
WRITTEN = pa.schema(
    [
        ("path", pa.string()),
        ("level", pa.string()),
        ("folded", pa.bool_()),
        ("size", pa.int64()),
        ("statistics", pa.string()),
        ("partials", pa.int64()),
        ("without_time", pa.int64()),
    ]
)


def write_store(
    df: DataFrame,
    store: Any,
    query: Query,
    *,
    batch: Batch | None = None,
    checkpoint: str | None = None,
    application: str | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> Any:
    """Add the rows of a DataFrame to a store: a `sw.Store` or its path, which is made if there is none.

    Of a finite DataFrame in one commit, which is done when this returns; `batch`, the id of an application and a
    number, makes that happen once, however often it is tried. A streaming one is started: every micro-batch is one
    commit, done once also after a crash, and the StreamingQuery is returned.

    checkpoint: where a stream notes how far it is; it needs one.
    application: the id by which the store knows a stream; the id in its checkpoint, unless given.
    trigger: what `df.writeStream.trigger` takes, such as {"availableNow": True}.
    """
    checked_batch(batch)
    if not df.isStreaming:
        if checkpoint is not None or application is not None or trigger is not None:
            raise InvalidArgument("checkpoint=, application= and trigger= are for streams: a finite table takes batch=")
        return _added(df, store_for(query, _absolute(store)), query, batch)
    if batch is not None:
        raise InvalidArgument("batch= is for finite tables: micro-batches have numbers of their own")
    if checkpoint is None:
        raise InvalidArgument("a stream needs checkpoint=, a folder: without it, a restart would add all rows again")
    target = store_for(query, _absolute(store))
    target.prepared(arrow_schema(read_columns(query, df)))
    writer = df.writeStream.foreachBatch(StoreWriter(target, query, application=application, checkpoint=checkpoint))
    return (
        writer.option("checkpointLocation", checkpoint).trigger(**(trigger or {"processingTime": "0 seconds"})).start()
    )


class StoreWriter:
    """For a stream that you start yourself: `df.writeStream.foreachBatch(StoreWriter(store, query, application=...))`.

    The id of the application belongs to the checkpoint: a stream that begins anew needs another one.
    """

    def __init__(
        self, store: Any, query: Query, *, application: str | None = None, checkpoint: str | None = None
    ) -> None:
        if application is None and checkpoint is None:
            raise InvalidArgument("give application=, an id by which the store knows this stream and its checkpoint")
        self.path = store.path if isinstance(store, Store) else os.fspath(_absolute(store))
        self.carried, self.application, self.checkpoint = Carried(query), application, checkpoint

    def __call__(self, df: DataFrame, number: int) -> None:
        query = self.carried.query()
        if self.application is None:
            self.application = f"spark {_id_of(df.sparkSession, self.checkpoint or '')}"
        _added(df, store_for(query, self.path), query, (self.application, number))


def _id_of(spark: SparkSession, checkpoint: str) -> str:
    """The id that Spark gave a stream when its checkpoint was made, and which it keeps."""
    (line,) = spark.read.text(f"{checkpoint.rstrip('/')}/metadata").collect()
    return str(json.loads(line[0])["id"])


def _absolute(store: Any) -> Any:
    """A path that means the same in every process."""
    if isinstance(store, Store) or "://" in str(store):
        return store
    return os.path.abspath(os.fspath(store))


def _added(df: DataFrame, store: Store, query: Query, batch: Batch | None) -> Appended:
    """The rows of a finite DataFrame, once."""
    if store.has(batch):
        return Appended(False)
    read = read_columns(query, df)
    store.prepared(arrow_schema(read))
    if store.definition.ordered:
        # The rows of a key have to be put in order by one task.
        read = read.repartition(*(f"`{key}`" for key in query.keys)) if query.keys else read.coalesce(1)
    made = read.mapInArrow(Storing(Carried(query), store), WRITTEN_DDL).collect()
    files = [Written(*row[:5]) for row in made if row[0] is not None]
    done = store.commit(files, batch)
    return Appended(done, sum(row[5] for row in made), sum(row[6] for row in made))


class Storing:
    """Rows of a partition to files of partials, each of which is told to the driver."""

    def __init__(self, carried: Carried, store: Store) -> None:
        definition = store.definition
        assert definition.schema is not None
        path = store.path if local_path(store.path) is None else os.path.abspath(local_path(store.path) or "")
        self.carried, self.path, self.options = carried, path, store.folder.options
        self.tick = definition.tick
        self.levels = [(level.name, level.slots, level.keep, level.layout, level.length) for level in definition.levels]
        self.schema: bytes = definition.schema.serialize().to_pybytes()

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ready_to_work()
        schema = pa.ipc.read_schema(pa.py_buffer(self.schema))
        levels = tuple(Level(*level) for level in self.levels)
        definition = Definition(self.carried.query(), self.tick, levels, schema)
        partials, folder = Partials(definition), Folder(self.path, self.options)
        parts, without = [], 0
        for table in _tables(batches, None if definition.ordered else AT_ONCE):
            entries, lost = partials.lifted(table)
            parts.append(entries)
            without += lost
        found = partials.folded(parts)
        if len(found):
            written = write_rows(folder, levels[0].name, False, partials.table(found), partials.keys.names)
            yield _told(written, len(found), without)
        elif without:
            yield _told(None, 0, without)


def _tables(batches: Iterator[pa.RecordBatch], rows: int | None) -> Iterator[pa.Table]:
    """Batches put together to tables of about so many rows, or to one."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if rows is not None and sum(one.num_rows for one in waiting) >= rows:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _told(written: Written | None, partials: int, without: int) -> pa.RecordBatch:
    row = (None,) * 5 if written is None else written.said()
    return pa.record_batch([pa.array([v]) for v in (*row, partials, without)], schema=None, names=WRITTEN.names).cast(
        WRITTEN
    )
