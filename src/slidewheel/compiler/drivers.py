"""The loops around an algorithm, each written once for all of them.

Their text is copied into every generated module, where the names below stand for the algorithm's operations and the
aggregate's functions.
"""

from typing import Any

import numpy as np

start: Any = None
insert = evict = query = answer = leaves = enters = in_order = slide = vary = item = lower = put = start


def roll(columns, valid, frame, lo, hi, first, least, out, ok, states, links, mask):
    """One answer for each of the rows lo .. hi - 1, over windows that start at row `first` or later.

    Returns hi; or the row at which the memory was too small for the window; or -1 - i if row i is out of order.
    """
    rows = len(columns[0])
    registers = start()
    front = end = first
    held = 0
    for i in range(lo, hi):
        if not in_order(frame, i):
            return -1 - i
        while front < end and leaves(frame, front, i):
            registers = evict(states, links, mask, registers)
            if valid is not None:
                held -= valid[np.uint64(front)]
            front += 1
        while front == end and end < rows and enters(frame, end, i) and leaves(frame, end, i):
            front += 1  # come and gone between two rows
            end += 1
        while end < rows and enters(frame, end, i):
            if end - front > mask:
                return i
            registers = insert(states, links, mask, registers, item(columns, valid, end))
            if valid is not None:
                held += valid[np.uint64(end)]
            end += 1
        if valid is None:
            held = end - front
        ok[np.uint64(i)] = held >= least
        if held >= least:
            put(out, i, lower(query(states, links, mask, registers)))
    return hi


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


def replay_ranges(columns, ranges, out, states, links, mask):
    """Insert each item, and write after it the lowered answers of all ranges, which fall. Returns the registers."""
    registers = start()
    written = 0
    for i in range(len(columns[0])):
        registers = insert(states, links, mask, registers, ranges, item(columns, None, i))
        for k in range(len(ranges)):
            put(out, written, lower(answer(states, links, mask, registers, ranges, k)))
            written += 1
    return registers


def probe(columns, row):
    """The answer of one row, whose type the compiler infers."""
    return lower(item(columns, None, row))


def blocks(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d):
    """Windows of a fixed length over a finished array; see `slide` in swag/blocks.py."""
    slide(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d)


def varying_blocks(columns, valid, frame, lo, hi, first, least, out, ok, suffixes):
    """Windows of varying length over a finished array; see `vary` in swag/blocks.py."""
    return vary(columns, valid, frame, lo, hi, first, least, out, ok, suffixes)
