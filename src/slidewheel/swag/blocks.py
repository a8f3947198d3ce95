"""Windows of a fixed length over a finished array, by blocks (van Herk; Gil and Werman): Two-Stacks in batch form.

The array is cut into blocks of the window's length. Every window is a suffix of one block and a prefix of the next,
so suffix aggregates of the last block and a running prefix of this one answer it with one combine. Each loop step
does the prefix of this block and, from the block's other end, the suffix that the next block will need: two chains
of combines that do not wait for each other. No branch depends on the data.

`join(a, b, m, n, inverse)` is combine for parts of m and n items, with 1 / (m + n) at hand: counts are known in
advance here, which spares a division for some aggregates (Monoid.graded).
"""

import numpy as np

from slidewheel.swag.card import Card

CARD = Card(
    name="blocks",
    paper="van Herk (1992); Gil, Werman (1993)",
    amortised="3 combines a row",
    worst="3 combines a row",
    space="2n",
    use="sw.rolling by count: the fastest for a finished array",
)


def operations(monoid, ring, jit):
    join, identity, lower = monoid.join, monoid.identity, monoid.lower
    load, store, item, put = ring.load, ring.store, ring.item, ring.put

    @jit
    def suffixes_of(columns, valid, first, w, inverses, target):
        """target[k] = the aggregate of the block's items k .. w - 1; nobody asks for k = 0."""
        acc = identity()
        for j in range(w - 1):
            k = w - 1 - j
            acc = join(item(columns, valid, first + k), acc, 1, j, inverses[np.uint64(j + 1)])
            store(target, k, acc)

    @jit
    def answer(valid, i, w, held, least, state, n, out, ok):
        """Write row i if its window holds enough; returns the number of valid rows in the window."""
        if valid is None:
            put(out, i, lower(state, n))
            return held
        held += valid[i]
        if i >= w:
            held -= valid[i - w]
        ok[i] = held >= least
        if held >= least:
            put(out, i, lower(state, n))
        return held

    @jit
    def slide(columns, valid, w, lo, hi, least, inverses, out, ok, old, new):
        """Answers for the rows lo .. hi - 1, where lo is a multiple of w. `old` and `new` hold w states each."""
        held = 0
        row = lo
        if lo > 0:
            suffixes_of(columns, valid, lo - w, w, inverses, old)
            if valid is not None:
                for i in range(lo - w, lo):
                    held += valid[i]
        else:  # before the first full window there is no suffix to add
            prefix = identity()
            for i in range(min(w, hi)):
                prefix = join(prefix, item(columns, valid, i), i, 1, inverses[np.uint64(i + 1)])
                held = answer(valid, i, w, held, least, prefix, i + 1, out, ok)
            if hi > w:
                suffixes_of(columns, valid, 0, w, inverses, old)
            row = w
        while row < hi:
            prefix, acc = identity(), identity()
            whole = row + w <= hi
            for j in range(w - 1 if whole else hi - row):
                prefix = join(prefix, item(columns, valid, row + j), j, 1, inverses[np.uint64(j + 1)])
                window = join(load(old, j + 1), prefix, w - 1 - j, j + 1, inverses[np.uint64(w)])
                held = answer(valid, row + j, w, held, least, window, w, out, ok)
                if whole:
                    k = w - 1 - j
                    acc = join(item(columns, valid, row + k), acc, 1, j, inverses[np.uint64(j + 1)])
                    store(new, k, acc)
            if whole:
                prefix = join(prefix, item(columns, valid, row + w - 1), w - 1, 1, inverses[np.uint64(w)])
                held = answer(valid, row + w - 1, w, held, least, prefix, w, out, ok)
            old, new = new, old
            row += w

    return slide
