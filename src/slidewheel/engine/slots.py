"""Where entries lie: a ring of slots for each key, in one arena. Integers only; states are moved by the logs made here.

A key's entries are at positions front .. end - 1, in the order of their ids (times); position p lies in slot
base + (p & mask). Free rings are chained by size, through the first id of each. `ranks` holds the position of each
slot, for windows that count rows, or is empty.
"""

import numpy as np

from slidewheel.swag.time_blocks import _find


def in_order(values):
    """Whether no value is less than the one before it."""
    for i in range(1, len(values)):  # noqa: SIM110
        if values[np.uint64(i)] < values[np.uint64(i - 1)]:
            return False
    return True


def counting_sort(values, starts, order):
    """A stable order by values in 0 .. len(starts) - 2; `starts` is zeros."""
    for i in range(len(values)):
        starts[np.uint64(values[np.uint64(i)] + 1)] += 1
    for v in range(1, len(starts)):
        starts[np.uint64(v)] += starts[np.uint64(v - 1)]
    for i in range(len(values)):
        place = np.uint64(values[np.uint64(i)])
        order[np.uint64(starts[place])] = i
        starts[place] += 1


def counting_places(values, starts, places):
    """The place of each value in a stable order; values and `starts` as for counting_sort."""
    for i in range(len(values)):
        starts[np.uint64(values[np.uint64(i)] + 1)] += 1
    for v in range(1, len(starts)):
        starts[np.uint64(v)] += starts[np.uint64(v - 1)]
    for i in range(len(values)):
        place = np.uint64(values[np.uint64(i)])
        places[np.uint64(i)] = starts[place]
        starts[place] += 1


def holds_earlier(codes, times, before, out):
    """Whether [time - before, time) holds a row of the key, for rows by key and time."""
    earlier, known = np.int64(0), False  # the time before this one of the same key
    for i in range(len(codes)):
        if i == 0 or codes[np.uint64(i)] != codes[np.uint64(i - 1)]:
            known = False
        elif times[np.uint64(i)] != times[np.uint64(i - 1)]:
            earlier, known = times[np.uint64(i - 1)], True
        out[np.uint64(i)] = known and earlier >= times[np.uint64(i)] - before


def regular_starts(times, period, edge, out):
    """The start of the slice of each time, for slices of equal length."""
    start = end = np.int64(0)
    for i in range(len(times)):
        t = times[np.uint64(i)]
        if t < start or t >= end:
            start = (t - edge) // period * period + edge
            end = start + period
        out[np.uint64(i)] = start


def irregular_starts(times, period, edges, out):
    """The start of the slice of each time; `edges` are those of one period, and the first one of the next."""
    start = end = 0
    for i in range(len(times)):
        t = times[np.uint64(i)]
        if t < start or t >= end:
            turn = (t - edges[0]) // period
            within = t - turn * period
            lo, hi = 0, len(edges) - 1
            while hi - lo > 1:
                middle = (lo + hi) >> 1
                if edges[np.uint64(middle)] <= within:
                    lo = middle
                else:
                    hi = middle
            start, end = turn * period + edges[np.uint64(lo)], turn * period + edges[np.uint64(lo + 1)]
        out[np.uint64(i)] = start


def touched_keys(codes, span, least, counts, keys, base, mask, front, end, listed):
    """The keys of these rows into `keys`; how many slots their new rings need, and how many keys there are.

    `span` is the greatest number of entries that the rows of one key can begin, `least` the size of the shortest ring.
    `counts` is zeros, and is so again.
    """
    found = 0
    for i in range(len(codes)):
        key = np.uint64(codes[np.uint64(i)])
        if counts[key] == 0:
            keys[np.uint64(found)] = codes[np.uint64(i)]
            found += 1
        counts[key] += 1
    slots = 0
    for k in range(found):
        key = np.uint64(keys[np.uint64(k)])
        need = end[key] - front[key] + min(counts[key], span)
        size = mask[key] + 1
        if need > size:
            size = least
            while size < need:
                size *= 2
            slots += size
        counts[key] = size  # for grow, which clears it
        listed[key] = -9223372036854775807
    return found, slots


