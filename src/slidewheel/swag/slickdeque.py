"""SlickDeque (Non-Inv), with one query (SlickDeque paper, algorithm 2).

For selective aggregates, whose combine returns one of its two arguments. The deque keeps only the items that can
still become an answer: a newcomer drives out every older item that loses against it. links[slot] is the position
of the item in the stream, by which its node expires.
"""

from slidewheel.swag.card import Card
from slidewheel.swag.ring import move

CARD = Card(
    name="slickdeque",
    paper="Shein, Chrysanthis, Labrinidis: SlickDeque (EDBT 2018), algorithm 2",
    needs=("selective",),
    amortised="fewer than 2 combines a slide",
    worst="n combines when a newcomer drives out all others",
    space="1 to n states, and a link each",
    use="max, min, first, last, argmax: the fewest combines, and usually only a few nodes",
    states_per_slot=1,
    links_per_slot=1,
)


def operations(monoid, ring, jit):
    combine, identity, same = monoid.combine, monoid.identity, monoid.same
    load, store = ring.load, ring.store

    @jit
    def start():
        return 0, 0, 0, 0

    @jit
    def insert(states, links, mask, registers, v):
        front, end, head, tail = registers
        while tail > head:
            winner = combine(load(states, (tail - 1) & mask), v)
            if not same(winner, v):
                break
            tail -= 1
        store(states, tail & mask, v)
        links[tail & mask] = end
        return front, end + 1, head, tail + 1

    @jit
    def evict(states, links, mask, registers):
        front, end, head, tail = registers
        if links[head & mask] == front:
            head += 1
        return front + 1, end, head, tail

    @jit
    def query(states, links, mask, registers):
        front, end, head, tail = registers
        if head == tail:
            return identity()
        return load(states, head & mask)

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    front, end, head, tail = registers
    move(old.states, old.mask, new.states, new.mask, head, tail, 1)
    move(old.links, old.mask, new.links, new.mask, head, tail, 1)
    return registers
