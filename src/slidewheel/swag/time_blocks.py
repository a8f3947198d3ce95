"""Blocks of time: Two-Stacks with flips at fixed instants, for many keys, many windows and late rows at once.

Entries (slices, or single rows) lie in the order of their times. Time is cut into blocks of 2**shift microseconds. Each
entry has, beside its own state, a prefix (the aggregate from the start of its block to itself) and, once its block is
complete, a suffix (from itself to the end of its block). A window that is at least as long as a block and shorter than
two is a suffix, at most one whole block, and a prefix: van Herk's and Gil and Werman's windows, cut by the clock.

Where the cuts lie depends on the clock alone. So the answers are the same to the last bit however rows were batched,
all windows of about one length share the blocks, and what a late row changes is made anew without a trace.

`table` holds `width` states for each slot, side by side: the entry, then its prefix and suffix for each length of
blocks. The entries of a key are a ring of `mask + 1` slots at `base`; its positions rise for ever.
"""

import numpy as np

from slidewheel.swag.card import Card

CARD = Card(
    name="time_blocks",
    paper="van Herk (1992); Gil, Werman (1993); Tangwongsan, Hirzel, Schneider: Two-Stacks (DEBS 2017)",
    amortised="2 combines an entry, and 1 or 2 an answer",
    worst="n combines when a block is complete",
    space="3n states for windows of one length, 2n more for each other power of two",
    use="queries: many keys and windows, rows out of order, the same answers from run, stream and a restored stream",
)


def operations(monoid, ring, jit):
    combine = monoid.combine
    load, store = ring.load, ring.store

    @jit
    def prefixes(table, width, target, ids, shift, base, mask, front, first, last):
        """Prefixes of the positions first .. last - 1 into the place `target` of each slot."""
        if first >= last:
            return
        slot = base + (first & mask)
        block = ids[np.uint64(slot)] >> shift
        total = load(table, slot * width)
        if first > front:
            before = base + ((first - 1) & mask)
            if ids[np.uint64(before)] >> shift == block:
                total = combine(load(table, before * width + target), total)
        store(table, slot * width + target, total)
        for position in range(first + 1, last):
            slot = base + (position & mask)
            here = ids[np.uint64(slot)] >> shift
            if here == block:
                total = combine(total, load(table, slot * width))
            else:
                total = load(table, slot * width)
                block = here
            store(table, slot * width + target, total)

    @jit
    def suffixes(table, width, target, ids, shift, base, mask, first, last):
        """Suffixes of the positions first .. last - 1, where a block ends at `last`."""
        if first >= last:
            return
        slot = base + ((last - 1) & mask)
        block = ids[np.uint64(slot)] >> shift
        total = load(table, slot * width)
        store(table, slot * width + target, total)
        for back in range(last - first - 1):
            slot = base + ((last - 2 - back) & mask)
            here = ids[np.uint64(slot)] >> shift
            if here == block:
                total = combine(load(table, slot * width), total)
            else:
                total = load(table, slot * width)
                block = here
            store(table, slot * width + target, total)

    @jit
    def fold(table, parts, first, last):
        """The states at parts[first .. last - 1], combined from left to right."""
        total = load(table, parts[np.uint64(first)])
        for k in range(first + 1, last):
            total = combine(total, load(table, parts[np.uint64(k)]))
        return total

    return prefixes, suffixes, fold
