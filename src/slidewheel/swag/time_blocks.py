"""Blocks of time: Two-Stacks with flips at fixed instants, for many keys, many windows and late rows at once.

Entries (slices, or single rows) lie in the order of their times. Time is cut into blocks of 2**shift microseconds. Each
entry has, beside its own state, a prefix (the aggregate from the start of its block to itself) and, once its block is
complete, a suffix (from itself to the end of its block). A window that is at least as long as a block and shorter than
two is a suffix, at most one whole block, and a prefix: van Herk's and Gil and Werman's windows, cut by the clock. One
of less than four blocks has up to three whole ones.

Where the cuts lie depends on the clock alone. So the answers are the same to the last bit however rows were batched,
all windows of about one length share the blocks, and what a late row changes is made anew without a trace.

`table` holds the entries of all slots, then all their prefixes and all their suffixes, for one length of blocks after
the other: each of these is a plane of `plane` states. The entries of a key are a ring of `mask + 1` slots at `base`;
its positions rise for ever.
"""

import numpy as np

from slidewheel.swag.card import Card

CARD = Card(
    name="time_blocks",
    paper="van Herk (1992); Gil, Werman (1993); Tangwongsan, Hirzel, Schneider: Two-Stacks (DEBS 2017)",
    amortised="2 combines an entry, and 1 or 2 an answer (up to 4 where windows share shorter blocks)",
    worst="n combines when a block is complete",
    space="3n states for windows of one length, 2n more for each other length of blocks",
    use="queries: many keys and windows, rows out of order, the same answers from run, stream and a restored stream",
)


def _find(ids, base, mask, lo, hi, x):
    """The first position of lo .. hi - 1 whose id is x or more; hi if there is none.

    Ids mostly lie at equal distances: a guess, then steps of double length away from it, then halves of what is left.
    A long ring is in no cache, and this reads few places of it.
    """
    if hi - lo > 16:
        first, last = ids[np.uint64(base + (lo & mask))], ids[np.uint64(base + ((hi - 1) & mask))]
        if x <= first:
            return lo
        if x > last:
            return hi
        guess = lo + int((x - first) / (last - first) * (hi - 1 - lo))
        step = 1
        if ids[np.uint64(base + (guess & mask))] < x:
            lo = guess + 1
            while lo + step < hi and ids[np.uint64(base + ((lo + step) & mask))] < x:
                lo += step + 1
                step *= 2
            hi = min(hi, lo + step)
        else:
            hi = guess
            while hi - step >= lo and ids[np.uint64(base + ((hi - step) & mask))] >= x:
                hi -= step
                step *= 2
            lo = max(lo, hi - step + 1)
    count = hi - lo
    while count > 0:  # without a jump that depends on the ids
        half = count >> 1
        earlier = ids[np.uint64(base + ((lo + half) & mask))] < x
        lo = lo + half + 1 if earlier else lo
        count = count - half - 1 if earlier else half
    return lo


def _next_window(ids, base, mask, end, zero, length, every, i, lo, hi):
    """The first window from index i on that holds an entry: its index, and its positions lo .. hi - 1.

    Window 0 starts at `zero`. lo and hi are those of an earlier window. If there is none any more, lo is `end`.
    """
    while True:
        start = zero + i * every
        while lo < end and ids[np.uint64(base + (lo & mask))] < start:
            lo += 1
        if lo == end:
            return i, lo, hi
        oldest = ids[np.uint64(base + (lo & mask))]
        if oldest < start + length:
            break
        i = (oldest - zero - length) // every + 1
    hi = max(hi, lo)
    while hi < end and ids[np.uint64(base + (hi & mask))] < start + length:
        hi += 1
    return i, lo, hi


def operations(monoid, ring, jit):
    combine = monoid.combine
    load, store = ring.load, ring.store
    find, next_window = jit(_find), jit(_next_window)

    @jit
    def prefixes(table, plane, target, ids, shift, base, mask, front, first, last):
        """Prefixes of the positions first .. last - 1 into the place `target` of each slot."""
        if first >= last:
            return
        slot = base + (first & mask)
        block = ids[np.uint64(slot)] >> shift
        total = load(table, slot)
        if first > front:
            before = base + ((first - 1) & mask)
            if ids[np.uint64(before)] >> shift == block:
                total = combine(load(table, target * plane + before), total)
        store(table, target * plane + slot, total)
        for position in range(first + 1, last):
            slot = base + (position & mask)
            here = ids[np.uint64(slot)] >> shift
            if here == block:
                total = combine(total, load(table, slot))
            else:
                total = load(table, slot)
                block = here
            store(table, target * plane + slot, total)

    @jit
    def suffixes(table, plane, target, ids, shift, base, mask, first, last):
        """Suffixes of the positions first .. last - 1, where a block ends at `last`."""
        if first >= last:
            return
        slot = base + ((last - 1) & mask)
        block = ids[np.uint64(slot)] >> shift
        total = load(table, slot)
        store(table, target * plane + slot, total)
        for back in range(last - first - 1):
            slot = base + ((last - 2 - back) & mask)
            here = ids[np.uint64(slot)] >> shift
            if here == block:
                total = combine(load(table, slot), total)
            else:
                total = load(table, slot)
                block = here
            store(table, target * plane + slot, total)

    @jit
    def window(table, plane, level, shift, ids, by_position, base, mask, first, last, start, known):
        """The aggregate of the positions first .. last of a window that starts at `start`.

        Blocks are cut by ids, or by position. Neighbours ask for the same: `known` holds, at 2 * (block & 3), a block
        and the position at which the next one begins.
        """
        slot = base + (first & mask)
        if first == last:
            return load(table, slot)
        newest = base + (last & mask)
        here = (first if by_position else ids[np.uint64(slot)]) >> shift
        final = (last if by_position else ids[np.uint64(newest)]) >> shift
        prefix, suffix = 1 + 2 * level, 2 + 2 * level
        if here == final:
            if start <= here << shift:
                return load(table, prefix * plane + newest)
            return load(table, suffix * plane + slot)
        total = load(table, suffix * plane + slot)
        while here + 1 < final:
            if by_position:
                first = (here + 1) << shift
                here += 1
            else:
                place = 2 * (here & 3)
                if known[np.uint64(place)] != here:
                    known[np.uint64(place)] = here
                    known[np.uint64(place + 1)] = find(ids, base, mask, first, last, (here + 1) << shift)
                first = known[np.uint64(place + 1)]
                here = ids[np.uint64(base + (first & mask))] >> shift
            if here == final:
                break
            total = combine(total, load(table, suffix * plane + base + (first & mask)))
        return combine(total, load(table, prefix * plane + newest))

    return prefixes, suffixes, window, find, next_window
