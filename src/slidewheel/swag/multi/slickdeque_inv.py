"""SlickDeque (Inv), one running answer for each distinct range (SlickDeque paper, algorithm 1).

The items lie in a ring; the answer of the k-th range lies behind it. Slots that no item has reached hold the
identity, which is taken away like any other item. The paper adds first and takes away then; the other way round,
the answer of a range of 1 starts from nothing each time, and is exact for floats too.
"""

from slidewheel.swag.multi.card import MultiCard

CARD = MultiCard(
    name="slickdeque_inv",
    paper="Shein, Chrysanthis, Labrinidis: SlickDeque (EDBT 2018), algorithm 1",
    needs=("inverse",),
    amortised="2n combines a slide",
    worst="2n combines a slide",
    space="n states, and one for each range",
    use="counts and sums of integers: two combines for a range, always",
    steady=True,
    careful=False,
    states_per_range=1,
)


def operations(monoid, ring, jit):
    combine, inverse = monoid.combine, monoid.inverse
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0

    @jit
    def insert(states, links, mask, registers, ranges, v):
        front, end = registers
        for k in range(len(ranges)):
            rest = inverse(load(states, mask + 1 + k), load(states, (end - ranges[k]) & mask))
            store(states, mask + 1 + k, combine(rest, v))
        store(states, end & mask, v)
        return max(front, end + 1 - ranges[0]), end + 1

    @jit
    def answer(states, links, mask, registers, ranges, k):
        return load(states, mask + 1 + k)

    return start, insert, answer
