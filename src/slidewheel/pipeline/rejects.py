"""Rows that can't be read, or lack a time or a key, are told from the others: counted, and kept aside.

A source gives its columns and one more, `MALFORMED`: null, or the text of a row that its schema does not fit.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slidewheel.pipeline import sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MALFORMED = "slidewheel_malformed"
METRICS = "slidewheel_input"
"""The name under which the counts are among the observed metrics."""
COUNTS = {"malformed": "malformed", "no time": "without_time", "no key": "without_key"}
"""By reason, what its rows are counted as."""


def reasons(time: str, keys: Sequence[str]) -> dict[str, str]:
    """Why a row can't be used, with the condition in SQL; the first that holds is the one that is said.

    keys: the columns whose nulls are a reason.

    >>> reasons("t", ["k"])["no key"]
    '`k` is null'
    """
    found = {"malformed": f"{MALFORMED} is not null", "no time": f"{sql.name(time)} is null"}
    if keys:
        found["no key"] = " or ".join(f"{sql.name(key)} is null" for key in keys)
    return found


def readable(df: "DataFrame", why: Mapping[str, str]) -> tuple["DataFrame", Any]:
    """The rows that can be used, and what they are counted by on the way: see `observe`."""
    from slidewheel.spark.observing import observe

    names = _columns(df)
    measures = {
        "rows": "count(*)",
        **{COUNTS[reason]: f"count_if(({_reason(why)}) = '{reason}')" for reason in why},
        # Spark's CSV reader leaves columns out that nobody asks for, and what is wrong in them: ask for all, so that a
        # row is malformed for this query exactly if it is for the one that keeps such rows aside.
        "values": " + ".join(f"count({sql.name(column)})" for column in names),
    }
    counted, observation = observe(df, METRICS, measures)
    return counted.where(f"({_reason(why)}) is null").selectExpr(*map(sql.name, names)), observation


def usable(df: "DataFrame", why: Mapping[str, str]) -> "DataFrame":
    """The same rows without a count. All columns are asked for here as well, and a hash is never null."""
    names = [*map(sql.name, _columns(df))]
    return df.where(f"({_reason(why)}) is null and hash({', '.join(names)}) is not null").selectExpr(*names)


def rejected(df: "DataFrame", why: Mapping[str, str]) -> "DataFrame":
    """The other rows: why each was left out, and its text."""
    row = f"coalesce({MALFORMED}, to_json(struct({', '.join(map(sql.name, _columns(df)))})))"
    return df.where(f"({_reason(why)}) is not null").selectExpr(f"{_reason(why)} as reason", f"{row} as row")


def _reason(why: Mapping[str, str]) -> str:
    """SQL for the reason of a row; null if there is none."""
    cases = " ".join(f"when {condition} then '{reason}'" for reason, condition in why.items())
    return f"case {cases} end"


def _columns(df: "DataFrame") -> Sequence[str]:
    return [column for column in df.columns if column != MALFORMED]
