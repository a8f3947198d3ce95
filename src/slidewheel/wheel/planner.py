"""The planner: how a range is put together, at the cost of the fewest combines (paper, section 3.4.4, figures 3 and 4).

A plan is up to three lists of parts, one after the other in `parts`: what is combined, and for an inverse landmark
what is taken away from it, the older part and the newer one. The first three `sizes` are the lengths of these lists.
"""

import numpy as np

from slidewheel.wheel.names import (
    AUTO,
    COMBINED,
    GAPS,
    INVERSE,
    KEPT,
    LANDMARK,
    LENGTH,
    MOST_TICKS,
    NEXT,
    NO_PLAN,
    NONE,
    NOT_KEPT,
    OPEN,
    ORIGIN,
    PREFIX,
    PREFIXED,
    ROWS,
    SLOTS,
    TOTAL,
    WHEEL,
)
from slidewheel.wheel.slots import _row
from slidewheel.wheel.taking import _ticks

FAILED = -1
EXACT, COUNTS = 2, 3


def _whole(ticks, length, rate):
    """ticks // length, also before 1970."""
    return _ticks(ticks, length, rate) if ticks >= 0 else ticks // length


def _put_part(parts, at, level, low, high):
    parts[np.uint64(3 * at)] = level
    parts[np.uint64(3 * at + 1)] = low
    parts[np.uint64(3 * at + 2)] = high


def _put_rows(gaps, book, parts, at, level, low, high):
    """Slots low .. high - 1 of a level as a part. Returns its rows."""
    first, last = _row(gaps, book, level, low), _row(gaps, book, level, high)
    _put_part(parts, at, level, first, last)
    return last - first


def _split(gaps, book, rates, start, end, first, now, parts, at, sizes):
    """Combined aggregation: whole slots of the coarsest levels, finer ones at both ends (figure 3).

    A range from the wheel's first tick may take its first slots whole; one that ends at the watermark, the totals of
    the rotations under way. Slots that are not kept are left to finer levels. Returns the number of parts written from
    `at` on, and of states in them; -1 if there is no way. Behind its first three, `sizes` has two places for a level.
    """
    count, states = _climb(book, rates, start, end, first, now, parts, at)
    if count >= 0:
        return count, states
    return _descend(gaps, book, rates, start, end, first, now, parts, at, sizes)


def _climb(book, rates, start, end, first, now, parts, at):
    """`_split` where levels have no gaps and keep all of the range: one pass from the finest level on, -1 elsewhere."""
    if (start < 0) | (end >= MOST_TICKS):
        return np.int64(-1), np.int64(0)
    levels = len(book)
    behind = at + 2 * levels
    left, right, count = at, behind, np.int64(0)
    up, down = start, end  # the whole slots of a level
    for level in range(levels):
        origin, rows = book[level, ORIGIN], book[level, ROWS]
        if (book[level, GAPS] > 0) | (up < book[level, KEPT]):
            return np.int64(-1), np.int64(0)
        above_up, above_down = np.int64(0), np.int64(-1)
        if level + 1 < levels:  # an integer and a half, times 1 / length, is never next to a whole number
            length, rate = book[level + 1, LENGTH], rates[level + 1]
            above_up = np.int64(((start if start == first else start + length - 1) + 0.5) * rate)
            above_down = np.int64((end + 0.5) * rate)
        if (above_up > above_down) | ((above_up == above_down) & (end < now)):
            rows = min(down - origin, rows) - (up - origin)
            _put_part(parts, left, level, up - origin, up - origin + rows)
            left += rows > 0
            count += max(rows, 0)
            break
        ratio = book[level, SLOTS]
        own = min(above_up * ratio - origin, rows) - (up - origin)
        _put_part(parts, left, level, up - origin, up - origin + own)
        left += own > 0
        count += max(own, 0)
        if end == now:
            own = np.int64(book[level, OPEN] != NONE)
            _put_part(parts, right - 1, level, TOTAL, 0)
        else:
            low = above_down * ratio - origin
            own = min(down - origin, rows) - low
            _put_part(parts, right - 1, level, low, low + own)
        right -= own > 0
        count += max(own, 0)
        up, down = above_up, above_down
    for k in range(3 * (behind - right)):
        parts[np.uint64(3 * left + k)] = parts[np.uint64(3 * right + k)]
    return left + behind - right - at, count


