"""A B-tree with two fingers, which says what each change touched and can take the last one back.

Items lie in all nodes, not only in the leaves. A node with a children has a - 1 items between them; a is at least ARITY
(2 for the root) and at most 2 ARITY, the room that makes rebalancing a constant cost per change, amortised. The fingers
point to the oldest and the youngest leaf, so a search climbs from the nearer end only as far as it has to.

The left spine are the nodes from the root to the oldest leaf, the right spine those to the youngest; the root is on
both. `own` and `agg` belong to whoever aggregates over the tree.
"""

from bisect import bisect_left
from typing import Any

# Measured with 2 to 8: smaller nodes take longer, since more of them are split and joined; larger ones more combines.
ARITY = 3


class Node:
    """Its tuples are replaced, never changed, so that remembering them is enough to take a change back."""

    __slots__ = ("agg", "children", "left", "own", "parent", "right", "times", "values")

    def __init__(self, times: tuple[int, ...], values: tuple[Any, ...], children: tuple["Node", ...]) -> None:
        self.times, self.values, self.children = times, values, children
        self.parent: Node | None = None
        self.left = self.right = False
        self.own: Any = None
        self.agg: Any = None

    @property
    def full(self) -> bool:
        return len(self.times) == 2 * ARITY - 1

    def add(self, i: int, time: int, value: Any) -> None:
        self.times = (*self.times[:i], time, *self.times[i:])
        self.values = (*self.values[:i], value, *self.values[i:])

    def put(self, i: int, time: int, value: Any) -> None:
        self.times = (*self.times[:i], time, *self.times[i + 1 :])
        self.values = (*self.values[:i], value, *self.values[i + 1 :])

    def drop(self, i: int) -> None:
        self.times = self.times[:i] + self.times[i + 1 :]
        self.values = self.values[:i] + self.values[i + 1 :]

    def adopt(self, children: tuple["Node", ...]) -> None:
        self.children = children
        for child in children:
            child.parent = self


