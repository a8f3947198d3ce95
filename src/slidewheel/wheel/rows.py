"""Rows out of a wheel and into another: what snapshots, deltas and merging are made of."""

import numpy as np

from slidewheel.wheel.names import (
    AHEAD,
    BASE,
    GAPS,
    GAPS_AT,
    HEAD,
    MARKS,
    ORIGIN,
    PACKED,
    ROWS,
    START,
    WATERMARK,
    combine,
    identity,
    load,
    store,
)
from slidewheel.wheel.overflow import _schedule
from slidewheel.wheel.packing import _unpacked
from slidewheel.wheel.slots import _append, _close, _marked, _place, _row
from slidewheel.wheel.writer import _write


def _gaps_before(gaps, book, level, row):
    """How many gaps end at this row or before it."""
    low, high, at = np.int64(0), book[level, GAPS], book[level, GAPS_AT]
    while low < high:
        middle = (low + high) >> 1
        place = np.uint64(2 * (at + middle))
        if gaps[place] - book[level, ORIGIN] - gaps[place + np.uint64(1)] <= row:
            low = middle + 1
        else:
            high = middle
    return low


def _slot_of(gaps, book, level, row):
    """The slot that a row belongs to."""
    passed = _gaps_before(gaps, book, level, row)
    skipped = gaps[np.uint64(2 * (book[level, GAPS_AT] + passed) - 1)] if passed > 0 else np.int64(0)
    return book[level, ORIGIN] + row + skipped


def take_rows(view, width, level, since, slots, states, filled):
    """The rows of a level from this slot on that hold a value. Returns how many."""
    table, bits, _, gaps, book, _, _, _, _, _ = view
    count = 0
    for row in range(_row(gaps, book, level, since), book[level, ROWS]):
        holds = False
        for key in range(width):
            mark = _marked(bits, book[level, MARKS] + row * width + key)
            filled[np.uint64(count * width + key)] = mark
            holds = holds or mark
        if not holds:
            continue
        for key in range(width):
            if row < book[level, PACKED]:
                store(states, count, _unpacked(view, level, row))
            else:
                place = (book[level, BASE] + row - book[level, PACKED]) * width
                store(states, count * width + key, load(table, place + key))
        slots[np.uint64(count)] = _slot_of(gaps, book, level, row)
        count += 1
    return count


def put_rows(view, width, level, slots, states, filled):
    """Rows of a level that has none yet, in the order of their slots."""
    for k in range(len(slots)):
        _place(view, width, level, slots[np.uint64(k)], states, filled, k * width)


def put_finished(view, width, feed, slots, states, filled, watermark):
    """Finished ticks after the watermark, as another wheel has made them."""
    for k in range(len(slots)):
        _close(view, width, slots[np.uint64(k)])
        _append(view, width, 0, slots[np.uint64(k)], states, filled, k * width)
    feed[0][WATERMARK] = watermark
    _close(view, width, watermark)


def put_pending(width, feed, ticks, codes, states):
    """States of ticks that are not finished, into the ring or the overflow wheel."""
    clock = feed[0]
    for k in range(len(ticks)):
        tick, key = ticks[np.uint64(k)], codes[np.uint64(k)]
        ahead = tick - clock[WATERMARK]
        if ahead < clock[AHEAD]:
            _write(feed, width, clock[HEAD] + ahead, key, states, k)
        else:
            _schedule(feed, tick - clock[START], key, states, k)


def add_states(into, into_filled, places, states, filled):
    """Combine each state into the one at its place."""
    for k in range(len(places)):
        at = places[np.uint64(k)]
        store(into, at, combine(load(into, at), load(states, k)))
        into_filled[np.uint64(at)] |= filled[np.uint64(k)]


def empty_states(states):
    """Make all of them empty."""
    for k in range(len(states)):
        store(states, k, identity())
