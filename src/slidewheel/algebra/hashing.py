"""Hashes of values that are the same in every process, one by one and by the column."""

import hashlib
import math
import struct
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from slidewheel.times import instant

WORD = 2**64 - 1
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of splitmix64."""


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
        return mix(int(value))
    data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else repr(value).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def mix(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x + GOLDEN) & WORD
    x = ((x ^ (x >> 30)) * FIRST) & WORD
    x = ((x ^ (x >> 27)) * SECOND) & WORD
    return x ^ (x >> 31)


def hash_column(values: Any) -> Any:
    """hash64 of every value of an array, as int64; times are given in microseconds."""
    if values.dtype.kind in "mM":
        values = values.view(np.int64)
    elif values.dtype.kind == "f":
        values = _as_integers(values.astype(np.float64))
    elif values.dtype.kind not in "iub":
        return np.array([hash64(v) for v in values.tolist()], dtype=np.uint64).view(np.int64)
    x = values.astype(np.int64).view(np.uint64) + np.uint64(GOLDEN)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(SECOND)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


def _as_integers(values: Any) -> Any:
    """Whole numbers as integers, all others as their bits."""
    whole = (np.floor(values) == values) & (np.abs(values) < 2.0**63)
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    return np.where(whole, np.where(whole, values, 0.0).astype(np.int64), bits)
