"""Recalculate from scratch (DABA paper, figure 3): keep the values, fold them at every query.

Slow for long windows and impossible to get wrong, so it is what all the others are checked against.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="recalc",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figure 3",
    amortised="n - 1 combines a query",
    worst="n - 1 combines a query",
    space="n states",
    use="a handful of items, or as a reference",
    states_per_slot=1,
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
        total = load(states, front & mask)
        for position in range(front + 1, end):
            total = combine(total, load(states, position & mask))
        return total

    return start, insert, evict, query
