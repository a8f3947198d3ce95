"""One Spark session for all tests of a process."""

import pytest

from slidewheel.spark.session import session


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    made = session(
        "local[2]",
        {
            "spark.driver.memory": "2g",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.sql.shuffle.partitions": 2,
        },
    )
    yield made
    made.stop()
