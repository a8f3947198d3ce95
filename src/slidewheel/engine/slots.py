"""Where entries lie: a ring of slots for each key, in one arena. Integers only; states are moved by the logs made here.

A key's entries are at positions front .. end - 1, in the order of their ids (times); position p lies in slot
base + (p & mask). Free rings are chained by size, through the first id of each. `ranks` holds the position of each
slot, for windows that count rows, or is empty.
"""

import numpy as np

NONE = np.iinfo(np.int64).max


def _find(ids, base, mask, lo, hi, x):
    """The first position of lo .. hi - 1 whose id is x or more; hi if there is none."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if ids[np.uint64(base + (middle & mask))] < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


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


def touched_keys(codes, span, counts, keys, base, mask, front, end, listed):
    """The keys of these rows into `keys`; how many slots their new rings need, and how many keys there are.

    `span` is the greatest number of entries that the rows of one key can begin. `counts` is zeros, and is so again.
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
            size = 2
            while size < need:
                size *= 2
            slots += size
        counts[key] = size  # for grow, which clears it
        listed[key] = -9223372036854775807
    return found, slots


def grow(keys, counts, base, mask, front, end, ids, ranks, free, top, moves):
    """Give each of these keys a ring of counts[key] slots. Returns the new top and the number of moves logged."""
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
    codes, row_ids, merging, base, mask, front, end, ids, ranks, settled, dirty, listed, slots, shifts, touched
):  # fmt: skip
    """Find or make the entry of each row. Rows of a key come with rising ids.

    slots[i] is the entry's slot, or ~slot where the row begins it. `shifts` logs the entries that made room for a new
    one, `touched` the slots of older entries that are about to change. Without `merging`, every row is an entry.
    Returns the numbers of shifts and of touched slots.
    """
    shifted = changed = 0
    for i in range(len(codes)):
        key = np.uint64(codes[np.uint64(i)])
        x = row_ids[np.uint64(i)]
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
                touched[np.uint64(changed)] = slot
                changed += 1
            slots[np.uint64(i)] = slot
        listed[key] = x
        # Also right behind what has been read: its block may have been taken for complete.
        if position <= settled[key] and position < dirty[key]:
            dirty[key] = position
    return shifted, changed


def copy_rings(states, moves):
    """Follow the log of `grow`: states as rows of bytes."""
    for k in range(len(moves)):
        for position in range(moves[k, 4], moves[k, 5]):
            old = np.uint64(moves[k, 0] + (position & moves[k, 1]))
            new = np.uint64(moves[k, 2] + (position & moves[k, 3]))
            for byte in range(states.shape[1]):
                states[new, np.uint64(byte)] = states[old, np.uint64(byte)]


def shift_rings(states, shifts):
    """Follow the log of `place`: states as rows of bytes."""
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


def stretches(
    keys, frontier, by_position, level, shift, ids, base, mask, front, end, dirty, prefixed, suffixed, bounds
):  # fmt: skip
    """What prefixes and suffixes of a level lack up to the frontier: bounds[:, k] = first, last, settled, complete."""
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, f, e = base[key], mask[key], front[key], end[key]
        first, settled = max(prefixed[level, key], f), max(suffixed[level, key], f)
        if dirty[key] < first:
            first = max(dirty[key], f)
        if dirty[key] <= settled and dirty[key] < e:
            start = ids[np.uint64(b + (max(dirty[key], f) & m))] >> shift << shift
            settled = min(settled, _find(ids, b, m, f, e, start))
        edge = min(frontier, e) if by_position else frontier
        last = max(_find(ids, b, m, first, e, edge), first)
        complete = max(_find(ids, b, m, settled, last, edge >> shift << shift), settled)
        bounds[0, k], bounds[1, k] = first, last
        bounds[2, k], bounds[3, k] = settled, complete
        prefixed[level, key], suffixed[level, key] = last, complete


def settle(keys, frontier, ids, base, mask, front, end, settled, dirty):
    """Remember up to where entries have been read, for `place` to tell which ones are changed afterwards."""
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        settled[key] = _find(ids, base[key], mask[key], front[key], end[key], frontier)
        dirty[key] = 9223372036854775807


