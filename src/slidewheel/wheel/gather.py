"""Many rows of one slot into its state, in chains of combines that do not wait for each other."""

import numpy as np

from slidewheel.wheel.names import absorb, combine, gather, identity, item, load, store


def _gather_ordered(states, at, columns, first, stop):
    """Rows first .. stop - 1, all of one slot, into its state: many of them in four chains, a quarter each."""
    total = combine(load(states, at), item(columns, None, first))
    each = (stop - first) >> 2
    if each < 4:
        for i in range(first + 1, stop):
            total = combine(total, item(columns, None, i))
        store(states, at, total)
        return
    second, third, fourth = first + each, first + 2 * each, first + 3 * each
    b, c, d = item(columns, None, second), item(columns, None, third), item(columns, None, fourth)
    for k in range(1, each):
        total = combine(total, item(columns, None, first + k))
        b = combine(b, item(columns, None, second + k))
        c = combine(c, item(columns, None, third + k))
        d = combine(d, item(columns, None, fourth + k))
    for i in range(fourth + each, stop):
        d = combine(d, item(columns, None, i))
    store(states, at, combine(combine(total, b), combine(c, d)))


def _pass_added(states, at, spare, columns, row):
    """One row into a state, or nothing into a spare one if `at` is negative: where nobody can foresee which, this is
    faster than a branch, which the compiler makes where the row is read later. Returns where it went."""
    state = item(columns, None, row)
    to = at if at >= 0 else spare
    store(states, to, combine(load(states, to), state if at >= 0 else identity()))
    return to


def _pass_left_out(states, at, spare, columns, row):
    """The same for states that are changed in place, or where a call takes long."""
    if at < 0:
        return spare
    gather(states, at, columns, row, row + 1)
    return at


def _gather_absorbed(states, at, columns, first, stop):
    """The same for states that are changed in place."""
    for i in range(first, stop):
        absorb(load(states, at), columns[0][np.uint64(i)])


def _run_ordered(states, at, columns, times, first, stop, low, tick):
    """Rows from `first` on into a state, as far as they are of the tick that begins at `low`. Returns the row after
    them and the greatest time."""
    run, greatest = _run(times, first, stop, low, tick)
    _gather_ordered(states, at, columns, first, run)
    return run, greatest


def _run_absorbed(states, at, columns, times, first, stop, low, tick):
    """The same for states that are changed in place."""
    run, greatest = _run(times, first, stop, low, tick)
    _gather_absorbed(states, at, columns, first, run)
    return run, greatest


def _run(times, first, stop, low, tick):
    """The row after those of one tick, and the greatest of their times."""
    greatest = low
    while first < stop and np.uint64(times[np.uint64(first)] - low) < np.uint64(tick):
        greatest = max(greatest, times[np.uint64(first)])
        first += 1
    return first, greatest


def _latest(times, i, low):
    """The latest of four times, since `low`; earlier ones count as very late."""
    i = np.uint64(i)
    a, b = np.uint64(times[i] - low), np.uint64(times[i + np.uint64(1)] - low)
    c, d = np.uint64(times[i + np.uint64(2)] - low), np.uint64(times[i + np.uint64(3)] - low)
    return max(max(a, b), max(c, d))
