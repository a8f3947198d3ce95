"""The greedy algorithm of Basin, Klaedtke and Zalinescu: the fewest combines that any window sequence allows.

A binary tree covers the window of the last query. The next query takes from it the subtrees that lie inside the new
window, builds a chain over the new items, and joins them from right to left: later windows start further right, so
only suffixes can be used again, and joining this way makes the longest ones.

An inner node is named by its split, the first position of its right child. No two nodes of a tree share a split, so
the node with split s lives in slot s of the ring, beside item s: states 2s and 2s + 1 hold the item and the node's
value, links 4s and 4s + 1 its children. A child is 2p for the item p and 2s + 1 for the node s. Links 4k + 2 and 4k + 3
are a list of the subtrees to take over, and three links behind the ring hold the root and the window [start, stop)
that it covers.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import move

CARD = Card(
    name="greedy",
    paper="Basin, Klaedtke, Zalinescu: Greedily computing associative aggregations (IPL 2015)",
    amortised="the fewest possible for each window; at most 3 a slide",
    worst="n - 1 combines a query",
    space="2n states",
    use="expensive combines (sketches, sets, matrices), and windows that are queried rarely",
    states_per_slot=2,
    links_per_slot=4,
    extra_links=3,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def value(states, mask, tree):
        return load(states, 2 * ((tree >> 1) & mask) + (tree & 1))

    @jit
    def start():
        return 0, 0

    @jit
    def insert(states, links, mask, registers, v):
        front, end = registers
        store(states, 2 * (end & mask), v)
        return front, end + 1

    @jit
    def evict(states, links, mask, registers):
        front, end = registers
        return front + 1, end

    @jit
    def join(states, links, mask, left, split, right):
        """combine(left, right): the node whose right child starts at split."""
        slot = split & mask
        store(states, 2 * slot + 1, combine(value(states, mask, left), value(states, mask, right)))
        links[4 * slot] = left
        links[4 * slot + 1] = right
        return 2 * split + 1

    @jit
    def reusables(links, mask, tree, tree_start, front):
        """Down the old tree, taking the right children inside the new window, until a node starts at its front."""
        count = 0
        while tree_start < front:
            split = tree >> 1
            left, right = links[4 * (split & mask)], links[4 * (split & mask) + 1]
            if front < split:
                links[4 * count + 2], links[4 * count + 3] = right, split
                count += 1
                tree = left
            else:
                tree, tree_start = right, split
        links[4 * count + 2], links[4 * count + 3] = tree, tree_start
        return count + 1

    @jit
    def query(states, links, mask, registers):
        front, end = registers
        if front == end:
            return identity()
        root = 4 * (mask + 1)
        old_stop, count = front, 0
        if links[root + 2] > front:  # else the old tree ends before the window and is useless
            old_stop = links[root + 2]
            count = reusables(links, mask, links[root], links[root + 1], front)
        links[root + 2] = 0  # until the new tree stands: if a combine fails, the next query starts from the items
        tree, tree_start = -1, end
        # A right-leaning chain over the new items, from the youngest to the oldest; then the subtrees.
        for position in range(end - 1, old_stop - 1, -1):
            tree = 2 * position if tree < 0 else join(states, links, mask, 2 * position, tree_start, tree)
            tree_start = position
        for k in range(count):
            reused = links[4 * k + 2]
            tree = reused if tree < 0 else join(states, links, mask, reused, tree_start, tree)
            tree_start = links[4 * k + 3]
        links[root], links[root + 1], links[root + 2] = tree, front, end
        return value(states, mask, tree)

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    front, end = registers
    move(old.states, old.mask, new.states, new.mask, front, end, 2)
    new.links[-3:] = old.links[-3:]
    # The tree of the last query may reach back before the window.
    for position in range(new.links[-2], new.links[-1]):
        source, target = position & old.mask, position & new.mask
        new.states[2 * target + 1] = old.states[2 * source + 1]
        new.links[4 * target : 4 * target + 2] = old.links[4 * source : 4 * source + 2]
    return registers
