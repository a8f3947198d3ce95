"""FOA, the Functional Okasaki Aggregator (DABA paper, figure 5): three lists <F, N, B> and real laziness.

A list is None or a Cell. `cons` is lazy in its tail: the tail of a cell made by `rot` is a suspended call of `rot`,
which the first look at `tail` forces. N runs ahead of F and forces one such call per operation, so that no operation
ever has to reverse more than one item. Interpreted only: it lives on cells that the garbage collector takes back.
"""

from slidewheel.swag.card import Card

CARD = Card(
    name="foa",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), figure 5",
    amortised="a constant number of combines",
    worst="insert 4, evict 3, query 1",
    space="O(n) list cells",
    use="teaching: the shortest way to see why a queue can be reversed in constant steps",
    steady=True,
    compiled=False,
    states_per_slot=0,
)


class Cell:
    __slots__ = ("agg", "head", "rest", "suspended")

    def __init__(self, head, agg, rest, suspended=None):
        self.head, self.agg, self.rest, self.suspended = head, agg, rest, suspended


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity

    def agg(cells):
        return identity() if cells is None else cells.agg

    def tail(cells):
        if cells.suspended is not None:
            left, right, accumulated = cells.suspended
            cells.rest, cells.suspended = rot(left, right, accumulated), None
        return cells.rest

    def rot(left, right, accumulated):
        """The concatenation of left, the reversal of right, and accumulated, given |right| = |left| + 1."""
        one_more = Cell(right.head, combine(right.head, agg(accumulated)), accumulated)
        if left is None:
            return one_more
        everything = combine(combine(left.agg, right.agg), agg(accumulated))
        return Cell(left.head, everything, None, (tail(left), tail(right), one_more))

    def makeq(front, end, F, N, B):
        if N is None:
            rotated = None if B is None else rot(F, B, None)
            return front, end, rotated, rotated, None
        return front, end, F, tail(N), B

    def start():
        return 0, 0, None, None, None

    def insert(states, links, mask, registers, v):
        front, end, F, N, B = registers
        return makeq(front, end + 1, F, N, Cell(v, combine(agg(B), v), B))

    def evict(states, links, mask, registers):
        front, end, F, N, B = registers
        return makeq(front + 1, end, tail(F), N, B)

    def query(states, links, mask, registers):
        front, end, F, N, B = registers
        return combine(agg(F), agg(B))

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    return registers
