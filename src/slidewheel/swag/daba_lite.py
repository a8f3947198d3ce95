"""DABA Lite: DABA in one queue and two scalars (Tangwongsan, Hirzel, Schneider 2021).

The pointers, their sizes and the four cases are DABA's (see daba.py). What differs is what the queue holds:

    F..L-1  aggregates towards B-1     L..R-1  aggregates towards R-1
    R..A-1  plain values               A..B-1  aggregates towards B-1      B..E-1  plain values

`agg_b` is the aggregate of B..E-1. `agg_ra` is that of R..B-1 as it was at the last flip: only the shrink case
reads it, and R and B stay where they are until the last shrink is done.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="daba_lite",
    paper="Tangwongsan, Hirzel, Schneider: In-order sliding-window aggregation (VLDB Journal 2021)",
    amortised="insert 2, evict 1, query 1",
    worst="insert 3, evict 2, query 1",
    space="n + 2 states",
    use="any aggregate, where no single operation may be slow",
    steady=True,
    states_per_slot=1,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, 0, 0, 0, 0, identity(), identity()

    @jit
    def fixup(states, mask, F, E, L, R, A, B, agg_ra, agg_b):
        if F == B:  # singleton
            return F, E, E, E, E, E, identity(), identity()
        if L == B:  # flip
            L, A, B = F, E, E
            agg_ra, agg_b = agg_b, identity()
        if L == R:  # shift
            return F, E, L + 1, R + 1, A + 1, B, agg_ra, agg_b
        # shrink
        extended = combine(load(states, L & mask), agg_ra)
        newest = (A - 1) & mask
        reversed_one = combine(load(states, newest), identity() if A == B else load(states, A & mask))
        store(states, L & mask, extended)
        store(states, newest, reversed_one)
        return F, E, L + 1, R, A - 1, B, agg_ra, agg_b

    @jit
    def insert(states, links, mask, registers, v):
        F, E, L, R, A, B, agg_ra, agg_b = registers
        store(states, E & mask, v)
        return fixup(states, mask, F, E + 1, L, R, A, B, agg_ra, combine(agg_b, v))

    @jit
    def evict(states, links, mask, registers):
        F, E, L, R, A, B, agg_ra, agg_b = registers
        return fixup(states, mask, F + 1, E, L, R, A, B, agg_ra, agg_b)

    @jit
    def query(states, links, mask, registers):
        F, E, L, R, A, B, agg_ra, agg_b = registers
        if F == B:
            return agg_b
        return combine(load(states, F & mask), agg_b)

    return start, insert, evict, query
