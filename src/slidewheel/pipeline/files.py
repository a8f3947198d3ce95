"""Files of a folder as a source: Parquet, CSV, JSON by lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slidewheel.errors import SlidewheelError
from slidewheel.pipeline.ddl import columns_of
from slidewheel.pipeline.formats import KEPT, parsed, with_malformed
from slidewheel.pipeline.places import resolved
from slidewheel.pipeline.rejects import MALFORMED
from slidewheel.pipeline.table import Scalar, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Files:
    kind: str
    path: str
    schema: str
    options: Mapping[str, Scalar]
    columns: Mapping[str, str] | None
    """Names and types; None if they are the files' own."""

    keeps_rejects = True

    @property
    def origin(self) -> str:
        return f"{self.kind} files in {self.path}"

    @classmethod
    def read(cls, kind: str, table: Table, folder: Path) -> "Files":
        path = resolved(table.text("path", required=True), folder)
        schema = table.text("schema")
        columns = read_schema(table, schema)
        if not schema and kind != "parquet":
            text = f'{kind} needs a schema, as in schema = "departed TIMESTAMP, origin STRING, delay DOUBLE"'
            table.wrong(None if "schema" not in table else "schema", text)
        options = table.scalars("options")
        if kind == "json" and "multiLine" in options:
            table.mistakes.add((*table.place, "options", "multiLine"), "json is read line by line: multiLine is not")
        return cls(kind, path, schema, options, columns)

    def rows(self, spark: "SparkSession", *, stream: bool) -> "DataFrame":
        reader = spark.readStream if stream else spark.read
        if self.kind == "json":
            lines = reader.format("text").options(**self.options).load(self.path)
            return parsed(lines, "value", "json", self.schema, self.options)
        if self.kind == "csv":
            options: dict[str, Scalar] = {"header": True, **self.options, **KEPT}
            # Else a row that is too short or too long is only noticed if its last columns are asked for.
            options["columnPruning"] = False
            return reader.format("csv").schema(with_malformed(self.schema)).options(**options).load(self.path)
        schema = self.schema or spark.read.options(**self.options).parquet(self.path).schema
        rows = reader.format("parquet").schema(schema).options(**self.options).load(self.path)
        return rows.selectExpr("*", f"cast(null as string) as {MALFORMED}")

    def is_through(self, offsets: Sequence[Any]) -> bool:
        return False

    def __str__(self) -> str:
        return self.origin + (f" ({self.schema})" if self.schema else "")


def read_schema(table: Table, schema: str) -> Mapping[str, str] | None:
    """The columns of a schema; None if there is none, or something is wrong with it, which is noted."""
    if not schema:
        return None
    try:
        return columns_of(schema)
    except SlidewheelError as error:
        table.wrong("schema", f"schema: {error}")
        return None
