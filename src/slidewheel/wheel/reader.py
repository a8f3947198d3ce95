"""The reader: carries out plans over finished slots, with exactly as many combines as they say."""

import numpy as np

from slidewheel.wheel.names import (
    BASE,
    COMBINED,
    GAPS,
    HOLES,
    INVERSE,
    KEPT,
    LENGTH,
    MARKS,
    NONE,
    ORIGIN,
    PACKED,
    PREFIX,
    PREFIXED,
    ROWS,
    SLOTS,
    TOTAL,
    combine,
    enough,
    fold,
    identity,
    inverse,
    load,
    lower,
    put,
    store,
)
from slidewheel.wheel.packing import _unpacked
from slidewheel.wheel.planner import _choose, _split
from slidewheel.wheel.slots import _any, _marked, _row

BATCH = 128
MOST_TIME = 1 << 52
"""Microseconds up to which halves are floats, too."""


def _of_part(view, width, key, level, low, high):
    """The aggregate of a part."""
    table, book = view[0], view[4]
    if low == TOTAL:
        return load(view[6], level * width + key)
    packed = book[level, PACKED]
    base = book[level, BASE] - packed
    if low >= packed:
        return fold(table, (base + low) * width + key, (base + high) * width + key, width)
    total = _unpacked(view, level, low)
    for row in range(low + 1, min(high, packed)):
        total = combine(total, _unpacked(view, level, row))
    if high > packed:
        total = combine(total, fold(table, (base + packed) * width + key, (base + high) * width + key, width))
    return total


def _joined(view, width, key, parts, first, count):
    """The parts first .. first + count - 1, at least one, combined in their order."""
    at = np.uint64(3 * first)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    total = _of_part(view, width, key, parts[at], parts[at + one], parts[at + two])
    for _ in range(1, count):
        at += three
        total = combine(total, _of_part(view, width, key, parts[at], parts[at + one], parts[at + two]))
    return total


def _holds(view, width, key, parts, count):
    """Whether there is a value in these parts; mostly the first slot says so."""
    _, bits, _, _, book, _, _, held, _, _ = view
    for k in range(count):
        level, low, high = parts[np.uint64(3 * k)], parts[np.uint64(3 * k + 1)], parts[np.uint64(3 * k + 2)]
        if low == TOTAL:
            if held[np.uint64(level * width + key)]:
                return True
        else:
            first = book[level, MARKS] + key
            for row in range(low, high):
                if _marked(bits, first + row * width):
                    return True
    return False


def _by_prefix(view, width, key, level, low, high):
    """The slots low .. high - 1 of a level, by what was summed up to both ends."""
    table, first = view[0], view[4][level, PREFIX]
    newer = load(table, (first + high) * width + key)
    return newer if low == 0 else inverse(newer, load(table, (first + low) * width + key))


def _without(view, width, key, parts, sizes):
    """A landmark without the older and the newer part."""
    room = 2 * len(view[4]) + 1
    total = _joined(view, width, key, parts, 0, sizes[0])
    if sizes[1] > 0:
        total = inverse(total, _joined(view, width, key, parts, room, sizes[1]))
    if sizes[2] > 0:
        total = inverse(total, _joined(view, width, key, parts, 2 * room, sizes[2]))
    return total


def _carry_out(view, width, key, kind, parts, sizes):
    """The state that a plan with at least one part gives."""
    if kind == PREFIXED:
        return _by_prefix(view, width, key, parts[0], parts[1], parts[2])
    if kind == INVERSE:
        return _without(view, width, key, parts, sizes)
    return _joined(view, width, key, parts, 0, sizes[0])


def _plan(view, known, start, end, plan, parts, sizes):
    """The kind of the chosen plan and its cost; `known` is what all questions to this view share."""
    return _choose(view[3], view[4], view[5], start, end, known, plan, parts, sizes)


def _held_in(view, known, width, key, start, end, kind, room):
    """Whether there is a value in the range of this plan."""
    parts, sizes, own = room
    if kind != INVERSE:
        return _holds(view, width, key, parts, sizes[0])
    book = view[4]
    if width == 1 and book[0, GAPS] == 0 and start >= book[0, KEPT]:
        rows, origin = book[0, ROWS], book[0, ORIGIN]
        return _any(view[1], book[0, MARKS], min(start - origin, rows), min(end - origin, rows))
    count, _ = _split(view[3], view[4], view[5], start, end, known[0], known[1], own, 0, sizes)
    return count < 0 or _holds(view, width, key, own, count)


