"""Two-Stacks and its lite form: the front F, the back B, and a flip."""

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Seen, Watch

STEPS = ("insert a b c d", "evict", "insert e f", "query", "evict; insert g; query")
LEGEND = (
    ("front", "the front F"),
    ("back", "the back B"),
    ("gone", "has left, still in memory"),
    ("thick", "written, or read by the query"),
)


def two_stacks() -> Canvas:
    strip = Strip(
        "Two-Stacks, step by step",
        "The val and the agg of each item, in the front F and in the back B. In F an agg covers the items from its own "
        "to the border, in B those from the border to its own. The first evict flips B onto F.",
        columns=8,
    )
    watch = Watch("two_stacks")
    for script in STEPS:
        seen = watch.step(script)
        front, end, mid = seen.registers
        strip.seen(seen, _note(seen, front, end, mid))
        for name, odd in ("val", 0), ("agg", 1):
            places = [(p, 2 * (p & seen.mask) + odd) for p in range(end)]
            strip.row(name, [(p, seen.states[k], _part(p, front, mid), k in _touched(seen)) for p, k in places])
        strip.pointers(_borders(front, mid, end))
    strip.legend(*LEGEND)
    return strip


def two_stacks_lite() -> Canvas:
    strip = Strip(
        "Two-Stacks Lite, step by step",
        "One queue and one number. The front F holds aggregates up to the border, the back B plain items, and back is "
        "their aggregate. The first evict flips B onto F, in place.",
        columns=8,
    )
    watch = Watch("two_stacks_lite")
    for script in STEPS:
        seen = watch.step(script)
        front, end, mid, back = seen.registers
        strip.seen(seen, _note(seen, front, end, mid))
        places = [(p, p & seen.mask) for p in range(end)]
        strip.row("queue", [(p, seen.states[k], _part(p, front, mid), k in _touched(seen)) for p, k in places])
        strip.pointers(_borders(front, mid, end))
        strip.row("back", [(0, back, "plain", False)])
    strip.legend(*LEGEND)
    return strip


def _part(position: int, front: int, mid: int) -> str:
    return "gone" if position < front else "front" if position < mid else "back"


def _borders(front: int, mid: int, end: int) -> dict[str, int]:
    return {"front": front, "mid": mid, "end": end}


def _touched(seen: Seen) -> set[int]:
    return seen.read if seen.answer is not None else seen.written


def _note(seen: Seen, front: int, end: int, mid: int) -> str:
    if seen.answer is not None:
        a, b = seen.combines[-1]
        return f"the answer is F's {a} combined with B's {b}: {seen.answer}"
    if seen.before[2] != mid:
        return f"F was empty: B is flipped onto it, then {'abcdefgh'[front - 1]} leaves"
    return "all in B" if mid == front else "new items go to B"
