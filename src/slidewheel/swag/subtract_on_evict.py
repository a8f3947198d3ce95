"""Subtract on evict (DABA paper, figure 2; SlickDeque's algorithm 1 with one query; Panes (Inv); R-Int).

Keep the answer; add what comes, take away what goes. Needs an inverse. A window that has become empty starts
again from the identity, so that no rounding error outlives its window.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="subtract_on_evict",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figure 2; SlickDeque (EDBT 2018), algorithm 1",
    needs=("inverse",),
    amortised="2 combines a slide",
    worst="2 combines a slide",
    space="n + 1 states",
    use="counts and sums of integers: nothing is faster, and integers do not drift",
    steady=True,
    states_per_slot=1,
)


def operations(monoid, ring, jit):
    combine, inverse, identity = monoid.combine, monoid.inverse, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, identity()

    @jit
    def insert(states, links, mask, registers, v):
        front, end, total = registers
        store(states, end & mask, v)
        return front, end + 1, combine(total, v)

    @jit
    def evict(states, links, mask, registers):
        front, end, total = registers
        if front + 1 == end:
            return front + 1, end, identity()
        return front + 1, end, inverse(total, load(states, front & mask))

    @jit
    def query(states, links, mask, registers):
        front, end, total = registers
        return total

    return start, insert, evict, query
