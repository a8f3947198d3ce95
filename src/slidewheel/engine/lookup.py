"""Which entries belong to which windows: integers only, nothing moves."""

import numpy as np

from slidewheel.swag.time_blocks import _find, _next_window


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


def count_windows(keys, lengths, everys, zeros, firsts, lasts, ids, base, mask, front, end, begins, changes):
    """How many of the windows firsts[w] .. lasts[w] of each spec w hold rows of these keys.

    Unless `changes` is empty, it gets how many keys more hold rows in a window than in the one before it, at
    begins[w] + index - firsts[w].
    """
    total = 0
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        for w in range(len(lengths)):
            every, i, last = everys[w], firsts[w], lasts[w]
            start = zeros[w] + i * every
            position = _find(ids, b, m, front[key], e, start)
            while position < e and i <= last:
                x = ids[np.uint64(b + (position & m))]
                position += 1
                if x < start:  # all windows that hold it hold an earlier one too
                    continue
                i = max(i, (x - zeros[w] - lengths[w]) // every + 1)
                newest = min(last, (x - zeros[w]) // every)
                if i <= newest:
                    if len(changes) > 0:
                        changes[np.uint64(begins[w] + i - firsts[w])] += 1
                        changes[np.uint64(begins[w] + newest + 1 - firsts[w])] -= 1
                    total += newest + 1 - i
                    i = newest + 1
                start = zeros[w] + i * every
    return total


def list_windows(
    keys, lengths, everys, zeros, firsts, lasts, ids, base, mask, front, end, begins, buckets, places, out_key,
    out_window, out_start
):  # fmt: skip
    """The windows firsts[w] .. lasts[w] of each spec w that hold rows, key after key.

    Each has a place among all by its end: places[bucket], which moves on. Without buckets, they stay as they come.
    """
    place = np.int64(-1)
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        for w in range(len(lengths)):
            length, every, zero, i = lengths[w], everys[w], zeros[w], firsts[w]
            lo = _find(ids, b, m, front[key], e, zero + i * every)
            hi = _find(ids, b, m, lo, e, zero + i * every + length)
            while True:
                i, lo, hi = _next_window(ids, b, m, e, zero, length, every, i, lo, hi)
                if lo == e or i > lasts[w]:
                    break
                place += 1
                if len(buckets) > 0:
                    bucket = np.uint64(buckets[np.uint64(begins[w] + i - firsts[w])])
                    place = places[bucket]
                    places[bucket] += 1
                at = np.uint64(place)
                out_key[at], out_start[at] = keys[np.uint64(k)], zero + i * every
                if len(lengths) > 1:
                    out_window[at] = w
                i += 1


def locate(keys, starts, ends, ids, base, mask, front, end, out_lo, out_hi):
    """The positions of the entries in [start, end) of each key."""
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m = base[key], mask[key]
        lo = _find(ids, b, m, front[key], end[key], starts[np.uint64(k)])
        out_lo[np.uint64(k)] = lo
        out_hi[np.uint64(k)] = _find(ids, b, m, lo, end[key], ends[np.uint64(k)])


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


def scatter(source, places, target):
    """Row k of the source to row places[k] of the target. Done by itself, as it waits for memory all the time."""
    for k in range(len(places)):
        for word in range(source.shape[1]):
            target[np.uint64(places[np.uint64(k)]), np.uint64(word)] = source[np.uint64(k), np.uint64(word)]
