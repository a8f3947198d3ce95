"""The loops around an algorithm, each written once for all of them.

Their text is copied into every generated module, where the names below stand for the algorithm's operations and the
aggregate's functions.
"""

from typing import Any

import numpy as np

start: Any = None
insert = evict = query = answer = leaves = enters = in_order = slide = vary = item = lower = put = start
resume = suspend = start
prefixes = suffixes = window = find = next_window = combine = identity = load = store = absorb = start


def roll(columns, valid, frame, lo, hi, first, least, out, ok, states, links, mask):
    """One answer for each of the rows lo .. hi - 1, over windows that start at row `first` or later.

    Returns hi; or the row at which the memory was too small for the window; or -1 - i if row i is out of order.
    """
    rows = len(columns[0])
    registers = start()
    front = end = first
    held = 0
    for i in range(lo, hi):
        if not in_order(frame, i):
            return -1 - i
        while front < end and leaves(frame, front, i):
            registers = evict(states, links, mask, registers)
            if valid is not None:
                held -= valid[np.uint64(front)]
            front += 1
        while front == end and end < rows and enters(frame, end, i) and leaves(frame, end, i):
            front += 1  # come and gone between two rows
            end += 1
        while end < rows and enters(frame, end, i):
            if end - front > mask:
                return i
            registers = insert(states, links, mask, registers, item(columns, valid, end))
            if valid is not None:
                held += valid[np.uint64(end)]
            end += 1
        if valid is None:
            held = end - front
        ok[np.uint64(i)] = held >= least
        if held >= least:
            put(out, i, lower(query(states, links, mask, registers)))
    return hi


def replay(columns, steps, out, states, links, mask):
    """Run a list of steps: 0 inserts the next item, 1 evicts, 2 writes the lowered answer. Returns the registers."""
    registers = start()
    taken = written = 0
    for step in steps:
        if step == 0:
            registers = insert(states, links, mask, registers, item(columns, None, taken))
            taken += 1
        elif step == 1:
            registers = evict(states, links, mask, registers)
        else:
            put(out, written, lower(query(states, links, mask, registers)))
            written += 1
    return registers


def slide_over(
    fresh, kept, total, states, links, mask, marks, begins, starts, ends, slices, filled, length, every, ok, out
):
    """Windows over slices that follow each other; the states of those that end with one of them go to `out`.

    kept[0] is the start of the next window, and kept[1] says how many slices inside hold a value. The registers are
    kept behind that and in `total`, unless all is `fresh`.
    """
    window, held, written = kept[0], kept[1], 0
    registers = start() if fresh else resume(kept, total)
    for k in range(len(starts)):
        if starts[np.uint64(k)] >= window:
            slot = np.uint64(registers[1] & mask)
            marks[slot] = filled[np.uint64(k)]
            begins[slot] = starts[np.uint64(k)]
            held += marks[slot]
            registers = insert(states, links, mask, registers, load(slices, k))
        if ends[np.uint64(k)] == window + length:
            store(out, written, query(states, links, mask, registers))
            ok[np.uint64(written)] = held > 0
            written += 1
            window += every
            while registers[0] < registers[1] and begins[np.uint64(registers[0] & mask)] < window:
                held -= marks[np.uint64(registers[0] & mask)]
                registers = evict(states, links, mask, registers)
    kept[0], kept[1] = window, held
    suspend(kept, total, registers)


def replay_ranges(columns, ranges, out, states, links, mask):
    """Insert each item, and write after it the lowered answers of all ranges, which fall. Returns the registers."""
    registers = start()
    written = 0
    for i in range(len(columns[0])):
        registers = insert(states, links, mask, registers, ranges, item(columns, None, i))
        for k in range(len(ranges)):
            put(out, written, lower(answer(states, links, mask, registers, ranges, k)))
            written += 1
    return registers


def finals(
    table,
    keys,
    offsets,
    order,
    ends,
    which,
    ids,
    length,
    edge,
    base,
    mask,
    front,
    end,
    ranges,
    states,
    links,
    slots,
    out,
):
    """Windows from slices of equal length: an item for each slice, the identity where there is none.

    The windows of keys[g] are order[offsets[g]] ... by rising ends, which are numbers of slices; which[j] is the place
    of a window's length in `ranges`, which fall.
    """
    for g in range(len(keys)):
        key = np.uint64(keys[g])
        position, last = front[key], end[key]
        at = -9223372036854775807
        registers = start()
        for w in range(offsets[g], offsets[g + 1]):
            j = order[w]
            if ends[j] - ranges[0] > at:  # nothing of what is inside is needed any more
                at = ends[j] - ranges[0]
                for k in range(len(states)):
                    store(states, k, identity())
                for k in range(len(links)):
                    links[k] = 0
                registers = start()
                while position < last and ids[np.uint64(base[key] + (position & mask[key]))] < at * length + edge:
                    position += 1
            while at < ends[j]:
                v = identity()
                slot = base[key] + (position & mask[key])
                if position < last and ids[np.uint64(slot)] == at * length + edge:
                    v = load(table, slot)
                    position += 1
                registers = insert(states, links, slots, registers, ranges, v)
                at += 1
            store(out, j, answer(states, links, slots, registers, ranges, which[j]))