def live_keys(order, base, mask, front, end, ids, before, keys):
    """The keys, in this order, that have an entry earlier than `before`."""
    found = 0
    for i in range(len(order)):
        k = np.uint64(order[np.uint64(i)])
        if end[k] > front[k] and ids[np.uint64(base[k] + (front[k] & mask[k]))] < before:
            keys[np.uint64(found)] = order[np.uint64(i)]
            found += 1
    return found


def count_windows(keys, lengths, everys, offsets, firsts, lasts, ids, base, mask, front, end, counted, begins, counts):
    """How many windows hold rows; counts[begins[w] + i - firsts[w]] of them at the index i of spec w, if counted."""
    total = 0
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        for w in range(len(lengths)):
            length, every, offset, i = lengths[w], everys[w], offsets[w], firsts[w]
            lo = _find(ids, b, m, front[key], e, offset + i * every)
            while i <= lasts[w] and lo < e:
                start = offset + i * every
                while lo < e and ids[np.uint64(b + (lo & m))] < start:
                    lo += 1
                if lo == e:
                    break
                oldest = ids[np.uint64(b + (lo & m))]
                if oldest >= start + length:
                    i = (oldest - offset - length) // every + 1
                    continue
                if counted:
                    counts[np.uint64(begins[w] + i - firsts[w])] += 1
                total += 1
                i += 1
    return total


def list_windows(
    keys, lengths, everys, offsets, firsts, lasts, ids, base, mask, front, end, counted, begins, buckets, places,
    out_place, out_key, out_window, out_index, out_lo, out_hi
):  # fmt: skip
    """Every window that holds rows, key after key; if counted, with its place among all by end, which moves on."""
    n = 0
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        for w in range(len(lengths)):
            length, every, offset, i = lengths[w], everys[w], offsets[w], firsts[w]
            lo = _find(ids, b, m, front[key], e, offset + i * every)
            hi = lo
            while i <= lasts[w] and lo < e:
                start = offset + i * every
                while lo < e and ids[np.uint64(b + (lo & m))] < start:
                    lo += 1
                if lo == e:
                    break
                oldest = ids[np.uint64(b + (lo & m))]
                if oldest >= start + length:
                    i = (oldest - offset - length) // every + 1
                    continue
                hi = max(hi, lo)
                while hi < e and ids[np.uint64(b + (hi & m))] < start + length:
                    hi += 1
                j = np.uint64(n)
                n += 1
                if counted:
                    bucket = np.uint64(buckets[np.uint64(begins[w] + i - firsts[w])])
                    out_place[j] = places[bucket]
                    places[bucket] += 1
                out_key[j], out_window[j], out_index[j] = keys[np.uint64(k)], w, i
                out_lo[j], out_hi[j] = lo, hi
                i += 1


def follow(keys, times, before, after, ids, base, mask, front, end, lows, highs, out_lo, out_hi):
    """As locate, for [time - before, time + after) where the times of each key rise. `lows` is -1 for all keys."""
    for j in range(len(keys)):
        key = np.uint64(keys[np.uint64(j)])
        b, m, e = base[key], mask[key], end[key]
        start, stop = times[np.uint64(j)] - before, times[np.uint64(j)] + after
        lo, hi = lows[key], highs[key]
        if lo < 0:
            lo = _find(ids, b, m, front[key], e, start)
            hi = _find(ids, b, m, lo, e, stop)
        while lo < e and ids[np.uint64(b + (lo & m))] < start:
            lo += 1
        while hi < e and ids[np.uint64(b + (hi & m))] < stop:
            hi += 1
        lows[key], highs[key] = lo, hi
        out_lo[np.uint64(j)], out_hi[np.uint64(j)] = lo, max(lo, hi)


def locate(keys, starts, ends, ids, base, mask, front, end, out_lo, out_hi):
    """The positions of the entries in [start, end) of each key."""
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m = base[key], mask[key]
        lo = _find(ids, b, m, front[key], end[key], starts[np.uint64(k)])
        out_lo[np.uint64(k)] = lo
        out_hi[np.uint64(k)] = _find(ids, b, m, lo, end[key], ends[np.uint64(k)])


