"""Where answers go: Parquet files, the console, a table in memory. Kafka has a file of its own.

An output of a batch pipeline is written `once`. One of a stream is written for `each` of its batches, or, if it is the
only one and Spark has a sink for it, is the `stream`'s own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from slidewheel.pipeline.kafka import ToKafka
from slidewheel.pipeline.mistakes import PipelineFailed
from slidewheel.pipeline.places import local, resolved
from slidewheel.pipeline.table import Scalar, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KINDS = ("parquet", "kafka", "console", "memory")
MODES = ("error", "append", "overwrite")
SPARKS_LOG = "_spark_metadata"
"""Where Spark's own file sink says which files of a folder count: with it there, others are not read."""


class Output(Protocol):
    @property
    def kind(self) -> str: ...

    @property
    def folder(self) -> str | None: ...

    def once(self, answers: "DataFrame") -> None:
        """All answers of a batch pipeline."""


class Sink(Output, Protocol):
    def stream(self, answers: "DataFrame") -> Any:
        """A writer of Spark's for a stream that has no other output."""


class ByBatch(Output, Protocol):
    def each(self, answers: "DataFrame", batch: int) -> None:
        """The answers of one batch of a stream; it may be repeated with the same ones."""


@dataclass(frozen=True)
class ToParquet:
    path: str
    mode: str
    options: Mapping[str, Scalar]

    kind = "parquet"

    @property
    def folder(self) -> str:
        return self.path

    @classmethod
    def read(cls, table: Table, folder: Path, *, stream: bool) -> "ToParquet":
        path = resolved(table.text("path", required=True), folder)
        if stream and "mode" in table:
            table.wrong("mode", "mode is for batch pipelines: a stream always appends")
        return cls(path, table.choice("mode", MODES, "error"), table.scalars("options"))

    def once(self, answers: "DataFrame") -> None:
        answers.write.mode(self.mode).options(**self.options).parquet(self.path)

    def each(self, answers: "DataFrame", batch: int) -> None:
        """A folder for each batch: when it is repeated, it replaces what it has left."""
        answers.write.mode("overwrite").options(**self.options).parquet(f"{self.path}/batch={batch}")

    def stream(self, answers: "DataFrame") -> Any:
        return answers.writeStream.format("parquet").options(**self.options).option("path", self.path)

    def check(self, *, by_batch: bool) -> None:
        """Raise if the folder holds what can't be added to in this way."""
        here = local(self.path)
        if here is None or not here.is_dir():
            return
        if by_batch and (here / SPARKS_LOG).exists():
            raise PipelineFailed(
                f"{here} was written as the only output of a stream, and what comes from one with several outputs or "
                f'late = "update" would not be read there: choose another path for this output'
            )
        if not by_batch and any(here.glob("batch=*")):
            raise PipelineFailed(
                f'{here} has a folder for each batch, from a stream with several outputs or late = "update", which '
                f"would no longer be read: choose another path for this output"
            )

    def check_once(self) -> None:
        here = local(self.path)
        if here is not None and self.mode == "error" and here.exists():
            raise PipelineFailed(
                f'{here} is there already: add mode = "append" or mode = "overwrite" to this output, or '
                f"choose another path"
            )

    def __str__(self) -> str:
        return f"Parquet files in {self.path}"


@dataclass(frozen=True)
class ToConsole:
    rows: int

    kind = "console"
    folder = None

    @classmethod
    def read(cls, table: Table) -> "ToConsole":
        return cls(table.number("rows", 20) or 20)

    def once(self, answers: "DataFrame") -> None:
        answers.show(self.rows, truncate=False)

    def each(self, answers: "DataFrame", batch: int) -> None:
        print(f"batch {batch}", flush=True)
        answers.show(self.rows, truncate=False)

    def __str__(self) -> str:
        return f"console, {self.rows} rows of each batch"


@dataclass(frozen=True)
class ToMemory:
    name: str

    kind = "memory"
    folder = None

    @classmethod
    def read(cls, table: Table) -> "ToMemory":
        name = table.text("name", "answers")
        if not name.isidentifier():
            table.wrong("name", f'name is the name of a table, such as "answers", not {name!r}')
        return cls(name)

    def once(self, answers: "DataFrame") -> None:
        answers.sparkSession.createDataFrame(answers.toArrow(), answers.schema).createOrReplaceTempView(self.name)

    def stream(self, answers: "DataFrame") -> Any:
        return answers.writeStream.format("memory").queryName(self.name)

    def __str__(self) -> str:
        return f"table {self.name} in memory"


def read_output(table: Table, folder: Path, *, stream: bool) -> Output | None:
    """The output of a table; None if its kind is unknown, which is noted."""
    output: Output | None = None
    match table.choice("kind", KINDS):
        case "parquet":
            output = ToParquet.read(table, folder, stream=stream)
        case "kafka":
            output = ToKafka.read(table)
        case "console":
            output = ToConsole.read(table)
        case "memory":
            output = ToMemory.read(table)
        case _:
            return None
    table.refuse_others()
    return output
