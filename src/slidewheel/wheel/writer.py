"""The writer: a ring of slots that are written in place, and time that advances (paper, algorithms 1 and 2)."""

import numpy as np

from slidewheel.wheel.names import (
    AHEAD,
    BASE,
    DENSE,
    FREE,
    GREATEST,
    HEAD,
    HEAVIEST,
    HOLES,
    MARKS,
    NEXT,
    NONE,
    OPEN,
    PACKED,
    PREFIX,
    ROWS,
    SEEN,
    SHORTEST_GAP,
    SLOTS,
    START,
    USED,
    WAITING,
    WATERMARK,
    WEIGHT,
    combine,
    fold,
    identity,
    item,
    load,
    store,
    take_runs,
    weigh,
)
from slidewheel.wheel.overflow import _earliest, _link
from slidewheel.wheel.slots import _any, _close, _mark_all, _mark_range, _reach, _sum_up
from slidewheel.wheel.taking import _take_rows, _ticks

CHECKED = 1024
"""Rows that are looked at together before they go in."""


def _stretch(used, head, most):
    """How many of the ring's slots from `head` on to take at once, up to which of them, and how many hold something.

    There is no gap of SHORTEST_GAP slots in them: such a gap would contain a whole piece of half that length.
    """
    taken, seen, here = np.int64(0), np.int64(0), np.int64(1)
    while seen < most and here > 0:
        here = np.int64(0)
        for k in range(seen, min(seen + SHORTEST_GAP // 2, most)):
            here += used[np.uint64(head + k)]
        taken += here
        seen += SHORTEST_GAP // 2
    if seen >= most:
        count = most
        while not used[np.uint64(head + count - 1)]:
            count -= 1
        return most, count, taken
    count, empty, length, taken = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while length < most and empty < SHORTEST_GAP:
        here = np.int64(used[np.uint64(head + length)])
        taken += here
        empty = np.int64(0) if here else empty + 1
        length += 1
        count = length if here else count
    return length, count, taken


def _add_to_totals(view, width, ring, filled, first, count, begins):
    """Slots of the ring into the totals of level 0, one loop over time for each key."""
    totals, held = view[6], view[7]
    for key in range(width):
        total = identity()
        holds = np.uint8(0)
        if not begins:
            total = combine(total, load(totals, key))
            holds = held[np.uint64(key)]
        for k in range(count):
            at = first + k * width + key
            total = combine(total, load(ring, at))
            holds |= filled[np.uint64(at)]
        store(totals, key, total)
        held[np.uint64(key)] = holds


def _total_up(view, width, feed, head, tick, count, mark):
    """Slots of the ring from `head` on, the first of them `tick`, into the totals of level 0: those of a rotation
    together, and each rotation that is complete is handed on. `mark` is where the bits of the first one are."""
    bits, book, totals, held = view[1], view[4], view[6], view[7]
    ring, filled = feed[1], feed[2]
    turn = book[0, SLOTS] if len(book) > 1 else np.int64(1 << 62)
    rotation, end = tick // turn, tick + count
    while tick < end:
        length = min((rotation + 1) * turn, end) - tick
        if _any(bits, mark, 0, length * width):
            _close(view, width, tick)
            begins, first = book[0, OPEN] == NONE, head * width
            book[0, OPEN] = rotation
            if width == 1:
                total = fold(ring, first, first + length, 1)
                store(totals, 0, total if begins else combine(load(totals, 0), total))
                held[0] = 1
            else:
                _add_to_totals(view, width, ring, filled, first, length, begins)
        head, tick, mark, rotation = head + length, tick + length, mark + length * width, rotation + 1


def _flush(view, width, feed, ticks):
    """The ring's next slots to level 0, for as many ticks: in stretches without a long gap."""
    table, bits, book = view[0], view[1], view[4]
    clock, ring, filled, used = feed[0], feed[1], feed[2], feed[3]
    size, head, tick = len(used), clock[HEAD], clock[WATERMARK]
    end = tick + ticks
    while tick < end and clock[USED] > 0:
        if not used[np.uint64(head)]:
            tick += 1
            head = head + 1 if head + 1 < size else 0
            continue
        row = _reach(view, width, 0, tick)
        length, count, taken = _stretch(used, head, min(end - tick, size - head))
        clock[USED] -= taken
        place, mark = (book[0, BASE] + row - book[0, PACKED]) * width, book[0, MARKS] + row * width
        first, states = head * width, count * width
        for k in range(states):
            store(table, place + k, load(ring, first + k))
        if taken == states:
            _mark_range(bits, mark, states)
        else:
            _mark_all(bits, mark, used if width == 1 else filled, first, states)
        _total_up(view, width, feed, head, tick, count, mark)
        for k in range(states):
            store(ring, first + k, identity())
        if width > 1:
            for k in range(states):
                filled[np.uint64(first + k)] = 0
        for k in range(length):
            used[np.uint64(head + k)] = 0
        book[0, HOLES] += count - taken
        book[0, ROWS], book[0, NEXT] = row + count, tick + count
        if book[0, PREFIX] != NONE:
            for k in range(count):
                _sum_up(view, width, 0, row + k)
        tick += length
        head = head + length if head + length < size else 0
    head = clock[HEAD] + ticks
    clock[HEAD], clock[WATERMARK] = head if head < size else head - size, end


def _write(feed, width, slot, key, source, at):
    """Combine a state into a slot of the ring."""
    clock, ring, filled, used = feed[0], feed[1], feed[2], feed[3]
    slot = slot if slot < len(used) else slot - len(used)
    to = slot * width + key
    store(ring, to, combine(load(ring, to), load(source, at)))
    if width > 1:
        filled[np.uint64(to)] = 1
    clock[USED] += 1 - used[np.uint64(slot)]
    used[np.uint64(slot)] = 1


def _release(width, feed, before, now):
    """What the overflow wheel held for ticks up to `now`, counted from the start, goes into the ring.

    `before` is where its time stood.
    """
    clock, _, _, _, heads, _, follows, when, whose, waiting, _, _ = feed
    while clock[WAITING] > 0:
        tick, place = _earliest(heads, before)
        if tick > now:
            break
        before = tick
        entry = heads[np.uint64(place)]
        heads[np.uint64(place)] = -1
        while entry >= 0:
            at, after = np.uint64(entry), follows[np.uint64(entry)]
            if when[at] > now:
                _link(feed, before, entry)
            else:
                slot = clock[HEAD] + when[at] + clock[START] - clock[WATERMARK]
                _write(feed, width, slot, whose[at], waiting, entry)
                follows[at] = clock[FREE]
                clock[FREE] = entry
                clock[WAITING] -= 1
            entry = after


def _advance(view, width, feed, watermark):
    """Algorithm 2: finish all slots before this watermark. Time in which nothing lies is passed in one step."""
    clock, used, heads = feed[0], feed[3], feed[4]
    start, ahead = clock[START], clock[AHEAD]
    while clock[WATERMARK] < watermark:
        now, waits = clock[WATERMARK], clock[WAITING] > 0
        before = now - start + ahead - 1  # all that waits lies behind this tick
        if clock[USED] > 0:
            _flush(view, width, feed, min(watermark - now, ahead if waits else len(used)))
        elif waits:
            tick, _ = _earliest(heads, before)
            clock[WATERMARK] = min(watermark, max(tick + start - ahead + 1, now + 1))
        else:
            clock[WATERMARK] = watermark
        if waits:
            _release(width, feed, before, clock[WATERMARK] - start + ahead - 1)
    _close(view, width, watermark)


def ingest(columns, valid, times, codes, first, last, every, delay, until, limit, tick, rate, view, width, feed):
    """Rows in the order in which they came. After each `every` of them, if that is not 0, the watermark goes to the
    greatest time minus `delay`, and in the end to tick `until`. Rows before the watermark are late: they are counted
    and left out. Returns the row at which it stopped: before `last` if narrow states are not wide enough for more, or
    if the watermark would have to pass tick `limit`, up to which there is room.

    The ring has room for more than lies ahead of the watermark, so that many slots are finished at once: in between,
    the watermark is `now`, and that of the clock stays behind."""
    clock, size = feed[0], len(feed[3])
    i, now, checked = first, clock[WATERMARK], first
    while True:
        watermark = until if i == last else now
        if 0 < every <= clock[SEEN]:
            since = clock[GREATEST] - delay - now * tick
            watermark = max(watermark, now + (_ticks(since, tick, rate) if since >= 0 else 0))
            if watermark > limit:
                break
            clock[SEEN] = 0
        now = max(now, watermark)
        if clock[WAITING] > 0 or now - clock[WATERMARK] + clock[AHEAD] > size:
            _advance(view, width, feed, now)
        if i == last:
            break
        if i == checked:
            checked = min(last, i + CHECKED)
            heavier = clock[WEIGHT] + weigh(columns, i, checked)
            if heavier > HEAVIEST:
                break
            clock[WEIGHT] = heavier
        stop = min(checked, i + every - clock[SEEN]) if every > 0 else checked
        greatest, rows, head = clock[GREATEST], stop - i, clock[HEAD] + now - clock[WATERMARK]
        head = head if head < size else head - size
        if clock[DENSE] > 0:
            fresh, groups = take_runs(columns, valid, times, codes, i, stop, now, head, tick, rate, width, feed)
        else:
            fresh = _take_rows(columns, valid, times, codes, i, stop, now, head, tick, rate, width, feed)
            groups = fresh
        clock[USED] += fresh
        clock[DENSE] = 4 * groups < rows
        if every > 0:
            clock[SEEN] += rows
        else:
            clock[GREATEST] = greatest
        i = stop
    if now > clock[WATERMARK]:
        _advance(view, width, feed, now)
    return i


def lift_all(columns, valid, rows, spare):
    """Lift all rows, and keep nothing: a user's lift may fail."""
    for i in range(rows):
        if valid is None or valid[np.uint64(i)]:
            store(spare, 0, item(columns, None, i))
