"""A Kafka topic as a source and as an output."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from slidewheel.pipeline import sql
from slidewheel.pipeline.files import read_schema
from slidewheel.pipeline.formats import FORMATS, parsed
from slidewheel.pipeline.table import Scalar, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STARTS = ("earliest", "latest")


@dataclass(frozen=True)
class Messages:
    """The values of a topic's messages as rows."""

    servers: str
    topic: str
    form: str
    schema: str
    starting: str
    options: Mapping[str, Scalar]
    columns: Mapping[str, str] | None

    kind = "kafka"
    keeps_rejects = True

    @property
    def origin(self) -> str:
        return f"Kafka topic {self.topic}"

    @classmethod
    def read(cls, table: Table) -> "Messages":
        servers = ",".join(table.texts("servers", required=True))
        topic = table.text("topic", required=True)
        form = table.choice("format", FORMATS, "json")
        schema = table.text("schema", required=True)
        starting = table.choice("starting", STARTS, "earliest")
        return cls(servers, topic, form, schema, starting, table.scalars("options"), read_schema(table, schema))

    def rows(self, spark: "SparkSession", *, stream: bool) -> "DataFrame":
        reader = (spark.readStream if stream else spark.read).format("kafka").options(**self.options)
        reader = reader.option("kafka.bootstrap.servers", self.servers).option("subscribe", self.topic)
        return self.parsed(reader.option("startingOffsets", self.starting).load())

    def parsed(self, messages: "DataFrame") -> "DataFrame":
        return parsed(messages, "cast(value as string)", self.form, self.schema, self.options)

    def is_through(self, offsets: Sequence[Any]) -> bool:
        return False

    def __str__(self) -> str:
        return f"{self.form} messages of the {self.origin} at {self.servers} ({self.schema})"


@dataclass(frozen=True)
class ToKafka:
    """Answers as JSON messages, with the query's keys as their key: every answer at least once."""

    servers: str
    topic: str
    options: Mapping[str, Scalar]
    keys: Sequence[str] = ()

    kind = "kafka"
    folder = None

    @classmethod
    def read(cls, table: Table) -> "ToKafka":
        servers = ",".join(table.texts("servers", required=True))
        return cls(servers, table.text("topic", required=True), table.scalars("options"))

    def once(self, answers: "DataFrame") -> None:
        self._addressed(self.messages(answers).write).save()

    def each(self, answers: "DataFrame", batch: int) -> None:
        self.once(answers)

    def stream(self, answers: "DataFrame") -> Any:
        return self._addressed(self.messages(answers).writeStream)

    def messages(self, answers: "DataFrame") -> "DataFrame":
        key = f"to_json(struct({', '.join(map(sql.name, self.keys))}))" if self.keys else "cast(null as string)"
        return answers.selectExpr(f"{key} as key", "to_json(struct(*)) as value")

    def _addressed(self, writer: Any) -> Any:
        writer = writer.format("kafka").options(**self.options)
        return writer.option("kafka.bootstrap.servers", self.servers).option("topic", self.topic)

    def __str__(self) -> str:
        return f"Kafka topic {self.topic} at {self.servers}, each answer at least once"


def connector() -> dict[str, Scalar]:
    """The setting by which Spark fetches its connector for Kafka, which is not a part of the package pyspark."""
    version = re.match(r"\d+\.\d+\.\d+", metadata.version("pyspark"))
    return {"spark.jars.packages": f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version.group() if version else ''}"}