def grow(keys, counts, stagger, base, mask, front, end, ids, ranks, free, top, moves):
    """Give each of these keys a ring of counts[key] slots. Returns the new top and the number of moves logged.

    Positions of a new key begin at `stagger` times its code. Keys that go on at the same pace would else all write to
    the same place of their rings, and so to the same few lines of a cache.
    """
    moved = 0
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        size = counts[key]
        counts[key] = 0
        if size == mask[key] + 1:
            continue
        power = 0
        while (1 << power) < size:
            power += 1
        if mask[key] < 0 and stagger > 0:
            front[key] = end[key] = stagger * keys[np.uint64(k)]
        if free[power] >= 0:
            new = free[power]
            free[power] = ids[np.uint64(new)]
        else:
            new = top
            top += size
        for position in range(front[key], end[key]):
            slot = np.uint64(new + (position & (size - 1)))
            ids[slot] = ids[np.uint64(base[key] + (position & mask[key]))]
            if len(ranks) > 0:
                ranks[slot] = position
        moves[moved, 0], moves[moved, 1] = base[key], mask[key]
        moves[moved, 2], moves[moved, 3] = new, size - 1
        moves[moved, 4], moves[moved, 5] = front[key], end[key]
        moved += 1
        base[key], mask[key] = new, size - 1
    return top, moved


def place(
    codes, row_ids, merging, base, mask, front, end, ids, ranks, settled, dirty, listed, slots, shifts, touched, rows
):  # fmt: skip
    """Find or make the entry of each row. Rows of a key come with rising ids.

    slots[i] is the entry's slot, or ~slot where the row begins it. `shifts` logs the entries that made room for a new
    one, `touched` the slots of older entries that are about to change, `rows` the first row that changes each. Without
    `merging`, every row is an entry.
    Returns the numbers of shifts and of touched slots.
    """
    shifted = changed = 0
    same_key, same_id, same_slot = -1, 0, 0
    for i in range(len(codes)):
        x = row_ids[np.uint64(i)]
        if merging and codes[np.uint64(i)] == same_key and x == same_id:  # as the row before
            slots[np.uint64(i)] = same_slot
            continue
        key = np.uint64(codes[np.uint64(i)])
        b, m, last = base[key], mask[key], end[key]
        begins = True
        position = last
        if last > front[key]:
            newest = ids[np.uint64(b + ((last - 1) & m))]
            if x == newest and merging:
                position, begins = last - 1, False
            elif x < newest:
                position = _find(ids, b, m, front[key], last, x if merging else x + 1)
                begins = not merging or ids[np.uint64(b + (position & m))] != x
        slot = b + (position & m)
        if begins:
            if position < last:
                for back in range(last - position):
                    p = last - back
                    ids[np.uint64(b + (p & m))] = ids[np.uint64(b + ((p - 1) & m))]
                shifts[shifted, 0], shifts[shifted, 1] = b, m
                shifts[shifted, 2], shifts[shifted, 3] = position, last
                shifted += 1
                if position < settled[key]:
                    settled[key] += 1
            ids[np.uint64(slot)] = x
            if len(ranks) > 0:
                ranks[np.uint64(b + (last & m))] = last
            end[key] = last + 1
            slots[np.uint64(i)] = ~slot
        else:
            if listed[key] != x:
                touched[np.uint64(changed)], rows[np.uint64(changed)] = slot, i
                changed += 1
            slots[np.uint64(i)] = slot
        listed[key] = x
        same_key, same_id, same_slot = codes[np.uint64(i)], x, slot
        # Also right behind what has been read: its block may have been taken for complete.
        if position <= settled[key] and position < dirty[key]:
            dirty[key] = position
    return shifted, changed


def copy_rings(states, moves):
    """Follow the log of `grow`: states as rows of words or bytes."""
    for k in range(len(moves)):
        for position in range(moves[k, 4], moves[k, 5]):
            old = np.uint64(moves[k, 0] + (position & moves[k, 1]))
            new = np.uint64(moves[k, 2] + (position & moves[k, 3]))
            for byte in range(states.shape[1]):
                states[new, np.uint64(byte)] = states[old, np.uint64(byte)]


def gather(states, slots, out):
    """The first words or bytes of these slots, as many as `out` takes."""
    for k in range(len(slots)):
        slot = np.uint64(slots[np.uint64(k)])
        for byte in range(out.shape[1]):
            out[np.uint64(k), np.uint64(byte)] = states[slot, np.uint64(byte)]


def shift_rings(states, shifts):
    """Follow the log of `place`: states as rows of words or bytes."""
    for k in range(len(shifts)):
        b, m, first, last = shifts[k, 0], shifts[k, 1], shifts[k, 2], shifts[k, 3]
        for back in range(last - first):
            p = last - back
            new, old = np.uint64(b + (p & m)), np.uint64(b + ((p - 1) & m))
            for byte in range(states.shape[1]):
                states[new, np.uint64(byte)] = states[old, np.uint64(byte)]


