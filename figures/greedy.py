"""The greedy algorithm on the example of its paper, a = (2, 4, 5, 2), and one window more."""

from dataclasses import dataclass

from figures.canvas import MARGIN, Canvas
from figures.strip import Strip
from figures.watch import Seen, Sum, Watch

STEPS = ("insert 2 4 5; query", "insert 2; query", "evict; query", "insert 3 1; evict; query")
LEVEL, SIZE = 38, 26


@dataclass
class Node:
    """Of the tree over the window: a position, or a split and its children."""

    value: int
    start: float
    stop: float
    made: bool
    children: tuple["Node", ...] = ()

    @property
    def x(self) -> float:
        return (self.children[0].x + self.children[1].x) / 2 if self.children else self.start

    @property
    def height(self) -> int:
        return 1 + max(child.height for child in self.children) if self.children else 0


def tree_of(seen: Seen) -> Node:
    """The tree of the last query, from the links of the window."""
    root = 4 * (seen.mask + 1)

    def read(tree: int) -> Node:
        place, inner = tree >> 1, tree & 1
        slot = place & seen.mask
        value, made = seen.states[2 * slot + inner], bool(inner) and 2 * slot + 1 in seen.written
        if not inner:
            return Node(value, place, place + 1, False)
        left, right = read(seen.links[4 * slot]), read(seen.links[4 * slot + 1])
        return Node(value, left.start, right.stop, made, (left, right))

    return read(seen.links[root])


def greedy() -> Canvas:
    strip = Strip(
        "The greedy algorithm, window by window",
        "The binary tree over each window, with the items 2, 4, 5, 2, 3, 1 as leaves. A query makes only the nodes "
        "that no subtree of the last tree can serve for.",
        columns=6,
        label=0,
    )
    watch, total = Watch("greedy", Sum), 0
    for script in STEPS:
        seen = watch.step(script)
        front, end = seen.registers
        total += len(seen.combines)
        strip.step(
            f"window ({front + 1}, {end})",
            f"{script}: the sum is {seen.answer}",
            right=f"{seen.cost}, {total} in all",
        )
        root = tree_of(seen)
        _draw(strip, root, strip.y, root.height)
        strip.y = strip.bottom + 4
    strip.legend(
        ("plain", "an item"), ("front", "a node taken over"), ("thick", "a node made by this query, with one combine")
    )
    return strip


def _draw(strip: Strip, node: Node, top: float, height: int) -> None:
    """Leaves lie on one line, and a node stands above its higher child."""

    def place(n: Node) -> tuple[float, float]:
        return MARGIN + (n.x + 0.5) * strip.cell, top + (height - n.height) * LEVEL

    x, y = place(node)
    for child in node.children:
        to_x, to_y = place(child)
        strip.line([(x, y + SIZE), (to_x, to_y)])
    fill = "front" if node.children else "plain"
    strip.box(x - 24, y, 48, SIZE, node.value, fill, thick=node.made)
    for child in node.children:
        _draw(strip, child, top, height)