def _descend(gaps, book, rates, start, end, first, now, parts, at, sizes):
    """`_split` for any levels: the coarsest that has whole slots first, then finer ones on both sides of it."""
    levels, middle = len(book), -1
    for level in range(levels):  # up .. down are the whole slots of each level
        length, rate = book[level, LENGTH], rates[level]
        up, down = _whole(start, length, rate), _whole(end, length, rate)
        if up * length < start and start > first:
            up += 1
        if up > down or (up == down and end < now):
            break
        sizes[np.uint64(3 + 2 * level)], sizes[np.uint64(4 + 2 * level)] = up, down
        if up == down or up >= book[level, KEPT]:
            middle = level
    if middle < 0:
        return np.int64(-1), np.int64(0)
    up, down = sizes[np.uint64(3 + 2 * middle)], sizes[np.uint64(4 + 2 * middle)]
    left = right = at + levels
    count = np.int64(0)
    if up < down:
        rows = _put_rows(gaps, book, parts, right, middle, up, down)
        right += rows > 0
        count += rows
    # To the left and to the right of that, from coarse to fine; `side` is the level that was reached.
    side, ratio = middle, np.int64(1)
    for step in range(middle):
        level = middle - 1 - step
        ratio *= book[level, SLOTS]
        low, high = sizes[np.uint64(3 + 2 * level)], up * ratio
        if low < high and low >= book[level, KEPT]:
            rows = _put_rows(gaps, book, parts, left - 1, level, low, high)
            left -= rows > 0
            count += rows
            side, up, ratio = level, low, np.int64(1)
    if up * book[side, LENGTH] != start and start > first:
        return np.int64(-1), np.int64(0)
    side, ratio = middle, np.int64(1)
    for step in range(middle):
        level = middle - 1 - step
        ratio *= book[level, SLOTS]
        if end == now:
            if book[level, OPEN] != NONE:
                _put_part(parts, right, level, TOTAL, 0)
                right += 1
                count += 1
            side = level
            continue
        low, high = down * ratio, sizes[np.uint64(4 + 2 * level)]
        if low < high and low >= book[level, KEPT]:
            rows = _put_rows(gaps, book, parts, right, level, low, high)
            right += rows > 0
            count += rows
            side, down, ratio = level, high, np.int64(1)
    if end < now and down * book[side, LENGTH] != end:
        return np.int64(-1), np.int64(0)
    for k in range(3 * (right - left)):
        parts[np.uint64(3 * at + k)] = parts[np.uint64(3 * left + k)]
    return right - left, count


def _landmark(book, parts, at):
    """The totals of all levels, from the oldest on. Returns their number."""
    count = 0
    for k in range(len(book)):
        level = len(book) - 1 - k
        if book[level, OPEN] != NONE:
            _put_part(parts, at + count, level, TOTAL, 0)
            count += 1
    return count


def _coarsest(book, rates, start, end, first, prefixed):
    """The coarsest level of whole slots for this range that keeps them (and has prefix sums), or -1."""
    found = -1
    for level in range(len(book)):
        length = book[level, LENGTH]
        low, high = _whole(start, length, rates[level]), _whole(end, length, rates[level])
        if high * length != end or (low * length != start and start > first):
            break
        if low >= book[level, KEPT] and (book[level, PREFIX] != NONE or not prefixed):
            found = level
    return found


def _whole_slots(gaps, book, rates, start, end, level):
    """The rows of a level that make up this range."""
    length, rate = book[level, LENGTH], rates[level]
    return _row(gaps, book, level, _whole(start, length, rate)), _row(gaps, book, level, _whole(end, length, rate))


