"""The log of a store: which files are in it at a version, and commits that happen once or not at all.

What a store knows beside its files is in the log as transaction identifiers, pairs of a text and a number which a
commit sets together with its files: the last batch of every application, how often upkeep was done, and since when
slots of a level are kept.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.errors import InvalidArgument, InvalidStore, StoreConflict, Unsupported
from slidewheel.store.definition import FOLDED, LEVEL, START, Definition
from slidewheel.store.files import Written

UPKEEP = "slidewheel.upkeep"
KEPT = "slidewheel.kept."
"""And the name of a level: since when it is kept, in microseconds."""
APPLICATION = "slidewheel.app."
"""And the id of an application: the number of its last batch."""
LIMITS = np.iinfo(np.int64)
FOREVER = int(LIMITS.min)


def delta() -> Any:
    """The package that reads and writes logs."""
    try:
        import deltalake
    except ImportError:
        raise Unsupported("a store is a Delta table, for which there is: pip install 'slidewheel[store]'") from None
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
        self.definition = definition
        actions = pa.table(table.get_add_actions(flatten=True))
        known = {} if before is None else {file.path: file for file in before.files}
        paths = actions["path"].to_pylist()
        new = [place for place, path in enumerate(paths) if path not in known]
        known |= {file.path: file for file in _files(actions.take(pa.array(new, pa.int64())), definition.query.keys)}
        self.files: list[DataFile] = [known[path] for path in paths]
        limited = [level.name for level in definition.levels if level.kept is not None]
        known_since = {name: table.transaction_version(KEPT + name) for name in limited}
        self.kept = {level.name: _or_ever(known_since.get(level.name)) for level in definition.levels}
        """Since when slots of a level are kept."""

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


def _or_ever(since: int | None) -> int:
    return FOREVER if since is None else since


def _files(actions: pa.Table, keys: Sequence[str]) -> list[DataFile]:
    names = set(actions.column_names)
    ends = [f"{end}.{START}" for end in ("min", "max")]
    firsts, lasts = (
        actions[name].cast(pa.int64()).fill_null(limit).to_pylist() if name in names else [limit] * actions.num_rows
        for name, limit in zip(ends, (LIMITS.min, LIMITS.max), strict=True)
    )
    known = [key for key in keys if f"min.{key}" in names]
    lows, highs = (_rows(known, [actions[f"{end}.{key}"] for key in known], len(firsts)) for end in ("min", "max"))
    about = ("path", f"partition.{LEVEL}", f"partition.{FOLDED}", "size_bytes", "num_records")
    columns: Any = [actions[name].to_pylist() for name in about]
    return [DataFile(*values) for values in zip(*columns, firsts, lasts, lows, highs, strict=True)]


def _rows(names: Sequence[str], columns: Sequence[pa.ChunkedArray], count: int) -> list[dict[str, Any]]:
    if not names:
        return [{}] * count
    return [dict(zip(names, row, strict=True)) for row in zip(*(c.to_pylist() for c in columns), strict=True)]


def commit(
    path: str,
    options: Mapping[str, str] | None,
    definition: Definition,
    added: Sequence[Written],
    numbers: Mapping[str, int],
) -> None:
    """Files in, and numbers set, all at once. Numbers that somebody else has set meanwhile are a conflict."""
    _commit(path, opened(path, options, None), definition, _added(added, True), numbers, None)


def upkeep(
    path: str,
    table: Any,
    definition: Definition,
    added: Sequence[Written],
    removed: Sequence[DataFile],
    numbers: Mapping[str, int],
    said: Mapping[str, Any],
) -> None:
    """Files in and out, all at once, as long as nobody else has done so since the version of this table.

    Partials that were appended meanwhile stay as they are.
    """
    delta()
    from deltalake.transaction import RemoveAction

    gone = [
        RemoveAction(
            path=file.path,
            data_change=False,
            deletion_timestamp=_now(),
            size=file.size,
            partition_values=_partition(file),
        )
        for file in removed
    ]
    turn = int(table.transaction_version(UPKEEP) or 0) + 1
    _commit(path, table, definition, [*_added(added, False), *gone], {UPKEEP: turn, **numbers}, said)
    # A log that begins here is read faster; without it, all of it is read.
    with suppress(delta().exceptions.DeltaError):
        table.update_incremental()
        table.create_checkpoint()


def _partition(file: Written | DataFile) -> dict[str, str | None]:
    return {LEVEL: file.level, FOLDED: str(file.folded).lower()}


def _now() -> int:
    return int(time.time() * 1000)


def _added(files: Sequence[Written], changes: bool) -> list[Any]:
    delta()
    from deltalake.transaction import AddAction

    return [AddAction(file.path, file.size, _partition(file), _now(), changes, file.statistics) for file in files]


def _commit(
    path: str,
    table: Any,
    definition: Definition,
    actions: list[Any],
    numbers: Mapping[str, int],
    said: Mapping[str, Any] | None,
) -> None:
    package = delta()
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
