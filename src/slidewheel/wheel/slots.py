"""Where slots lie, and how they come to be: rows are only ever appended (paper, section 3.4.1)."""

import numpy as np

from slidewheel.wheel.names import (
    BASE,
    GAPS,
    GAPS_AT,
    HOLES,
    LENGTH,
    MARKS,
    NEXT,
    NONE,
    OPEN,
    ORIGIN,
    PACKED,
    PREFIX,
    ROWS,
    SHORTEST_GAP,
    SLOTS,
    combine,
    identity,
    load,
    store,
)


def _row(gaps, book, level, slot):
    """The row of a slot; of one in a gap, that of the next slot which has one."""
    if slot >= book[level, NEXT]:
        return book[level, ROWS]
    row = slot - book[level, ORIGIN]
    count, at = book[level, GAPS], book[level, GAPS_AT]
    if count > 0:
        low, high = np.int64(0), count
        while low < high:
            middle = (low + high) >> 1
            if gaps[np.uint64(2 * (at + middle))] <= slot:
                low = middle + 1
            else:
                high = middle
        if low < count:
            after = np.uint64(2 * (at + low))
            before = gaps[after - np.uint64(1)] if low > 0 else np.int64(0)
            return max(min(row - before, gaps[after] - book[level, ORIGIN] - gaps[after + np.uint64(1)]), 0)
        row -= gaps[np.uint64(2 * (at + low) - 1)]
    return max(row, 0)


def _mark(bits, place, holds):
    """Say that there is a value, if there is one."""
    bits[np.uint64(place >> 6)] |= np.uint64(holds) << np.uint64(place & 63)


def _mark_all(bits, place, filled, at, count):
    """The same for many states that follow each other."""
    done = np.int64(0)
    while done < count:
        word = np.uint64(0)
        if at + done + 64 <= len(filled):
            for k in range(64):  # always 64, so that they go through vectors
                word |= np.uint64(filled[np.uint64(at + done + k)]) << np.uint64(k)
            if count - done < 64:
                word &= (np.uint64(1) << np.uint64(count - done)) - np.uint64(1)
        else:
            for k in range(min(count - done, 64)):
                word |= np.uint64(filled[np.uint64(at + done + k)]) << np.uint64(k)
        first, shift = (place + done) >> 6, (place + done) & 63
        bits[np.uint64(first)] |= word << np.uint64(shift)
        if shift > 0:
            bits[np.uint64(first + 1)] |= word >> np.uint64(64 - shift)
        done += 64


def _mark_range(bits, place, count):
    """The same where all of them hold a value."""
    last = place + count - 1
    for word in range(place >> 6, (last >> 6) + 1):
        mask = ~np.uint64(0)
        if word == place >> 6:
            mask &= ~np.uint64(0) << np.uint64(place & 63)
        if word == last >> 6:
            mask &= ~np.uint64(0) >> np.uint64(63 - (last & 63))
        bits[np.uint64(word)] |= mask


def _marked(bits, place):
    return (bits[np.uint64(place >> 6)] >> np.uint64(place & 63)) & np.uint64(1) != np.uint64(0)


def _any(bits, marks, first, last):
    """Whether one of these rows of a single key holds a value; one of 64 that follow each other does."""
    if first >= last:
        return False
    low, high = marks + first, marks + last - 1
    word, shift = bits[np.uint64(low >> 6)] >> np.uint64(low & 63), np.uint64(63 - (high & 63))
    if low >> 6 == high >> 6:
        return word << (shift + np.uint64(low & 63)) != np.uint64(0)
    if word != np.uint64(0):
        return True
    for k in range((low >> 6) + 1, high >> 6):
        if bits[np.uint64(k)] != np.uint64(0):
            return True
    return bits[np.uint64(high >> 6)] << shift != np.uint64(0)


def _few(table, low, count, width):
    """So many states from `low` on, each `width` after the other."""
    total = load(table, low)
    for k in range(1, count):
        total = combine(total, load(table, low + k * width))
    return total


