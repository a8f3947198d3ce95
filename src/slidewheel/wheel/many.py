"""Many ranges of a wheel at once: one by one as each is planned, or by what they share."""

from typing import Any

import numpy as np

from slidewheel.compiler.layout import is_array
from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.threads import each
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core
from slidewheel.wheel.reader import BATCH
from slidewheel.wheel.slots import _row
from slidewheel.wheel.values import Compiled

ENOUGH_FOR_TWO = 1 << 12
"""Ranges from which a second thread pays."""
MANY_SUMS = 1 << 18
"""The same of ranges by prefix sums."""
NOTHING = np.empty(0, dtype=bool)
WORTH_SHARING = 64
"""Fewer ranges than this are asked one by one."""
ROWS_FOR_EACH = 32
"""So many rows may be prepared for each range: about the time that its own plan would take."""
BITS = 6
"""A block has 2 ** BITS rows; one, where rows are so few that the table may have them all."""


def ask_all(seen: tuple[Any, ...], low: Array, high: Array, plan: int) -> tuple[Array, Array | None, int | None]:
    """Answers, which of them are there (None: all), and the number of a range that can't be answered, if any."""
    view, known, core = seen
    count, done = len(low), 0
    low, high, out = _readable(low), _readable(high), core.values.room(count)
    if known[2] and plan in (n.AUTO, n.PREFIXED) and count < MANY_SUMS:  # mostly all are there, and need no marks
        done, _ = _ask_sums(seen, low, high, 0, count, NOTHING, out)
        if done == count:
            return out, None, None
    ok = np.ones(count, dtype=bool)
    if plan == n.AUTO and not known[2] and count >= WORTH_SHARING and _can_share(core, known):
        missing = _ask_shared(view, known, core, low, high, ok, out)
        if missing is not None:
            return out, ok if missing else None, None
    few = count < (MANY_SUMS if known[2] else ENOUGH_FOR_TWO)
    parts = [(done, count)] if few else [(0, count // 2), (count // 2, count)]
    found = each(lambda part: _ask_part(seen, low, high, plan, part[0], part[1], ok, out), parts)
    failed = [done for (done, _), (_, last) in zip(found, parts, strict=True) if done < last]
    return out, ok if any(missing for _, missing in found) else None, failed[0] if failed else None


def _readable(times: Array) -> Array:
    return read_only(times if times.flags.c_contiguous else np.ascontiguousarray(times))


def _ask_sums(
    seen: tuple[Any, ...], low: Array, high: Array, first: int, last: int, ok: Array, out: Array
) -> tuple[int, int]:
    """By prefix sums alone, as far as that goes: up to which range, and how many have no answer."""
    view, known, core = seen
    rows = np.empty(2 * BATCH, dtype=np.int64)
    given = view, known[0], known[1], low, high, core.tick, rows, first, last, ok, out
    return core.values.work.again("ask_sums", *given)  # type: ignore[no-any-return]


def _ask_part(
    seen: tuple[Any, ...], low: Array, high: Array, plan: int, first: int, last: int, ok: Array, out: Array
) -> tuple[int, int]:
    """The ranges first .. last - 1: up to which of them they were answered, and how many of those have no answer."""
    view, known, core = seen
    tick, missing = core.tick, 0
    if known[2] and plan in (n.AUTO, n.PREFIXED):
        first, missing = _ask_sums(seen, low, high, first, last, ok, out)
        if first == last:
            return first, missing
    own = (*view[:8], *core.spare()) if core.compressed else view
    given = own, known, low, high, tick, 1.0 / tick, plan, core.room_for_plans(), first, last, ok, out
    done, more = core.values.work.again("ask_many", *given)
    return done, missing + more


def _can_share(core: Core, known: tuple[Any, ...]) -> bool:
    """Whether states are small, and all slots are there as they are."""
    begin, now = known[:2]
    small = isinstance(core.values.work, Compiled) and not is_array(core.dtype)
    near = begin >= 0 and now < n.MOST_TICKS and (now - begin) * core.tick < n.MOST_TICKS
    return small and near and not (core.compressed or core.forgets)


def _ask_shared(
    view: tuple[Any, ...], known: tuple[Any, ...], core: Core, low: Array, high: Array, ok: Array, out: Array
) -> int | None:
    """Answer all ranges by what they share, and say how many have no answer; None if that would take longer, or one of
    them is refused."""
    run, book, tick = core.values.work.run, view[4], core.tick
    ticks, found = np.empty(2 * len(low), dtype=np.int64), np.empty(3, dtype=np.int64)
    if not run("survey", known, book, view[5], low, high, tick, 1.0 / tick, ticks, found):
        return None
    level, first, last = found.tolist()
    row: Any = _row
    begin, end = (int(row(view[3], book, level, at // int(book[level, n.LENGTH]))) for at in (first, last))
    rows = end - begin
    if not 0 < rows <= ROWS_FOR_EACH * len(low):
        return None
    bits = 0 if rows * rows.bit_length() <= 4 * len(low) else BITS
    blocks = -(-rows >> bits)
    lines = max((blocks - 1).bit_length(), 1)
    # In one piece: what is freed in several may be given back to the system, and has to be asked for again each time.
    memory = np.empty(2 * rows + lines * blocks, dtype=core.dtype)
    suffixes, prefixes, totals = memory[:rows], memory[rows : 2 * rows], memory[2 * rows :]
    shared = suffixes, prefixes, totals, np.zeros(1 << lines, dtype=np.uint8)
    run("share_blocks", view, level, begin, end, bits, blocks, *shared[:3])
    run("share_totals", totals, blocks, shared[3])
    return int(run("ask_shared", view, level, begin, bits, ticks, shared, ok, out))
