"""From files to partial states: only row groups that can hold what is asked for, each decoded once while it fits."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from slidewheel.engine.columns import Array
from slidewheel.engine.entries import Entries
from slidewheel.errors import InvalidStore
from slidewheel.store.choosing import Chosen
from slidewheel.store.definition import START
from slidewheel.store.files import Folder
from slidewheel.store.log import LIMITS, DataFile
from slidewheel.store.partials import Partials

ROOM = 512 << 20
"""Bytes of decoded states that are kept for later questions."""
OPEN = 128 << 20
"""Bytes of files that are kept, as row groups of a file are often needed one soon after the other."""


class Group:
    """A row group, decoded as far as somebody has asked."""

    def __init__(self, codes: Array, ids: Array) -> None:
        self.codes, self.ids = codes, ids
        self.states: dict[int, Array] = {}

    @property
    def nbytes(self) -> int:
        return int(sum(a.nbytes for a in (self.codes, self.ids, *self.states.values())))


class Opened:
    """A file whose checksum was right, and what its footer says."""

    def __init__(self, data: pa.Buffer, keys: Sequence[str]) -> None:
        self.size, self._keys, self.lock = data.size, keys, threading.Lock()
        self.parquet = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        self._metadata = self.parquet.metadata
        self._names = self._metadata.schema.names
        place = self._names.index(START)
        self.spans: list[tuple[int, int]] = []
        """The first and last start of each row group."""
        for number in range(self._metadata.num_row_groups):
            found = self._metadata.row_group(number).column(place).statistics
            known = found is not None and found.has_min_max
            self.spans.append((found.min_raw, found.max_raw) if known else (LIMITS.min, LIMITS.max))

    def ends(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The least and greatest of each key column in a row group, where they are known."""
        lows, highs = {}, {}
        for name in self._keys:
            found = self._metadata.row_group(number).column(self._names.index(name)).statistics
            if found is not None and found.has_min_max:
                lows[name], highs[name] = found.min, found.max
        return lows, highs


class Reading:
    """Reads files of a store. Answers to the same questions are the same, whatever is kept."""

    def __init__(self, folder: Folder, partials: Partials, room: int = ROOM) -> None:
        self.folder, self.partials, self.room = folder, partials, room
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._groups: OrderedDict[tuple[str, int], Group] = OrderedDict()
        self._held = 0
        self.lock = partials.lock

    def forget(self, paths: Iterable[str]) -> None:
        """Files that are no longer part of the store."""
        gone = set(paths)
        with self.lock:
            for path in gone:
                self._opened.pop(path, None)
            for key in [key for key in self._groups if key[0] in gone]:
                self._held -= self._groups.pop(key).nbytes

    def open(self, file: DataFile) -> Opened:
        with self.lock:
            found = self._opened.get(file.path)
        if found is None:
            data = self.folder.read(file.path)
            try:
                found = Opened(data, self.partials.definition.query.keys)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise InvalidStore(f"the file {file.path} can't be read: {error}") from None
            with self.lock:
                self._opened[file.path] = found
                while sum(one.size for one in self._opened.values()) > OPEN and len(self._opened) > 1:
                    self._opened.popitem(last=False)
        return found

    def entries(
        self,
        file: DataFile,
        spans: Sequence[tuple[int, int]],
        parts: Sequence[int],
        chosen: Chosen | None,
    ) -> Iterable[tuple[Entries, int]]:
        """The rows of a file that may lie in one of these spans and be of the chosen keys; and how many were read."""
        if chosen is not None and not chosen.possible(file.lows, file.highs):
            return
        opened = self.open(file)
        for number, (first, last) in enumerate(opened.spans):
            if not any(low <= last and first < high for low, high in spans):
                continue
            if chosen is not None and not chosen.possible(*opened.ends(number)):
                continue
            group = self._group(file, opened, number, parts)
            states = [group.states[component] for component in self.partials.components_of(parts)]
            found = Entries(group.codes, group.ids, states)
            if chosen is not None:
                found = found.take(chosen.holds(found.codes))
            yield found, len(group.ids)

    def _group(self, file: DataFile, opened: Opened, number: int, parts: Sequence[int]) -> Group:
        key = file.path, number
        with self.lock:
            group = self._groups.get(key)
            if group is not None:
                self._groups.move_to_end(key)
            missing = [part for part in parts if group is None or part not in group.states]
        if group is not None and not missing:
            return group
        columns = [column.name for part in missing for column in self.partials.layout.parts[part]]
        wanted = [*self.partials.definition.query.keys, START, *columns]
        table = self._table(file, opened, lambda parquet: parquet.read_row_group(number, wanted, use_threads=False))
        with self.lock:
            return self._keep(key, table, missing)

    def _keep(self, key: tuple[str, int], table: pa.Table, parts: Sequence[int]) -> Group:
        """Decode a row group, and keep it beside what is known of it."""
        found = self.partials.entries(table, parts)
        made, before = Group(found.codes, found.ids), self._groups.get(key)
        made.states = dict(zip(self.partials.components_of(parts), found.states, strict=True))
        if before is not None:
            made.states = {**before.states, **made.states}
        self._groups[key] = made
        self._held += made.nbytes - (0 if before is None else before.nbytes)
        while self._held > self.room and len(self._groups) > 1:
            _, dropped = self._groups.popitem(last=False)
            self._held -= dropped.nbytes
        return made

    @staticmethod
    def _table(file: DataFile, opened: Opened, read: Callable[[pq.ParquetFile], pa.Table]) -> pa.Table:
        """What is read of a file: by one thread at a time, as its reader is not made for more."""
        try:
            with opened.lock:
                return read(opened.parquet)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InvalidStore(f"the file {file.path} can't be read: {error}") from None

    def whole(self, file: DataFile) -> Entries:
        """All rows of a file with all states, past what is kept."""
        table = self._table(file, self.open(file), lambda parquet: parquet.read(use_threads=False))
        with self.lock:
            return self.partials.entries(table)
