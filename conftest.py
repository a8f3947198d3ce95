"""Kernels that tests compile are kept in the checkout, not in the user's cache; and Java does not compile for long."""

import os
from pathlib import Path

os.environ.setdefault("SLIDEWHEEL_CACHE_DIR", str(Path(__file__).parent / ".cache" / "slidewheel"))
# A test is over before it pays to optimise Spark, and there is no core to spare for it.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
