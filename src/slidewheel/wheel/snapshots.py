"""Wheels as bytes: snapshots of all they hold, and deltas of what was finished since some time.

Both are made of the rows that hold something, level by level, in the container of the engine's snapshots.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.engine import container
from slidewheel.engine.columns import Array
from slidewheel.engine.parts import Writer, columns_bytes, described, read_columns, read_states, states_bytes, steps
from slidewheel.errors import InvalidSnapshot
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core
from slidewheel.wheel.levels import Level
from slidewheel.wheel.values import Values

VERSION = 1


def fingerprint(aggregates: tuple[Aggregate, ...]) -> str:
    """What a snapshot has in common with the aggregates that may read it."""
    return hashlib.sha256(repr([described(aggregate) for aggregate in aggregates]).encode()).hexdigest()


def packed(kind: str, facts: dict[str, Any], writer: Writer) -> bytes:
    """All parts in one piece."""
    facts = {"kind": kind, "version": VERSION, **facts}
    return container.pack({**writer.parts, container.MANIFEST: container.manifest(facts, writer.names)})


class Reader:
    """The parts of a snapshot or delta, checked as they are read."""

    def __init__(self, data: Any, kind: str, trusted: bool) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InvalidSnapshot(f"a {kind} is bytes, not {type(data).__name__}")
        self.parts: Mapping[str, bytes] = container.unpack(bytes(data))
        self.facts, names = container.read_manifest(self.parts[container.MANIFEST])
        self.trusted = trusted
        if self.facts.get("kind") != kind:
            raise InvalidSnapshot(f"this is not a {kind}, but {self.facts.get('kind', 'a snapshot of a stream')!r}")
        if self.facts.get("version") != VERSION:
            raise InvalidSnapshot(f"the {kind} has version {self.facts.get('version')}, and this reads {VERSION}")
        self.names = {name.rpartition("-")[0]: name for name in names}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.names:
            raise InvalidSnapshot(f"the part {name} is missing: the snapshot is damaged")
        return container.checked(self.parts, self.names[name])

    def get(self, name: str) -> bytes | None:
        """The same, or None where there is no such part."""
        return self[name] if name in self.names else None

    def check(self, aggregates: tuple[Aggregate, ...]) -> None:
        if self.facts["aggregates"] != fingerprint(aggregates):
            names = ", ".join(aggregate.output for aggregate in aggregates)
            raise InvalidSnapshot(f"this was made with other aggregates than {names}: give the same ones")


def write_rows(writer: Writer, name: str, slots: Array, states: Array, filled: Array) -> None:
    writer.add(f"{name}/slots", columns_bytes(steps(slots)))
    writer.add(f"{name}/states", states_bytes(states))
    writer.add(f"{name}/filled", container.squeezed(np.packbits(filled, bitorder="little").tobytes()))


def read_rows(reader: Reader, name: str, core: Core, dtype: Any, width: int = 0) -> tuple[Array, Array, Array]:
    width = width or core.width
    (gaps,) = read_columns(reader[f"{name}/slots"], 1)
    slots = np.cumsum(gaps)
    states = read_states(reader[f"{name}/states"], dtype, reader.trusted)
    raw = np.frombuffer(container.unsqueezed(reader[f"{name}/filled"]), dtype=np.uint8)
    filled = np.unpackbits(raw, bitorder="little", count=len(slots) * width)
    if len(states) != len(slots) * width:
        raise InvalidSnapshot(f"the part {name} does not fit the others: the snapshot is damaged")
    return slots, states, filled


def write_core(writer: Writer, name: str, core: Core) -> dict[str, Any]:
    """All that a core holds; returns the facts that belong to it."""
    for level in range(len(core.levels)):
        write_rows(writer, f"{name}/level{level}", *core.rows(level, int(core.book[level, n.ORIGIN])))
    ticks, codes, states = core.pending()
    writer.add(f"{name}/pending", columns_bytes(ticks, codes))
    writer.add(f"{name}/pending states", states_bytes(states))
    writer.add(f"{name}/totals", states_bytes(core.totals))
    writer.add(f"{name}/held", container.squeezed(core.held.tobytes()))
    return {
        "watermark": core.watermark,
        "first": core.first,
        "width": core.width,
        "open": core.book[:, n.OPEN].tolist(),
        "kept": core.book[:, n.KEPT].tolist(),
        "clock": core.clock[[n.LATE, n.GREATEST, n.SEEN, n.DENSE]].tolist(),
        "wanted": core.wanted,
    }


def read_core(
    reader: Reader, name: str, facts: dict[str, Any], values: Values, levels: tuple[Level, ...], tick: int, ahead: int
) -> Core:
    """The core that `write_core` has written."""
    core = Core(values, levels, tick, facts["first"], ahead, facts["width"])
    for level in range(len(levels)):
        core.put_rows(level, *read_rows(reader, f"{name}/level{level}", core, core.dtype))
    core.totals = read_states(reader[f"{name}/totals"], core.dtype, reader.trusted)
    core.held = np.frombuffer(container.unsqueezed(reader[f"{name}/held"]), dtype=np.uint8).copy()
    core.book[:, n.OPEN], core.book[:, n.KEPT] = facts["open"], facts["kept"]
    core.clock[[n.LATE, n.GREATEST, n.SEEN, n.DENSE]] = facts["clock"]
    core.clock[n.WATERMARK] = facts["watermark"]
    core.wanted = facts["wanted"]
    ticks, codes = read_columns(reader[f"{name}/pending"], 2)
    core.put_pending(ticks, codes, read_states(reader[f"{name}/pending states"], core.dtype, reader.trusted))
    return core


def level_facts(levels: tuple[Level, ...]) -> list[Any]:
    return [[level.name, level.slots, level.keep, level.layout] for level in levels]


def levels_from(facts: list[Any]) -> list[Level]:
    return [Level(name, slots, keep, layout) for name, slots, keep, layout in facts]
