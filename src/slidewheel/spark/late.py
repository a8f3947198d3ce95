"""Rows that came too late, kept aside as Parquet files."""

from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq

STEPS = "steps"


def keep_aside(path: str, bucket: int, store: Any, state: Any) -> None:
    """Write the late rows of this step, and those without a time.

    A step that is done again, since Spark repeats a micro-batch that has failed, writes the same rows under the same
    name: every row is there once.
    """
    number = int(store.get(STEPS) or b"0")
    store.put(STEPS, str(number + 1).encode())
    for kind, table in (("late", state.late_rows), ("without-time", state.rows_without_time)):
        if table is not None and table.num_rows:
            write(f"{path.rstrip('/')}/{kind}/bucket={bucket}-step={number}.parquet", table)


def write(path: str, table: pa.Table) -> None:
    """A file that is there as a whole or not at all. Two attempts at a step may write the same one at once."""
    if "://" in path:
        system, place = fs.FileSystem.from_uri(path)
    else:
        system, place = fs.LocalFileSystem(), path
    folder, _, name = place.rpartition("/")
    unfinished = f"{folder}/_{uuid4().hex}-{name}"
    system.create_dir(folder, recursive=True)
    with system.open_output_stream(unfinished) as sink:
        pq.write_table(table, sink)
    system.move(unfinished, place)
