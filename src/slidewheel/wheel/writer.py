"""The writer: a ring of slots that are written in place, and time that advances (paper, algorithms 1 and 2)."""

import numpy as np

from slidewheel.wheel.gather import _latest
from slidewheel.wheel.names import (
    AHEAD,
    BASE,
    DENSE,
    FREE,
    GREATEST,
    HEAD,
    HEAVIEST,
    HOLES,
    LARGEST,
    LATE,
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
    gather,
    gather_run,
    identity,
    item,
    load,
    store,
    take_runs,
    weigh,
)
from slidewheel.wheel.overflow import _earliest, _link, _schedule
from slidewheel.wheel.slots import _any, _close, _mark_all, _mark_range, _reach, _sum_up

AT_ONCE = 128
"""Rows that are placed together."""


def _ticks(time, tick, rate):
    """time // tick for time >= 0, by a product, as a division takes longer: half a step off, it is never next to a
    whole number."""
    return np.int64((time + 0.5) * rate) if time < 1 << 50 else time // tick


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


def _take_rows(columns, valid, times, codes, first, stop, now, head, tick, rate, width, feed):
    """Rows first .. stop - 1, one by one, while the watermark stands at tick `now`, whose slot is at `head`.

    Returns how many slots are new."""
    clock, ring, used, near = feed[0], feed[1], feed[3], feed[11]
    size, ahead_of, start = len(used), clock[AHEAD], now * tick
    greatest, late, fresh = clock[GREATEST], np.int64(0), np.int64(0)
    while first < stop:
        count = min(AT_ONCE, stop - first)
        farthest = np.int64(0)
        for k in range(count):  # without a branch, so that many go through vectors
            time = times[np.uint64(first + k)]
            since = time - start
            ahead = np.int64((since + 0.5) * rate)
            slot = head + ahead if head + ahead < size else head + ahead - size
            slot = slot if ahead < ahead_of else size + ahead
            near[np.uint64(k)] = slot if time >= start else -1  # `since` may have wrapped around
            greatest, farthest = max(greatest, time), max(farthest, since)
        if farthest >= 1 << 50:
            for k in range(count):
                ahead = (times[np.uint64(first + k)] - start) // tick
                slot = head + ahead if head + ahead < size else head + ahead - size
                slot = slot if ahead < ahead_of else size + ahead
                near[np.uint64(k)] = slot if times[np.uint64(first + k)] >= start else -1
        kept = far = np.int64(0)
        for k in range(count):  # nobody can foresee which rows are late, so that a branch would be slow
            slot = near[np.uint64(k)]
            near[np.uint64(kept)], near[np.uint64(AT_ONCE + kept)] = slot, first + k
            late += slot < 0
            far += slot >= size
            kept += (slot >= 0) & (valid is None or valid[np.uint64(first + k)])
        if far == 0 and codes is None:
            fresh += _take_near(columns, near, kept, ring, used)
        else:
            fresh += _take_each(columns, codes, near, kept, now, width, feed)
        first += count
    clock[GREATEST], clock[LATE] = greatest, clock[LATE] + late
    return fresh


def _take_near(columns, near, kept, ring, used):
    """Rows of the only key into slots of the ring, two loops with little in them. Returns how many slots are new."""
    fresh = np.int64(0)
    for k in range(kept):
        row = near[np.uint64(AT_ONCE + k)]
        gather(ring, near[np.uint64(k)], columns, row, row + 1)
    for k in range(kept):
        slot = np.uint64(near[np.uint64(k)])
        fresh += 1 - np.int64(used[slot])
        used[slot] = 1
    return fresh


def _take_each(columns, codes, near, kept, now, width, feed):
    """The same for any keys, and rows that have to wait."""
    ring, filled, used = feed[1], feed[2], feed[3]
    fresh = np.int64(0)
    for k in range(kept):
        slot, row = near[np.uint64(k)], near[np.uint64(AT_ONCE + k)]
        key = np.int64(0) if codes is None else codes[np.uint64(row)]
        if slot < len(used):
            gather(ring, slot * width + key, columns, row, row + 1)
            if width > 1:
                filled[np.uint64(slot * width + key)] = 1
            fresh += 1 - np.int64(used[np.uint64(slot)])
            used[np.uint64(slot)] = 1
        else:
            _take_far(columns, row, row + 1, now + slot - len(used), key, feed)
    return fresh


