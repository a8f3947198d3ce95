"""B-Int, base intervals (Arasu and Widom; SlickDeque paper, 2.2, figure 5).

Level k is a ring of dyadic intervals of 2^k items: interval j covers the positions j * 2^k to (j + 1) * 2^k - 1. An
interval is put together when its last item arrives. A query cuts the window into the fewest intervals that lie
inside it. Level k with c = capacity / 2^k intervals lives in the slots c .. 2c - 1, as in a binary heap.
"""

from slidewheel.swag.card import Card

CARD = Card(
    name="b_int",
    paper="Arasu, Widom (VLDB 2004), as told in SlickDeque (EDBT 2018), 2.2",
    amortised="insert 1, evict 0, query 2 log2 n at most",
    worst="insert log2 n, evict 0, query 2 log2 n",
    space="2n states",
    use="comparison, and many different ranges over one window",
    states_per_slot=2,
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
        count = mask + 1
        store(states, count + (end & mask), v)
        level, position = 0, end
        # The item is the last of an interval one level up, and all of that interval is in the window.
        while position & 1 and count > 1 and (position - 1) << level >= front:
            left = load(states, count + ((position - 1) & (count - 1)))
            right = load(states, count + (position & (count - 1)))
            level += 1
            position >>= 1
            count >>= 1
            store(states, count + (position & (count - 1)), combine(left, right))
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
        total = identity()
        position = front
        while position < end:
            level, count = 0, mask + 1
            while (position >> level) & 1 == 0 and position + (2 << level) <= end and count > 1:
                level += 1
                count >>= 1
            interval = load(states, count + ((position >> level) & (count - 1)))
            total = interval if position == front else combine(total, interval)
            position += 1 << level
        return total

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    """Level by level: an interval keeps its number, and the whole intervals of the live items are moved."""
    front, end = registers
    size = 1
    while size <= min(old.mask, new.mask) + 1:
        old_count, new_count = (old.mask + 1) // size, (new.mask + 1) // size
        for j in range(-(-front // size), end // size):
            new.states[new_count + (j & (new_count - 1))] = old.states[old_count + (j & (old_count - 1))]
        size *= 2
    return registers
