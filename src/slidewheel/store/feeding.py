"""A stream's way to a store: rows become partials at once, and partials become batches that are committed once.

What a snapshot of the stream holds is sealed: it is a batch with a number. Only sealed batches are committed, and a
stream that is restored knows by their numbers which of them the store has. So rows are in the store once, if the
snapshot is put away before `commit` and the source goes on behind it after a crash.
"""

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from slidewheel.engine.entries import Entries
from slidewheel.engine.parts import in_one, pieces_of
from slidewheel.errors import InvalidArgument, InvalidSnapshot
from slidewheel.store.partials import Partials

if TYPE_CHECKING:
    from slidewheel.store.store import Store


class Feed:
    """Partials of a stream that are not in its store yet."""

    def __init__(self, store: "Store", application: str) -> None:
        if not isinstance(application, str) or not application:
            raise InvalidArgument(f"application= is a text by which the store knows this stream, not {application!r}")
        self.store, self.application = store, application
        self.without_time = 0
        """Rows that had no time, and so are in no slot."""
        self._partials: Partials | None = None
        self._new: list[Entries] = []
        self._sealed: list[tuple[int, pa.Table]] = []
        self._number = 1 + (store.last_batch(application) or 0)
        self._seals = False
        """Whether snapshots are taken: then only what they hold is committed."""

    def lift(self, table: pa.Table) -> tuple[Entries, int]:
        """Rows as partials, which `take` takes; nothing has changed yet."""
        if self._partials is None:
            self._partials = self.store.prepared(table.schema)
        return self._partials.lifted(table)

    def take(self, lifted: tuple[Entries, int]) -> None:
        if len(lifted[0]):
            self._new.append(lifted[0])
        self.without_time += lifted[1]

    def seal(self) -> None:
        """Make a batch of all that has come since the last one."""
        if self._new:
            assert self._partials is not None
            table = self._partials.table(self._partials.folded(self._new))
            self._new = []
            self._sealed.append((self._number, table))
            self._number += 1

    def commit(self) -> int:
        """Commit all batches; how many the store did not have."""
        if not self._seals:
            self.seal()
        done = 0
        while self._sealed:
            number, table = self._sealed[0]
            files = self.store.write_table(table)
            done += self.store.commit(files, (self.application, number))
            self._sealed.pop(0)
        return done

    def to_bytes(self) -> bytes:
        """What is left to be committed; all of it is sealed."""
        self._seals = True
        self.seal()
        facts = {"application": self.application, "number": self._number, "without_time": self.without_time}
        facts["batches"] = [number for number, _ in self._sealed]
        return in_one([json.dumps(facts).encode(), *(_ipc(table) for _, table in self._sealed)])

    @classmethod
    def from_bytes(cls, data: bytes, store: Any) -> "Feed":
        """The feed of a snapshot."""
        head, *tables = pieces_of(memoryview(data))
        facts = json.loads(bytes(head))
        if store is None:
            raise InvalidSnapshot(
                "this stream feeds a store: restore it with store=, or what it had not committed would be lost"
            )
        feed = cls(store, facts["application"])
        feed._seals, feed._number, feed.without_time = True, facts["number"], facts["without_time"]
        read = [pa.ipc.open_stream(table).read_all() for table in tables]
        feed._sealed = list(zip(facts["batches"], read, strict=True))
        return feed


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
