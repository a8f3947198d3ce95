"""Counts taken while rows pass by, so that nothing has to be read twice to be counted."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def observe(df: "DataFrame", name: str, measures: Mapping[str, str]) -> tuple["DataFrame", Any]:
    """The same rows, with these SQL aggregates taken of them under a name.

    A stream reports them in the progress of every batch. For a finite DataFrame, what comes back as well has them in
    `.get` once the rows were read.
    """
    columns = [F.expr(expression).alias(measure) for measure, expression in measures.items()]
    if df.isStreaming:
        return df.observe(name, *columns), None
    from pyspark.sql import Observation

    observation = Observation(name)
    return df.observe(observation, *columns), observation
