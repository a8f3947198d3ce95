"""Many ranges at once: aggregates that they share, so that none of them takes more than three combines.

Rows of a level lie in blocks. Inside each block there is a suffix and a prefix for every row, and over whole blocks a
table: its line d has, in stretches of 2 ** (d + 1) blocks, what lies between each block and the stretch's middle (Alon,
Schieber: Optimal preprocessing for answering on-line product queries, 1987). A range is a suffix, two entries of the
line in which its blocks are on both sides of a middle, and a prefix. No inverse is needed, and order is kept.
"""

import numpy as np

from slidewheel.wheel.names import BASE, HOLES, LENGTH, MARKS, combine, enough, fold, load, lower, put, store
from slidewheel.wheel.reader import BATCH
from slidewheel.wheel.slots import _any, _row


def survey(known, book, rates, starts, ends, tick, rate, ticks, found):
    """Ranges in microseconds as pairs of ticks. `found` gets the coarsest level in whose whole slots all of them can be
    given, the first of their ticks and the last. Returns whether all are ranges of finished ticks."""
    begin, now = known[0], known[1]
    origin, level, lowest, highest, first = begin * tick, len(book) - 1, now, begin, 0
    while first < len(starts):
        stop, wrong = min(first + BATCH, len(starts)), False
        for j in range(first, stop):  # without a branch, so that many go through vectors
            low, high = starts[np.uint64(j)] - origin, ends[np.uint64(j)] - origin
            start, end = np.int64(low * rate + 0.5), np.int64(high * rate + 0.5)
            wrong |= (start * tick != low) | (end * tick != high) | (end < start)
            wrong |= starts[np.uint64(j)] < origin  # or `low` may have wrapped around
            start, end = begin + start, begin + end
            ticks[np.uint64(2 * j)], ticks[np.uint64(2 * j + 1)] = start, end
            lowest, highest = min(lowest, start), max(highest, end)
        if wrong | (highest > now):
            return False
        while level > 0 and not _whole_slots_of(book, rates, level, begin, ticks, first, stop):
            level -= 1
        first = stop
    found[0], found[1], found[2] = level, lowest, highest
    return True


def _whole_slots_of(book, rates, level, begin, ticks, first, last):
    """Whether these ranges are whole slots of a level; the wheel's first slot may have begun before it did."""
    length, rate, cut = book[level, LENGTH], rates[level], False
    for j in range(first, last):
        start, end = ticks[np.uint64(2 * j)], ticks[np.uint64(2 * j + 1)]
        cut |= (np.int64((start + 0.5) * rate) * length != start) & (start != begin)
        cut |= np.int64((end + 0.5) * rate) * length != end
    return not cut


def share_blocks(view, level, low, high, bits, blocks, suffixes, prefixes, totals):
    """Suffixes, prefixes and totals of the blocks of rows low .. high - 1, 2 ** bits in each."""
    table, base = view[0], view[4][level, BASE]
    for block in range(blocks):
        at = block << bits
        begin, count = base + low + at, min(1 << bits, high - low - at)
        prefix, suffix = load(table, begin), load(table, begin + count - 1)
        store(prefixes, at, prefix)
        store(suffixes, at + count - 1, suffix)
        for k in range(1, count):  # two chains that do not wait for each other
            prefix = combine(prefix, load(table, begin + k))
            suffix = combine(load(table, begin + count - 1 - k), suffix)
            store(prefixes, at + k, prefix)
            store(suffixes, at + count - 1 - k, suffix)
        store(totals, block, prefix)


def share_totals(totals, blocks, depth):
    """The lines of the table behind its first, which has the blocks themselves, and for each number its highest bit."""
    line, half = blocks, 2
    while half < blocks:
        middle = half
        while middle < blocks:
            total = load(totals, middle - 1)
            store(totals, line + middle - 1, total)
            for k in range(2, half + 1):
                total = combine(load(totals, middle - k), total)
                store(totals, line + middle - k, total)
            total = load(totals, middle)
            store(totals, line + middle, total)
            for k in range(middle + 1, min(middle + half, blocks)):
                total = combine(total, load(totals, k))
                store(totals, line + k, total)
            middle += 2 * half
        line, half = line + blocks, 2 * half
    for k in range(2, len(depth)):
        depth[k] = depth[k >> 1] + 1


def _blocks_between(totals, blocks, depth, left, right):
    """The blocks left .. right - 1, at least one."""
    last = right - 1
    if left == last:
        return load(totals, left)
    line = np.int64(depth[np.uint64(left ^ last)]) * blocks
    return combine(load(totals, line + left), load(totals, line + last))


def _rows_between(view, level, low, bits, start, end, shared):
    """The rows start .. end - 1, counted from `low`, at least one."""
    suffixes, prefixes, totals, depth = shared
    inside = (1 << bits) - 1
    blocks = (len(prefixes) + inside) >> bits
    left, right = (start + inside) >> bits, end >> bits
    if left > right:
        at = view[4][level, BASE] + low
        return fold(view[0], at + start, at + end, 1)
    if start & inside:
        state = load(suffixes, start)
        if left < right:
            state = combine(state, _blocks_between(totals, blocks, depth, left, right))
    elif left < right:
        state = _blocks_between(totals, blocks, depth, left, right)
    else:
        return load(prefixes, end - 1)
    return combine(state, load(prefixes, end - 1)) if end & inside else state


def ask_shared(view, level, low, bits, ticks, shared, ok, out):
    """Ranges of whole slots of a level; row `low` is the first that is shared. Returns how many have no answer."""
    filled, gaps, book, rates, missing = view[1], view[3], view[4], view[5], np.int64(0)
    rate, marks, dense = rates[level], book[level, MARKS], book[level, HOLES] == 0
    for j in range(len(ok)):
        start = _row(gaps, book, level, np.int64((ticks[np.uint64(2 * j)] + 0.5) * rate))
        end = _row(gaps, book, level, np.int64((ticks[np.uint64(2 * j + 1)] + 0.5) * rate))
        holds = start < end and (dense or _any(filled, marks, start, end))
        if holds:
            state = _rows_between(view, level, low, bits, start - low, end - low, shared)
            holds = enough(state)
            if holds:
                put(out, j, lower(state))
        ok[np.uint64(j)] = holds
        missing += not holds
    return missing
