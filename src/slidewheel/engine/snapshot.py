"""The state of a stream as parts, and back. Only entries are kept: prefixes and suffixes are made anew."""

import hashlib
import io
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.arena import Arena
from slidewheel.engine.batches import Batch, read_times
from slidewheel.engine.container import (
    MANIFEST,
    checked,
    manifest,
    read_manifest,
    squeezed,
    unsqueezed,
)
from slidewheel.engine.inputs import whole
from slidewheel.engine.keys import Integers, Keys, Numbers, Values
from slidewheel.engine.parts import (
    Writer,
    columns_bytes,
    described,
    in_one,
    pieces_of,
    read_columns,
    read_states,
    states_bytes,
    steps,
)
from slidewheel.errors import InvalidSnapshot

if TYPE_CHECKING:
    from slidewheel.engine.query import Query
    from slidewheel.engine.stream import Stream

CHUNK_OF_KEYS = 1 << 14
FEW_ENTRIES = 1024
"""So many entries are one chunk."""
CHUNKS = 32
"""About how many chunks of time the longest window has."""


@lru_cache(maxsize=64)
def fingerprint(query: "Query", by_text: bool = True) -> str:
    """What a snapshot has in common with the query that may read it."""
    said: list[Any] = [query.time, query.keys, [spec.to_dict() for spec in query.windows]]
    said += [query.lateness, query.late, query.repair, query.final]
    for aggregate in query.aggregates:
        said += described(aggregate, by_text)
    return hashlib.sha256(repr(said).encode()).hexdigest()


def snapshot_parts(stream: "Stream", known: Collection[str] = ()) -> dict[str, bytes]:
    """The manifest and the parts that are not known yet."""
    writer, engine = Writer(known), stream._engine
    late = {name: value for name, value in vars(stream.late).items() if isinstance(value, int)}
    facts: dict[str, Any] = {
        "query": fingerprint(stream.query),
        "code": fingerprint(stream.query, by_text=False),
        "watermark": stream._watermark,
        "latest": stream._latest,
        "late": late,
        "finished": stream._finished,
        "started": engine is not None,
    }
    if stream._feed is not None:
        writer.add("store", stream._feed.to_bytes())
    for name, table in (("late", stream.late.table), ("without_time", stream.late.without_time)):
        if table is not None:
            writer.add(f"table/{name}", _ipc(table))
    if engine is not None:
        facts["held"] = [list(names) for names in engine.binding.held]
        facts["coded"] = list(engine.binding.coded)
        assert stream._schema is not None
        writer.add("schema", squeezed(stream._schema.serialize().to_pybytes()))
        write_keys(writer, "keys", engine.keys)
        for number, codes in enumerate(engine.binding.coded.values()):
            write_codes(writer, f"coded/{number}", codes)
        for name in ("pending", "recent"):
            batch = getattr(engine, name, None)
            if batch is not None:
                writer.add(f"batch/{name}", _ipc(batch.table))
        facts["tracks"] = [_write_track(writer, f"track/{k}", track) for k, track in enumerate(engine.tracks)]
    return {MANIFEST: manifest(facts, writer.names), **writer.parts}


def restore_parts(stream: "Stream", parts: Mapping[str, bytes], trusted: bool = False, store: Any = None) -> None:
    """Fill an empty stream, and what it has not given to its store yet."""
    if MANIFEST not in parts:
        raise InvalidSnapshot("the manifest of the snapshot is missing")
    facts, names = read_manifest(bytes(parts[MANIFEST]))
    query = stream.query
    if facts.get("query") != fingerprint(query) and facts.get("code") != fingerprint(query, by_text=False):
        raise InvalidSnapshot("the snapshot was made by another query: restore it with the one that it was made by")
    by_name = {name.rpartition("-")[0]: name for name in names}

    def read(name: str) -> bytes | None:
        return checked(parts, by_name[name]) if name in by_name else None

    from slidewheel.engine.stream import Late

    fed = read("store")
    if fed is not None:
        from slidewheel.store.feeding import Feed

        stream._feed = Feed.from_bytes(fed, store)
    elif store is not None:
        raise InvalidSnapshot("the snapshot is of a stream without a store: restore it without store=")
    late, without_time = _table(read("table/late")), _table(read("table/without_time"))
    stream._late = Late(**facts["late"], table=late, without_time=without_time)
    stream._watermark, stream._latest, stream._finished = facts["watermark"], facts["latest"], facts["finished"]
    if not facts["started"]:
        return
    schema = read("schema")
    assert schema is not None
    stream._start(pa.ipc.read_schema(pa.py_buffer(unsqueezed(schema))))
    engine = stream._engine
    for names_ in facts["held"]:
        engine.binding.held[tuple(names_)] = engine.binding.components
        for track in engine.tracks:
            track.arena.add_component(engine.binding.component(engine.binding.components - 1))
    read_keys(read, "keys", engine.keys)
    for number, name in enumerate(facts["coded"]):
        read_codes(read, f"coded/{number}", engine.binding.codes(name))
    engine.see_keys()
    for name in ("pending", "recent"):
        table = _table(read(f"batch/{name}"))
        if table is not None:
            _, _, times = read_times(table, stream.query.time)
            codes = engine.keys.encode([whole(table[k]) for k in stream.query.keys], len(times))
            setattr(engine, name, Batch(table, times, codes))
    for k, (track, said) in enumerate(zip(engine.tracks, facts["tracks"], strict=True)):
        _read_track(read, f"track/{k}", track, said, trusted)


# Keys and codes only ever grow: chunks that are full do not change.