class BTree:
    def __init__(self) -> None:
        self.root = self.oldest = self.youngest = Node((), (), ())
        self.root.left = self.root.right = True
        self.begin()

    def begin(self) -> None:
        """From here on, changes can be taken back."""
        self._ends = self.root, self.oldest, self.youngest
        self._before: dict[Node, tuple[Any, ...]] = {}

    def keep(self, *nodes: Node) -> None:
        """Remember these nodes as they are; to be called before they change."""
        for n in nodes:
            if n not in self._before:
                self._before[n] = n.times, n.values, n.children, n.left, n.right, n.own, n.agg

    def undo(self) -> None:
        """Take back all changes since `begin`."""
        for n, before in self._before.items():
            n.times, n.values, n.children, n.left, n.right, n.own, n.agg = before
        for n in reversed(self._before):  # a new node was kept after the one that its children came from
            n.adopt(n.children)
        self.root, self.oldest, self.youngest = self._ends
        self.root.parent = None

    def find(self, time: int) -> tuple[Node, int, bool]:
        """The node and index of this time, and whether it is there; if not, where it belongs in a leaf."""
        node = self.root
        if node.children and time < node.times[0]:
            node = self.oldest
            while time >= node.parent.times[0]:  # type: ignore[union-attr]
                node = node.parent  # type: ignore[assignment]
        elif node.children and time > node.times[-1]:
            node = self.youngest
            while time <= node.parent.times[-1]:  # type: ignore[union-attr]
                node = node.parent  # type: ignore[assignment]
        while True:
            i = bisect_left(node.times, time)
            if i < len(node.times) and node.times[i] == time:
                return node, i, True
            if not node.children:
                return node, i, False
            node = node.children[i]

    # A change returns the nodes that it touched, from the leaves up; the last is alone on its level. Some of them may
    # have left the tree.

    def replace(self, node: Node, i: int, value: Any) -> list[Node]:
        self.keep(node)
        node.put(i, node.times[i], value)
        return [node]

    def insert(self, leaf: Node, i: int, time: int, value: Any) -> list[Node]:
        self.keep(leaf)
        leaf.add(i, time, value)
        node, touched = leaf, [leaf]
        while len(node.times) > 2 * ARITY - 1:
            touched += self._split(node)
            node = touched[-1]
        return touched

    def evict(self, node: Node, i: int) -> list[Node]:
        holder = leaf = node
        if node.children:  # the item before it, which is the last of a leaf, takes its place
            leaf = node.children[i]
            while leaf.children:
                leaf = leaf.children[-1]
            self.keep(node)
            node.put(i, leaf.times[-1], leaf.values[-1])
            i = len(leaf.times) - 1
        self.keep(leaf)
        leaf.drop(i)
        node, touched = leaf, [leaf]
        while node is not self.root and len(node.times) < ARITY - 1:
            touched += self._refill(node)
            node = touched[-1]
        while holder not in touched:
            node = node.parent  # type: ignore[assignment]
            touched.append(node)
        if self.root.children and not self.root.times:
            (self.root,) = self.root.children
            self.keep(self.root)
            self.root.parent, self.root.left, self.root.right = None, True, True
        return touched

    def inside(self, node: Node) -> bool:
        return node is self.root or node.parent is not None

    def _split(self, node: Node) -> tuple[Node, Node]:
        """The younger half goes to a new node, the item between the halves to the parent."""
        if node.parent is None:
            self.root = Node((), (), ())
            self.root.left = self.root.right = True
            self.root.adopt((node,))
        parent = node.parent
        assert parent is not None
        self.keep(node, parent)
        middle = ARITY - 1
        younger = Node(node.times[middle + 1 :], node.values[middle + 1 :], ())
        younger.adopt(node.children[middle + 1 :])
        younger.right, node.right = node.right, False
        i = parent.children.index(node)
        parent.add(i, node.times[middle], node.values[middle])
        parent.adopt((*parent.children[: i + 1], younger, *parent.children[i + 1 :]))
        node.times, node.values = node.times[:middle], node.values[:middle]
        node.children = node.children[: middle + 1]
        if self.youngest is node:
            self.youngest = younger
        return younger, parent

    def _refill(self, node: Node) -> tuple[Node, Node]:
        """One item from a neighbour that can spare it; else both become one node, with the item between them."""
        parent = node.parent
        assert parent is not None
        i = parent.children.index(node)
        before = parent.children[i - 1] if i > 0 else None
        after = parent.children[i + 1] if i + 1 < len(parent.children) else None
        if before is not None and len(before.times) >= ARITY:
            self._share(parent, i - 1, before, node, len(before.times) - 1)
            return before, parent
        if after is not None and len(after.times) >= ARITY:
            self._share(parent, i, node, after, len(node.times) + 1)
            return after, parent
        if before is not None:
            self._merge(parent, i - 1, before, node)
            return before, parent
        assert after is not None
        self._merge(parent, i, node, after)
        return after, parent

    def _share(self, parent: Node, i: int, older: Node, younger: Node, split: int) -> None:
        """Two neighbours and item i between them: lay them side by side and cut again at `split`."""
        self.keep(parent, older, younger)
        times = (*older.times, parent.times[i], *younger.times)
        values = (*older.values, parent.values[i], *younger.values)
        children = older.children + younger.children
        older.times, parent_time, younger.times = times[:split], times[split], times[split + 1 :]
        older.values, parent_value, younger.values = values[:split], values[split], values[split + 1 :]
        older.adopt(children[: split + 1])
        younger.adopt(children[split + 1 :])
        parent.put(i, parent_time, parent_value)

    def _merge(self, parent: Node, i: int, older: Node, younger: Node) -> None:
        self.keep(parent, older, younger)
        older.times = (*older.times, parent.times[i], *younger.times)
        older.values = (*older.values, parent.values[i], *younger.values)
        older.adopt(older.children + younger.children)
        older.right = younger.right
        younger.parent = None
        parent.drop(i)
        parent.children = parent.children[: i + 1] + parent.children[i + 2 :]
        if self.youngest is younger:
            self.youngest = older