def unshift_rings(states, shifts):
    """Undo the log of `place`."""
    for back in range(len(shifts)):
        k = len(shifts) - 1 - back
        b, m, first, last = shifts[k, 0], shifts[k, 1], shifts[k, 2], shifts[k, 3]
        for p in range(first, last):
            new, old = np.uint64(b + (p & m)), np.uint64(b + ((p + 1) & m))
            for byte in range(states.shape[1]):
                states[new, np.uint64(byte)] = states[old, np.uint64(byte)]


def trim(keep, ids, base, mask, front, end, free, settled, dirty, prefixed, suffixed):
    """Drop entries earlier than `keep`, and free the rings of keys that have none left. Returns the entries dropped."""
    dropped = 0
    for key in range(len(front)):
        k = np.uint64(key)
        if end[k] == front[k]:
            continue
        b, m, f, e = base[k], mask[k], front[k], end[k]
        while f < e and ids[np.uint64(b + (f & m))] < keep:
            f += 1
        dropped += f - front[k]
        front[k] = f
        if f == e:
            _release(k, ids, base, mask, front, end, free, settled, dirty)
            for level in range(len(prefixed)):
                prefixed[level, k] = suffixed[level, k] = 0
    return dropped


def _release(k, ids, base, mask, front, end, free, settled, dirty):
    power = 0
    while (1 << power) < mask[k] + 1:
        power += 1
    ids[np.uint64(base[k])] = free[power]
    free[power] = base[k]
    base[k], mask[k], front[k], end[k], settled[k] = 0, -1, 0, 0, 0
    dirty[k] = 9223372036854775807


def release_rings(moves, ids, free):
    """Free the rings that keys have moved out of."""
    for k in range(len(moves)):
        if moves[k, 1] < 0:
            continue
        power = 0
        while (1 << power) < moves[k, 1] + 1:
            power += 1
        ids[np.uint64(moves[k, 0])] = free[power]
        free[power] = moves[k, 0]


def place_sessions(
    codes, times, gap, base, mask, front, end, ids, firsts, lasts, listed, slots, shifts, touched, rows, old_firsts,
    old_lasts
):  # fmt: skip
    """Find the entry that each row is within `gap` of, and stretch it; or begin one. Times of a key rise.

    An entry is a stretch of a session. Two that a row brought together stay apart, and are combined when they close.
    """
    shifted = changed = 0
    for i in range(len(codes)):
        key = np.uint64(codes[np.uint64(i)])
        t = times[np.uint64(i)]
        b, m, f, e = base[key], mask[key], front[key], end[key]
        position = _find(firsts, b, m, f, e, t + 1)
        slot = b + ((position - 1) & m)
        if position > f and t <= lasts[np.uint64(slot)] + gap:
            position -= 1
        elif position < e and firsts[np.uint64(b + (position & m))] - gap <= t:
            slot = b + (position & m)
        else:
            slot = b + (position & m)
            for back in range(e - position):
                p = e - back
                new, old = np.uint64(b + (p & m)), np.uint64(b + ((p - 1) & m))
                ids[new], firsts[new], lasts[new] = ids[old], firsts[old], lasts[old]
            if position < e:
                shifts[shifted, 0], shifts[shifted, 1] = b, m
                shifts[shifted, 2], shifts[shifted, 3] = position, e
                shifted += 1
            ids[np.uint64(slot)] = firsts[np.uint64(slot)] = lasts[np.uint64(slot)] = t
            listed[key] = slot
            end[key] = e + 1
            slots[np.uint64(i)] = ~slot
            continue
        if listed[key] != slot:
            touched[np.uint64(changed)], rows[np.uint64(changed)] = slot, i
            old_firsts[np.uint64(changed)] = firsts[np.uint64(slot)]
            old_lasts[np.uint64(changed)] = lasts[np.uint64(slot)]
            changed += 1
            listed[key] = slot
        if t < firsts[np.uint64(slot)]:
            firsts[np.uint64(slot)] = t
        if t > lasts[np.uint64(slot)]:
            lasts[np.uint64(slot)] = t
        slots[np.uint64(i)] = slot
    return shifted, changed


def drop_before(keys, positions, ids, base, mask, front, end, free, settled, dirty):
    """Drop the entries of each key before a position."""
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        front[key] = max(front[key], positions[np.uint64(k)])
        if front[key] == end[key] and mask[key] >= 0:
            _release(key, ids, base, mask, front, end, free, settled, dirty)


def number_punctuated(codes, flags, numbers, out):
    """The number of the window of each row: a row with a flag is the last of its window."""
    for i in range(len(codes)):
        key = np.uint64(codes[np.uint64(i)])
        out[np.uint64(i)] = numbers[key]
        if flags[np.uint64(i)]:
            numbers[key] += 1