def _tick_of(time, origin, tick, rate):
    """The tick that begins at this time, from `origin` on; -1 if there is none.

    The product is next to a whole number where there is one; times more than 2**52 from the origin are divided.
    """
    since = time - origin
    ticks = np.int64(since * rate + 0.5)
    if since >= MOST_TIME:
        ticks = since // tick
    return ticks if ticks * tick == since else np.int64(-1)


def _prepared(view, known, low, high, tick, rate, plan, room):
    """The plan of one range in microseconds: its kind, 0 if the range is empty, or -1 if it can't be answered."""
    begin, now = known[0], known[1]
    start, end = _tick_of(low, begin * tick, tick, rate), _tick_of(high, begin * tick, tick, rate)
    if (start < 0) | (end < start) | (end > now - begin):
        return -1
    start, end = begin + start, begin + end
    kind, _ = _plan(view, known, start, end, plan, room[0], room[1])
    if kind < 0:
        return -1
    return kind if room[1][0] > 0 and _held_in(view, known, 1, 0, start, end, kind, room) else 0


def _ask(view, known, low, high, tick, rate, plan, room, j, out):
    """One range in microseconds, whose answer goes to place j: whether there is one, or -1 if it can't be said."""
    kind = _prepared(view, known, low, high, tick, rate, plan, room)
    if kind > 0:
        state = _carry_out(view, 1, 0, kind, room[0], room[1])
        if enough(state):
            put(out, j, lower(state))
            return 1
    return min(kind, 0)


def ask_one(view, known, low, high, tick, rate, plan, room, out):
    """A single range."""
    return _ask(view, known, low, high, tick, rate, plan, room, 0, out)


def ask_many(view, known, starts, ends, tick, rate, plan, room, first, last, ok, out):
    """Many ranges. Returns the number of the one that can't be answered, or `last`, and how many have no answer."""
    missing = np.int64(0)
    for j in range(first, last):
        there = _ask(view, known, starts[np.uint64(j)], ends[np.uint64(j)], tick, rate, plan, room, j, out)
        if there < 0:
            return j, missing
        ok[np.uint64(j)] = there > 0
        missing += there == 0
    return last, missing


def _has_sums(book, level, begin):
    """Whether a level has the prefix sum of each of its slots since the wheel began: then no plan is better."""
    all_kept = book[level, KEPT] == book[level, ORIGIN] and book[level, ORIGIN] * book[level, LENGTH] <= begin
    return book[level, PREFIX] != NONE and book[level, GAPS] == 0 and all_kept


