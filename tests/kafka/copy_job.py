"""A driver of its own that copies a topic, for tests that kill it: python -m tests.kafka.copy_job ..."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from tests.kafka.conftest import spark_with_kafka
from tests.kafka.records import SERVERS, follow

HELD = 2
AT_A_TIME = 3000


def copy(spark: SparkSession, address: str, source: str, target: str, folder: Path) -> None:
    """Copy each record to the partition that it came from, with where it stood as its key.

    The folder keeps the checkpoint. While it holds a file `gate`, the second batch does not get past partition HELD.
    """
    gate = folder / "gate"

    def wait_at_gate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            # Whatever holds the first record of a partition belongs to the first batch.
            held = pc.and_(pc.equal(batch["partition"], HELD), pc.greater(batch["offset"], 0))
            if batch.num_rows and pc.all(held).as_py():
                give_up = time.monotonic() + 120
                while gate.exists():
                    if time.monotonic() > give_up:
                        raise TimeoutError(f"nobody took away {gate}")
                    time.sleep(0.05)
            yield batch

    rows = follow(spark, address, source, at_a_time=AT_A_TIME).select("partition", "offset", "value")
    rows = rows.mapInArrow(wait_at_gate, rows.schema)
    copies = rows.selectExpr("concat(partition, ':', offset) AS key", "value", "partition")
    writer = copies.writeStream.format("kafka").option(SERVERS, address).option("topic", target)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()


if __name__ == "__main__":
    address, source, target, folder = sys.argv[1:]
    copy(spark_with_kafka(Path(folder)), address, source, target, Path(folder))
