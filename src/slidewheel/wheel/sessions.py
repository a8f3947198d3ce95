"""Sessions over the finished ticks of a wheel: values that are at most a gap apart."""

from slidewheel.wheel.names import BASE, MARKS, PACKED, ROWS, combine, load, store
from slidewheel.wheel.packing import _unpacked
from slidewheel.wheel.rows import _slot_of
from slidewheel.wheel.slots import _marked, _row


def sessions(view, place, tick, gap, now, total, spans, out):
    """Go on from tick place[0]; place[1] says whether a session is open, from tick place[2] to place[3], and `total`
    holds its state. Those that can't grow any more at the watermark `now` go to `spans` and `out`; returns how many."""
    table, bits, _, gaps, book, _, _, _, _, _ = view
    written = 0
    for row in range(_row(gaps, book, 0, place[0]), book[0, ROWS]):
        if _marked(bits, book[0, MARKS] + row):
            slot = _slot_of(gaps, book, 0, row)
            if place[1] and (slot - place[3]) * tick > gap:
                spans[2 * written], spans[2 * written + 1] = place[2], place[3]
                store(out, written, load(total, 0))
                written += 1
                place[1] = 0
            packed = row < book[0, PACKED]
            state = _unpacked(view, 0, row) if packed else load(table, book[0, BASE] + row - book[0, PACKED])
            if place[1]:
                store(total, 0, combine(load(total, 0), state))
            else:
                store(total, 0, state)
                place[1], place[2] = 1, slot
            place[3] = slot
    place[0] = now
    if place[1] and (now - place[3]) * tick > gap:
        spans[2 * written], spans[2 * written + 1] = place[2], place[3]
        store(out, written, load(total, 0))
        written += 1
        place[1] = 0
    return written
