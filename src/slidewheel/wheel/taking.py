"""Rows into the slots of the ring: one by one, or runs of one slot at a time (paper, algorithm 1)."""

import numpy as np

from slidewheel.wheel.gather import _latest
from slidewheel.wheel.names import (
    AHEAD,
    GREATEST,
    HEAVIEST,
    LARGEST,
    LATE,
    START,
    combine,
    gather,
    gather_or_pass,
    gather_run,
    identity,
    item,
    load,
    store,
)
from slidewheel.wheel.overflow import _schedule

AT_ONCE = 128
"""Rows that are placed together."""


def _ticks(time, tick, rate):
    """time // tick for time >= 0, by a product, as a division takes longer: half a step off, it is never next to a
    whole number."""
    return np.int64((time + 0.5) * rate) if time < 1 << 50 else time // tick


def _take_rows(columns, valid, times, codes, first, stop, now, head, tick, rate, width, feed):
    """Rows first .. stop - 1, one by one, while the watermark stands at tick `now`, whose slot is at `head`.

    Returns how many slots are new."""
    clock, ring, used, near = feed[0], feed[1], feed[3], feed[11]
    size, ahead_of, start = len(used), clock[AHEAD], now * tick
    greatest, late, fresh = clock[GREATEST], np.int64(0), np.int64(0)
    while first < stop:
        count = min(AT_ONCE, stop - first)
        farthest = np.int64(-1)
        for k in range(count):  # without a branch, so that many go through vectors
            time = times[np.uint64(first + k)]
            since = time - start
            ahead = np.int64((since + 0.5) * rate)
            slot = head + ahead if head + ahead < size else head + ahead - size
            slot = slot if ahead < ahead_of else size + ahead
            near[np.uint64(k)] = slot if time >= start else -1  # `since` may have wrapped around
            late += time < start
            greatest, farthest = max(greatest, time), max(farthest, since)
        if farthest >= 1 << 50:
            for k in range(count):
                ahead = (times[np.uint64(first + k)] - start) // tick
                slot = head + ahead if head + ahead < size else head + ahead - size
                slot = slot if ahead < ahead_of else size + ahead
                near[np.uint64(k)] = slot if times[np.uint64(first + k)] >= start else -1
        ahead = _ticks(farthest, tick, rate) if farthest >= 0 else ahead_of
        if codes is None and valid is None and ahead < ahead_of:
            slot = head + ahead if head + ahead < size else head + ahead - size
            fresh += _take_near(columns, first, count, slot, ring, used, near)
        else:
            fresh += _take_each(columns, valid, codes, first, count, now, width, feed)
        first += count
    clock[GREATEST], clock[LATE] = greatest, clock[LATE] + late
    return fresh


def _take_near(columns, first, count, spare, ring, used, near):
    """Rows of the only key into slots of the ring; those that are late go by `spare`, the slot of another one of
    them. Returns how many slots are new."""
    fresh = np.int64(0)
    for k in range(count):
        slot = gather_or_pass(ring, near[np.uint64(k)], spare, columns, first + k)
        fresh += 1 - np.int64(used[np.uint64(slot)])
        used[np.uint64(slot)] = 1
    return fresh


def _take_each(columns, valid, codes, first, count, now, width, feed):
    """The same for any keys, rows that have to wait, and columns with nulls."""
    ring, filled, used, near = feed[1], feed[2], feed[3], feed[11]
    fresh, kept = np.int64(0), np.int64(0)
    for k in range(count):
        slot = near[np.uint64(k)]
        near[np.uint64(kept)], near[np.uint64(AT_ONCE + kept)] = slot, first + k
        kept += (slot >= 0) & (valid is None or valid[np.uint64(first + k)])
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
