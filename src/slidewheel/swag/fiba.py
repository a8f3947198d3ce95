"""FiBA, the finger B-tree aggregator: items in any order of time, at a cost that depends on how late they are.

What a node holds depends on where it stands, so that a change near an end never has to go up to the root:

- up, away from the spines: the whole subtree;
- inner, the root: all but its first and last subtree;
- left, on the left spine: all but its first subtree, and then what its parent holds, unless that is the root;
- right, on the right spine: what its parent holds, unless that is the root, and then all but its last subtree.

So the oldest leaf holds all before the root's share and the youngest leaf all after it: the answer is left finger,
root, right finger. A change climbs to a spine and goes down to the finger: d items from the nearer end, both ways are
O(log d) long. On the way up a node's children are folded anew, which gives `own`, its share without the parent's; on
the way down one combine with the parent's makes `agg` of it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from slidewheel.swag.btree import BTree, Node
from slidewheel.swag.card import Card
from slidewheel.swag.holes import HOLE, Join

CARD = Card(
    name="fiba",
    paper="Tangwongsan, Hirzel, Schneider: Optimal and general out-of-order sliding-window aggregation (VLDB 2019)",
    amortised="in order: insert 8, evict 7; d items from the nearer end: 8 + 5 log2 d; query 2, a range O(log n)",
    worst="O(log n), query 2",
    space="1.4n to 2n states, and a time each",
    use="items that come out of order, however late",
    compiled=False,
)


class Tree:
    """Items by time. `capacity` is for flatfat: here nodes are made when they are needed."""

    def __init__(self, join: Join, capacity: int) -> None:
        self._join = join
        self._tree = BTree()
        self._tree.root.own = self._tree.root.agg = HOLE
        self._items = 0

    def __len__(self) -> int:
        return self._items

    def __contains__(self, time: int) -> bool:
        return self._tree.find(time)[2]

    @property
    def oldest(self) -> int:
        return self._tree.oldest.times[0]

    @property
    def youngest(self) -> int:
        return self._tree.youngest.times[-1]

    def insert(self, time: int, state: Any) -> None:
        tree = self._tree
        node, i, found = tree.find(time)
        if found:
            self._change(tree.replace, node, i, self._join(node.values[i], state))
            return
        if node is tree.youngest and i == len(node.times) and not node.full:  # in order: two combines
            own, agg = self._join(node.own, state), self._join(node.agg, state)
            node.add(i, time, state)
            node.own, node.agg = own, agg
        else:
            self._change(tree.insert, node, i, time, state)
        self._items += 1

    def evict(self, time: int) -> None:
        node, i, _ = self._tree.find(time)
        self._change(self._tree.evict, node, i)
        self._items -= 1

    def total(self) -> Any:
        tree, join = self._tree, self._join
        if not tree.root.children:
            return tree.root.agg
        return join(join(tree.oldest.agg, tree.root.agg), tree.youngest.agg)

    def between(self, start: int | None, end: int | None) -> Any:
        """The aggregate of start <= time < end."""
        return self._fold(_covering(self._tree.root, start, end))

    def _change(self, change: Any, *arguments: Any) -> None:
        """Change the tree and then its aggregates; if a combine fails, both stay as they were."""
        tree = self._tree
        tree.begin()
        root = tree.root
        try:
            touched = change(*arguments)
            self._repair(touched, tree.root is not root)
        except BaseException:
            tree.undo()
            raise

    def _repair(self, touched: list[Node], new_root: bool) -> None:
        """Own shares, from the leaves up to a spine or the root; then down the spines from the highest change."""
        tree = self._tree
        left = right = None
        for node in self._upwards(touched):
            tree.keep(node)
            node.own = node.agg = self._fold(_own(node))
            if node.left and not node.right:
                left = node
            elif node.right and not node.left:
                right = node
        if new_root and tree.root.children:  # what stands below it had another parent
            left, right = tree.root.children[0], tree.root.children[-1]
        for side, spine in ((0, left), (-1, right)):
            while spine is not None:
                tree.keep(spine)
                spine.agg = self._leaning(spine)
                spine = spine.children[side] if spine.children else None

    def _leaning(self, node: Node) -> Any:
        """The aggregate of a node on a spine: its own and its parent's."""
        parent = node.parent
        if parent is None or parent is self._tree.root:
            return node.own
        return self._join(node.own, parent.agg) if node.left else self._join(parent.agg, node.own)

    def _upwards(self, touched: list[Node]) -> Iterator[Node]:
        yield from filter(self._tree.inside, touched)
        node = touched[-1]
        while node.parent is not None and not (node.left or node.right):
            node = node.parent
            yield node

    def _fold(self, states: Iterable[Any]) -> Any:
        join, total = self._join, HOLE
        for state in states:
            total = join(total, state)
        return total


def _own(node: Node) -> Iterator[Any]:
    """What a node's own aggregate is made of, oldest first: all but its child on a spine."""
    if not node.children:
        yield from node.values
        return
    if not node.left:
        yield node.children[0].agg
    for value, child in zip(node.values[:-1], node.children[1:-1], strict=True):
        yield value
        yield child.agg
    yield node.values[-1]
    if not node.right:
        yield node.children[-1].agg


def _covering(node: Node, start: int | None, end: int | None) -> Iterator[Any]:
    """The fewest values and up aggregates that make up start <= time < end; None is beyond this subtree."""
    if start is None and end is None and not (node.left or node.right):
        yield node.agg
        return
    first = 0 if start is None else bisect_left(node.times, start)
    last = len(node.times) if end is None else bisect_left(node.times, end)
    for i in range(first, last + 1):
        if node.children:
            yield from _covering(node.children[i], start if i == first else None, end if i == last else None)
        if i < last:
            yield node.values[i]
