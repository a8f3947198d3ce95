"""FlatFAT and the Reactive Aggregator for FIFO windows (Reactive Aggregator paper, sections 4 and 5).

A complete binary tree in an array: the root at 1, the children of v at 2v and 2v + 1, leaf i at capacity + i. The
leaves are a circular buffer; an unused leaf holds the identity. A window that wraps around the end of the buffer is
"inverted": its answer is suffix(front) combined with prefix(back), which keeps the order of the items.
"""

from slidewheel.swag.card import Card

CARD = Card(
    name="flatfat",
    paper="Tangwongsan, Hirzel, Schneider, Wu: General incremental sliding-window aggregation (VLDB 2015)",
    amortised="insert log2 n, evict log2 n, query 0 or 2 log2 n + 1 when inverted",
    worst="the same, and n - 1 more when it resizes",
    space="2n states",
    use="many ranges over one window, or items that change in place",
    shrinks=True,
    careful=False,
    states_per_slot=2,
)


def tree(monoid, ring, jit):
    """The paper's fixed-sized aggregator: new, update, aggregate, prefix and suffix over the leaves."""
    combine = monoid.combine
    load, store = ring.load, ring.store

    @jit
    def new(states, mask):  # algorithm 1, over leaves that are already in place
        node = mask
        while node >= 1:
            store(states, node, combine(load(states, 2 * node), load(states, 2 * node + 1)))
            node -= 1

    @jit
    def update(states, mask, location, v):  # algorithm 2 for one leaf
        node = mask + 1 + location
        store(states, node, v)
        node >>= 1
        while node >= 1:
            store(states, node, combine(load(states, 2 * node), load(states, 2 * node + 1)))
            node >>= 1

    @jit
    def update_many(states, mask, locations, values):  # algorithm 2; a node is recombined once per call
        work = []
        for i in range(len(locations)):
            node = mask + 1 + locations[i]
            store(states, node, values[i])
            work.append(node)
        while len(work) > 0 and work[0] > 1:
            parents = sorted({node >> 1 for node in work})
            for node in parents:
                store(states, node, combine(load(states, 2 * node), load(states, 2 * node + 1)))
            work = parents

    @jit
    def aggregate(states):
        return load(states, 1)

    @jit
    def prefix(states, mask, location):  # algorithm 3
        node = mask + 1 + location
        total = load(states, node)
        while node > 1:
            if node & 1:
                total = combine(load(states, node - 1), total)
            node >>= 1
        return total

    @jit
    def suffix(states, mask, location):
        node = mask + 1 + location
        total = load(states, node)
        while node > 1:
            if node & 1 == 0:
                total = combine(total, load(states, node + 1))
            node >>= 1
        return total

    return new, update, update_many, aggregate, prefix, suffix


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    new, update, update_many, aggregate, prefix, suffix = tree(monoid, ring, jit)

    @jit
    def start():
        return 0, 0

    @jit
    def insert(states, links, mask, registers, v):
        front, end = registers
        update(states, mask, end & mask, v)
        return front, end + 1

    @jit
    def evict(states, links, mask, registers):
        front, end = registers
        update(states, mask, front & mask, identity())
        return front + 1, end

    @jit
    def query(states, links, mask, registers):
        front, end = registers
        first, last = front & mask, (end - 1) & mask
        if front == end or first <= last:
            return aggregate(states)
        return combine(suffix(states, mask, first), prefix(states, mask, last))

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    front, end = registers
    for position in range(front, end):
        new.states[new.mask + 1 + (position & new.mask)] = old.states[old.mask + 1 + (position & old.mask)]
    for node in range(new.mask, 0, -1):  # algorithm 1
        new.states[node] = monoid.combine(new.states[2 * node], new.states[2 * node + 1])
    return registers
