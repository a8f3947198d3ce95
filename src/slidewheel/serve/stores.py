"""The stores that are served, by name, and what is known of each without a question."""

import threading
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

import slidewheel as sw
from slidewheel.algebra.define import AggregateType
from slidewheel.errors import InvalidArgument
from slidewheel.serve.encoding import listed, texts_of
from slidewheel.serve.refusals import NoSuchStore
from slidewheel.store.store import Store
from slidewheel.times import format_instant

STALE = 60.0
"""Seconds for which the number of keys may be an old one, where it is only an estimate."""


class KeyList:
    """All keys of one version of a store."""

    def __init__(self, version: int, table: pa.Table) -> None:
        self.version, self.table, self.read = version, table.combine_chunks(), time.monotonic()

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """As the store takes them."""
        columns = [column.to_pylist() for column in self.table.columns]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    @cached_property
    def lists(self) -> list[list[Any]]:
        """As JSON has them."""
        columns = [listed(column, "iso") for column in self.table.columns]
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(len(self))]

    @cached_property
    def texts(self) -> dict[str, pa.Array]:
        """Each column as text; null is null."""
        return {name: texts_of(self.table[name]) for name in self.table.column_names}


class Served:
    """A store under its name."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.store = name, store
        self._lock = threading.Lock()
        self._keys: KeyList | None = None
        self._types: dict[str, pa.DataType] | None = None
        self.seen = -1
        """The newest version that somebody has looked at."""

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.store.definition.query.keys

    def version(self) -> int:
        self.seen = self.store.version
        return self.seen

    def types(self) -> dict[str, pa.DataType]:
        """The types of keys and answers by column; none while nothing has been written to the store."""
        if self._types is None:
            self.version()
            if self.store.definition.schema is None:
                return {}
            schema = self.store.query(0, 0).schema
            self._types = dict(zip(schema.names, schema.types, strict=True))
        return self._types

    def keys(self) -> KeyList:
        """The keys of the newest version."""
        version = self.version()
        with self._lock:
            if self._keys is None or self._keys.version < version:
                empty = self.store.definition.schema is None
                self._keys = KeyList(version, pa.table({}) if empty else self.store.keys())
            return self._keys

    def about_keys(self) -> int:
        """How many keys there are, or were a while ago: after every commit, counting anew would take longer than most
        questions."""
        known = self._keys
        if known is None or time.monotonic() - known.read > STALE:
            known = self.keys()
        return len(known)

    def described(self) -> dict[str, Any]:
        """What `/stores` says of it."""
        store, types = self.store, self.types()
        query, span = store.definition.query, store.span
        aggregates = [(a.output, types.get(a.output)) for a in query.aggregates]
        return {
            "name": self.name,
            "keys": list(query.keys),
            "aggregates": [
                {"name": name, "type": None if kind is None else str(kind), "numeric": numeric(kind)}
                for name, kind in aggregates
            ],
            "levels": [{"name": x.name, "length": x.length / 1e6, "keep": x.keep} for x in store.levels],
            "tick": store.tick / 1e6,
            "start": None if span is None else f"{format_instant(span[0])}Z",
            "end": None if span is None else f"{format_instant(span[1])}Z",
            "version": self.version(),
            "windows": [spec.name for spec in query.windows],
        }


def numeric(kind: pa.DataType | None) -> bool:
    """Whether answers of this type are numbers."""
    if kind is None:
        return False
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


class Stores(Mapping[str, Served]):
    """Stores by the last part of their paths; a second one of that name is called name-2."""

    def __init__(self, stores: Sequence[Store]) -> None:
        if not stores:
            raise InvalidArgument("there is no store to serve: name one at least")
        self._served: dict[str, Served] = {}
        for store in stores:
            base = store.path.rstrip("/").rpartition("/")[2] or "store"
            name, number = base, 1
            while name in self._served:
                number += 1
                name = f"{base}-{number}"
            self._served[name] = Served(name, store)

    @classmethod
    def opened(cls, paths: Sequence[str], own: Sequence[AggregateType] = ()) -> "Stores":
        """The stores at these paths; `own` are aggregates of the user's own that they hold."""
        return cls([sw.open_store(path, aggregates=own) for path in paths])

    def __getitem__(self, name: str) -> Served:
        return self._served[name]

    def __iter__(self) -> Any:
        return iter(self._served)

    def __len__(self) -> int:
        return len(self._served)

    def named(self, name: str | None) -> Served:
        """The store of this name; where there is one only, it need not be named."""
        if name is None and len(self._served) == 1:
            return next(iter(self._served.values()))
        if name is None:
            raise InvalidArgument(f"say which store, store=...: there are {', '.join(self._served)}")
        if name not in self._served:
            raise NoSuchStore(f"there is no store {name!r}; there are {', '.join(self._served)}")
        return self._served[name]
