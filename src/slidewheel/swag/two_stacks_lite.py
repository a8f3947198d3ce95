"""Two-Stacks Lite: Two-Stacks in one queue and one scalar (Tangwongsan, Hirzel, Schneider 2021).

Positions front .. mid hold suffix aggregates up to mid; mid .. end hold plain values, and `back` is their
aggregate. A flip walks from the youngest value to the oldest and overwrites values with suffix aggregates.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="two_stacks_lite",
    paper="Tangwongsan, Hirzel, Schneider: In-order sliding-window aggregation (VLDB Journal 2021)",
    amortised="3 combines a slide",
    worst="n combines on a flip",
    space="n + 1 states",
    use="the best throughput for any aggregate, where a pause of n combines now and then is no harm",
    careful=False,
    states_per_slot=1,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, 0, identity()

    @jit
    def insert(states, links, mask, registers, v):
        front, end, mid, back = registers
        store(states, end & mask, v)
        return front, end + 1, mid, combine(back, v)

    @jit
    def evict(states, links, mask, registers):
        front, end, mid, back = registers
        if front != mid:
            return front + 1, end, mid, back
        # The youngest value is its own suffix aggregate, so the walk starts at the one before it.
        position = end - 2
        while position > front:
            slot = position & mask
            store(states, slot, combine(load(states, slot), load(states, (position + 1) & mask)))
            position -= 1
        return front + 1, end, end, identity()

    @jit
    def query(states, links, mask, registers):
        front, end, mid, back = registers
        if front == mid:
            return back
        return combine(load(states, front & mask), back)

    return start, insert, evict, query