def parts_of_windows(
    keys, lo, hi, starts, levels, shifts, width, by_position, ids, base, mask, blocks, middles, parts, offsets
):
    """The states that each window is combined of, as indices into a table: at most three each.

    levels[j] is -1 for windows that hold one slice at most. `middles` remembers for each level and key where the block
    after blocks[level, key] begins, as neighbours ask for the same. Returns the number of parts.
    """
    n = 0
    offsets[0] = 0
    for j in range(len(keys)):
        key = np.uint64(keys[np.uint64(j)])
        b, m, first, last = base[key], mask[key], lo[np.uint64(j)], hi[np.uint64(j)] - 1
        level = levels[np.uint64(j)]
        if first == last or (level < 0 and first < last):
            parts[np.uint64(n)] = (b + (first & m)) * width
            n += 1
        elif first < last:
            shift = shifts[np.uint64(level)]
            prefix, suffix = 1 + 2 * level, 2 + 2 * level
            oldest = first if by_position else ids[np.uint64(b + (first & m))]
            newest = last if by_position else ids[np.uint64(b + (last & m))]
            block, final = oldest >> shift, newest >> shift
            if block == final:
                whole = starts[np.uint64(j)] <= block << shift
                slot, place = (b + (last & m), prefix) if whole else (b + (first & m), suffix)
                parts[np.uint64(n)] = slot * width + place
                n += 1
            else:
                parts[np.uint64(n)] = (b + (first & m)) * width + suffix
                n += 1
                while block + 1 < final:
                    edge = (block + 1) << shift
                    middle = edge
                    if not by_position:
                        if blocks[level, key] != block:
                            blocks[level, key] = block
                            middles[level, key] = _find(ids, b, m, first, last, edge)
                        middle = middles[level, key]
                    block = middle >> shift if by_position else ids[np.uint64(b + (middle & m))] >> shift
                    if block == final:
                        break
                    parts[np.uint64(n)] = (b + (middle & m)) * width + suffix
                    n += 1
                parts[np.uint64(n)] = (b + (last & m)) * width + prefix
                n += 1
        offsets[np.uint64(j + 1)] = n
    return n


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


def parts_of_runs(keys, lo, hi, width, base, mask, offsets, parts):
    """The entries lo .. hi - 1 of each key, as indices into a table."""
    for j in range(len(keys)):
        key = np.uint64(keys[np.uint64(j)])
        n = offsets[np.uint64(j)]
        for position in range(lo[np.uint64(j)], hi[np.uint64(j)]):
            parts[np.uint64(n)] = (base[key] + (position & mask[key])) * width
            n += 1


def place_sessions(
    codes, times, gap, base, mask, front, end, ids, firsts, lasts, listed, slots, shifts, touched, old_firsts, old_lasts
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
            touched[np.uint64(changed)] = slot
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


def closed_sessions(keys, gap, until, base, mask, front, end, firsts, lasts, out):
    """The sessions that end at until[key] or before: out[:, n] = key, lo, hi, start, end. Returns their number."""
    n = 0
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        lo = front[key]
        while lo < e:
            hi = lo + 1
            last = lasts[np.uint64(b + (lo & m))]
            while hi < e and firsts[np.uint64(b + (hi & m))] <= last + gap:
                last = max(last, lasts[np.uint64(b + (hi & m))])
                hi += 1
            if last + gap > until[key]:
                break
            out[0, n], out[1, n], out[2, n] = keys[np.uint64(k)], lo, hi
            out[3, n], out[4, n] = firsts[np.uint64(b + (lo & m))], last + gap
            n += 1
            lo = hi
    return n


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


def delta_starts(codes, positions, size, marks, base, mask, front, oldest, out):
    """For each row the position of the first one that is still within `size` of it; oldest[key] moves on."""
    for i in range(len(codes)):
        key = np.uint64(codes[np.uint64(i)])
        b, m, here = base[key], mask[key], positions[np.uint64(i)]
        newest = marks[np.uint64(b + (here & m))]
        lo = max(oldest[key], front[key])
        while lo < here and not abs(marks[np.uint64(b + (lo & m))] - newest) <= size:
            lo += 1
        oldest[key] = lo
        out[np.uint64(i)] = lo
