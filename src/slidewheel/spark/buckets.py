"""Ids of buckets that Spark's hash partitioning spreads: one for each partition, then a second for each, and so on."""

SEED = 42
"""Spark's, for hash partitioning."""
MASK = 0xFFFFFFFF


def murmur3(number: int) -> int:
    """The hash of a 32-bit integer by which Spark chooses its partition.

    >>> murmur3(1), murmur3(7)
    (-559580957, 1079293707)
    """
    k = (number * 0xCC9E2D51) & MASK
    k = ((k << 15) | (k >> 17)) & MASK
    k = (k * 0x1B873593) & MASK
    h = SEED ^ k
    h = ((h << 13) | (h >> 19)) & MASK
    h = (h * 5 + 0xE6546B64) & MASK
    h ^= 4
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & MASK
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & MASK
    h ^= h >> 16
    return h - (1 << 32) if h >= 1 << 31 else h


def bucket_ids(partitions: int, each: int = 1) -> list[int]:
    """So many ids for each partition, those of the first ones first.

    >>> [murmur3(id) % 3 for id in bucket_ids(3, each=2)]
    [0, 1, 2, 0, 1, 2]
    """
    found: list[list[int]] = [[] for _ in range(partitions)]
    lacking, number = partitions * each, 0
    while lacking:
        ids = found[murmur3(number) % partitions]
        if len(ids) < each:
            ids.append(number)
            lacking -= 1
        number += 1
    return [ids[turn] for turn in range(each) for ids in found]