def _take_runs(columns, valid, times, codes, first, stop, now, head, tick, rate, width, feed):
    """The same where many rows of one slot follow each other: its state stays in a register. Returns also the runs."""
    clock, ring, filled, used = feed[0], feed[1], feed[2], feed[3]
    size, ahead_of, start = len(used), clock[AHEAD], now * tick
    greatest, runs, fresh = clock[GREATEST], np.int64(0), np.int64(0)
    i = first
    while i < stop:
        time = times[np.uint64(i)]
        greatest = max(greatest, time)
        if time < start:
            clock[LATE] += 1
            i += 1
            continue
        if valid is not None and not valid[np.uint64(i)]:
            i += 1
            continue
        ahead = _ticks(time - start, tick, rate)
        key = np.int64(0) if codes is None else codes[np.uint64(i)]
        run, low = i + 1, start + ahead * tick
        runs += 1
        if ahead >= ahead_of:
            _take_far(columns, i, run, now + ahead, key, feed)
            i = run
            continue
        slot = head + ahead if head + ahead < size else head + ahead - size
        at = slot * width + key
        if codes is None and valid is None:
            run, last = gather_run(ring, at, columns, times, i, stop, low, tick)
            greatest = max(greatest, last)
        else:
            while run < stop and np.uint64(times[np.uint64(run)] - low) < np.uint64(tick):
                if codes is not None and codes[np.uint64(run)] != key:
                    break
                if valid is not None and not valid[np.uint64(run)]:
                    break
                greatest = max(greatest, times[np.uint64(run)])
                run += 1
            gather(ring, at, columns, i, run)
        if width > 1:
            filled[np.uint64(at)] = 1
        fresh += 1 - np.int64(used[np.uint64(slot)])
        used[np.uint64(slot)] = 1
        i = run
    clock[GREATEST] = greatest
    return fresh, runs


def _take_mixed(columns, valid, times, codes, first, stop, now, head, tick, rate, width, feed):
    """`_take_runs` where order does not matter: a run goes on behind single rows of other slots."""
    if codes is not None or valid is not None:
        return _take_runs(columns, valid, times, codes, first, stop, now, head, tick, rate, width, feed)
    clock, ring, used = feed[0], feed[1], feed[3]
    size, ahead_of, start, limit = len(used), clock[AHEAD], now * tick, np.uint64(tick)
    greatest, groups, fresh = clock[GREATEST], np.int64(0), np.int64(0)
    i = first
    while i < stop:
        ahead = _ticks(times[np.uint64(i)] - start, tick, rate) if times[np.uint64(i)] >= start else ahead_of
        groups += 1
        if ahead >= ahead_of:
            greatest = max(greatest, times[np.uint64(i)])
            fresh += _take_one(columns, times, i, now, head, tick, rate, feed)
            i += 1
            continue
        slot, low = head + ahead if head + ahead < size else head + ahead - size, start + ahead * tick
        a, b, c, d, top, others = load(ring, slot), identity(), identity(), identity(), np.uint64(0), 0
        fresh += 1 - np.int64(used[np.uint64(slot)])
        used[np.uint64(slot)] = 1
        while i < stop and others < 2:
            while i + 4 <= stop:
                latest = _latest(times, i, low)
                if latest >= limit:
                    break
                top = max(top, latest)
                a, b = combine(a, item(columns, None, i)), combine(b, item(columns, None, i + 1))
                c, d = combine(c, item(columns, None, i + 2)), combine(d, item(columns, None, i + 3))
                i += 4
            others = 0
            for row in range(i, min(i + 4, stop)):
                since = np.uint64(times[np.uint64(row)] - low)
                if since < limit:
                    top = max(top, since)
                    a = combine(a, item(columns, None, row))
                else:
                    others += 1
                    greatest = max(greatest, times[np.uint64(row)])
                    fresh += _take_one(columns, times, row, now, head, tick, rate, feed)
            groups += others
            i = min(i + 4, stop)
        store(ring, slot, combine(combine(a, b), combine(c, d)))
        greatest = max(greatest, low + np.int64(top))
    clock[GREATEST] = greatest
    return fresh, groups


