"""The overflow wheel: a hierarchical timing wheel for records too far ahead (Varghese and Lauck, scheme 7).

An entry lies at the level of the highest 6 bits in which its tick differs from `now`, in the slot of those bits. Once
`now` enters a slot, its entries move to lower levels, or are due. Entries of one tick always lie in the same list, in
the order in which they came. The next occupied slot is found without a step for each tick.
"""

import numpy as np

from slidewheel.wheel.names import AHEAD, FREE, FRESH, START, WAITING, WATERMARK, load, store

WAYS = 64
STEPS = 11


def _level_of(now, tick):
    """The level of an entry: which group of 6 bits is the highest that differs."""
    differs = (now ^ tick) >> 6
    level = 0
    while differs > 0:
        differs >>= 6
        level += 1
    return level


def _link(feed, now, entry):
    """Put an entry at the end of its list."""
    _, _, _, _, heads, tails, follows, when, _, _, _, _ = feed
    tick = when[np.uint64(entry)]
    level = _level_of(now, tick)
    place = np.uint64(level * 64 + ((tick >> (6 * level)) & 63))
    follows[np.uint64(entry)] = -1
    if heads[place] < 0:
        heads[place] = entry
    else:
        follows[np.uint64(tails[place])] = entry
    tails[place] = entry


def _schedule(feed, tick, key, source, at):
    """Keep a state for a tick, counted from the wheel's start, behind the end of the ring."""
    clock, _, _, _, _, _, follows, when, whose, waiting, _, _ = feed
    entry = clock[FREE]
    if entry >= 0:
        clock[FREE] = follows[np.uint64(entry)]
    else:
        entry = clock[FRESH]
        clock[FRESH] += 1
    clock[WAITING] += 1
    when[np.uint64(entry)] = tick
    whose[np.uint64(entry)] = key
    store(waiting, entry, load(source, at))
    _link(feed, clock[WATERMARK] - clock[START] + clock[AHEAD] - 1, entry)


def _earliest(heads, now):
    """The first tick of the next occupied slot, and its place; -1 if there is none.

    All entries lie ahead of `now`, so the lowest level that has any has the earliest.
    """
    for level in range(11):
        first = (now >> (6 * level)) & 63
        for slot in range(first, 64):
            if heads[np.uint64(level * 64 + slot)] >= 0:
                above = now >> (6 * level + 6) if level < 10 else np.int64(0)
                return max(now, ((above << 6) | slot) << (6 * level)), level * 64 + slot
    return np.int64(-1), -1
