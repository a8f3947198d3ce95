"""SlickDeque (Non-Inv), one deque for all ranges (SlickDeque paper, algorithm 2).

The answer of a range is the oldest node that lies in it. From the longest range to the shortest, each search goes on
from the node where the last one ended, so that one walk over the deque answers all. The link behind those of the
nodes remembers that node; a range that is asked out of turn walks back from there.
"""

from slidewheel.swag.multi.card import MultiCard
from slidewheel.swag.slickdeque import operations as one_range

CARD = MultiCard(
    name="slickdeque",
    paper="Shein, Chrysanthis, Labrinidis: SlickDeque (EDBT 2018), algorithm 2",
    needs=("selective",),
    amortised="fewer than 2 combines a slide, and a walk over the nodes",
    worst="n combines, and a walk over n nodes",
    space="1 to n states, and a link each",
    use="max, min, first, last, argmax: no combine for an answer, however many there are",
    links_per_slot=1,
    extra_links=1,
)


def operations(monoid, ring, jit):
    identity, load = monoid.identity, ring.load
    start, insert, evict, query = one_range(monoid, ring, jit)

    @jit
    def slide(states, links, mask, registers, ranges, v):
        front, end, head, tail = registers
        if end - front == ranges[0]:
            registers = evict(states, links, mask, registers)
        registers = insert(states, links, mask, registers, v)
        links[mask + 1] = registers[2]
        return registers

    @jit
    def answer(states, links, mask, registers, ranges, k):
        front, end, head, tail = registers
        if front == end:
            return identity()
        oldest = end - ranges[k]
        node = links[mask + 1]
        while node > head and links[(node - 1) & mask] >= oldest:
            node -= 1
        while links[node & mask] < oldest:
            node += 1
        links[mask + 1] = node
        return load(states, node & mask)

    return start, slide, answer
