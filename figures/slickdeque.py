"""SlickDeque (Non-Inv): example 3 of the paper, max over 6, 5, 0, 1, 3, 4, 2, 7 with the range 5."""

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Max, Watch

STEPS = ("insert 6 5 0", "insert 1", "insert 3", "evict; insert 4", "evict; insert 2", "evict; insert 7")
STREAM = (6, 5, 0, 1, 3, 4, 2, 7)


def slickdeque() -> Canvas:
    strip = Strip(
        "SlickDeque, step by step",
        "Above the items of the window, below the nodes of the deque, each at the position of its item. A newcomer "
        "drives out all older nodes that lose against it; the answer is at the head.",
        columns=8,
        label=46,
    )
    watch = Watch("slickdeque", Max)
    for script in STEPS:
        seen = watch.step(script)
        front, end, head, tail = seen.registers
        nodes = {seen.links[k & seen.mask]: seen.states[k & seen.mask] for k in range(head, tail)}
        strip.seen(seen, f"the maximum is {nodes[min(nodes)]}")
        strip.row("items", [(p, STREAM[p], "plain" if p >= front else "gone", False) for p in range(end)], height=24)
        cells = []
        for p in range(front, end):
            cells.append((p, nodes.get(p, ""), "front" if p in nodes else "empty", p == min(nodes)))
        strip.row("deque", cells)
    strip.legend(("front", "a node"), ("thick", "the head: the answer"), ("empty", "driven out, or has left"))
    return strip
