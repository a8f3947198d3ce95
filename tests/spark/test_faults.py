"""What breaks is mended, or said: answers are neither lost nor given twice."""

import json
import os
import random
import re
import resource
import runpy
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import slidewheel as sw
from slidewheel.engine.resting import Resting
from slidewheel.engine.whole import Whole
from slidewheel.spark import carry
from slidewheel.spark.carry import Carried
from slidewheel.spark.late import write
from slidewheel.spark.streaming import rests_in_slices, with_count
from tests.spark import gated_job
from tests.spark.processes import LIMIT, children, command, is_there, kill, needs_proc, parent, running, until
from tests.spark.stream_job import KNOWN, QUERIES, SCHEMA, start
from tests.spark.support import drained, read_stream, replayed, same_answers, total, write_batches

TIME = pa.timestamp("us", "UTC")
PARTITIONS = "spark.sql.shuffle.partitions"


def measurements(batches: int, rows: int = 150, seed: int = 1) -> list[pa.Table]:
    """Half an hour in each batch, with rows up to two hours behind."""
    dice = np.random.default_rng(seed)
    count = batches * rows
    behind = np.where(dice.random(count) < 0.2, dice.integers(0, 2 * 3600, count), dice.integers(0, 60, count))
    seconds = np.linspace(0, batches * 1800, count).astype(np.int64) - behind + 1_700_000_000
    table = pa.table(
        {
            "t": pa.array(seconds * 1_000_000 + dice.integers(0, 10**6, count)).cast(TIME),
            "k": [f"key {key}" for key in dice.integers(0, 8, count).tolist()],
            "i": pa.array(dice.integers(-100, 100, count), mask=dice.random(count) < 0.05),
            "x": dice.integers(0, 1000, count) / 8,
        }
    )
    return [table.slice(first, rows) for first in range(0, count, rows)]


def as_cut(query: sw.Query, batches: list[pa.Table], checkpoint: Path) -> tuple[pa.Table, sw.Stream]:
    """What a stream gives for these batches, as Spark says that it took them.

    A micro-batch takes two files where Spark was killed between choosing one and writing down what it chose. And the
    watermark does not rise after one whose answers were written, but not the note that it was done.
    """
    stream, results, taken = query.stream(), [], 0
    for number in range(len(list((checkpoint / "offsets").glob("[0-9]*")))):
        assert (checkpoint / "commits" / str(number)).exists(), f"micro-batch {number} has not been done"
        _, said, offset = (checkpoint / "offsets" / str(number)).read_text().splitlines()
        upto = json.loads(offset)["logOffset"] + 1
        rows = pa.concat_tables([batches[0].slice(0, 0), *batches[taken:upto]])
        results.append(stream._step(stream._read(rows), at_least=json.loads(said)["batchWatermarkMs"] * 1000))
        taken = upto
    assert taken == len(batches), f"{taken} of {len(batches)} files were read"
    return pa.concat_tables(results), stream


def check(spark: Any, folder: Path, query: sw.Query, batches: list[pa.Table]) -> None:
    """What has been written is what a stream gives for these batches, and so are the late rows."""
    wanted, stream = as_cut(query, batches, folder / "checkpoint")
    assert wanted.num_rows > 50 and stream.late.rows > 5
    same_answers(spark.read.parquet(str(folder / "out")).toArrow(), wanted)
    if query.late == "keep":
        late = pq.read_table(folder / "late" / "late", partitioning=None)
        same_answers(late, stream.late.table.select(late.column_names))


def finish(stream: Any) -> None:
    """Wait until a stream has used up its source."""
    ended = stream.awaitTermination(LIMIT)
    stream.stop()
    assert ended, "the stream goes on and on"


def failure(stream: Any) -> str:
    """What a stream says that fails, without the plan, which names everything that there is."""
    with pytest.raises(StreamingQueryException) as caught:
        finish(stream)
    return str(caught.value).partition("=== Streaming Query ===")[0]


# A driver that is killed.