def probe(columns, row):
    """The answer of one row, whose type the compiler infers."""
    return lower(item(columns, None, row))


def blocks(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d):
    """Windows of a fixed length over a finished array; see `slide` in swag/blocks.py."""
    slide(columns, valid, window, lo, hi, least, inverses, out, ok, a, b, c, d)


def varying_blocks(columns, valid, frame, lo, hi, first, least, out, ok, suffixes):
    """Windows of varying length over a finished array; see `vary` in swag/blocks.py."""
    return vary(columns, valid, frame, lo, hi, first, least, out, ok, suffixes)


def add(columns, valid, slots, table, first_rows, saved, done):
    """Add each row to the entry in its slot; ~slot is an entry that begins with this row.

    What an entry was before the k-th of `first_rows` goes to saved[k]; done[0] says how many are there.
    """
    k = 0
    for i in range(len(slots)):
        slot = slots[np.uint64(i)]
        if slot < 0:
            store(table, ~slot, item(columns, valid, i))
            continue
        if k < len(first_rows) and first_rows[np.uint64(k)] == i:
            store(saved, k, load(table, slot))
            k += 1
            done[0] = k
        store(table, slot, combine(load(table, slot), item(columns, valid, i)))


def absorb_rows(columns, valid, slots, table, first_rows, saved, done):
    """The same for states that are arrays, in place."""
    k = 0
    for i in range(len(slots)):
        slot = slots[np.uint64(i)]
        if slot < 0:
            store(table, ~slot, item(columns, valid, i))
            continue
        if k < len(first_rows) and first_rows[np.uint64(k)] == i:
            store(saved, k, load(table, slot))
            k += 1
            done[0] = k
        if valid is None:  # two ifs, as the compiler drops the one that the type of valid decides  # noqa: SIM114
            absorb(load(table, slot), columns[0][np.uint64(i)])
        elif valid[np.uint64(i)]:
            absorb(load(table, slot), columns[0][np.uint64(i)])


def join(given, slots, table):
    """Add each state to the entry in its slot; ~slot is an entry that begins with this state."""
    for i in range(len(slots)):
        slot = slots[np.uint64(i)]
        if slot < 0:
            store(table, ~slot, load(given, i))
        else:
            store(table, slot, combine(load(table, slot), load(given, i)))


def extend(table, plane, prefix, suffix, ids, shift, keys, base, mask, front, first, last, settled, complete):
    """Prefixes first .. last - 1 and suffixes settled .. complete - 1 of each of these keys."""
    for k in range(len(keys)):
        key, j = np.uint64(keys[np.uint64(k)]), np.uint64(k)
        b, m = base[key], mask[key]
        prefixes(table, plane, prefix, ids, shift, b, m, front[key], first[j], last[j])
        suffixes(table, plane, suffix, ids, shift, b, m, settled[j], complete[j])


def windows(
    table,
    plane,
    keys,
    lengths,
    everys,
    zeros,
    firsts,
    lasts,
    ids,
    base,
    mask,
    front,
    end,
    begins,
    buckets,
    places,
    levels,
    shifts,
    out,
):
    """The states of the windows that list_windows in engine/lookup.py lists, in the same places."""
    known = np.empty(8, dtype=np.int64)
    place = np.int64(-1)
    for k in range(len(keys)):
        key = np.uint64(keys[np.uint64(k)])
        b, m, e = base[key], mask[key], end[key]
        for w in range(len(lengths)):
            length, every, zero, i, level = lengths[w], everys[w], zeros[w], firsts[w], levels[w]
            lo = find(ids, b, m, front[key], e, zero + i * every)
            hi = find(ids, b, m, lo, e, zero + i * every + length)
            known[:] = 9223372036854775807
            before = np.int64(-1), np.int64(-1), False
            state = identity()
            while True:
                i, lo, hi = next_window(ids, b, m, e, zero, length, every, i, lo, hi)
                if lo == e or i > lasts[w]:
                    break
                place += 1
                if len(buckets) > 0:
                    bucket = np.uint64(buckets[np.uint64(begins[w] + i - firsts[w])])
                    place = places[bucket]
                    places[bucket] += 1
                start = zero + i * every
                same = lo, hi, start <= ids[np.uint64(b + (lo & m))] >> shifts[level] << shifts[level]
                if same != before:  # what `window` looks at
                    state = window(table, plane, level, shifts[level], ids, False, b, m, lo, hi - 1, start, known)
                    before = same
                store(out, place, state)
                i += 1