def ask_sums(view, begin, now, starts, ends, tick, rows, first, last, ok, out):
    """Ranges by prefix sums alone, of the coarsest level of whose slots they are. Returns the first range that is left,
    as one of those behind it is not made of ticks, or there are no such sums; and how many have no answer. Where `ok`
    is empty, it stops before those, too."""
    book, missing = view[4], np.int64(0)
    if (begin >= 0) & (now < MOST_TIME // tick):
        for level in range(len(book) - 1, -1, -1):
            if _has_sums(book, level, begin):
                first, fewer = _ask_sums_of(view, level, begin, now, starts, ends, tick, rows, first, last, ok, out)
                missing += fewer
    return first, missing


def _ask_sums_of(view, level, begin, now, starts, ends, tick, rows, first, last, ok, out):
    """The same by those of one level. `rows` gets the rows at which ranges start, and behind BATCH of them the ends."""
    book = view[4]
    length, sums, dense = book[level, LENGTH] * tick, book[level, PREFIX], book[level, HOLES] == 0
    rate, origin, most, oldest, newest = 1.0 / length, book[level, ORIGIN], book[level, ROWS], begin * tick, now * tick
    missing = np.int64(0)
    while first < last:
        count, shortest, cut, wrong = min(BATCH, last - first), most, np.int64(0), np.int64(0)
        for k in range(count):  # without a branch, so that many go through vectors
            low, high = starts[np.uint64(first + k)], ends[np.uint64(first + k)]
            start, end = np.int64(low * rate + 0.5), np.int64(high * rate + 0.5)
            cut |= (start * length ^ low) | (end * length ^ high)
            wrong |= low | high | (low - oldest) | (high - low) | (newest - high)  # none of these may be negative
            start, end = min(start - origin, most), min(end - origin, most)
            shortest = min(shortest, end - start)
            rows[np.uint64(k)], rows[np.uint64(BATCH + k)] = start, end
        if (cut != 0) | (wrong < 0):
            break
        if dense and shortest > 0 and _differences(view[0], sums, rows, count, first, out):
            for k in range(count if len(ok) > 0 else 0):
                ok[np.uint64(first + k)] = True
        elif len(ok) > 0:
            missing += _differences_if_any(view, level, rows, count, first, ok, out)
        else:
            break
        first += count
    return first, missing


def _differences(table, sums, rows, count, first, out):
    """The answers of ranges none of which is empty. Returns whether all have one."""
    missing = np.int64(0)
    for k in range(count):
        state = inverse(load(table, sums + rows[np.uint64(BATCH + k)]), load(table, sums + rows[np.uint64(k)]))
        holds = enough(state)
        if holds:
            put(out, first + k, lower(state))
        missing += not holds
    return missing == 0


def _differences_if_any(view, level, rows, count, first, ok, out):
    """The same where some may be empty. Returns how many have none."""
    table, bits, book, missing = view[0], view[1], view[4], np.int64(0)
    sums, marks = book[level, PREFIX], book[level, MARKS]
    for k in range(count):
        start, end = rows[np.uint64(k)], rows[np.uint64(BATCH + k)]
        holds = start < end and _any(bits, marks, start, end)
        if holds:
            state = inverse(load(table, sums + end), load(table, sums + start))
            holds = enough(state)
            if holds:
                put(out, first + k, lower(state))
        ok[np.uint64(first + k)] = holds
        missing += not holds
    return missing


def buckets(view, level, slot, per, ok, out):
    """Buckets of `per` slots of a level each, from this slot on."""
    bits, gaps, book = view[1], view[3], view[4]
    low, done = _row(gaps, book, level, slot), 0
    if per == 1 and (book[level, GAPS] == 0) & (book[level, HOLES] == 0) & (book[level, PACKED] == 0):
        done = min(len(ok), book[level, ROWS] - low)
        _slots_as_they_are(view[0], book[level, BASE] + low, done, ok, out)
        slot, low = slot + done, low + done
    for j in range(done, len(ok)):
        slot += per
        high = _row(gaps, book, level, slot)
        holds = _any(bits, book[level, MARKS], low, high)
        if holds:
            state = _of_part(view, 1, 0, level, low, high)
            holds = enough(state)
            if holds:
                put(out, j, lower(state))
        ok[np.uint64(j)] = holds
        low = high


def _slots_as_they_are(table, place, count, ok, out):
    """The answers of states that all hold a value."""
    for j in range(count):
        state = load(table, place + j)
        holds = enough(state)
        if holds:
            put(out, j, lower(state))
        ok[np.uint64(j)] = holds


def ask_states(view, known, width, keys, starts, ends, plan, room, ok, out):
    """The state of each range for each of these keys, in ticks; those of one range lie together.

    Returns the number of the range that can't be answered, or of all.
    """
    count = len(keys)
    for j in range(len(starts)):
        start, end = starts[np.uint64(j)], ends[np.uint64(j)]
        kind, _ = _plan(view, known, start, end, plan, room[0], room[1])
        if kind < 0:
            return j
        for k in range(count):
            key, at = keys[np.uint64(k)], j * count + k
            holds = room[1][0] > 0 and _held_in(view, known, width, key, start, end, kind, room)
            ok[np.uint64(at)] = holds
            if holds:
                store(out, at, _carry_out(view, width, key, kind, room[0], room[1]))
            else:
                store(out, at, identity())
    return len(starts)


def cut(view, known, edges, room, ok, out):
    """Slices between edges, in ticks: short ones tick by tick, the others by the cheapest combined plan."""
    bits, gaps, book = view[1], view[3], view[4]
    first, marks, short = known[0], book[0, MARKS], 2 * book[0, SLOTS]
    end = max(edges[0], first)
    high = _row(gaps, book, 0, end)
    for j in range(len(ok)):
        start, low = end, high
        end = max(edges[np.uint64(j + 1)], first)
        high = _row(gaps, book, 0, end)
        if end - start <= short:
            holds = _any(bits, marks, low, high)
            if holds:
                store(out, j, _of_part(view, 1, 0, 0, low, high))
        else:
            _plan(view, known, start, end, COMBINED, room[0], room[1])
            holds = _holds(view, 1, 0, room[0], room[1][0])
            if holds:
                store(out, j, _joined(view, 1, 0, room[0], 0, room[1][0]))
        if not holds:
            store(out, j, identity())
        ok[np.uint64(j)] = holds


def answers(states, ok, out):
    """What states lower to, where they hold something."""
    for j in range(len(states)):
        if ok[np.uint64(j)]:
            if enough(load(states, j)):
                put(out, j, lower(load(states, j)))
            else:
                ok[np.uint64(j)] = False