def _choose(gaps, book, rates, start, end, known, plan, parts, sizes):
    """The cheapest plan, or the one that was asked for: its kind and its cost in combines; (FAILED, why) if none is.

    All in ticks. `known` is what all ranges share: where the wheel began, its watermark, what may be used, and how
    many levels have a total.
    """
    first, now, prefixed, invertible, commutative, threshold, whole, running = known
    sizes[0] = sizes[1] = sizes[2] = 0
    best, least = np.int64(FAILED), np.int64(0)
    if start == end and plan != LANDMARK:
        return np.int64(COMBINED if plan == AUTO else plan), least
    if prefixed and plan in (AUTO, PREFIXED):
        level = _coarsest(book, rates, start, end, first, True)
        if level >= 0:
            low, high = _whole_slots(gaps, book, rates, start, end, level)
            best, least = np.int64(PREFIXED), np.int64(1 if low > 0 and high > low else 0)
            alone = level + 1 < len(book) and _coarsest(book, rates, start, end, first, False) > level
            if plan == PREFIXED or least == 0 or (high - low > 1 and not alone and end < now and book[0, GAPS] == 0):
                _put_part(parts, 0, level, low, high)
                sizes[0] = 1
                return best, least
    between = (plan == AUTO) & (first < start) & (end < now)
    counted = between and whole and invertible >= EXACT and commutative and not prefixed and threshold == 0
    if counted and _outside(book, rates, start, end, now, running) < _inside(book, rates, start, end) - 1:
        cost = _inverse_landmark(gaps, book, rates, start, end, known, parts, sizes, best, least)
        return np.int64(INVERSE), cost
    # Without gaps, no level alone is cheaper than all of them.
    if plan == WHEEL or (plan == AUTO and (threshold > 0 or prefixed or book[0, GAPS] > 0)):
        level = _coarsest(book, rates, start, end, first, False)
        if level >= 0:
            low, high = _whole_slots(gaps, book, rates, start, end, level)
            cost = max(high - low - 1, 0)
            if plan == WHEEL or cost <= threshold:
                _put_part(parts, 0, level, low, high)
                sizes[0] = 1 if high > low else 0
                return np.int64(WHEEL), cost
            if best == FAILED or cost < least:
                best, least = np.int64(WHEEL), cost
    count = np.int64(0)
    if plan in (AUTO, COMBINED, INVERSE):
        count, states = _split(gaps, book, rates, start, end, first, now, parts, 0, sizes)
        if count >= 0 and plan != INVERSE:
            cost = max(states - 1, 0)
            if best == FAILED or cost < least:
                sizes[0], best, least = count, np.int64(COMBINED), cost
    if plan in (AUTO, LANDMARK) and start == first and end == now:
        cost = max(running - 1, 0)
        if best == FAILED or cost < least:
            sizes[0], best, least = _landmark(book, parts, 0), np.int64(LANDMARK), cost
    # Without its own slots, a range does not say whether it is empty.
    known_full = count >= 0 or invertible == COUNTS or (start == first and end == now)
    asked = plan == INVERSE or (plan == AUTO and invertible >= EXACT and (best == FAILED or least > 1))
    if asked and not counted and known_full and invertible > 0:
        cost = _inverse_landmark(gaps, book, rates, start, end, known, parts, sizes, best, least)
        if cost >= 0:
            best, least = np.int64(INVERSE), cost
    if best in (PREFIXED, WHEEL):
        level = _coarsest(book, rates, start, end, first, best == PREFIXED)
        low, high = _whole_slots(gaps, book, rates, start, end, level)
        _put_part(parts, 0, level, low, high)
        sizes[0] = 1 if high > low else 0
    if best == FAILED:
        return best, np.int64(NOT_KEPT if plan in (AUTO, COMBINED) else NO_PLAN)
    return best, least


# Where each level has a row for each slot, the states of a plan can be counted before it is laid out. Nobody can
# foresee up to which level there are whole slots, so that branches would be slow.


def _inside(book, rates, start, end):
    """How many states `_climb` finds between the first tick and the watermark: a whole slot stands for those below."""
    states = end - start
    for level in range(1, len(book)):
        up = np.int64((start + book[level, LENGTH] - 0.5) * rates[level])
        states -= max(np.int64((end + 0.5) * rates[level]) - up, 0) * (book[level - 1, SLOTS] - 1)
    return states


def _outside(book, rates, start, end, now, running):
    """What an inverse landmark costs that takes away what is older than this range and what is newer."""
    cost = running - 1 + start - book[0, ORIGIN] + now - end
    for level in range(1, len(book)):
        before, origin = np.int64((start + 0.5) * rates[level]), book[level, ORIGIN]
        fewer = before * (book[level - 1, SLOTS] - 1) + origin - book[level - 1, ORIGIN]
        cost -= fewer if before > origin else 0
        after, last = np.int64((end + book[level, LENGTH] - 0.5) * rates[level]), book[level, NEXT]
        more = after * (book[level - 1, SLOTS] - 1) + last - book[level - 1, NEXT]
        cost += more + (book[level - 1, OPEN] != NONE) if after <= last else 0
    return cost


def _inverse_landmark(gaps, book, rates, start, end, known, parts, sizes, best, least):
    """All that is finished, without what is older and what is newer: f_L - [first, start) - [end, now).

    Only the older part can be taken away where order matters. Returns its cost, or -1 if it can't be done or is not
    cheaper than the best so far.
    """
    first, now, _, _, commutative, _, _, running = known
    if end < now and not commutative:
        return np.int64(-1)
    room = 2 * len(book) + 1
    older = newer = np.int64(0)
    cost = max(running - 1, 0)
    if start > first:
        older, states = _split(gaps, book, rates, first, start, first, now, parts, room, sizes)
        cost += states
    if end < now and older >= 0:
        newer, states = _split(gaps, book, rates, end, now, first, now, parts, 2 * room, sizes)
        cost += states
    if older < 0 or newer < 0 or (best != FAILED and cost >= least):
        return np.int64(-1)
    sizes[0] = _landmark(book, parts, 0)
    sizes[1], sizes[2] = older, newer
    return cost
