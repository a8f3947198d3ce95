"""Pipeline: a source, a query, outputs, and how to run them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from slidewheel.engine.query import Query
from slidewheel.pipeline import rejects
from slidewheel.pipeline.keeping import Keeping
from slidewheel.pipeline.outputs import Output
from slidewheel.pipeline.summary import Summary, Watch
from slidewheel.pipeline.table import Scalar
from slidewheel.pipeline.trigger import Trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Source(Protocol):
    @property
    def kind(self) -> str: ...

    @property
    def origin(self) -> str:
        """What offsets in a checkpoint are about."""

    @property
    def columns(self) -> Mapping[str, str] | None:
        """Names and types, where they are known without looking at the data."""

    @property
    def keeps_rejects(self) -> bool:
        """Whether there may be rows that can't be used."""

    def rows(self, spark: "SparkSession", *, stream: bool) -> "DataFrame":
        """Its columns, and `MALFORMED`: see `rejects`."""

    def is_through(self, offsets: Sequence[Any]) -> bool:
        """Whether a stream that was at these offsets before its last batch has nothing more to give, ever."""


@dataclass(frozen=True)
class Platform:
    """The `[spark]` table."""

    master: str | None
    remote: str | None
    config: Mapping[str, Scalar]

    @property
    def is_elsewhere(self) -> bool:
        """Whether paths are those of another machine."""
        return self.remote is not None and self.remote.startswith("sc://")

    @property
    def has_executors(self) -> bool:
        """Whether work is done by processes that may lack slidewheel."""
        return not str(self).startswith("local[") and str(self) != "local"

    def __str__(self) -> str:
        return self.remote or self.master or "local[*]"


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """What a pipeline file says, made by `slidewheel.pipeline.load`."""

    file: Path
    source: Source
    query: Query
    module: Path | None
    """The file of the user's own aggregates, which executors need as well."""
    null_keys: bool
    """Whether a null is a key like any other; else its row can't be used."""
    outputs: tuple[Output, ...]
    trigger: Trigger
    checkpoint: str
    rejects: str | None
    """The folder for rows that can't be used; None if they are only counted."""
    late_to: str | None
    keeping: Keeping | None
    """The store that the rows go to as well."""
    platform: Platform

    @property
    def goes_on(self) -> bool:
        """Whether a stream has a checkpoint: an output that is gone with the process leaves nothing to continue."""
        return self.outputs[0].kind != "memory"

    @property
    def reasons(self) -> dict[str, str]:
        """Why a row can't be used: see `rejects`."""
        return rejects.reasons(self.query.time, () if self.null_keys else self.query.keys)

    @property
    def writes_by_batch(self) -> bool:
        """Whether a stream hands out its batches: it has several outputs, or one that Spark has no fitting sink for."""
        only = self.outputs[0].kind
        corrects = self.query.late == "update"  # Spark's sink for files only takes what is final
        return len(self.outputs) > 1 or only == "console" or (only == "parquet" and corrects)

    def run(self, spark: "SparkSession | None" = None, watch: Watch | None = None) -> Summary:
        """Run it to its end, or until it is stopped by SIGINT or SIGTERM.

        spark: a session to run it in, which is left open; else one is started as `[spark]` says.
        watch: is told how far it has come.
        """
        from slidewheel.pipeline.running import run

        return run(self, spark, watch)

    def explain(self) -> str:
        """What will be done, as text. Spark is not started."""
        unusable = self.rejects or ("only counted" if self.source.keeps_rejects else "")
        said = {
            "source": str(self.source),
            **({"store": str(self.keeping)} if self.keeping else {}),
            **({"late rows": self.late_to} if self.late_to else {}),
            **({"rejects": unusable} if unusable else {}),
            **{f"output {number}": str(output) for number, output in enumerate(self.outputs, 1)},
            "runs": f"{self.trigger}, on Spark at {self.platform}",
            **({"checkpoint": self.checkpoint} if self.trigger.stream else {}),
        }
        head = "\n".join(f"{name:<12}{text}" for name, text in said.items())
        return f"{os.fspath(self.file)}\n{head}\n\n{self.query.explain()}"
