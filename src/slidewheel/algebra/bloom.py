"""Bloom filters: which values has the window seen? Never a false no; a false yes with a known probability."""

import hashlib
import math
import struct
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid
from slidewheel.errors import InvalidArgument
from slidewheel.times import instant

_WORD = 2**64 - 1


def hash64(value: Any) -> int:
    """A 64-bit hash that is the same in every process; numbers that are equal hash alike."""
    if isinstance(value, (datetime, np.datetime64)):
        value = instant(value)
    elif isinstance(value, (timedelta, np.timedelta64)):
        value = int(np.timedelta64(value, "us").astype(np.int64))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if number.is_integer() and abs(number) < 2**63:
            value = int(number)
        else:
            value = int.from_bytes(struct.pack("<d", number if number == number else math.nan), "little")
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return _mix(int(value) & _WORD)
    data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else repr(value).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def _mix(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def hash_column(values: Any) -> Any:
    """hash64 of every value of an array, as int64; times are given in microseconds."""
    if values.dtype.kind in "mM":
        values = values.view(np.int64)
    if values.dtype.kind not in "iub":
        return np.array([hash64(v) for v in values.tolist()], dtype=np.uint64).view(np.int64)
    x = values.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


def positions(hashed: int, bits: int, hashes: int) -> list[int]:
    """The bits of one value, by double hashing."""
    step = (hashed >> 32) | 1
    return [((hashed + k * step) & _WORD) % bits for k in range(hashes)]


class BloomFilter:
    """The answer of `sw.bloom`: ask it with `in`.

    >>> import slidewheel as sw
    >>> window = sw.swag.window(sw.bloom())
    >>> window.insert("N123"); window.insert("N456"); window.evict()
    >>> "N456" in window.query(), "N123" in window.query()
    (True, False)
    """

    __slots__ = ("bits", "hashes", "size")

    def __init__(self, bits: int, size: int, hashes: int) -> None:
        self.bits, self.size, self.hashes = bits, size, hashes

    def __contains__(self, value: Any) -> bool:
        return all(self.bits >> p & 1 for p in positions(hash64(value), self.size, self.hashes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BloomFilter) and self.to_bytes() == other.to_bytes() and self.hashes == other.hashes

    def __hash__(self) -> int:
        return hash((self.bits, self.size, self.hashes))

    def __repr__(self) -> str:
        return f"BloomFilter({self.bits.bit_count()} of {self.size} bits set, false positives {self.error:.2g})"

    @property
    def error(self) -> float:
        """The probability that a value that was never seen is taken for one that was."""
        return float((self.bits.bit_count() / self.size) ** self.hashes)

    def to_bytes(self) -> bytes:
        """The bits, little-endian."""
        return self.bits.to_bytes(self.size // 8, "little")


# Compiled: the input is a column of hashes, the state an array of words.


@cache
def _compiled(bits: int, hashes: int) -> Monoid:
    words = bits // 64

    def lift(hashed):
        state = np.zeros(words, np.uint64)
        value = np.uint64(hashed)
        step = (value >> np.uint64(32)) | np.uint64(1)
        for _ in range(hashes):
            bit = value % np.uint64(bits)
            state[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
            value += step
        return state

    def combine(a, b):
        state = np.empty(words, np.uint64)
        for k in range(words):
            state[np.uint64(k)] = a[np.uint64(k)] | b[np.uint64(k)]
        return state

    def absorb(state, hashed):
        value = np.uint64(hashed)
        step = (value >> np.uint64(32)) | np.uint64(1)
        for _ in range(hashes):
            bit = value % np.uint64(bits)
            state[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
            value += step

    def merge(into, other):
        for k in range(words):
            into[np.uint64(k)] |= other[np.uint64(k)]

    def lower(s):
        return s

    return Monoid(
        name="bloom",
        lift=lift,
        combine=combine,
        lower=lower,
        absorb=absorb,
        merge=merge,
        identity=0,
        state=np.dtype(("u8", (words,))),
        commutative=True,
    )


# Interpreted: the state is one long integer.


@cache
def _interpreted(bits: int, hashes: int) -> Monoid:
    def lift(value: Any) -> int:
        state = 0
        for p in positions(hash64(value), bits, hashes):
            state |= 1 << p
        return state

    def combine(a, b):
        return a | b

    def lower(s: int) -> BloomFilter:
        return BloomFilter(s, bits, hashes)

    return Monoid(
        name="bloom",
        lift=lift,
        combine=combine,
        lower=lower,
        identity=0,
        state=None,
        result="object",
        commutative=True,
    )


def bloom(column: str | None = None, bits: int = 16384, hashes: int = 4) -> Aggregate:
    """A Bloom filter of the values. With n different values, false positives have the probability
    (1 - exp(-hashes * n / bits)) ** hashes: 0.3 % for 1,000 values at the defaults.

    >>> import slidewheel as sw
    >>> seen = sw.rolling([1, 2, 3], sw.bloom(bits=1024), size=2)
    >>> 2 in seen[2], 1 in seen[2]
    (True, False)
    """
    if not isinstance(bits, int) or bits < 64 or bits % 64:
        raise InvalidArgument(f"bloom: bits must be a positive multiple of 64, not {bits!r}")
    if not isinstance(hashes, int) or not 1 <= hashes <= 64:
        raise InvalidArgument(f"bloom: hashes must be between 1 and 64, not {hashes!r}")

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        return _compiled(bits, hashes) if kinds == ("hash",) else _interpreted(bits, hashes)

    def finish(words: Any) -> Any:
        filters = np.empty(len(words), dtype=object)
        filters[:] = [BloomFilter(int.from_bytes(row.tobytes(), "little"), bits, hashes) for row in words]
        return filters

    return Aggregate("bloom", (column,), variant, commutative=True, prepare=hash_column, finish=finish)
