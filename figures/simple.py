"""Recalculation and subtraction, over the window of the DABA paper: 2, 6, 3, 5, 3."""

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Seen, Sum, Watch

GONE = ("gone", "has left, still in memory")


def recalc() -> Canvas:
    strip = Strip(
        "Recalculation, step by step",
        "The queue of items. Inserts and evicts only move the pointers front and end; a query reads all items between "
        "them and adds them up.",
    )
    watch = Watch("recalc", Sum)
    for script in ("insert 2 6 3 5 3", "query", "evict; insert 1", "query"):
        seen = watch.step(script)
        front, end = seen.registers
        folded = " + ".join(str(seen.states[p & seen.mask]) for p in range(front, end))
        strip.seen(seen, f"{folded} = {seen.answer}" if seen.answer is not None else "nothing is combined")
        _queue(strip, seen, front, end, seen.read)
    strip.legend(("front", "in the window"), GONE, ("thick", "read by the query"))
    return strip


def subtract_on_evict() -> Canvas:
    strip = Strip(
        "Subtract on evict, step by step",
        "The queue of items and one number, total. An insert adds to it, an evict takes away from it, and a query "
        "reads it.",
    )
    watch = Watch("subtract_on_evict", Sum)
    signs = {"insert": "+", "evict": "-"}
    for script in ("insert 2 6 3 5 3", "evict", "insert 1", "query"):
        seen = watch.step(script)
        front, end, total = seen.registers
        done = [f"{a} {signs.get(script.split()[0], '')} {b}" for a, b in seen.combines]
        if len(done) == 1:
            note = f"total = {done[0]} = {total}"
        else:
            note = "the answer is total" if seen.answer is not None else "each is added to total"
        strip.seen(seen, note)
        _queue(strip, seen, front, end, set())
        strip.row("total", [(0, total, "plain", True)])
    strip.legend(("front", "in the window"), GONE, ("thick", "the answer, always at hand"))
    return strip


def _queue(strip: Strip, seen: Seen, front: int, end: int, thick: set[int]) -> None:
    places = [(p, p & seen.mask) for p in range(end)]
    strip.row("queue", [(p, seen.states[k], "gone" if p < front else "front", k in thick) for p, k in places])
    strip.pointers({"front": front, "end": end})
