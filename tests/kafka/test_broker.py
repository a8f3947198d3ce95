"""The harness itself: the broker starts and goes, Spark writes and reads it, and a killed copy goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.kafka import broker as broker_module
from tests.kafka.broker import Broker, BrokerFailed
from tests.kafka.copy_job import AT_A_TIME, HELD, copy
from tests.kafka.records import append, consume, follow, produce
from tests.kafka.wire import KafkaRefused

ROOT = Path(__file__).parents[2]
RECORDS = 10_000
PARTITIONS = 3


def numbered(spark: SparkSession, first: int, end: int) -> DataFrame:
    return spark.range(first, end).selectExpr("CAST(id AS STRING) AS key", "concat('record ', id) AS value")


def values(rows: DataFrame) -> list[str]:
    return sorted(row.value for row in rows.select("value").collect())


def expected(count: int) -> list[str]:
    return sorted(f"record {number}" for number in range(count))


@pytest.fixture(scope="module")
def topic(kafka, kafka_spark) -> str:
    """A topic that no test writes to."""
    kafka.create_topic("numbers", PARTITIONS)
    produce(numbered(kafka_spark, 0, RECORDS), kafka.address, "numbers")
    return "numbers"


def test_a_batch_reads_what_a_batch_wrote(kafka, kafka_spark, topic):
    assert all(kafka.ends(topic)) and len(kafka.ends(topic)) == PARTITIONS
    assert sum(kafka.ends(topic)) == RECORDS
    records = consume(kafka_spark, kafka.address, topic)
    assert values(records) == expected(RECORDS)
    assert records.filter("concat('record ', key) != value").count() == 0


def test_a_stream_reads_on_where_its_checkpoint_says(kafka, kafka_spark, tmp_path):
    kafka.create_topic("growing", PARTITIONS)
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    produce(numbered(kafka_spark, 0, RECORDS), kafka.address, "growing")
    stream = follow(kafka_spark, kafka.address, "growing", at_a_time=4000)
    first = append(stream, out, checkpoint)
    assert sum(progress.numInputRows for progress in first.recentProgress) == RECORDS
    assert len([progress for progress in first.recentProgress if progress.numInputRows]) >= 3

    produce(numbered(kafka_spark, RECORDS, RECORDS + 500), kafka.address, "growing")
    second = append(stream, out, checkpoint)
    assert sum(progress.numInputRows for progress in second.recentProgress) == 500
    assert values(kafka_spark.read.parquet(str(out))) == expected(RECORDS + 500)


def test_a_killed_copy_goes_on_without_loss(kafka, kafka_spark, topic, tmp_path):
    # Kafka's sink of Spark writes at least once: a batch that was cut off is written again as a whole, and what it
    # had already written stays. So the reader tells copies apart by the partition and offset of the original.
    kafka.create_topic("copies", PARTITIONS)
    checkpoint, gate = tmp_path / "checkpoint", tmp_path / "gate"
    job = [sys.executable, "-m", "tests.kafka.copy_job", kafka.address, topic, "copies", str(tmp_path)]
    gate.touch()
    killed_in_second_batch(job, tmp_path / "log", kafka, checkpoint)
    first, second = (offsets(checkpoint, batch, topic) for batch in (0, 1))
    assert sum(first) <= AT_A_TIME < sum(second) < RECORDS
    # In the midst of the second batch: two partitions are written, the third is not, and nothing is committed.
    assert kafka.ends("copies") == [first[p] if p == HELD else second[p] for p in range(PARTITIONS)]
    assert not (checkpoint / "commits" / "1").exists()

    gate.unlink()
    copy(kafka_spark, kafka.address, topic, "copies", tmp_path)

    copies = consume(kafka_spark, kafka.address, "copies")
    times = Counter(row.key for row in copies.select("key").collect())
    originals = consume(kafka_spark, kafka.address, topic).selectExpr("concat(partition, ':', offset) AS key", "value")
    assert times.keys() == {row.key for row in originals.collect()}
    twice = {f"{p}:{offset}" for p in range(PARTITIONS) if p != HELD for offset in range(first[p], second[p])}
    assert twice and times == Counter(list(times)) + Counter(twice)
    once = copies.dropDuplicates(["key"]).select("key", "value")
    assert sorted(once.collect()) == sorted(originals.collect())


def killed_in_second_batch(job: list[str], log: Path, kafka: Broker, checkpoint: Path) -> None:
    """Run the copy until it waits at its gate with the other partitions written, then kill all of its processes."""
    with log.open("wb") as output:
        # In a group of its own: Python and the Java that it starts, which is the driver proper.
        process = subprocess.Popen(job, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)
    try:
        give_up = time.monotonic() + 90
        while not at_gate(kafka, checkpoint):
            assert process.poll() is None and time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def at_gate(kafka: Broker, checkpoint: Path) -> bool:
    if not (checkpoint / "offsets" / "1").exists():
        return False
    planned = offsets(checkpoint, 1, "numbers")
    return all(kafka.ends("copies")[p] == planned[p] for p in range(PARTITIONS) if p != HELD)


def offsets(checkpoint: Path, batch: int, topic: str) -> list[int]:
    """Where a batch was to end, as it was written down before it began."""
    ends = json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1])[topic]
    return [ends[str(partition)] for partition in range(PARTITIONS)]


def test_topics_are_not_made_by_mistake(kafka):
    kafka.create_topic("once")
    assert kafka.ends("once") == [0]
    with pytest.raises(KafkaRefused, match="already exists"):
        kafka.create_topic("once")
    with pytest.raises(KafkaRefused, match="'never'"):
        kafka.ends("never")


def test_nothing_is_left_of_a_broker():
    with Broker() as broker:
        folder = broker._folder
        assert folder.exists()
    assert broker.process.returncode == 128 + signal.SIGTERM  # how Java ends when it was asked to
    assert not folder.exists()
    with pytest.raises(OSError):
        broker.ends("any")


def test_a_broker_that_cannot_start_shows_its_log(monkeypatch):
    wrong = broker_module.SETTINGS + "metric.reporters=no.such.Reporter\n"
    monkeypatch.setattr(broker_module, "SETTINGS", wrong)
    broker = Broker()
    with pytest.raises(BrokerFailed, match=r"ended with 1 (.|\n)*no\.such\.Reporter"), broker:
        pass
    assert not broker._folder.exists()


def test_a_broker_that_does_not_answer_is_killed():
    broker = Broker(patience=0)
    with pytest.raises(BrokerFailed, match="within 0 s"), broker:
        pass
    assert broker.process.returncode == -signal.SIGKILL
    assert not broker._folder.exists()
