"""Death at any step: what writes to disk is counted, and one step is the last."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deltalake.table import DeltaTable, TableAlterer

import slidewheel as sw
from slidewheel.store import log
from slidewheel.store.files import Folder
from tests.store.events import events

QUERY = sw.query(
    time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.sum("i"), sw.max("x")], lateness="10s"
)


class Killed(BaseException):
    """What a process that is killed does not live to see."""


class Death:
    """Comes at step number `at`: before it, in the middle of a file, or when it is done but nobody knows."""

    def __init__(self, at: int | None, act: Callable[[], None] | None = None) -> None:
        self.at, self.steps, self.act = at, 0, act

    def step(self) -> None:
        if self.at is not None and self.steps >= self.at:
            if self.act is not None:
                self.act()
            raise Killed
        self.steps += 1

    @contextmanager
    def around(self, monkeypatch: Any) -> Iterator["Death"]:
        write, commit, checkpoint = Folder.write, log._commit, DeltaTable.create_checkpoint
        columns, properties = TableAlterer.add_columns, TableAlterer.set_table_properties

        def torn(folder: Folder, name: str, data: bytes) -> None:
            self.step()
            if self.at is not None and self.steps >= self.at:
                write(folder, name, bytes(data)[: len(data) // 2])
            self.step()
            write(folder, name, data)
            self.step()

        def whole(function: Any) -> Any:
            def wrapped(*arguments: Any, **named: Any) -> None:
                self.step()
                function(*arguments, **named)
                self.step()

            return wrapped

        with monkeypatch.context() as patch:
            patch.setattr(Folder, "write", torn)
            patch.setattr(log, "_commit", whole(commit))
            patch.setattr(DeltaTable, "create_checkpoint", whole(checkpoint))
            patch.setattr(TableAlterer, "add_columns", whole(columns))
            patch.setattr(TableAlterer, "set_table_properties", whole(properties))
            yield self


class Clients:
    """A batch client, a stream and somebody who compacts, with what each of them has put away safely."""

    def __init__(self, path: Path, seed: int, pieces: int = 4, rows: int = 40) -> None:
        table = events(2 * pieces * rows, seed)
        halves = [table.slice(0, pieces * rows), table.slice(pieces * rows)]
        self.path, self.table, self.pieces = path, table, pieces
        self.history, self.live = ([half.slice(k * rows, rows) for k in range(pieces)] for half in halves)
        self.next = 0
        self.kept: tuple[bytes | None, int] = (None, 0)
        """The last snapshot of the stream, and where its source was then."""
        self.compactions = 0
        sw.create_store(path, QUERY, levels=["1s", "1m", "1h"])

    def run(self) -> None:
        """Go on until everybody is done; a restart begins here, with what was put away."""
        store = sw.open_store(self.path)
        snapshot, at = self.kept
        if snapshot is None:
            stream = QUERY.stream(store=store, application="live")
        else:
            stream = sw.Stream.restore(QUERY, snapshot, store=store)
            stream.commit()
        while self.next < self.pieces or at < self.pieces or self.compactions < 2 * self.pieces:
            if self.next < self.pieces:
                store.append(self.history[self.next], batch=("history", self.next))
                self.next += 1
            if at < self.pieces:
                stream.push(self.live[at])
                at += 1
                self.kept = (stream.snapshot(), at)
                stream.commit()
            store.compact(target=60)
            self.compactions += 1

    def check(self) -> None:
        """Every row once, and nothing damaged."""
        store = sw.open_store(self.path)
        expected = QUERY_OF_ALL.run(self.table)
        assert store.query().to_pylist() == expected.select(["k", "count", "sum_i", "max_x"]).to_pylist()
        found = store.check()
        assert found.problems == []
        store.vacuum(keep=0)
        listed = {os.path.join(folder, name) for folder, _, names in os.walk(self.path) for name in names}
        files = {os.path.join(self.path, file.path) for file in store.snapshot().files}
        assert {name for name in listed if name.endswith(".parquet") and "_delta_log" not in name} == files


QUERY_OF_ALL = sw.query(time="t", keys="k", windows=sw.tumbling(300 * 365 * 86400 * 10**6), aggregates=QUERY.aggregates)
