"""Snapshots as bytes: named parts and a manifest, versioned and checksummed. Knows nothing of what is in a part.

A part's full name ends with the digest of its contents, so what has not changed keeps its name. The manifest lists the
names. `pack` puts all of it into one piece.
"""

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from slidewheel.errors import InvalidSnapshot

MAGIC = b"slidewheel\x00"
VERSION = 1
MANIFEST = "manifest"
_HEAD = struct.Struct("<11sHQ16s")


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def squeezed(data: bytes) -> bytes:
    """Compressed, with the original length in front."""
    return struct.pack("<Q", len(data)) + (pa.compress(data, codec="zstd", asbytes=True) if data else b"")


def unsqueezed(data: bytes) -> bytes:
    try:
        (length,) = struct.unpack_from("<Q", data)
        return pa.decompress(data[8:], decompressed_size=length, codec="zstd", asbytes=True) if length else b""
    except (struct.error, pa.ArrowException, ValueError, MemoryError, OverflowError) as error:
        raise InvalidSnapshot(f"a part of the snapshot can't be read ({error}): it is damaged") from None


def full_name(name: str, data: bytes) -> str:
    return f"{name}-{digest(data).hex()[:24]}"


def manifest(facts: dict[str, Any], names: list[str]) -> bytes:
    """The list of parts, with facts about the whole."""
    body = squeezed(json.dumps({"facts": facts, "parts": names}, separators=(",", ":"), allow_nan=True).encode())
    return _HEAD.pack(MAGIC, VERSION, len(body), digest(body)) + body


def read_manifest(data: bytes) -> tuple[dict[str, Any], list[str]]:
    body = _body(data)
    found = json.loads(unsqueezed(body))
    return found["facts"], found["parts"]


def _body(data: bytes) -> bytes:
    """What stands behind a head that is whole."""
    if len(data) < _HEAD.size or data[: len(MAGIC)] != MAGIC:
        raise InvalidSnapshot("this is not a snapshot of a slidewheel stream")
    _, version, length, checksum = _HEAD.unpack_from(data)
    if version != VERSION:
        raise InvalidSnapshot(f"the snapshot has version {version}, and this slidewheel reads version {VERSION}")
    body = data[_HEAD.size : _HEAD.size + length]
    if len(body) != length or digest(body) != checksum:
        raise InvalidSnapshot("the snapshot is damaged: its checksum does not fit; take an older one")
    return body


def pack(parts: Mapping[str, bytes]) -> bytes:
    """All parts in one piece, the manifest first."""
    others = [(name, data) for name, data in parts.items() if name != MANIFEST]
    lengths = struct.pack(f"<I{len(others)}Q", len(others), *(len(data) for _, data in others))
    body = struct.pack("<Q", len(parts[MANIFEST])) + parts[MANIFEST] + lengths + b"".join(data for _, data in others)
    return _HEAD.pack(MAGIC, VERSION, len(body), digest(body)) + body


def unpack(data: bytes) -> dict[str, bytes]:
    """The parts of one piece, by name."""
    data = bytes(data)
    body = _body(data)
    if len(data) != _HEAD.size + len(body):
        raise InvalidSnapshot("there is something behind the end of the snapshot: it is damaged")
    (size,) = struct.unpack_from("<Q", body)
    parts = {MANIFEST: body[8 : 8 + size]}
    _, names = read_manifest(parts[MANIFEST])
    place = 8 + size
    (count,) = struct.unpack_from("<I", body, place)
    lengths = struct.unpack_from(f"<{count}Q", body, place + 4)
    place += 4 + 8 * count
    for name, length in zip(names, lengths, strict=True):
        parts[name] = body[place : place + length]
        place += length
    return parts


def checked(parts: Mapping[str, bytes], name: str) -> bytes:
    """A part whose contents are what its name says."""
    if name not in parts:
        raise InvalidSnapshot(f"the part {name} of the snapshot is missing")
    data = bytes(parts[name])
    if full_name(name.rpartition("-")[0], data) != name:
        raise InvalidSnapshot(f"the part {name} of the snapshot is damaged: its checksum does not fit")
    return data