def answers(table, plane, keys, lo, hi, starts, levels, shifts, by_position, ids, base, mask, out):
    """The states of windows over the positions lo .. hi - 1 of their keys, which start at `starts`."""
    known = np.empty(8, dtype=np.int64)
    same_key, same_level = np.int64(-1), np.int64(-1)
    for j in range(len(keys)):
        at = np.uint64(j)
        key, level, first, last = keys[at], levels[at], lo[at], hi[at] - 1
        if first > last:
            store(out, j, identity())
            continue
        if key != same_key or level != same_level:
            same_key, same_level = key, level
            known[:] = 9223372036854775807
        b, m = base[np.uint64(key)], mask[np.uint64(key)]
        state = window(table, plane, level, shifts[level], ids, by_position, b, m, first, last, starts[at], known)
        store(out, j, state)


def trail(table, plane, level, shift, ids, base, mask, front, end, codes, times, before, after, out):
    """For rows by key and time the states of [time - before, time + after)."""
    known = np.empty(8, dtype=np.int64)
    same_key = np.int64(-1)
    b = m = e = lo = hi = np.int64(0)
    for j in range(len(times)):
        key, start, stop = codes[np.uint64(j)], times[np.uint64(j)] - before, times[np.uint64(j)] + after
        if key != same_key:
            same_key = key
            known[:] = 9223372036854775807
            b, m, e = base[np.uint64(key)], mask[np.uint64(key)], end[np.uint64(key)]
            lo = find(ids, b, m, front[np.uint64(key)], e, start)
            hi = find(ids, b, m, lo, e, stop)
        while lo < e and ids[np.uint64(b + (lo & m))] < start:
            lo += 1
        while hi < e and ids[np.uint64(b + (hi & m))] < stop:
            hi += 1
        if lo >= hi:
            store(out, j, identity())
            continue
        store(out, j, window(table, plane, level, shift, ids, False, b, m, lo, hi - 1, start, known))


def trail_all(columns, valid, codes, times, first, lo, hi, shift, before, after, ids, states, out):
    """The same as `trail` over rows that are all there, by key and time: answers for the rows lo .. hi - 1.

    Rows are read from `first` on, where a block or a key begins. `ids` and `states` have room for all of them: the
    entries of a key, which become suffixes when their block is complete. The prefix of the newest entry is `total`.
    """
    begins = np.empty(16, dtype=np.int64)  # the first entries of the latest blocks
    key, row = codes[np.uint64(lo)], first
    left = right = folded = oldest = block = np.int64(0)
    latest = np.int64(-1)
    earlier = total = identity()
    for j in range(lo, hi):
        start, stop = times[np.uint64(j)] - before, times[np.uint64(j)] + after
        if codes[np.uint64(j)] != key:
            key, row = codes[np.uint64(j)], j
            left = right = folded = oldest = np.int64(0)
            latest = np.int64(-1)
        while row < len(times) and codes[np.uint64(row)] == key and times[np.uint64(row)] < stop:
            x = times[np.uint64(row)]
            own = item(columns, valid, row)
            if right > 0 and ids[np.uint64(right - 1)] == x:  # one entry with the row before
                own = combine(load(states, right - 1), own)
                store(states, right - 1, own)
                total = combine(earlier, own) if begins[np.uint64(latest & 15)] < right - 1 else own
            else:
                if right > 0 and x >> shift == block:
                    earlier = total
                    total = combine(earlier, own)
                else:
                    latest += 1
                    begins[np.uint64(latest & 15)] = right
                    block = x >> shift
                    total = own
                ids[np.uint64(right)] = x
                store(states, right, own)
                right += 1
            row += 1
        while left < right and ids[np.uint64(left)] < start:
            left += 1
        while oldest < latest and begins[np.uint64((oldest + 1) & 15)] <= left:
            oldest += 1
        if left == right:
            store(out, j, identity())
            continue
        if left == right - 1:
            store(out, j, load(states, left))
            continue
        if oldest == latest and start <= block << shift:
            store(out, j, total)
            continue
        complete = right if oldest == latest else begins[np.uint64(latest & 15)]
        if folded < complete:
            for p in range(complete - 2, folded - 1, -1):
                if ids[np.uint64(p)] >> shift == ids[np.uint64(p + 1)] >> shift:
                    store(states, p, combine(load(states, p), load(states, p + 1)))
            folded = complete
        state = load(states, left)
        for between in range(oldest + 1, latest):
            state = combine(state, load(states, begins[np.uint64(between & 15)]))
        if oldest < latest:
            state = combine(state, total)
        store(out, j, state)


def runs(table, plane, keys, lo, hi, base, mask, out):
    """The entries lo .. hi - 1 of each key, at least one, combined one after the other."""
    for j in range(len(keys)):
        at = np.uint64(j)
        b, m = base[np.uint64(keys[at])], mask[np.uint64(keys[at])]
        total = load(table, b + (lo[at] & m))
        for position in range(lo[at] + 1, hi[at]):
            total = combine(total, load(table, b + (position & m)))
        store(out, j, total)


def lowered(states, ok, out):
    """The answers of states, where there is one."""
    for j in range(len(states)):
        if ok[np.uint64(j)]:
            put(out, j, lower(load(states, j)))