def _take_one(columns, times, row, now, head, tick, rate, feed):
    """A single row of the only key. Returns whether its slot is new."""
    clock, ring, used = feed[0], feed[1], feed[3]
    since = times[np.uint64(row)] - now * tick
    if times[np.uint64(row)] < now * tick:
        clock[LATE] += 1
        return np.int64(0)
    ahead = _ticks(since, tick, rate)
    if ahead >= clock[AHEAD]:
        _take_far(columns, row, row + 1, now + ahead, np.int64(0), feed)
        return np.int64(0)
    slot = head + ahead if head + ahead < len(used) else head + ahead - len(used)
    gather(ring, slot, columns, row, row + 1)
    fresh = 1 - np.int64(used[np.uint64(slot)])
    used[np.uint64(slot)] = 1
    return fresh


def _take_far(columns, first, stop, to, key, feed):
    """Rows of one tick that have to wait for the watermark."""
    clock, spare = feed[0], feed[10]
    store(spare, 0, identity())
    gather(spare, 0, columns, first, stop)
    _schedule(feed, to - clock[START], key, spare, 0)


def ingest(columns, valid, times, codes, first, last, every, delay, until, tick, rate, view, width, feed):
    """Rows in the order in which they came. After each `every` of them, if that is not 0, the watermark goes to the
    greatest time minus `delay`, and in the end to tick `until`. Rows before the watermark are late: they are counted
    and left out. Returns the row at which it stopped: before `last` if narrow states are not wide enough for more.

    The ring has room for more than lies ahead of the watermark, so that many slots are finished at once: in between,
    the watermark is `now`, and that of the clock stays behind."""
    clock, size = feed[0], len(feed[3])
    i, now = first, clock[WATERMARK]
    while i < last or now < until:
        stop = min(last, i + every - clock[SEEN]) if every > 0 else last
        greatest, rows, head = clock[GREATEST], stop - i, clock[HEAD] + now - clock[WATERMARK]
        head = head if head < size else head - size
        if rows > 0:
            heavier = clock[WEIGHT] + weigh(columns, i, stop)
            if heavier > HEAVIEST:
                break
            clock[WEIGHT] = heavier
            if clock[DENSE] > 0:
                fresh, groups = take_runs(columns, valid, times, codes, i, stop, now, head, tick, rate, width, feed)
            else:
                fresh = _take_rows(columns, valid, times, codes, i, stop, now, head, tick, rate, width, feed)
                groups = fresh
            clock[USED] += fresh
            clock[DENSE] = 4 * groups < rows
        i = stop
        watermark = until if i == last else now
        if every > 0:
            clock[SEEN] += rows
            if clock[SEEN] == every:
                clock[SEEN] = 0
                since = clock[GREATEST] - delay - now * tick
                watermark = max(watermark, now + (_ticks(since, tick, rate) if since >= 0 else 0))
        else:
            clock[GREATEST] = greatest
        now = max(now, watermark)
        if clock[WAITING] > 0 or now - clock[WATERMARK] + clock[AHEAD] > size:
            _advance(view, width, feed, now)
    if now > clock[WATERMARK]:
        _advance(view, width, feed, now)
    return i


def _weigh(columns, first, stop):
    """The number of rows times more than the largest magnitude, or too much."""
    used = np.int64(0)
    for i in range(first, stop):
        number = columns[0][np.uint64(i)]
        used |= number ^ (number >> 63)
    return (2 * used + 2) * (stop - first) if used < LARGEST else np.int64(HEAVIEST + 1)


def _weigh_finite(columns, first, stop):
    """Nothing, as long as all of them are finite."""
    odd = False
    for i in range(first, stop):
        number = columns[0][np.uint64(i)]
        odd |= number - number != 0
    return np.int64(HEAVIEST + 1) if odd else np.int64(0)


def _weigh_nothing(columns, first, stop):
    """States that are wide enough for all."""
    return np.int64(0)


def lift_all(columns, valid, rows, spare):
    """Lift all rows, and keep nothing: a user's lift may fail."""
    for i in range(rows):
        if valid is None or valid[np.uint64(i)]:
            store(spare, 0, item(columns, None, i))
