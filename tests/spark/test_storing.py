"""Spark writes to a store: in one commit, once, also after a crash between any two steps."""

import random
import time

import pyarrow.parquet as pq
import pytest

import slidewheel as sw
from slidewheel.spark import StoreWriter, write_store
from slidewheel.spark import storing as module
from slidewheel.store.store import Store
from tests.spark.processes import needs_proc, running
from tests.store.events import LEVELS, SECOND, START, events, recalculated, same

EDGES = [START - 7200 * SECOND, START + 86400 * SECOND]
QUERY = sw.query(
    time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.sum("i"), sw.mean("x"), sw.distinct("s")]
)


def holds(store, table, query=QUERY):
    same(store.query(*EDGES), recalculated(table, query, EDGES).drop_columns(["start", "end"]))
    assert store.check().problems == []


def test_batch(spark, tmp_path):
    table = events(2000, seed=1)
    df = spark.createDataFrame(table).repartition(3)
    store = sw.create_store(tmp_path / "s", QUERY, levels=LEVELS)
    done = write_store(df, store, QUERY, batch=("history", 0))
    assert done.committed and done.partials >= 1900
    assert not write_store(df, store, QUERY, batch=("history", 0)).committed
    assert len(store.snapshot().files) == 3 and store.version == 3
    holds(store, table)
    store.compact()
    holds(store, table)


def test_a_path_and_rows_without_time(spark, tmp_path):
    df = spark.createDataFrame(events(50, seed=1))
    late = df.selectExpr("CASE WHEN i > 0 THEN NULL ELSE t END AS t", "k", "i", "x", "s")
    lost = late.where("t IS NULL").count()
    done = write_store(late, str(tmp_path / "s"), QUERY)
    assert done.without_time == lost > 0
    assert sum(sw.open_store(tmp_path / "s").query(aggregates="count")["count"].to_pylist()) == 50 - lost
    empty = write_store(df.where("false"), str(tmp_path / "s"), QUERY)
    assert empty.committed and empty.partials == 0


def test_order(spark, tmp_path):
    """Rows of a key are put in order before they become partials."""
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.first("x"), sw.argmax("i", "s")])
    table = events(800, seed=3)
    store = sw.create_store(tmp_path / "s", query, levels=["1m", "1h"], tick="1m")
    write_store(spark.createDataFrame(table).repartition(5), store, query)
    edges = [edge // (60 * SECOND) * 60 * SECOND for edge in EDGES]
    same(store.query(*edges), recalculated(table, query, edges).drop_columns(["start", "end"]))


def files_of(folder, table, count):
    folder.mkdir()
    rows = -(-table.num_rows // count)
    for number in range(count):
        pq.write_table(table.slice(number * rows, rows), folder / f"{number}.parquet")


def drain(spark, folder, store, checkpoint, schema):
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    query = write_store(stream, store, QUERY, checkpoint=str(checkpoint), trigger={"availableNow": True})
    query.awaitTermination()


def test_history_and_stream(spark, tmp_path):
    """A batch over what was, a stream from then on, stopped and started again."""
    table = events(3000, seed=4)
    schema = spark.createDataFrame(table.slice(0, 1)).schema
    path = tmp_path / "s"
    write_store(spark.createDataFrame(table.slice(0, 1500)), path, QUERY, batch=("history", 1))
    files_of(tmp_path / "in", table.slice(1500, 750), 2)
    for _ in range(2):
        drain(spark, tmp_path / "in", path, tmp_path / "checkpoint", schema)
    store = sw.open_store(path)
    holds(store, table.slice(0, 2250))
    store.compact()
    pq.write_table(table.slice(2250), tmp_path / "in" / "more.parquet")
    drain(spark, tmp_path / "in", path, tmp_path / "checkpoint", schema)
    holds(store, table)
    assert store.info().fresh_files <= 2


@pytest.mark.parametrize("step", ["before", "files", "commit"])
def test_crash(spark, tmp_path, monkeypatch, step):
    """Each micro-batch fails once: before anything, with files but no commit, and with a commit that nobody saw."""
    table = events(400, seed=5)
    schema = spark.createDataFrame(table.slice(0, 1)).schema
    files_of(tmp_path / "in", table, 2)
    commit, failed = Store.commit, set()

    def fails(self, files, batch):
        first = batch not in failed
        failed.add(batch)
        if first and step == "files":
            raise OSError("the power has gone")
        done = commit(self, files, batch)
        if first and step == "commit":
            raise OSError("the power has gone")
        return done

    added = module._added

    def fails_before(df, store, query, batch):
        first = batch not in failed
        if first and step == "before":
            failed.add(batch)
            raise OSError("the power has gone")
        return added(df, store, query, batch)

    monkeypatch.setattr(Store, "commit", fails)
    monkeypatch.setattr(module, "_added", fails_before)
    for _ in range(2):
        with pytest.raises(Exception, match="the power has gone"):
            drain(spark, tmp_path / "in", tmp_path / "s", tmp_path / "checkpoint", schema)
    drain(spark, tmp_path / "in", tmp_path / "s", tmp_path / "checkpoint", schema)
    store = sw.open_store(tmp_path / "s")
    assert len(failed) == 2
    holds(store, table)
    store.vacuum(keep=0)
    holds(store, table)


def test_a_stream_of_ones_own(spark, tmp_path):
    table = events(200, seed=6)
    files_of(tmp_path / "in", table, 1)
    stream = spark.readStream.schema(spark.createDataFrame(table.slice(0, 1)).schema).parquet(str(tmp_path / "in"))
    store = sw.create_store(tmp_path / "s", QUERY)
    writer = stream.writeStream.foreachBatch(StoreWriter(store, QUERY, application="own"))
    writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
    holds(store, table)
    assert store.last_batch("own") == 0


def test_mistakes(spark, tmp_path):
    df = spark.createDataFrame(events(10, seed=1))
    stream = spark.readStream.format("rate").load().selectExpr("timestamp AS t", "'a' AS k", "value AS i")
    with pytest.raises(sw.InvalidArgument, match="needs checkpoint="):
        write_store(stream, tmp_path / "s", QUERY)
    with pytest.raises(sw.InvalidArgument, match="batch= is for finite tables"):
        write_store(stream, tmp_path / "s", QUERY, batch=("a", 1))
    with pytest.raises(sw.InvalidArgument, match="are for streams"):
        write_store(df, tmp_path / "s", QUERY, checkpoint="c")
    with pytest.raises(sw.InvalidArgument, match="a batch is"):
        write_store(df, tmp_path / "s", QUERY, batch="a")
    with pytest.raises(sw.InvalidArgument, match="give application="):
        StoreWriter(tmp_path / "s", QUERY)
    with pytest.raises(sw.InvalidArgument, match="no column 'x'"):
        write_store(df.drop("x"), tmp_path / "s", QUERY)


@needs_proc
@pytest.mark.slow
def test_a_driver_that_is_killed(tmp_path):
    """kill -9, when the store has so many batches and a moment more; the next one goes on."""
    table, dice = events(2000, seed=7), random.Random(1)
    files_of(tmp_path / "in", table, 20)
    store = sw.create_store(tmp_path / "s", QUERY)
    for number in (1, 4, 9, 15):
        with running("tests.spark.store_job", str(tmp_path), folder=tmp_path / "job") as job:
            job.wait_for(lambda n=number: len(store.snapshot().fresh) >= n, f"{number} batches are there")
            time.sleep(dice.uniform(0, 0.3))
    with running("tests.spark.store_job", str(tmp_path), folder=tmp_path / "job") as job:
        job.succeed()
    holds(store, table)
