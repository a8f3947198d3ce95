"""The log of a store: which files are in it at a version, and commits that happen once or not at all.

What a store knows beside its files is in the log as transaction identifiers, pairs of a text and a number which a
commit sets together with its files: the last batch of every application, how often upkeep was done, and since when
slots of a level are kept.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.errors import InvalidArgument, InvalidStore, StoreConflict, Unsupported
from slidewheel.store.definition import FOLDED, LEVEL, START, Definition
from slidewheel.store.files import Written
from slidewheel.wheel.levels import Level

UPKEEP = "slidewheel.upkeep"
KEPT = "slidewheel.kept."
"""And the name of a level: since when it is kept, in microseconds."""
APPLICATION = "slidewheel.app."
"""And the id of an application: the number of its last batch."""
FOREVER = np.iinfo(np.int64).min


def delta() -> Any:
    """The package that reads and writes logs."""
    try:
        import deltalake
    except ImportError:
        raise Unsupported("stores are Delta tables: install slidewheel[store]") from None
    return deltalake


@dataclass(frozen=True)
class DataFile:
    """A file of a version, and what the log says of it."""

    path: str
    level: str
    folded: bool
    size: int
    rows: int
    first: int
    last: int
    """The start of its first and last slot."""
    lows: dict[str, Any]
    highs: dict[str, Any]
    """The least and greatest of each key column, where they are known."""


class Snapshot:
    """A version of a store: nothing of it changes."""

    def __init__(self, table: Any, definition: Definition, before: "Snapshot | None" = None) -> None:
        """`before` is an earlier one: what is known of its files is not read again."""
        self.version = int(table.version())
        self._transaction = table.transaction_version
        self.definition = definition
        actions = pa.table(table.get_add_actions(flatten=True))
        known = {} if before is None else {file.path: file for file in before.files}
        paths = actions["path"].to_pylist()
        new = [place for place, path in enumerate(paths) if path not in known]
        known |= {file.path: file for file in _files(actions.take(pa.array(new, pa.int64())), definition.query.keys)}
        self.files: list[DataFile] = [known[path] for path in paths]
        self.kept = {level.name: self._kept(level) for level in definition.levels}
        """Since when slots of a level are kept."""
        self._upkeep = table.transaction_version(UPKEEP) if any(file.folded for file in self.files) else None

    @property
    def upkeep(self) -> int:
        """How often upkeep was done."""
        return int(self._upkeep or 0)

    def _kept(self, level: Level) -> int:
        found = None if level.kept is None else self._transaction(KEPT + level.name)
        return FOREVER if found is None else int(found)

    def last_batch(self, application: str) -> int | None:
        """The number of the last batch that an application has committed."""
        found = self._transaction(APPLICATION + application)
        return None if found is None else int(found)

    @cached_property
    def fresh(self) -> list[DataFile]:
        """Files that compaction has not folded, in the order in which they were written."""
        return sorted((file for file in self.files if not file.folded), key=lambda file: file.path.rpartition("/")[2])

    def folded(self, level: str) -> list[DataFile]:
        return [file for file in self.files if file.folded and file.level == level]

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """From the first slot that is kept to the end of the last one; None where there is none."""
        levels = self.definition.levels
        longest = next((level for level in levels if self.kept[level.name] == FOREVER), levels[-1])
        starts = [file.first for file in self.files if file.level == longest.name or not file.folded]
        ends = [file.last + level.length for level in levels for file in self.files if file.level == level.name]
        finest = [file.last + self.definition.tick for file in self.files if file.level == levels[0].name]
        return (min(starts), max(finest or ends)) if starts and ends else None


def _files(actions: pa.Table, keys: Sequence[str]) -> list[DataFile]:
    found = []
    names = set(actions.column_names)
    for row in actions.to_pylist():
        first, last = row.get(f"min.{START}"), row.get(f"max.{START}")
        limits = np.iinfo(np.int64)
        found.append(
            DataFile(
                row["path"],
                row[f"partition.{LEVEL}"],
                row[f"partition.{FOLDED}"],
                row["size_bytes"],
                row["num_records"],
                limits.min if first is None else _micros(first),
                limits.max if last is None else _micros(last),
                {key: row.get(f"min.{key}") for key in keys if f"min.{key}" in names},
                {key: row.get(f"max.{key}") for key in keys if f"max.{key}" in names},
            )
        )
    return found


def _micros(value: Any) -> int:
    return int(np.datetime64(value.replace(tzinfo=None), "us").astype(np.int64))


def commit(
    path: str,
    options: Mapping[str, str] | None,
    definition: Definition,
    *,
    added: Sequence[Written],
    removed: Sequence[DataFile] = (),
    numbers: Mapping[str, int],
    table: Any = None,
    said: Mapping[str, Any] | None = None,
) -> None:
    """Files in and out, and numbers set, all at once. Numbers that somebody else has set meanwhile are a conflict."""
    package = delta()
    from deltalake.transaction import AddAction, RemoveAction

    now = int(time.time() * 1000)
    table = package.DeltaTable(path, storage_options=options) if table is None else table
    changes = not removed
    actions = [
        AddAction(
            file.path, file.size, {LEVEL: file.level, FOLDED: str(file.folded).lower()}, now, changes, file.statistics
        )
        for file in added
    ] + [
        RemoveAction(
            path=file.path,
            data_change=False,
            deletion_timestamp=now,
            size=file.size,
            partition_values={LEVEL: file.level, FOLDED: str(file.folded).lower()},
        )
        for file in removed
    ]
    properties = package.CommitProperties(
        app_transactions=[package.Transaction(name, number) for name, number in numbers.items()],
        custom_metadata=dict(said) if said else None,
    )
    try:
        table.create_write_transaction(
            actions, "append", definition.table_schema(), [LEVEL, FOLDED], commit_properties=properties
        )
    except package.exceptions.CommitFailedError as error:
        raise StoreConflict(f"the store {path} was changed meanwhile: {error}") from None
    except package.exceptions.DeltaError as error:
        raise InvalidStore(f"the store {path} did not take the commit: {error}") from error


def opened(path: str, options: Mapping[str, str] | None, version: int | None) -> Any:
    """The Delta table of a store."""
    package = delta()
    try:
        return package.DeltaTable(path, version=version, storage_options=dict(options) if options else None)
    except package.exceptions.TableNotFoundError:
        raise InvalidArgument(f"there is no store at {path}: make one with sw.create_store(path, query)") from None
    except package.exceptions.DeltaError as error:
        raise InvalidStore(f"the log of the store {path} can't be read: {error}") from None
