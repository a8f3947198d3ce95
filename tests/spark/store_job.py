"""A stream that writes files of rows to a store until none is left: to be killed and started again."""

import sys
from pathlib import Path

from slidewheel.spark import session, write_store
from tests.spark.test_storing import QUERY


def main(folder: Path) -> None:
    spark = session("local[2]", {"spark.sql.shuffle.partitions": 2, "spark.log.level": "OFF"})
    schema = spark.read.parquet(str(folder / "in")).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    print("begun", flush=True)
    query = write_store(
        stream, folder / "s", QUERY, checkpoint=str(folder / "checkpoint"), trigger={"availableNow": True}
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
