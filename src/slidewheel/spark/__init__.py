"""Queries on Spark: batch, streaming, a session for them, and how executors get the package."""

from slidewheel.spark.session import session
from slidewheel.spark.shipping import ship

__all__ = ["session", "ship"]
