"""The loops around an algorithm, each written once for all of them.

Their text is copied into every generated module, where the names below stand for the algorithm's operations and the
aggregate's functions.
"""

from typing import Any

import numpy as np

start: Any = None
insert = evict = query = slide = item = lower = put = lift_at = start


def roll(columns, valid, starts, ends, lo, hi, least, out, ok, states, links, mask):
    """One answer for each of the rows lo .. hi - 1, over the window starts[i] .. ends[i]; neither ever goes back."""
    registers = start()
    front = end = starts[lo]
    held = 0
    for i in range(lo, hi):
        first, last = starts[np.uint64(i)], ends[np.uint64(i)]
        while front < first and front < end:
            registers = evict(states, links, mask, registers)
            if valid is None:
                held -= 1
            else:
                held -= valid[np.uint64(front)]
            front += 1
        if front < first:  # the window jumped over rows that it never held
            front = end = first
        while end < last:
            registers = insert(states, links, mask, registers, item(columns, valid, end))
            if valid is None:
                held += 1
            else:
                held += valid[np.uint64(end)]
            end += 1
        ok[np.uint64(i)] = held >= least
        if held >= least:
            put(out, i, lower(query(states, links, mask, registers)))


def replay(columns, steps, out, states, links, mask):
    """Run a list of steps: 0 inserts the next item, 1 evicts, 2 writes the lowered answer. Returns the registers."""
    registers = start()
    taken = written = 0
    for step in steps:
        if step == 0:
            registers = insert(states, links, mask, registers, item(columns, None, taken))
            taken += 1
        elif step == 1:
            registers = evict(states, links, mask, registers)
        else:
            put(out, written, lower(query(states, links, mask, registers)))
            written += 1
    return registers


def probe(columns):
    """An answer's type, found by the compiler's own inference; never called."""
    return np.asarray(lower(lift_at(columns, 0)))


def blocks(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d):
    """The rows lo .. hi - 1 of windows of a fixed length; see swag/blocks.py."""
    slide(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d)
