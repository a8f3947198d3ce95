"""Pipelines run in the session that the tests of Spark use."""

from tests.spark.conftest import spark

__all__ = ["spark"]
