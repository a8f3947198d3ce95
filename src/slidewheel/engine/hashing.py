"""A hash table from 64-bit integers to dense codes, for whole columns at once."""

import numpy as np


def _slot(x, mask):
    """Where to look first: the finaliser of splitmix64."""
    h = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (h ^ (h >> np.uint64(31))) & np.uint64(mask)


def encode(values, lo, codes, places, distinct, count):
    """Codes of the values from row lo on. `places` holds code + 1, or 0; `distinct` holds the value of each code.

    Returns the number of codes, and the row to go on with when the table is half full.
    """
    mask = len(places) - 1
    for i in range(lo, len(values)):
        x = values[np.uint64(i)]
        slot = _slot(x, mask)
        while places[slot] != 0 and distinct[np.uint64(places[slot] - 1)] != x:
            slot = (slot + np.uint64(1)) & np.uint64(mask)
        if places[slot] == 0:
            if 2 * count > mask:
                return count, i
            distinct[np.uint64(count)] = x
            count += 1
            places[slot] = count
        codes[np.uint64(i)] = places[slot] - 1
    return count, len(values)


def encode_near(values, lo, codes, near, least, distinct, count):
    """The same by value: near[x - least] is code + 1, or 0. Returns early at a value that there is no place for."""
    for i in range(lo, len(values)):
        place = values[np.uint64(i)] - least
        if place < 0 or place >= len(near):
            return count, i
        known = near[np.uint64(place)]
        if known == 0:
            distinct[np.uint64(count)] = values[np.uint64(i)]
            count += 1
            near[np.uint64(place)] = known = count
        codes[np.uint64(i)] = known - 1
    return count, len(values)


def encode_near_in_order(values, lo, codes, near, least, distinct, count):
    """The same, but new values get their codes in ascending order, so that keys lie in memory as they come out."""
    unknown = 0
    for i in range(lo, len(values)):
        place = values[np.uint64(i)] - least
        if place < 0 or place >= len(near):
            return count, lo
        if near[np.uint64(place)] == 0:
            near[np.uint64(place)] = -1
            unknown += 1
    for place in range(len(near) if unknown > 0 else 0):
        if near[np.uint64(place)] == -1:
            distinct[np.uint64(count)] = place + least
            count += 1
            near[np.uint64(place)] = count
    for i in range(lo, len(values)):
        codes[np.uint64(i)] = near[np.uint64(values[np.uint64(i)] - least)] - 1
    return count, len(values)


def rebuild(distinct, count, places):
    """Enter the first values into an empty table."""
    mask = len(places) - 1
    for code in range(count):
        slot = _slot(distinct[np.uint64(code)], mask)
        while places[slot] != 0:
            slot = (slot + np.uint64(1)) & np.uint64(mask)
        places[slot] = code + 1


def mix(values, hashes):
    """Stir each value into the hash of its row."""
    for i in range(len(values)):
        h = np.uint64(hashes[i]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(values[i])
        hashes[i] = np.int64(_slot(np.int64(h), -1))


def hash_bytes(data, offsets, seed, out):
    """A hash of each stretch of bytes: eight at a time, mixed by multiplication and shifts."""
    for i in range(len(out)):
        first, last = offsets[i], offsets[i + 1]
        h = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(last - first)
        at = first
        while at < last:
            word = np.uint64(0)
            for k in range(min(8, last - at)):
                word |= np.uint64(data[np.uint64(at + k)]) << np.uint64(8 * k)
            h = (h ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(29)
            at += 8
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0x94D049BB133111EB)
        out[i] = np.int64(h ^ (h >> np.uint64(31)))