MOMENTS: dict[str, Callable[[Path, int], bool]] = {
    "planned": lambda folder, n: (folder / "checkpoint/offsets" / str(n)).exists(),
    "being answered": lambda folder, n: any(
        path.stat().st_mtime > (folder / "checkpoint/offsets" / str(n)).stat().st_mtime
        for path in (folder / "out").glob("*.parquet")
    ),
    "state being saved": lambda folder, n: any((folder / "checkpoint/state").glob(f"0/*/{n + 1}.*")),
    "written": lambda folder, n: (folder / "out/_spark_metadata" / str(n)).exists(),
    "done": lambda folder, n: (folder / "checkpoint/commits" / str(n)).exists(),
}
"""How far micro-batch n has come, by what can be seen of it."""
A_WHILE = 0.3
"""Up to so many seconds later it is killed, so that it happens anywhere in between."""


def has_come(moment: str, folder: Path, number: int) -> bool:
    try:
        return MOMENTS[moment](folder, number)
    except FileNotFoundError:  # not there yet, or just renamed
        return False


def survives_kills(spark: Any, folder: Path, name: str, kills: int, seed: int) -> None:
    """A stream that is killed so many times has written all of its answers once."""
    dice = random.Random(seed)
    batches = measurements(2 * kills + 3, seed=seed)
    write_batches(folder / "in", batches)
    for _ in range(kills):
        done = len(list((folder / "checkpoint/commits").glob("[0-9]*")))
        moment, number = dice.choice(list(MOMENTS)), done + dice.randrange(2)
        number += has_come(moment, folder, number)  # before the last kill
        with running("tests.spark.stream_job", name, str(folder), folder=folder) as job:
            what = f"micro-batch {number} is {moment}"
            job.wait_for(lambda m=moment, n=number: has_come(m, folder, n), what, pause=0.003)
            time.sleep(A_WHILE * dice.random())
            assert job.process.poll() is None, f"it ended before it was killed: {what}\n{job.said()}"
    with running("tests.spark.stream_job", name, str(folder), folder=folder) as job:
        job.succeed()
    check(spark, folder, QUERIES[name], batches)


@needs_proc
def test_a_driver_that_is_killed(spark, tmp_path):
    survives_kills(spark, tmp_path, "late rows kept", kills=1, seed=1)


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "name"), list(enumerate(QUERIES, 11)))
def test_drivers_that_are_killed_again_and_again(spark, tmp_path, seed, name):
    survives_kills(spark, tmp_path, name, kills=5, seed=seed)


# Executors and workers that are killed.


@needs_proc
@pytest.mark.slow
def test_workers_and_executors_that_are_killed(tmp_path):
    """In the midst of making slices of rows, or windows of slices, which wait there until somebody was killed."""
    batches = measurements(4)
    scenarios = ["batch-lift-worker", "stream-lower-executor"]
    for scenario in scenarios:
        write_batches(tmp_path / scenario / "in", batches)
        (tmp_path / scenario / "gate").touch()
    with running("tests.spark.gated_job", str(tmp_path), *scenarios, folder=tmp_path) as job:
        for scenario in scenarios:
            folder = tmp_path / scenario
            job.wait_for(lambda f=folder: any(f.glob("waiting-*")), f"{scenario} waits at the gate")
            worker = int(next(folder.glob("waiting-*")).name.partition("-")[2])
            victim = worker
            if scenario.endswith("executor"):
                victim = parent(parent(worker))
                assert "CoarseGrainedExecutorBackend" in command(victim), command(victim)
            kill(victim)
            until(lambda pid=victim: not is_there(pid), f"{victim} is gone")
            (folder / "gate").unlink()
            job.wait_for(lambda f=folder: (f / "answers.parquet").exists(), f"{scenario} is answered")
        job.succeed()
    for scenario in scenarios:
        folder = tmp_path / scenario
        query = gated_job.query(folder, "")
        wanted = query.run(pa.concat_tables(batches)) if "batch" in scenario else replayed(query, batches)[0]
        same_answers(pq.read_table(folder / "answers.parquet"), wanted, scenario)


# Places that can't be written to.


@contextmanager
def broken_link(link: Path) -> Iterator[None]:
    """In place of a link to a folder there is a file."""
    folder, other = link.readlink(), link.with_name("other")
    other.touch()
    other.replace(link)
    yield
    other.symlink_to(folder)
    other.replace(link)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of Spark's Java can grow."""
    [java] = [pid for pid in children(os.getpid()) if "SparkSubmit" in command(pid)]
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)


