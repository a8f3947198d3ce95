"""Queries on Spark: batch, streaming, a session for them, and how executors get the package."""

from typing import Any

from slidewheel.spark.session import session
from slidewheel.spark.shipping import ship

__all__ = ["StoreWriter", "session", "ship", "write_store"]


def __getattr__(name: str) -> Any:
    """Stores are imported when first used: they need more than Spark."""
    if name not in ("StoreWriter", "write_store"):
        raise AttributeError(f"module 'slidewheel.spark' has no attribute {name!r}")
    from slidewheel.spark import storing

    return getattr(storing, name)
