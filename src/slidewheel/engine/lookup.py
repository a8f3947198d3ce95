"""Which entries belong to which windows, and which states they are combined of: integers only, nothing moves."""

import numpy as np

from slidewheel.engine.slots import _find


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


def list_windows(
    keys, lengths, everys, offsets, firsts, lasts, ids, base, mask, front, end, listing, counted, begins, counts,
    buckets, places, out_place, out_key, out_window, out_index, out_lo, out_hi
):  # fmt: skip
    """The windows firsts[w] .. lasts[w] of each spec w that hold rows, key after key. Returns their number.

    Without `listing` they are only counted, in counts[begins[w] + index - firsts[w]] if `counted`. With both, each
    gets a place among all by its end: places[bucket], which moves on.
    """
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
                at = np.uint64(begins[w] + i - firsts[w])
                if listing:
                    hi = max(hi, lo)
                    while hi < e and ids[np.uint64(b + (hi & m))] < start + length:
                        hi += 1
                    j = np.uint64(n)
                    if counted:
                        bucket = np.uint64(buckets[at])
                        out_place[j] = places[bucket]
                        places[bucket] += 1
                    out_key[j], out_window[j], out_index[j] = keys[np.uint64(k)], w, i
                    out_lo[j], out_hi[j] = lo, hi
                elif counted:
                    counts[at] += 1
                n += 1
                i += 1
    return n


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


def parts_of_runs(keys, lo, hi, width, base, mask, offsets, parts):
    """The entries lo .. hi - 1 of each key, as indices into a table."""
    for j in range(len(keys)):
        key = np.uint64(keys[np.uint64(j)])
        n = offsets[np.uint64(j)]
        for position in range(lo[np.uint64(j)], hi[np.uint64(j)]):
            parts[np.uint64(n)] = (base[key] + (position & mask[key])) * width
            n += 1


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
    """Row k of the source to row places[k] of the target."""
    for k in range(len(places)):
        for word in range(source.shape[1]):
            target[np.uint64(places[np.uint64(k)]), np.uint64(word)] = source[np.uint64(k), np.uint64(word)]