@needs_proc
def test_places_that_can_not_be_written_to(spark, tmp_path):
    """A stream that meets one after the other says so each time, goes on when that is mended, and ends right."""
    batches, query = measurements(7), QUERIES["late rows kept"]
    write_batches(tmp_path / "in", batches)
    late, checkpoint = tmp_path / "late", tmp_path / "checkpoint"
    (tmp_path / "disk").mkdir()
    checkpoint.symlink_to(tmp_path / "disk")
    late.touch()
    assert str(late) in failure(start(spark, query, tmp_path))
    late.unlink()
    for number, breaks, says in (
        (2, broken_link(checkpoint), "/checkpoint|STATE_STORE"),
        (4, full_disk(), "too large"),
    ):
        stream = start(spark, query, tmp_path)
        until(lambda n=number: has_come("done", tmp_path, n), f"micro-batch {number} is done", pause=0.003)
        with breaks:
            assert re.search(says, failure(stream))
        assert not has_come("done", tmp_path, number + 2), "it was too late to break anything"
    finish(start(spark, query, tmp_path))
    check(spark, tmp_path, query, batches)


def test_late_rows_that_two_attempts_at_a_step_write_at_once(tmp_path):
    """As an executor does that was given up too early, or that another was to overtake."""
    rows, begin = pa.concat_tables(measurements(4) * 100), Barrier(2)

    def attempt(number: int) -> None:
        begin.wait(LIMIT)
        write(str(tmp_path / "late" / f"{number}.parquet"), rows)

    for number in range(5):
        with ThreadPoolExecutor(2) as attempts:
            list(attempts.map(attempt, [number, number]))
    assert pq.read_table(tmp_path / "late").num_rows == 5 * rows.num_rows


# Restarts with something else.

SLIDING = sw.sliding("1h", every="10m")


def rest(spark: Any, query: sw.Query, folder: Path) -> list[pa.Table]:
    """A stream that came to rest, and has more to read when it is started again. Gives all of its batches."""
    batches = measurements(4)
    write_batches(folder / "in", batches[:2])
    finish(start(spark, query, folder))
    write_batches(folder / "in", batches)
    return batches


def committed(folder: Path) -> dict[str, bytes]:
    """What Spark says that it has written: files that are not listed there do not count."""
    return {path.name: path.read_bytes() for path in (folder / "out/_spark_metadata").iterdir()}


def test_a_restart_with_something_else(spark, tmp_path):
    """Another number of partitions, or another query, is refused with the reason; after that the stream goes on."""
    query = QUERIES["sliding"]
    batches, before = rest(spark, query, tmp_path), committed(tmp_path)
    spark.conf.set(PARTITIONS, 3)
    try:
        said = failure(start(spark, query, tmp_path))
    finally:
        spark.conf.set(PARTITIONS, 2)
    assert "Unsupported: the checkpoint was made with 2 shuffle partitions, and the session has 3" in said
    other = sw.query(**KNOWN, windows=SLIDING, aggregates=[sw.count(), sw.max("x"), sw.max("i")])
    assert "InvalidSnapshot: the state was made by" in failure(start(spark, other, tmp_path))
    assert committed(tmp_path) == before
    finish(start(spark, query, tmp_path))
    check(spark, tmp_path, query, batches)


class Kept(dict[str, bytes]):
    """What Spark keeps of a bucket between two micro-batches."""

    put, delete = dict.__setitem__, dict.__delitem__


def step(query: sw.Query, store: Kept, rows: pa.Table, watermark: int) -> Any:
    """What a worker that has just been started does in a micro-batch with the rows of a bucket."""
    carried = Carried(with_count(query))
    carry._made.cache_clear()
    query = carried.query()
    state = (Resting if rests_in_slices(query) else Whole)(query, rows.schema, store)
    return state.step([rows], watermark)


def of_floats(table: pa.Table) -> pa.Table:
    """The states of floats are as wide as those of integers: taken for each other, they are nonsense."""
    return table.set_column(2, "i", table["i"].cast(pa.float64()))


