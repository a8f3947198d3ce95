"""Rows that can't be read, or have no time, are told from the others: counted, and kept aside.

A source gives its columns and one more, `MALFORMED`: null, or the text of a row that its schema does not fit.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from slidewheel.pipeline import sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MALFORMED = "slidewheel_malformed"
METRICS = "slidewheel_input"
"""The name under which the counts are among the observed metrics."""


def readable(df: "DataFrame", time: str) -> tuple["DataFrame", Any]:
    """The rows that can be used, and what they are counted by on the way: see `observe`."""
    from slidewheel.spark.observing import observe

    names = _columns(df)
    measures = {
        "rows": "count(*)",
        "malformed": f"count_if({MALFORMED} is not null)",
        "without_time": f"count_if({MALFORMED} is null and {sql.name(time)} is null)",
        # Spark's CSV reader leaves columns out that nobody asks for, and what is wrong in them: ask for all, so that a
        # row is malformed for this query exactly if it is for the one that keeps such rows aside.
        "values": " + ".join(f"count({sql.name(column)})" for column in names),
    }
    counted, observation = observe(df, METRICS, measures)
    good = counted.where(f"{MALFORMED} is null and {sql.name(time)} is not null")
    return good.selectExpr(*map(sql.name, names)), observation


def rejected(df: "DataFrame", time: str) -> "DataFrame":
    """The other rows: why each was left out, and its text."""
    row = f"coalesce({MALFORMED}, to_json(struct({', '.join(map(sql.name, _columns(df)))})))"
    bad = df.where(f"{MALFORMED} is not null or {sql.name(time)} is null")
    return bad.selectExpr(f"if({MALFORMED} is null, 'no time', 'malformed') as reason", f"{row} as row")


def _columns(df: "DataFrame") -> Sequence[str]:
    return [column for column in df.columns if column != MALFORMED]
