"""A store: what a query has aggregated, kept as a Delta table, for any question later."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from slidewheel.algebra.define import AggregateType
from slidewheel.engine.batches import read_table
from slidewheel.engine.entries import Entries
from slidewheel.errors import InvalidArgument, InvalidStore, StoreConflict
from slidewheel.store import log
from slidewheel.store.asking import Question, chosen_aggregates, edges_of
from slidewheel.store.batches import Appended, Batch, checked_batch
from slidewheel.store.checking import Checked, check
from slidewheel.store.choosing import chosen_keys
from slidewheel.store.compacting import TARGET, Compacted, Compaction
from slidewheel.store.definition import Definition, definition_from
from slidewheel.store.files import Folder, Written, write_rows
from slidewheel.store.following import Following
from slidewheel.store.info import Info, info
from slidewheel.store.loading import slots_between, wheel_of
from slidewheel.store.partials import Partials
from slidewheel.store.planning import StorePlan
from slidewheel.store.reading import ROOM, Reading
from slidewheel.store.windows import chosen_windows, windows_table
from slidewheel.times import DurationLike, InstantLike, duration
from slidewheel.wheel.keyed import KeyedWheel
from slidewheel.wheel.levels import Level
from slidewheel.windows.specs import Spec

TRIES = 20
"""How often a change is tried again when another one came first."""
JUST_NOW = 0.01
"""Seconds after a store was opened in which its first question need not look at the log once more."""


class Store:
    """Partial states of a query at rest. Made by `sw.create_store`, opened by `sw.open_store`.

    Every question is answered from one version of the store: the newest when it is asked, or the one that was opened.

    >>> import tempfile, slidewheel as sw
    >>> query = sw.query(time="at", keys="zone", windows=[sw.tumbling("1h")], aggregates=[sw.sum("fare"), sw.count()])
    >>> store = sw.create_store(tempfile.mkdtemp() + "/fares", query, levels=["1s", "1m", "1h", "1d"])
    >>> store.append({"at": [0, 61_000_000], "zone": ["a", "b"], "fare": [3.5, 2.0]}).partials
    2
    >>> store.query(0, 60_000_000).to_pylist()
    [{'zone': 'a', 'sum_fare': 3.5, 'count': 1}]
    """

    def __init__(
        self,
        path: str,
        own: Sequence[AggregateType] = (),
        *,
        options: Mapping[str, str] | None = None,
        trusted: bool = False,
        version: int | None = None,
        room: int = ROOM,
    ) -> None:
        self.path, self._own, self._options, self._trusted = path, own, options, trusted
        self._version, self._room = version, room
        self.folder = Folder(path, options)
        self._changing, self._appending = threading.RLock(), threading.RLock()
        self._table = log.opened(path, options, version)
        self._definition = definition_from(self._table.metadata().configuration, path, own)
        self._snapshot = log.Snapshot(self._table, self._definition)
        self._looked = time.monotonic()
        self._reading: Reading | None = None
        self._writing: Partials | None = None

    def __repr__(self) -> str:
        query = self.definition.query
        names = ", ".join(aggregate.output for aggregate in query.aggregates)
        by = f" by {', '.join(query.keys)}" if query.keys else ""
        levels = " ".join(level.name for level in self.levels)
        return f"<Store {self.path} at version {self._snapshot.version}: {names}{by}; {levels}>"

    # ---- what it is

    @property
    def definition(self) -> Definition:
        """The query, the levels, and the types of the input once they are known."""
        return self._definition

    @property
    def levels(self) -> tuple[Level, ...]:
        return self._definition.levels

    @property
    def tick(self) -> int:
        """The precision of answers, in microseconds."""
        return self._definition.tick

    @property
    def version(self) -> int:
        """The newest version of the table, or the one that was opened."""
        return self.snapshot().version

    @property
    def span(self) -> tuple[int, int] | None:
        """From the first slot that is kept to the end of the last one, in microseconds; None while there is none."""
        return self.snapshot().span

    def snapshot(self) -> log.Snapshot:
        """What the log says now."""
        if self._version is not None:
            return self._snapshot
        with self._changing:
            if time.monotonic() - self._looked < JUST_NOW:
                self._looked = 0.0
                return self._snapshot
            try:
                self._table.update_incremental()
            except Exception as error:
                raise InvalidStore(f"the log of the store {self.path} can't be read: {error}") from error
            if self._table.version() != self._snapshot.version:
                if self._definition.schema is None:
                    self._definition = definition_from(self._table.metadata().configuration, self.path, self._own)
                before, self._snapshot = self._snapshot, log.Snapshot(self._table, self._definition, self._snapshot)
                if self._reading is not None:
                    now = {file.path for file in self._snapshot.files}
                    self._reading.forget({file.path for file in before.files} - now)
            return self._snapshot

    def last_batch(self, application: str) -> int | None:
        """The number of the last batch that an application has committed; None if there is none."""
        with self._changing:
            self.snapshot()
            found = self._table.transaction_version(log.APPLICATION + application)
        return None if found is None else int(found)

    # ---- writing

    def append(self, data: Any, *, batch: Batch | None = None) -> Appended:
        """Add the rows of a table, in one commit.

        batch: the id of an application and a number that rises. A batch that the store has, or a later one of the same
            application, is not added again: whoever fails half-way can do all of it once more.
        """
        checked_batch(batch)
        table = read_table(data)
        if self.has(batch):
            return Appended(False)
        with self._appending:
            if self._writing is None:
                self._writing = self.prepared(table.schema)
            entries, without = self._writing.lifted(table)
            files = self.write_table(self._writing.table(entries)) if len(entries) else []
        return Appended(self.commit(files, batch), len(entries), without)

    def prepared(self, schema: pa.Schema) -> Partials:
        """What makes partials of rows of this schema. The first one decides about the types of the store."""
        if self._version is not None:
            raise InvalidArgument("this is an old version of the store: open it without version= to write")
        self.snapshot()
        for _ in range(TRIES):
            if self._definition.schema is not None:
                break
            self._set_types(self._definition.with_schema(schema))
        return Partials(self._definition, self._trusted)

    def _set_types(self, typed: Definition) -> None:
        package = log.delta()
        wanted = package.Schema.from_arrow(typed.table_schema())
        with self._changing:
            try:
                known = {field.name: field.type for field in self._table.schema().fields}
                missing = [field for field in wanted.fields if field.name not in known]
                for field in wanted.fields:
                    if field.name in known and known[field.name] != field.type:
                        raise InvalidArgument(
                            f"somebody else writes to the store {self.path}, and has made {field.name!r} "
                            f"{known[field.name].type}, while these rows make it {field.type.type}: cast one of both"
                        )
                if missing:
                    self._table.alter.add_columns(missing)
                self._table.alter.set_table_properties(typed.types(), raise_if_not_exists=False)
            except package.exceptions.CommitFailedError:
                pass  # somebody else was first: their types hold
            self._table = log.opened(self.path, self._options, None)
            self._definition = definition_from(self._table.metadata().configuration, self.path, self._own)
            self._snapshot = log.Snapshot(self._table, self._definition)

    def write_table(self, table: pa.Table) -> list[Written]:
        """Partials, as rows of a file, in files that no version has yet."""
        level, keys, size = self.levels[0].name, self._definition.query.keys, 2 * TARGET
        pieces = [table.slice(first, size) for first in range(0, table.num_rows, size)]
        return [write_rows(self.folder, level, False, piece, keys) for piece in pieces]

    def commit(self, files: Sequence[Written], batch: Batch | None) -> bool:
        """Put files into the store, once; whether this call did."""
        numbers = {} if batch is None else {log.APPLICATION + batch[0]: batch[1]}
        if not files and not numbers:
            return True
        for _ in range(TRIES):
            if self.has(batch):
                return False
            try:
                log.commit(self.path, self._options, self._definition, files, numbers)
                return True
            except StoreConflict:
                continue
        raise StoreConflict(f"the store {self.path} is being changed so often that {TRIES} tries to commit failed")

    def has(self, batch: Batch | None) -> bool:
        """Whether an application has committed this batch, or a later one."""
        if batch is None:
            return False
        last = self.last_batch(batch[0])
        return last is not None and last >= batch[1]

    # ---- asking

    def query(
        self,
        start: InstantLike | None = None,
        end: InstantLike | None = None,
        *,
        keys: Any = None,
        every: DurationLike | None = None,
        timezone: str | None = None,
        aggregates: Any = None,
    ) -> pa.Table:
        """The aggregates of [start, end) for every key that has rows there, in the order of keys.

        keys: one (a value, or a tuple for several key columns), a list of them, or a mapping from columns to values.
        every: a row for each bucket of this length that is not empty, with its start and end; also "hour", "day",
            "week", "month", "quarter" or "year" of the calendar in a time zone.
        aggregates: the names of some; all, unless given.
        """
        return self.answer(start, end, keys=keys, every=every, timezone=timezone, aggregates=aggregates)[0]

    def explain(self, start: InstantLike | None = None, end: InstantLike | None = None, **asked: Any) -> StorePlan:
        """How `query` answers this, with the same arguments: it is asked, and what was read and combined is counted."""
        return self.answer(start, end, **asked)[1]

    def answer(
        self,
        start: InstantLike | None = None,
        end: InstantLike | None = None,
        *,
        keys: Any = None,
        every: DurationLike | None = None,
        timezone: str | None = None,
        aggregates: Any = None,
    ) -> tuple[pa.Table, StorePlan]:
        """What `query` and `explain` say, both."""
        snapshot = self.snapshot()
        edges = edges_of(snapshot, start, end, every, timezone)
        question = self._question_of(snapshot, edges, keys, aggregates)
        return question.table(every is not None), question.plan

    def _question_of(self, snapshot: log.Snapshot, edges: Any, keys: Any, aggregates: Any) -> Question:
        numbers = chosen_aggregates(self._definition, aggregates)
        reading = self.reading()
        with reading.lock:
            chosen = chosen_keys(reading.partials, keys)
        return Question(snapshot, reading, edges, chosen, numbers)

    def reading(self) -> Reading:
        with self._changing:
            if self._definition.schema is None:
                raise InvalidArgument(f"the store {self.path} is empty: nothing has been written to it yet")
            if self._reading is None:
                self._reading = Reading(self.folder, Partials(self._definition, self._trusted), self._room)
            return self._reading

    def keys(self) -> pa.Table:
        """All keys that have rows, in their order."""
        query = self._definition.query
        found = self.query(aggregates=[query.aggregates[0].output])
        return found.select(list(query.keys))

    def windows(
        self,
        start: InstantLike | None = None,
        end: InstantLike | None = None,
        *,
        window: str | Spec | None = None,
        keys: Any = None,
        aggregates: Any = None,
    ) -> pa.Table:
        """The windows of the store's query inside of [start, end): the rows that `query.run` gives for its events.

        Sliding and tumbling windows whose edges are whole ticks.

        window: the name of one, or another one, such as sw.sliding("1h", every="5m"); all of the query's, unless given.
        """
        snapshot = self.snapshot()
        specs = chosen_windows(self._definition.query.windows, window, self.tick)
        low, high = edges_of(snapshot, start, end, None, None).tolist()
        first, last = (None if given is None else edge for given, edge in ((start, low), (end, high)))
        return windows_table(
            lambda edges: self._question_of(snapshot, edges, keys, aggregates), specs, low, high, first, last
        )

    # ---- in memory

    def load(
        self,
        start: InstantLike | None = None,
        end: InstantLike | None = None,
        *,
        keys: Any = None,
        level: str | None = None,
    ) -> KeyedWheel:
        """A range of time for some keys or all as a `sw.KeyedWheel`, which answers in microseconds.

        level: the finest level to be loaded, if not the store's finest.
        """
        snapshot, levels = self.snapshot(), self.levels_from(level)
        length = levels[0].length
        low, high = self.slots_of(snapshot, start, end, length)
        entries = self.partials_in(snapshot, low, high, keys, levels[0])
        return wheel_of(self.reading().partials, entries, levels, low, high)

    def levels_from(self, name: str | None) -> list[Level]:
        """The levels from this one on, without limits to what is kept."""
        names = [level.name for level in self.levels]
        if name is not None and name not in names:
            raise InvalidArgument(f"there is no level {name!r}; there are {', '.join(names)}")
        return [replace(one, keep="all") for one in self.levels[0 if name is None else names.index(name) :]]

    def slots_of(self, snapshot: log.Snapshot, start: Any, end: Any, length: int) -> tuple[int, int]:
        """A range, widened to whole slots of this length."""
        low, high = edges_of(snapshot, start, end, None, None).tolist()
        return low // length * length, -(-high // length) * length

    def partials_in(self, snapshot: log.Snapshot, low: int, high: int, keys: Any, level: Level) -> Entries:
        """The partials of all slots of a level in a range, which consists of whole ones."""
        reading = self.reading()
        with reading.lock:
            chosen = chosen_keys(reading.partials, keys)
        return slots_between(snapshot, reading, chosen, low, high, level)

    def follow(
        self,
        start: InstantLike | None = None,
        *,
        keys: Any = None,
        level: str | None = None,
    ) -> Following:
        """A wheel as `load` gives it, from `start` on, which takes in what is committed from now on.

        Call `refresh()` when it suits, or use it in a `with` block: then a thread looks once a second.
        """
        return Following(self, start, keys, level)

    # ---- upkeep

    def compact(self, *, target: int = TARGET) -> Compacted:
        """Fold partials, roll levels up, and let go what retention does not keep: in one commit.

        target: rows of a file, about. Two compactions at once are a conflict: one of them raises, and nothing is lost.
        """
        self._refuse_old_version()
        snapshot = self.snapshot()
        if self._definition.schema is None:
            return Compacted()
        reading = Reading(self.folder, Partials(self._definition, self._trusted), 0)
        work = Compaction(snapshot, reading, self.folder, target)
        numbers = work.run()
        if numbers is not None:
            table = log.opened(self.path, self._options, snapshot.version)
            done = {"slidewheel": str(work.done)}
            log.upkeep(self.path, table, self._definition, work.added, work.removed, numbers, done)
        return work.done

    def check(self) -> Checked:
        """Read all of it: whether files are as they were written, and levels add up. What is wrong is in `problems`."""
        snapshot = self.snapshot()
        if self._definition.schema is None:
            return Checked()
        return check(snapshot, Reading(self.folder, Partials(self._definition, self._trusted), 0))

    def info(self) -> Info:
        """What is in it: versions, levels, files, rows and bytes."""
        return info(self.snapshot(), self.path)

    def vacuum(self, *, keep: DurationLike = "7d", dry_run: bool = False) -> list[str]:
        """Delete files that no version younger than `keep` has, and those that were never committed."""
        self._refuse_old_version()
        hours = -(-duration(keep, allow_zero=True) // 3_600_000_000)
        table = log.opened(self.path, self._options, None)
        return list(table.vacuum(hours, dry_run=dry_run, enforce_retention_duration=False, full=True))

    def _refuse_old_version(self) -> None:
        if self._version is not None:
            raise InvalidArgument("this is an old version of the store: open it without version= to change it")