GAP = sw.query(**KNOWN, windows=sw.session("5m"), aggregates=QUERIES["session"].aggregates)
CHANGES: dict[str, tuple[sw.Query, sw.Query, Callable[[pa.Table], pa.Table]]] = {
    "another gap": (QUERIES["session"], GAP, lambda table: table),
    "no sessions any more": (QUERIES["session"], QUERIES["sliding"], lambda table: table),
    "sessions now": (QUERIES["sliding"], QUERIES["session"], lambda table: table),
    "late rows kept now": (QUERIES["sliding"], QUERIES["late rows kept"], lambda table: table),
    "floats in slices": (QUERIES["sliding"], QUERIES["sliding"], of_floats),
    "floats in sessions": (QUERIES["session"], QUERIES["session"], of_floats),
}


@pytest.mark.parametrize("change", CHANGES)
def test_states_that_can_not_be_taken_over(change):
    first, second, made = CHANGES[change]
    batches, store = measurements(2), Kept()
    step(first, store, batches[0], 0)
    before = dict(store)
    with pytest.raises(sw.InvalidSnapshot, match=r"made (by|with)"):
        step(second, store, made(batches[1]), 0)
    assert store == before


SCRIPT = """
import slidewheel as sw

@sw.aggregate(state={"n": "i8"}, commutative=True)
class Many:
    identity = (0,)
    def lift(x):        return (1 if x > 50 else 0,)
    def combine(a, b):  return (a[0] + b[0],)
    def lower(s):       return s[0]
"""


@pytest.mark.parametrize(("windows", "now"), [(SLIDING, "# A line more.\n" + SCRIPT), (sw.session("4m"), None)])
def test_a_script_that_changes_while_its_stream_runs(tmp_path, windows, now):
    """What counts is what was loaded, not what has become of the file; and executors may not have it at all."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    many = runpy.run_path(str(script))["Many"]
    query = sw.query(**KNOWN, windows=windows, aggregates=[sw.count(), many("x").alias("many")])
    batches, store = measurements(2), Kept()
    step(query, store, batches[0], 0)
    if now is None:
        script.unlink()
    else:
        script.write_text(now)
    assert step(query, store, batches[1], 2_000_000_000_000_000).num_rows > 10


# Rows as they come.


@pytest.mark.parametrize("late", ["drop", "keep"])
def test_nulls_and_numbers_that_are_none(spark, tmp_path, late):
    """Keys and times that are null, one batch of nothing else, NaN and infinities."""
    batches, dice = measurements(4), np.random.default_rng(5)
    for number, batch in enumerate(batches):
        rows = batch.num_rows
        lost = pa.array(dice.random(rows) < 0.1 if number != 1 else np.ones(rows, dtype=bool))
        odd = dice.choice([np.nan, np.inf, -np.inf, 1.5, 2.5], rows, p=[0.02, 0.02, 0.02, 0.47, 0.47])
        batches[number] = pa.table(
            {
                "t": pa.compute.if_else(lost, pa.scalar(None, TIME), batch["t"]),
                "k": pa.compute.if_else(pa.array(dice.random(rows) < 0.2), pa.scalar(None, pa.string()), batch["k"]),
                "i": batch["i"],
                "x": pa.array(odd, mask=dice.random(rows) < 0.1, from_pandas=False),
            }
        )
    write_batches(tmp_path / "in", batches)
    aggregates = [sw.count(), sw.count("x").alias("values"), sw.sum("x"), sw.mean("x"), sw.min("x"), sw.max("x")]
    query = sw.query(**KNOWN, windows=sw.sliding("1h", every="10m"), aggregates=aggregates, late=late)
    df = query.spark(
        read_stream(spark, tmp_path / "in", SCHEMA), late_to=str(tmp_path / "late") if late == "keep" else None
    )
    mine, progress = drained(df, f"nulls_{late}", tmp_path / "checkpoint")
    wanted, stream = replayed(query, batches)
    same_answers(mine, wanted)
    found = {repr(value) for value in wanted["sum_x"].to_pylist()}
    assert {"nan", "inf", "-inf"} <= found and None in mine["k"].to_pylist()
    lost = sum(batch["t"].null_count for batch in batches)
    assert lost == stream.late.null_times > 150
    assert total(progress, "rows_without_time") == lost
