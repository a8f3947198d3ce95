"""Records in and out of topics, through Spark's own source and sink."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

SERVERS = "kafka.bootstrap.servers"


def produce(rows: DataFrame, address: str, topic: str) -> None:
    """Write rows with a column `value`, and if they have them `key` and `partition`, to a topic."""
    rows.write.format("kafka").option(SERVERS, address).option("topic", topic).save()


def consume(spark: SparkSession, address: str, topic: str) -> DataFrame:
    """All records of a topic, as text, with where they stand."""
    records = spark.read.format("kafka").option(SERVERS, address).option("subscribe", topic).load()
    return _readable(records)


def follow(spark: SparkSession, address: str, topic: str, *, at_a_time: int = 1000) -> DataFrame:
    """The records of a topic as a stream from its beginning, in batches of so many."""
    source = spark.readStream.format("kafka").option(SERVERS, address).option("subscribe", topic)
    records = source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", at_a_time).load()
    return _readable(records)


def append(rows: DataFrame, folder: Path, checkpoint: Path) -> StreamingQuery:
    """Run a stream into Parquet files until its source has nothing more. Each row gets there exactly once."""
    writer = rows.writeStream.format("parquet").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start(str(folder))
    query.awaitTermination()
    return query


def _readable(records: DataFrame) -> DataFrame:
    return records.selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)", "partition", "offset", "timestamp")
