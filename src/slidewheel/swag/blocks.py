"""Windows of a fixed length over a finished array, by blocks (van Herk; Gil and Werman): Two-Stacks in batch form.

The array is cut into blocks of the window's length. Every window is a suffix of one block and a prefix of the next,
so suffix aggregates of the last block and a running prefix of this one answer it with one combine. A step does one
item of the prefix and, from the block's other end, one item of the suffix that the next block will need; and two
blocks, one in each half of the array, go in step. That makes four chains of combines that do not wait for each
other. No branch depends on the data.

Windows of varying length (`vary`) need no fixed blocks: whenever the window has left the suffixes behind, those of the
rows that it holds now are made anew. Nothing is stored per row but the suffixes, and nothing is done for a row that
leaves but to count past it.

`join(a, b, m, n, inverse)` is combine for parts of m and n items, with 1 / (m + n) at hand: counts are known in
advance here, which spares divisions for some aggregates (Monoid.graded).
"""

import numpy as np

from slidewheel.swag.card import Card

CARD = Card(
    name="blocks",
    paper="van Herk (1992); Gil, Werman (1993)",
    amortised="3 combines a row",
    worst="3 combines a row",
    space="4n states",
    use="sw.rolling: the fastest for a finished array",
)


def operations(monoid, ring, bounds, jit):
    join, identity, lower = monoid.join, monoid.identity, monoid.lower
    load, store, item, put = ring.load, ring.store, ring.item, ring.put
    leaves, enters, in_order = bounds.leaves, bounds.enters, bounds.in_order

    @jit
    def suffixes_of(columns, valid, first, w, inverses, target):
        """target[k] = the aggregate of the block's items k .. w - 1; nobody asks for k = 0."""
        acc = identity()
        for j in range(w - 1):
            k = w - 1 - j
            acc = join(item(columns, valid, first + k), acc, 1, j, inverses[np.uint64(j + 1)])
            store(target, k, acc)

    @jit
    def answer(ok, i, state, n, out):
        """Write row i, if its window holds enough values."""
        if ok is None:  # two ifs, as the compiler drops the one that the type of ok decides  # noqa: SIM114
            put(out, i, lower(state, n))
        elif ok[np.uint64(i)]:
            put(out, i, lower(state, n))

    @jit
    def step(columns, valid, row, j, w, inverses, prefix, acc, old):
        """Item j of the block at `row` joins its prefix, and item j from the other end the block's suffix."""
        inverse = inverses[np.uint64(j + 1)]
        prefix = join(prefix, item(columns, valid, row + j), j, 1, inverse)
        acc = join(item(columns, valid, row + w - 1 - j), acc, 1, j, inverse)
        window = join(load(old, j + 1), prefix, w - 1 - j, j + 1, inverses[np.uint64(w)])
        return prefix, acc, window

    @jit
    def last_of(columns, valid, row, w, inverses, prefix, out, ok):
        """The youngest item of a block, whose window is the block."""
        prefix = join(prefix, item(columns, valid, row + w - 1), w - 1, 1, inverses[np.uint64(w)])
        answer(ok, row + w - 1, prefix, w, out)

    @jit
    def slide(columns, valid, w, lo, hi, least, inverses, out, ok, old_a, new_a, old_b, new_b):
        """Answers for the rows lo .. hi - 1, where lo is a multiple of w. The last four hold w states each."""
        if valid is not None:  # which windows hold enough values; without nulls the caller knows
            held = 0
            for i in range(max(lo - w, 0), hi):
                held += valid[np.uint64(i)]
                if i >= lo:
                    if i >= w:
                        held -= valid[np.uint64(i - w)]
                    ok[np.uint64(i)] = held >= least
        a = lo
        if lo == 0:  # before the first full window there is no suffix to add
            prefix = identity()
            for i in range(min(w, hi)):
                prefix = join(prefix, item(columns, valid, i), i, 1, inverses[np.uint64(i + 1)])
                if valid is not None or i + 1 >= least:
                    answer(ok, i, prefix, i + 1, out)
            a = w
        if a >= hi:
            return
        pairs = (hi - a) // w // 2
        b = a + pairs * w
        suffixes_of(columns, valid, b - w, w, inverses, old_b)
        if pairs > 0:
            suffixes_of(columns, valid, a - w, w, inverses, old_a)
        for _ in range(pairs):
            prefix_a, acc_a, prefix_b, acc_b = identity(), identity(), identity(), identity()
            for j in range(w - 1):
                # All is read before anything is written, as the compiler can't know that the arrays are apart.
                prefix_a, acc_a, window_a = step(columns, valid, a, j, w, inverses, prefix_a, acc_a, old_a)
                prefix_b, acc_b, window_b = step(columns, valid, b, j, w, inverses, prefix_b, acc_b, old_b)
                answer(ok, a + j, window_a, w, out)
                answer(ok, b + j, window_b, w, out)
                store(new_a, w - 1 - j, acc_a)
                store(new_b, w - 1 - j, acc_b)
            last_of(columns, valid, a, w, inverses, prefix_a, out, ok)
            last_of(columns, valid, b, w, inverses, prefix_b, out, ok)
            old_a, new_a, old_b, new_b = new_a, old_a, new_b, old_b
            a += w
            b += w
        while b < hi:  # an odd block, and the rest that is shorter than a block
            prefix, acc = identity(), identity()
            if b + w <= hi:
                for j in range(w - 1):
                    prefix, acc, window = step(columns, valid, b, j, w, inverses, prefix, acc, old_b)
                    answer(ok, b + j, window, w, out)
                    store(new_b, w - 1 - j, acc)
                last_of(columns, valid, b, w, inverses, prefix, out, ok)
            else:
                for j in range(hi - b):
                    prefix = join(prefix, item(columns, valid, b + j), j, 1, inverses[np.uint64(j + 1)])
                    window = join(load(old_b, j + 1), prefix, w - 1 - j, j + 1, inverses[np.uint64(w)])
                    answer(ok, b + j, window, w, out)
            old_b, new_b = new_b, old_b
            b += w

    @jit
    def vary(columns, valid, frame, lo, hi, first, least, out, ok, suffixes):
        """Answers for the rows lo .. hi - 1, over windows that start at row `first` or later.

        Returns hi; or the row whose window is too long for `suffixes`; or -1 - i if row i is out of order.
        """
        rows = len(columns[0])
        front = end = mid = base = first  # suffixes[p - base] is the aggregate of the rows p .. mid - 1
        back, held = identity(), 0
        for i in range(lo, hi):
            if not in_order(frame, i):
                return -1 - i
            while front < end and leaves(frame, front, i):
                if valid is not None:
                    held -= valid[np.uint64(front)]
                front += 1
            while front == end and end < rows and enters(frame, end, i) and leaves(frame, end, i):
                front += 1  # come and gone between two rows
                end += 1
            while end < rows and enters(frame, end, i):
                back = join(back, item(columns, valid, end), 0, 0, 0.0)
                if valid is not None:
                    held += valid[np.uint64(end)]
                end += 1
            if front >= mid:
                if end - front > len(suffixes):
                    return i
                back, base, mid = identity(), front, end
                acc = identity()
                for k in range(end - front):
                    acc = join(item(columns, valid, end - 1 - k), acc, 0, 0, 0.0)
                    store(suffixes, end - 1 - k - base, acc)
            if valid is None:
                held = end - front
            ok[np.uint64(i)] = held >= least
            if held >= least:
                if front == end:
                    put(out, i, lower(identity(), 0))
                else:
                    put(out, i, lower(join(load(suffixes, front - base), back, 0, 0, 0.0), 0))
        return hi

    return slide, vary
