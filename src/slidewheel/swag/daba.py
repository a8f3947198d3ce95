"""DABA, the De-Amortized Banker's Aggregator (DABA paper, figures 8 to 12).

Two queues over one ring, vals in the even slots and aggs in the odd ones, and six pointers
F <= L <= R <= A <= B <= E. With `->` for an aggregate towards the younger end:

    F..L-1  aggs[p] = vals[p] -> vals[B-1]      the front, ready to be evicted
    L..R-1  aggs[p] = vals[p] -> vals[R-1]      l_L, to be extended to B-1
    R..A-1  aggs[p] = vals[R] -> vals[p]        l_R, still to be reversed
    A..B-1  aggs[p] = vals[p] -> vals[B-1]      l_A, reversed already
    B..E-1  aggs[p] = vals[B] -> vals[p]        the back, where items arrive

Sizes (lemma 4.1): the window is empty, or |l_L| + |l_R| + |l_A| + 1 = |l_F| - |l_B| and |l_L| = |l_R|.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import resize as resize

CARD = Card(
    name="daba",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figures 8 to 12",
    amortised="insert 2.5, evict 1.5, query 1",
    worst="insert 4, evict 3, query 1",
    space="2n states",
    use="any aggregate, where no single operation may be slow; daba_lite does it with half the memory",
    steady=True,
    states_per_slot=2,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, 0, 0, 0, 0

    @jit
    def fixup(states, mask, F, E, L, R, A, B):
        if F == B:  # singleton, figure 12(a)
            return F, E, E, E, E, E
        if L == B:  # flip, figure 12(b)
            L, A, B = F, E, E
        if L == R:  # shift, figure 12(c)
            return F, E, L + 1, R + 1, A + 1, B
        # shrink, figure 12(d)
        left, newest = 2 * (L & mask) + 1, 2 * ((A - 1) & mask)
        sum_l = load(states, left)
        sum_r = identity() if R == A else load(states, newest + 1)
        sum_a = identity() if A == B else load(states, 2 * (A & mask) + 1)
        extended = combine(combine(sum_l, sum_r), sum_a)
        reversed_one = combine(load(states, newest), sum_a)
        store(states, left, extended)
        store(states, newest + 1, reversed_one)
        return F, E, L + 1, R, A - 1, B

    @jit
    def insert(states, links, mask, registers, v):
        F, E, L, R, A, B = registers
        agg = combine(identity() if B == E else load(states, 2 * ((E - 1) & mask) + 1), v)
        slot = 2 * (E & mask)
        store(states, slot, v)
        store(states, slot + 1, agg)
        return fixup(states, mask, F, E + 1, L, R, A, B)

    @jit
    def evict(states, links, mask, registers):
        F, E, L, R, A, B = registers
        return fixup(states, mask, F + 1, E, L, R, A, B)

    @jit
    def query(states, links, mask, registers):
        F, E, L, R, A, B = registers
        return combine(
            identity() if F == B else load(states, 2 * (F & mask) + 1),
            identity() if B == E else load(states, 2 * ((E - 1) & mask) + 1),
        )

    return start, insert, evict, query
