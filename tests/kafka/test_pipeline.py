"""A pipeline from topic to topic, killed in its midst and started again: every window comes out, and none differs."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import slidewheel as sw
from slidewheel.times import instant
from tests.kafka.jars import connector_jars
from tests.kafka.records import consume, produce

ROOT = Path(__file__).parents[2]
ROWS, PARTITIONS, AT_A_TIME = 6000, 3, 1200
SECOND = 1_000_000
LATENESS = 3600 * SECOND
FILE = """
[source]
kind = "kafka"
servers = "{address}"
topic = "readings"
schema = "t TIMESTAMP, k STRING, x BIGINT"
options = {{maxOffsetsPerTrigger = {at_a_time}}}

[query]
time = "t"
keys = "k"
windows = ["sliding 30m every 5m", "tumbling 1h"]
aggregates = [{{aggregate = "count"}}, {{aggregate = "sum", column = "x"}}]
lateness = "1h"

[[output]]
kind = "kafka"
servers = "{address}"
topic = "windows"

[trigger]
mode = "stream"
available_now = true

[spark]
master = "local[2]"

[spark.config]
"spark.jars" = "{jars}"
"spark.driver.memory" = "1g"
"spark.sql.session.timeZone" = "UTC"
"spark.sql.shuffle.partitions" = 2
"""


def readings(seed: int = 1) -> list[dict[str, int | str]]:
    """A row every four seconds, out of order by up to ten minutes."""
    dice = random.Random(seed)
    begin = 1_700_000_000 * SECOND
    rows = [
        {"t": begin + n * 4 * SECOND, "k": f"key {dice.randrange(9)}", "x": dice.randrange(100)} for n in range(ROWS)
    ]
    return sorted(rows, key=lambda row: int(row["t"]) + dice.randrange(600 * SECOND))


def as_messages(spark: SparkSession, rows: list[dict[str, int | str]]) -> DataFrame:
    table = pa.table({name: [row[name] for row in rows] for name in ("t", "k", "x")} | {"n": range(len(rows))})
    df = spark.createDataFrame(table).coalesce(1).sortWithinPartitions("n")
    value = "to_json(struct(timestamp_micros(t) as t, k, x)) as value"
    return df.selectExpr(value, f"cast(n % {PARTITIONS} as int) as partition")


def expected(rows: list[dict[str, int | str]]) -> dict[tuple[str, str, int], tuple[int, int]]:
    query = sw.query(
        time="t",
        keys="k",
        windows=[sw.sliding("30m", every="5m"), sw.tumbling("1h")],
        aggregates=[sw.count(), sw.sum("x")],
    )
    found = query.run({name: [row[name] for row in rows] for name in ("t", "k", "x")})
    watermark = max(int(row["t"]) for row in rows) - LATENESS
    ends = found["window_end"].cast(pa.int64()).to_pylist()
    starts = found["window_start"].cast(pa.int64()).to_pylist()
    return {
        (row["k"], row["window"], start): (row["count"], row["sum_x"])
        for row, start, end in zip(found.to_pylist(), starts, ends, strict=True)
        if end <= watermark
    }


def run(file: Path, log: Path) -> "subprocess.Popen[bytes]":
    job = [sys.executable, "-c", "from slidewheel.cli.main import main; main()", "run", str(file)]
    with log.open("ab") as output:
        return subprocess.Popen(job, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)


def killed_behind(process: "subprocess.Popen[bytes]", commit: Path, log: Path) -> None:
    """Kill all processes of the pipeline once this commit is there."""
    try:
        give_up = time.monotonic() + 150
        while not commit.exists():
            assert process.poll() is None and time.monotonic() < give_up, log.read_text()[-3000:]
            time.sleep(0.05)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_pipeline_that_is_killed_and_goes_on(kafka, kafka_spark, tmp_path):
    rows = readings()
    kafka.create_topic("readings", PARTITIONS)
    kafka.create_topic("windows", PARTITIONS)
    produce(as_messages(kafka_spark, rows), kafka.address, "readings")
    file, log = tmp_path / "readings.toml", tmp_path / "log"
    jars = ",".join(map(str, connector_jars()))
    file.write_text(FILE.format(address=kafka.address, jars=jars, at_a_time=AT_A_TIME))
    checkpoint = tmp_path / "readings.checkpoint"

    process = run(file, log)
    killed_behind(process, wait_for(checkpoint, process, log) / "1", log)
    last = run(file, log)
    assert last.wait(timeout=150) == 0, log.read_text()[-3000:]

    answers: dict[tuple[str, str, int], tuple[int, int]] = {}
    for row in consume(kafka_spark, kafka.address, "windows").collect():
        value = json.loads(row.value)
        start = instant(value["window_start"])
        known = answers.setdefault((value["k"], value["window"], start), (value["count"], value["sum_x"]))
        assert known == (value["count"], value["sum_x"]), "Kafka may get an answer twice, but not two answers"
    assert answers == expected(rows)
    assert len(answers) > 500


def wait_for(checkpoint: Path, process: "subprocess.Popen[bytes]", log: Path) -> Path:
    """Where the stream of answers commits its micro-batches."""
    give_up = time.monotonic() + 150
    while True:
        found = [path for path in checkpoint.rglob("commits") if "rejects" not in str(path)]
        if found:
            return found[0]
        assert process.poll() is None and time.monotonic() < give_up, log.read_text()[-3000:]
        time.sleep(0.05)
