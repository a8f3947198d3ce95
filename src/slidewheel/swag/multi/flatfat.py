"""FlatFAT for many ranges (SlickDeque paper, 2.2, figure 4): a range is put together from the fewest inner nodes.

The leaves are a circular buffer, and the leaf of an item that has left is overwritten by its successor. A range that
wraps around the end of the buffer is looked up in two parts, older part first, so that the order of items is kept.
"""

from slidewheel.swag.flatfat import tree
from slidewheel.swag.multi.card import MultiCard

CARD = MultiCard(
    name="flatfat",
    paper="Tangwongsan, Hirzel, Schneider, Wu (VLDB 2015); Carbone et al.: Cutty (CIKM 2016)",
    amortised="n log2 n - 5n/2 + 5/2 log2 n + 3/2 + 1/n combines a slide",
    worst="insert log2 n, and 2 log2 n for a range",
    space="2n states",
    use="any aggregate, where no slide may be slow",
    careful=False,
    states_per_slot=2,
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load = ring.load
    new, update, update_many, aggregate, prefix, suffix = tree(monoid, ring, jit)

    @jit
    def between(states, mask, first, last):
        # Up from both edges at once. A node that is the right child at the left edge, or the left child at the right
        # one, is not inside a larger node of the range: it is taken.
        left, right = mask + 1 + first, mask + 2 + last
        older = younger = identity()
        has_older = has_younger = False
        while left < right:
            if left & 1:
                node = load(states, left)
                older = combine(older, node) if has_older else node
                has_older = True
                left += 1
            if right & 1:
                right -= 1
                node = load(states, right)
                younger = combine(node, younger) if has_younger else node
                has_younger = True
            left >>= 1
            right >>= 1
        if has_older and has_younger:
            return combine(older, younger)
        return older if has_older else younger

    @jit
    def start():
        return 0, 0

    @jit
    def insert(states, links, mask, registers, ranges, v):
        front, end = registers
        update(states, mask, end & mask, v)
        return max(front, end + 1 - ranges[0]), end + 1

    @jit
    def answer(states, links, mask, registers, ranges, k):
        front, end = registers
        if front == end:
            return identity()
        first, last = max(front, end - ranges[k]) & mask, (end - 1) & mask
        if first <= last:
            return between(states, mask, first, last)
        return combine(between(states, mask, first, mask), between(states, mask, 0, last))

    return start, insert, answer
