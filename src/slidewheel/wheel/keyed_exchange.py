"""A keyed wheel and others: merging, snapshots, and deltas for replicas."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import Array
from slidewheel.engine.inputs import Binding
from slidewheel.engine.keys import Keys
from slidewheel.engine.parts import Writer, described
from slidewheel.engine.snapshot import read_codes, read_keys, write_codes, write_keys
from slidewheel.engine.threads import uninterrupted
from slidewheel.errors import InvalidArgument, InvalidSnapshot
from slidewheel.times import InstantLike
from slidewheel.wheel import names as n
from slidewheel.wheel.arguments import instant_of
from slidewheel.wheel.core import Core, exclusive
from slidewheel.wheel.keyed_asking import KeyedAsking
from slidewheel.wheel.merging import Conversion, conversion, merged, require_fit
from slidewheel.wheel.replicas import refuse_delta, refuse_since, shape
from slidewheel.wheel.snapshots import (
    Reader,
    fingerprint,
    level_facts,
    levels_from,
    packed,
    read_core,
    read_rows,
    write_core,
    write_rows,
)


def _source(part: int, mine: Binding, theirs: Binding) -> tuple[int, Conversion]:
    """The state of another wheel of which one of this wheel's can be made, and how: where only one of them has prefix
    sums, aggregates may share other states there."""
    number = next(k for k, use in enumerate(mine.uses) if use.part == part and not use.fields)
    use = theirs.uses[number]
    made = conversion(use.monoid, mine.uses[number].monoid)
    assert made is not None
    return use.part, lambda states: made(use.of(states))


class KeyedExchange(KeyedAsking):
    """What a keyed wheel gives to others and takes from them."""

    time: str
    write_ahead: int
    _prefix: bool
    _watermark: int
    _late: int
    _edition: int
    _cores: list[Core]
    _writing: threading.RLock
    _begin: Callable[[pa.Schema], None]
    _widen: Callable[[int], None]
    _advance: Callable[[int], None]
    _publish: Callable[[], None]

    def merge(self, other: Self) -> None:
        """Take in all that another wheel has accepted, finished or not; it is left as it is."""
        require_fit(self, other)
        mine, theirs = ([described(a) for a in wheel.aggregates] for wheel in (self, other))
        if mine != theirs or self.keys != other.keys:
            raise InvalidArgument("these wheels have other aggregates or keys")
        with other._writing:  # one lock after the other, as the other wheel may be merging with this one
            cores, watermark, first, late = (
                [c.copy() for c in other._cores],
                other._watermark,
                other._first,
                other._late,
            )
            keys = other._known.take(np.arange(len(other._known))) if other._schema is not None else []
        self._merge(cores, keys, other, watermark, first, late)

    @exclusive
    def _merge(
        self, cores: list[Core], keys: list[pa.Array], other: Self, watermark: int, first: int, late: int
    ) -> None:
        if not cores:
            self._late += late
            return self._advance(watermark)
        assert other._schema is not None
        if self._schema is None:
            self._begin(other._schema)
        assert self._schema is not None
        if not self._schema.equals(other._schema):
            raise InvalidArgument("the columns of these wheels have other types: use the same types in both")
        sources = [_source(part, self._binding, other._binding) for part in range(len(self._cores))]
        with uninterrupted():
            codes = self._known.encode(keys, len(keys[0]))
            both = [(mine, cores[part], as_mine) for mine, (part, as_mine) in zip(self._cores, sources, strict=True)]
            made = [merged(mine, theirs, codes, len(self._known), as_mine) for mine, theirs, as_mine in both]
            self._cores, self._watermark = made, max(self._watermark, watermark)
            self._first = min(self._first, first)
            self._late, self._edition = self._late + late, self._edition + 1
            self._publish()

    def _facts(self) -> dict[str, Any]:
        return {
            "aggregates": fingerprint(self.aggregates),
            "keys": list(self.keys),
            "time": self.time,
            "tick": self.tick,
            "first": self._first,
            "watermark": self._watermark,
            "late": self._late,
            "edition": self._edition,
            "typed": self._schema is not None,
            "prefix": self._prefix,
        }

    def _write_keys(self, writer: Writer) -> None:
        assert self._schema is not None
        writer.add("schema", self._schema.serialize().to_pybytes())
        write_keys(writer, "keys", self._known)
        for name, codes in self._binding.coded.items():
            write_codes(writer, f"codes {name}", codes)

    @exclusive
    def snapshot(self) -> bytes:
        """All of it as bytes, versioned and checksummed; `KeyedWheel.restore` reads them."""
        writer = Writer(())
        facts = {**self._facts(), "levels": level_facts(self.levels), "write_ahead": self.write_ahead, "cores": []}
        if self._schema is not None:
            self._write_keys(writer)
            facts["coded"] = list(self._binding.coded)
            facts["cores"] = [write_core(writer, f"core {k}", core) for k, core in enumerate(self._cores)]
        return packed("keyed wheel", facts, writer)

    @classmethod
    def restore(
        cls, aggregates: Sequence[Aggregate | AggregateType] | Aggregate | AggregateType, data: bytes, *,
        trusted: bool = False
    ) -> Self:  # fmt: skip
        """The wheel of a snapshot, with the aggregates that it was made with."""
        reader = Reader(data, "keyed wheel", trusted)
        facts = reader.facts
        maker: Any = cls
        made: Self = maker(
            aggregates,
            facts["keys"],
            time=facts["time"],
            start=facts["first"] * facts["tick"],
            tick=facts["tick"],
            write_ahead=facts["write_ahead"],
            levels=levels_from(facts["levels"]),
        )
        reader.check(made.aggregates)
        if facts["typed"]:
            made._begin(pa.ipc.read_schema(pa.py_buffer(reader["schema"])))
            made._read_keys(reader, facts)
            cores = []
            for k, (core, said) in enumerate(zip(made._cores, facts["cores"], strict=True)):
                settings = core.values, made.levels, made.tick, made.write_ahead
                cores.append(read_core(reader, f"core {k}", said, *settings))
            made._cores = cores
        made._watermark, made._late, made._edition = facts["watermark"], facts["late"], facts["edition"]
        made._publish()
        return made

    def _read_keys(self, reader: Reader, facts: dict[str, Any]) -> None:
        read_keys(reader.get, "keys", self._known)
        for name in facts["coded"]:
            read_codes(reader.get, f"codes {name}", self._binding.codes(name))

    @exclusive
    def deltas(self, since: InstantLike) -> bytes:
        """What was finished since a watermark, as bytes for `apply`."""
        at, kept = instant_of(since), max([self._first, *(int(core.book[0, n.KEPT]) for core in self._cores)])
        refuse_since(self, at, self._watermark * self.tick, kept * self.tick)
        writer = Writer(())
        facts = {**self._facts(), "levels": shape(self), "since": at, "coded": [], "widths": []}
        if self._schema is not None:
            self._write_keys(writer)
            facts["coded"], facts["widths"] = list(self._binding.coded), [core.width for core in self._cores]
            for k, core in enumerate(self._cores):
                write_rows(writer, f"rows {k}", *core.rows(0, at // self.tick))
        return packed("keyed delta", facts, writer)

    @exclusive
    def apply(self, delta: bytes, *, trusted: bool = False) -> None:
        """Take over what another wheel has finished; nothing may be inserted here."""
        reader = Reader(delta, "keyed delta", trusted)
        reader.check(self.aggregates)
        facts = reader.facts
        inserted = any(core.clock[n.USED] or core.clock[n.WAITING] for core in self._cores)
        refuse_delta(self, facts, self._watermark * self.tick, self._edition, inserted)
        if facts["keys"] != list(self.keys) or facts["prefix"] != self._prefix:
            raise InvalidSnapshot("the delta is of a wheel with other keys, or only one of both has prefix sums")
        if facts["typed"]:
            self._apply_rows(reader, facts)
        else:
            self._advance(facts["watermark"])
        self._late, self._edition = facts["late"], facts["edition"]

    def _apply_rows(self, reader: Reader, facts: dict[str, Any]) -> None:
        schema, until = pa.ipc.read_schema(pa.py_buffer(reader["schema"])), facts["watermark"]
        if self._schema is None:
            self._begin(schema)
        assert self._schema is not None
        if not self._schema.equals(schema):
            raise InvalidSnapshot("the delta is of a wheel over columns of other types")
        theirs = Keys(self.keys, [schema.field(name).type for name in self.keys])
        read_keys(reader.get, "keys", theirs)
        rows = []
        for k, (core, width) in enumerate(zip(self._cores, facts["widths"], strict=True)):
            rows.append(read_rows(reader, f"rows {k}", core, core.dtype, width))
        with uninterrupted():
            codes = self._known.encode(theirs.take(np.arange(len(theirs))), len(theirs))
            for name in facts["coded"]:
                read_codes(reader.get, f"codes {name}", self._binding.codes(name))
            self._widen(len(self._known))
            if until <= self._watermark:
                return
            for core, given, width in zip(self._cores, rows, facts["widths"], strict=True):
                _take_over(core, given, width, codes, self._watermark, until)
            self._watermark = until
            self._publish()


def _take_over(core: Core, rows: tuple[Array, Array, Array], width: int, codes: Array, since: int, until: int) -> None:
    """Rows of another core with other codes for its keys, and perhaps more or fewer of them."""
    slots, states, filled = rows
    new = int(np.searchsorted(slots, since))
    count = len(slots) - new
    mine = np.empty(count * core.width, dtype=core.dtype)
    core.values.work.run("empty_states", mine)
    holds = np.zeros(count * core.width, dtype=np.uint8)
    places = (np.arange(count)[:, None] * core.width + codes[None, :]).reshape(-1)
    from_ = (np.arange(new, len(slots))[:, None] * width + np.arange(len(codes))[None, :]).reshape(-1)
    mine[places], holds[places] = states[from_], filled[from_]
    core.put_finished(slots[new:], mine, holds, until)
