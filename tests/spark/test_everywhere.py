"""The same answers on executors that are processes of their own, and over Spark Connect. Other tests use threads."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.spark.everywhere_job import batch_query, frames_query, stream_query
from tests.spark.processes import needs_proc, running
from tests.spark.support import replayed, same_answers, write_batches

PLACES = {
    "local-cluster[2,1,1024]": "pyspark.sql.session",
    "connect": "pyspark.sql.connect.session",
}


def measurements(batches: int, rows: int) -> list[pa.Table]:
    """Rows of four hours in batches, some of them up to three hours behind; some keys and values are null."""
    dice = np.random.default_rng(11)
    count = batches * rows
    behind = np.where(dice.random(count) < 0.3, dice.integers(0, 3 * 3600, count), 0)
    seconds = np.linspace(0, 4 * 3600, count).astype(np.int64) - behind + 1_700_000_000
    keys = dice.integers(0, 6, count).tolist()
    table = pa.table(
        {
            "t": pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "k": [None if key == 5 else f"key {key}" for key in keys],
            "x": pa.array(dice.integers(1, 1000, count) / 8, mask=dice.random(count) < 0.1),
        }
    )
    return [table.slice(first, rows) for first in range(0, count, rows)]


@needs_proc
@pytest.mark.parametrize("place", PLACES)
def test_the_same_answers(tmp_path, place):
    batches = measurements(3, 400)
    write_batches(tmp_path / "rows", batches[:2])
    write_batches(tmp_path / "batches", batches)
    with running("tests.spark.everywhere_job", place, str(tmp_path), folder=tmp_path) as job:
        job.succeed()
    assert (tmp_path / "kind").read_text() == PLACES[place]
    wanted = batch_query().run(pa.concat_tables(batches[:2]))
    assert wanted.num_rows > 200
    same_answers(pq.read_table(tmp_path / "batch.parquet"), wanted, place)
    frames = frames_query().run(pa.concat_tables(batches[:2]))
    same_answers(pq.read_table(tmp_path / "frames.parquet"), frames, place)
    closed, stream = replayed(stream_query(), batches)
    assert closed.num_rows > 100 and stream.late.rows > 10
    same_answers(pq.read_table(tmp_path / "stream.parquet"), closed, place)
