"""Many ranges of a wheel at once: one by one as each is planned, or by what they share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slidewheel.compiler.layout import is_array
from slidewheel.engine.columns import Array, read_only
from slidewheel.engine.threads import in_parallel
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core
from slidewheel.wheel.reader import BATCH
from slidewheel.wheel.slots import _row
from slidewheel.wheel.values import Compiled

ENOUGH_FOR_TWO = 1 << 12
"""Ranges from which a second thread pays; with prefix sums it takes many more of them."""
WORTH_SHARING = 64
"""Fewer ranges than this are asked one by one."""
ROWS_FOR_EACH = 32
"""So many rows may be prepared for each range: about the time that its own plan would take."""
BITS = 6
"""A block has 2 ** BITS rows; one, where rows are so few that the table may have them all."""


def ask_all(seen: tuple[Any, ...], low: Array, high: Array, plan: int) -> tuple[Array, Array | None, int | None]:
    """Answers, which of them are there (None: all), and the number of a range that can't be answered, if any."""
    view, known, core = seen
    count, tick, again = len(low), core.tick, core.values.work.again
    low, high = (read_only(times if times.flags.c_contiguous else np.ascontiguousarray(times)) for times in (low, high))
    out, ok = core.values.room(count), np.empty(count, dtype=bool)
    summed = known[2] and plan in (n.AUTO, n.PREFIXED)
    if plan == n.AUTO and not summed and count >= WORTH_SHARING and _can_share(core, known):
        none = _ask_shared(view, known, core, low, high, ok, out)
        if none is not None:
            return out, ok if none else None, None
    missing: list[int] = []
    failed: list[int] = []

    def run(part: tuple[int, int]) -> None:
        done, last = part
        if summed:
            rows = np.empty(2 * BATCH, dtype=np.int64)
            done, none = again("ask_sums", view, *known[:2], low, high, tick, rows, done, last, ok, out)
            missing.append(none)
        if done < last:
            own = (*view[:8], *core.spare()) if core.compressed else view
            given = own, known, low, high, tick, 1.0 / tick, plan, core.room_for_plans(), done, last, ok, out
            done, none = again("ask_many", *given)
            missing.append(none)
        if done < last:
            failed.append(done)

    in_parallel(run, _halves(count, ENOUGH_FOR_TWO << 6 if summed else ENOUGH_FOR_TWO))
    return out, ok if any(missing) else None, min(failed) if failed else None


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


def _halves(count: int, enough: int) -> Sequence[tuple[int, int]]:
    half = count // 2
    return [(0, count)] if count < enough else [(0, half), (half, count)]
