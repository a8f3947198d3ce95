"""FlatFIT: the arrays Partials and Pointers, and the hops of a query."""

from itertools import pairwise

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Seen, Watch


def flatfit() -> Canvas:
    strip = Strip(
        "FlatFIT, step by step",
        "Partials and Pointers by position. A partial covers the items from its position up to its pointer. A query "
        "hops along the pointers and lets all that it touched point to the end.",
        columns=8,
        label=58,
    )
    watch = Watch("flatfit")
    for script in ("insert a b c d e", "query", "evict; insert f", "query", "evict; insert g; query"):
        seen = watch.step(script)
        front, end = seen.registers
        strip.seen(seen, _note(seen))
        if seen.answer is not None:
            _hops(strip, seen, front, end)
        for p in range(front, end + 1):
            strip.text(strip.x(p) + strip.cell / 2, strip.y + 10, p if p < end else f"{p} = end", "soft small middle")
        strip.y += 16
        thick = seen.read if seen.answer is not None else set()
        cells = [(p, p & seen.mask) for p in range(front, end)]
        strip.row("Partials", [(p, seen.states[k], "front", k in thick) for p, k in cells])
        strip.row("Pointers", [(p, seen.links[2 * k], "plain", False) for p, k in cells], height=24)
    strip.legend(("front", "a partial, as the items that it covers"), ("thick", "touched by the query"))
    return strip


def _hops(strip: Strip, seen: Seen, front: int, end: int) -> None:
    """From each position that the query has read to the next, and from the last to the end."""
    stops = [p for p in range(front, end) if p & seen.mask in seen.read] + [end]
    strip.y += 20
    for a, b in pairwise(stops):
        strip.curve(strip.x(a) + strip.cell / 2, strip.x(b) + strip.cell / 2, strip.y, 22, thick=True)
    strip.y += 2


def _note(seen: Seen) -> str:
    if seen.answer is None:
        return "an item covers itself, and points to the next"
    hops = len(seen.read)
    return f"{hops} hop{'' if hops == 1 else 's'}: the answer is {seen.answer}"