def _write_integers(writer: Writer, name: str, integers: Integers) -> None:
    values = integers.values
    for first in range(0, len(values), CHUNK_OF_KEYS):
        writer.add(f"{name}/{first}", squeezed(values[first : first + CHUNK_OF_KEYS].tobytes()))


def _read_integers(read: Any, name: str, integers: Integers) -> None:
    first = 0
    while (data := read(f"{name}/{first}")) is not None:
        integers.encode(np.frombuffer(unsqueezed(data), dtype=np.int64).copy())
        first += CHUNK_OF_KEYS


def write_codes(writer: Writer, name: str, codes: Numbers | Values) -> None:
    if isinstance(codes, Numbers):
        _write_integers(writer, f"{name}/bits", codes._bits)
        if codes._with_null is not None:
            _write_integers(writer, f"{name}/null", codes._with_null)
        return
    values = codes.values()
    for first in range(0, len(values), CHUNK_OF_KEYS):
        writer.add(f"{name}/{first}", _ipc(pa.table({"v": values.slice(first, CHUNK_OF_KEYS)})))


def read_codes(read: Any, name: str, codes: Numbers | Values) -> None:
    if isinstance(codes, Numbers):
        _read_integers(read, f"{name}/bits", codes._bits)
        if read(f"{name}/null/0") is not None:
            codes._with_null = Integers()
            _read_integers(read, f"{name}/null", codes._with_null)
        return
    first = 0
    while (table := _table(read(f"{name}/{first}"))) is not None:
        codes.encode(whole(table["v"]))
        first += CHUNK_OF_KEYS


def write_keys(writer: Writer, name: str, keys: Keys) -> None:
    for k, codes in enumerate(keys.columns):
        write_codes(writer, f"{name}/{k}", codes)
    for k, pairs in enumerate(keys._pairs):
        _write_integers(writer, f"{name}/pairs{k}", pairs)


def read_keys(read: Any, name: str, keys: Keys) -> None:
    for k, codes in enumerate(keys.columns):
        read_codes(read, f"{name}/{k}", codes)
    for k, pairs in enumerate(keys._pairs):
        _read_integers(read, f"{name}/pairs{k}", pairs)


# Entries go in chunks of time, by id and key, so that a chunk which no row reaches any more stays the same.


def _write_track(writer: Writer, name: str, track: Any) -> dict[str, Any]:
    arena = track.arena
    codes, positions = arena.live_entries()
    slots = arena.slots_of(codes, positions)
    ids = arena.ids[slots]
    if arena.ranked:
        chunks = [(0, np.arange(len(codes)))] if len(codes) else []
        keys = np.flatnonzero(arena.end[: arena.keys])
        writer.add(f"{name}/ends", columns_bytes(steps(keys), arena.end[keys]))
    else:
        order = np.lexsort((codes, ids))
        numbers = ids[order] >> _chunk_shift(track) if len(ids) > FEW_ENTRIES else np.zeros(len(ids), dtype=np.int64)
        starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
        chunks = list(zip(numbers[starts].tolist(), np.split(order, starts[1:]), strict=len(ids) > 0))
    said = []
    for number, part in chunks:
        columns = [steps(codes[part]), steps(ids[part]), *(extra[slots[part]] for extra in arena.extras)]
        data = [
            columns_bytes(*columns),
            *(states_bytes(component.entries[slots[part]]) for component in arena.components),
        ]
        writer.add(f"{name}/{number}", in_one(data))
        said.append(number)
    facts: dict[str, Any] = {"chunks": said, "shifts": arena.shifts}
    if arrays := track.saved():
        writer.add(f"{name}/saved", columns_bytes(*arrays))
        facts["saved"] = len(arrays)
    return facts


def _read_track(read: Any, name: str, track: Any, said: dict[str, Any], trusted: bool) -> None:
    arena: Arena = track.arena
    for shift in said["shifts"]:
        if shift not in arena.shifts:
            arena.add_level(shift)
    pieces = []
    for number in said["chunks"]:
        data = read(f"{name}/{number}")
        if data is None:
            raise InvalidSnapshot(f"the chunk {number} of the snapshot is missing")
        pieces.append(pieces_of(data))
    heads = [read_columns(piece[0], 2 + len(arena.extras)) for piece in pieces]
    nothing = np.empty(0, dtype=np.int64)
    codes, ids = (np.concatenate([nothing, *(np.cumsum(head[k]) for head in heads)]) for k in (0, 1))
    extras = [np.concatenate([nothing, *(head[2 + k] for head in heads)]) for k in range(len(arena.extras))]
    states = [
        np.concatenate(
            [component.entries[:0], *(read_states(piece[1 + k], component.dtype, trusted) for piece in pieces)]
        )
        for k, component in enumerate(arena.components)
    ]
    ends = None
    if arena.ranked:
        steps, last = read_columns(read(f"{name}/ends") or b"", 2)
        ends = np.zeros(arena.keys, dtype=np.int64)
        ends[np.cumsum(steps)] = last
    arena.load(codes, ids, extras, states, ends)
    if "saved" in said:
        track.restore(tuple(read_columns(read(f"{name}/saved") or b"", said["saved"])))


def _chunk_shift(track: Any) -> int:
    """Chunks of time as long as a part of the longest window: a power of two of microseconds."""
    if hasattr(track, "specs"):
        longest = max(spec.range for _, spec in track.specs)
        return max(int(longest).bit_length() - CHUNKS.bit_length(), 0)
    return 40


def _ipc(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


def _table(data: bytes | None) -> pa.Table | None:
    if data is None:
        return None
    try:
        return pa.ipc.open_stream(data).read_all()
    except pa.ArrowException as error:
        raise InvalidSnapshot(f"a table of the snapshot can't be read: {error}") from None
