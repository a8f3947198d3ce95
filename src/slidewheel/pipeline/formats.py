"""Text to columns: lines of JSON and CSV, from files or messages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slidewheel.pipeline import sql
from slidewheel.pipeline.rejects import MALFORMED
from slidewheel.pipeline.table import Scalar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS = ("json", "csv")
KEPT: dict[str, Scalar] = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
"""What makes Spark hand out a malformed row's text instead of failing or dropping it."""


def with_malformed(schema: str) -> str:
    return f"{schema}, {MALFORMED} STRING"


def parsed(df: "DataFrame", text: str, form: str, schema: str, options: Mapping[str, Scalar]) -> "DataFrame":
    """The columns of the schema, out of an SQL expression of text; blank texts are no rows."""
    function, wanted = f"from_{form}", sql.literal(with_malformed(schema))
    rows = df.selectExpr(f"{text} as text").where("text is null or trim(text) <> ''")
    made = rows.selectExpr(f"{function}(text, {wanted}, {sql.options({**options, **KEPT})}) as row")
    return made.selectExpr("row.*")
