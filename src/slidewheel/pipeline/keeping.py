"""The `[store]` of a pipeline: its rows are also kept as a store, which any range of time can be asked of later."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slidewheel.engine.query import Query
from slidewheel.errors import SlidewheelError
from slidewheel.pipeline.mistakes import PipelineFailed
from slidewheel.pipeline.places import resolved
from slidewheel.pipeline.table import Table, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from slidewheel.store.store import Store


@dataclass(frozen=True)
class Keeping:
    """Where the store is, how it is made if it is not there yet, and as what a batch adds its rows."""

    path: str
    levels: Any
    keep: Any
    application: str
    batch: int | None

    @classmethod
    def read(cls, table: Table, folder: Path, name: str, *, stream: bool) -> "Keeping":
        path = resolved(table.text("path", required=True), folder)
        levels, keep = table.get("levels"), table.get("keep")
        application, batch = table.text("application", name), table.get("batch")
        if stream and batch is not None:
            table.wrong("batch", "batch is for batch pipelines: the batches of a stream have numbers of their own")
        elif not stream and (not isinstance(batch, int) or isinstance(batch, bool)):
            table.wrong(
                "batch" if "batch" in table else None,
                f"[store] needs batch, a number that rises from run to run, not {shown(batch)}: rows of one number are "
                f"added once",
            )
        table.refuse_others()
        return cls(path, levels, "all" if keep is None else keep, application, batch)

    def check(self, table: Table, query: Query) -> None:
        """Note what a store can't be made of."""
        try:
            from slidewheel.store.definition import definition_of

            definition_of(query, "1s", self.levels, self.keep)
        except SlidewheelError as error:
            table.wrong(None, f"[store]: {error}")

    def store(self, query: Query) -> "Store":
        """The store, made if it is not there."""
        from slidewheel.store.log import delta
        from slidewheel.store.opening import create_store, store_for

        try:
            if not delta().DeltaTable.is_deltatable(self.path):
                return create_store(self.path, query, levels=self.levels, keep=self.keep)
            return store_for(query, self.path)
        except SlidewheelError as error:
            raise PipelineFailed(str(error)) from None

    def once(self, rows: "DataFrame", query: Query) -> bool:
        """The rows of a batch pipeline; False if the store has them."""
        from slidewheel.spark.storing import write_store

        assert self.batch is not None
        done: bool = write_store(rows, self.store(query), query, batch=(self.application, self.batch)).committed
        return done

    def start(self, rows: "DataFrame", query: Query, checkpoint: str, trigger: dict[str, Any]) -> Any:
        """A streaming query that adds rows as they come."""
        from slidewheel.spark.storing import write_store

        return write_store(rows, self.store(query), query, checkpoint=checkpoint, trigger=trigger)

    def __str__(self) -> str:
        return self.path if self.batch is None else f"{self.path}, as batch {self.batch} of {self.application!r}"