def _fold_ordered(table, low, high, width):
    """The states at low, low + width, ... up to high, in four chains that do not wait for each other."""
    count = (high - low) // width if width > 1 else high - low
    if count < 8:
        return _few(table, low, count, width)
    each = count >> 2
    second, third, fourth = low + each * width, low + 2 * each * width, low + 3 * each * width
    a, b, c, d = load(table, low), load(table, second), load(table, third), load(table, fourth)
    for k in range(1, each):
        a = combine(a, load(table, low + k * width))
        b = combine(b, load(table, second + k * width))
        c = combine(c, load(table, third + k * width))
        d = combine(d, load(table, fourth + k * width))
    for k in range(each, count - 3 * each):
        d = combine(d, load(table, fourth + k * width))
    return combine(combine(a, b), combine(c, d))


def _fold_commutative(table, low, high, width):
    """The same where order does not matter: each chain takes every fourth, so that neighbours go through vectors."""
    count = (high - low) // width if width > 1 else high - low
    if count < 8:
        return _few(table, low, count, width)
    a, b, c, d = load(table, low), load(table, low + width), load(table, low + 2 * width), load(table, low + 3 * width)
    at = low + 4 * width
    for _ in range((count >> 2) - 1):
        a = combine(a, load(table, at))
        b = combine(b, load(table, at + width))
        c = combine(c, load(table, at + 2 * width))
        d = combine(d, load(table, at + 3 * width))
        at += 4 * width
    for k in range(count & 3):
        d = combine(d, load(table, at + k * width))
    return combine(combine(a, b), combine(c, d))


def _sum_up(view, width, level, row):
    """The prefix sums of a row that is there."""
    table, book = view[0], view[4]
    first = book[level, PREFIX]
    if first == NONE:
        return
    place, at = (book[level, BASE] + row - book[level, PACKED]) * width, (first + row) * width
    for key in range(width):
        store(table, at + width + key, combine(load(table, at + key), load(table, place + key)))


def _reach(view, width, level, slot):
    """The row at which this slot, the next one that is not empty, is to be put."""
    table, gaps, book = view[0], view[3], view[4]
    missing, rows = slot - book[level, NEXT], book[level, ROWS]
    if missing > 0:
        if missing < SHORTEST_GAP:
            place = (book[level, BASE] + rows - book[level, PACKED]) * width
            for k in range(missing * width):
                store(table, place + k, identity())
            if book[level, PREFIX] != NONE:
                for row in range(rows, rows + missing):
                    _sum_up(view, width, level, row)
            rows += missing
            book[level, HOLES] += missing
        else:
            end = 2 * (book[level, GAPS_AT] + book[level, GAPS])
            skipped = gaps[np.uint64(end - 1)] if book[level, GAPS] > 0 else np.int64(0)
            gaps[np.uint64(end)], gaps[np.uint64(end + 1)] = slot, skipped + missing
            book[level, GAPS] += 1
    book[level, NEXT], book[level, ROWS] = slot, rows
    return rows


def _place(view, width, level, slot, source, filled, at):
    """A finished slot as a row of its level."""
    table, bits, book = view[0], view[1], view[4]
    row = _reach(view, width, level, slot)
    place, mark = (book[level, BASE] + row - book[level, PACKED]) * width, book[level, MARKS] + row * width
    for key in range(width):
        store(table, place + key, load(source, at + key))
        _mark(bits, mark + key, filled[np.uint64(at + key)])
    book[level, ROWS], book[level, NEXT] = row + 1, slot + 1
    _sum_up(view, width, level, row)


def _append(view, width, level, slot, source, filled, at):
    """A finished slot, and its share in the level's total."""
    book, totals, held = view[4], view[6], view[7]
    _place(view, width, level, slot, source, filled, at)
    begins = book[level, OPEN] == NONE
    for key in range(width):
        total = level * width + key
        if begins:
            store(totals, total, load(source, at + key))
            held[np.uint64(total)] = filled[np.uint64(at + key)]
        else:
            store(totals, total, combine(load(totals, total), load(source, at + key)))
            held[np.uint64(total)] |= filled[np.uint64(at + key)]
    if begins:
        book[level, OPEN] = slot // book[level, SLOTS]


def _close(view, width, tick):
    """Hand on the totals of all rotations that are complete at this tick, the lowest level first.

    A rotation ends only where one of the level below does: as long as that one is under way, nothing is complete.
    """
    book, totals, held = view[4], view[6], view[7]
    for level in range(len(book) - 1):
        slot = book[level, OPEN]
        if slot != NONE:
            if (slot + 1) * book[level + 1, LENGTH] > tick:
                break
            _append(view, width, level + 1, slot, totals, held, level * width)
            book[level, OPEN] = NONE
