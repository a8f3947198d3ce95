"""One broker and one Spark session with Kafka's connector, for all tests of this folder."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from slidewheel.spark.session import session
from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars


def spark_with_kafka(folder: Path) -> SparkSession:
    """A session that keeps what it writes in a folder."""
    # A session that is there already would be taken, with its jars instead of these.
    assert SparkSession.getActiveSession() is None, "run the tests of tests/kafka in a process of their own"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    config = {
        "spark.jars": ",".join(map(str, connector_jars())),
        "spark.driver.memory": "2g",
        # A driver that is killed does not clear up after itself.
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary}",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    return session("local[2]", config, app_name="tests of Kafka")


@pytest.fixture(scope="session")
def kafka() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def kafka_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    spark = spark_with_kafka(tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()
