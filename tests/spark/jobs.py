"""Sessions of jobs that tests run in processes of their own."""

from pathlib import Path
from typing import Any

from slidewheel.spark.session import session

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that ends before it would be worth its while to compile anything well."""


def started(where: str, folder: Path) -> Any:
    """A session at this master, or ("connect") a server of Spark Connect and its client, that writes to the folder."""
    temporary = folder / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    config = {
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(temporary),
        # What is killed does not clear up after itself.
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary} {SHORT_LIVED}",
        "spark.executor.extraJavaOptions": f"-Djava.io.tmpdir={temporary} {SHORT_LIVED}",
    }
    return session(remote="local[2]", config=config) if where == "connect" else session(where, config)
