"""FlatFIT, the Flat and Fast Index Traverser, with one query (SlickDeque paper, 2.2 and 4.1).

Each position holds a partial and a pointer: the partial covers the items from the position up to the pointer. A
query hops along the pointers from the oldest item to the end, then walks its own steps back and lets every position
that it touched cover all the rest, so that the next query skips what this one has combined. Every n + 1 slides the
front reaches items that no query has touched: the window reset.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="flatfit",
    paper="Shein, Chrysanthis, Labrinidis: FlatFIT (SSDBM 2017), as told in SlickDeque (EDBT 2018), 2.2",
    amortised="3 combines a slide",
    worst="n - 1 combines on a window reset, every n + 1 slides",
    space="n states, and two links each",
    use="comparison, and windows that are queried rarely: items that nobody asks about cost nothing",
    states_per_slot=1,
    links_per_slot=2,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0

    @jit
    def insert(states, links, mask, registers, v):
        front, end = registers
        store(states, end & mask, v)
        links[2 * (end & mask)] = end + 1
        return front, end + 1

    @jit
    def evict(states, links, mask, registers):
        front, end = registers
        return front + 1, end

    @jit
    def query(states, links, mask, registers):
        front, end = registers
        if front == end:
            return identity()
        # The stack of visited positions lies in the odd links.
        depth = 0
        position = front
        while links[2 * (position & mask)] != end:
            links[2 * depth + 1] = position
            depth += 1
            position = links[2 * (position & mask)]
        total = load(states, position & mask)
        while depth > 0:
            depth -= 1
            slot = links[2 * depth + 1] & mask
            total = combine(load(states, slot), total)
            store(states, slot, total)
            links[2 * slot] = end
        return total

    return start, insert, evict, query
