"""Two-Stacks (DABA paper, figure 1): a queue made of a front stack F and a back stack B.

Both stacks lie in one ring: F holds the positions front .. mid, its top at front; B holds mid .. end, its top at
end - 1. Slot 2i keeps an item's val and slot 2i + 1 its agg: in F the aggregate of the item and all younger ones
of F, in B of the item and all older ones of B.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="two_stacks",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figure 1",
    amortised="3 combines a slide",
    worst="n combines when the stacks flip",
    space="2n states",
    use="teaching and comparison; two_stacks_lite does the same with half the memory",
    careful=False,
    states_per_slot=2,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, 0

    @jit
    def insert(states, links, mask, registers, v):
        front, end, mid = registers
        # B.push(v, sum of B + v)
        agg = combine(identity() if mid == end else load(states, 2 * ((end - 1) & mask) + 1), v)
        slot = 2 * (end & mask)
        store(states, slot, v)
        store(states, slot + 1, agg)
        return front, end + 1, mid

    @jit
    def evict(states, links, mask, registers):
        front, end, mid = registers
        if front == mid:  # flip B onto F, youngest first
            agg = identity()
            position = end - 1
            while position >= front:
                agg = combine(load(states, 2 * (position & mask)), agg)
                store(states, 2 * (position & mask) + 1, agg)
                position -= 1
            mid = end
        return front + 1, end, mid

    @jit
    def query(states, links, mask, registers):
        front, end, mid = registers
        return combine(
            identity() if front == mid else load(states, 2 * (front & mask) + 1),
            identity() if mid == end else load(states, 2 * ((end - 1) & mask) + 1),
        )

    return start, insert, evict, query
