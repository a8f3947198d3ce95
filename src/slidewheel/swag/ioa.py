"""IOA, the Imperative Okasaki Aggregator (DABA paper, 3.2): FOA with its laziness written out.

Lists live in an arena of cells. Cell c is either forced, with its value and aggregate in states 2c and 2c + 1 and its
tail in links[5c]; or delayed: links[5c] is DELAYED and links[5c + 1 .. 5c + 3] are L, R and A, the arguments of the
suspended `rot`. Forcing a cell overwrites it in place. Cells that nothing points to any more go to a free list, in
place of the paper's reference counts: rot consumes each cell of L and R once, and evict the head of F. The free list
has a link of its own, links[5c + 4], so that nothing is lost if a combine fails halfway.
"""

from slidewheel.swag.card import Card

CARD = Card(
    name="ioa",
    paper="Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), section 3.2",
    amortised="a constant number of combines",
    worst="insert 4, evict 3, query 1",
    space="2n states, and five links a cell",
    use="comparison: DABA keeps the same promise without chasing pointers",
    steady=True,
    states_per_slot=2,
    links_per_slot=5,
    extra_slots=5,  # the empty list and the cells of one operation
)


def operations(monoid, ring, jit):
    combine, identity = monoid.combine, monoid.identity
    load, store = ring.load, ring.store
    EMPTY, DELAYED = 0, -1

    @jit
    def agg(states, cell):
        return identity() if cell == EMPTY else load(states, 2 * cell + 1)

    @jit
    def allocate(links, free, top):
        if free != EMPTY:
            return free, links[5 * free + 4], top
        return top, free, top + 1

    @jit
    def release(links, cell, free):
        links[5 * cell + 4] = free
        return cell

    @jit
    def delay(links, cell, left, right, accumulated):
        links[5 * cell] = DELAYED
        links[5 * cell + 1] = left
        links[5 * cell + 2] = right
        links[5 * cell + 3] = accumulated

    @jit
    def force(states, links, cell, free, top):
        """rot(L, R, A) into the cell that stood for it; L and R are forced lists and |R| = |L| + 1."""
        left, right, accumulated = links[5 * cell + 1], links[5 * cell + 2], links[5 * cell + 3]
        sum_a = agg(states, accumulated)
        newest = load(states, 2 * right)
        one_more = combine(newest, sum_a)
        if left == EMPTY:
            store(states, 2 * cell, newest)
            store(states, 2 * cell + 1, one_more)
            links[5 * cell] = accumulated
            return release(links, right, free), top
        everything = combine(combine(load(states, 2 * left + 1), load(states, 2 * right + 1)), sum_a)
        rest_left, rest_right = links[5 * left], links[5 * right]
        reversed_one, free, top = allocate(links, free, top)
        store(states, 2 * reversed_one, newest)
        store(states, 2 * reversed_one + 1, one_more)
        links[5 * reversed_one] = accumulated
        store(states, 2 * cell, load(states, 2 * left))
        store(states, 2 * cell + 1, everything)
        free = release(links, right, release(links, left, free))
        suspended, free, top = allocate(links, free, top)
        delay(links, suspended, rest_left, rest_right, reversed_one)
        links[5 * cell] = suspended
        return free, top

    @jit
    def advance(states, links, cell, free, top):
        """tail(cell), with the tail forced."""
        rest = links[5 * cell]
        if rest != EMPTY and links[5 * rest] == DELAYED:
            free, top = force(states, links, rest, free, top)
        return rest, free, top

    @jit
    def makeq(states, links, front, end, F, N, B, free, top):
        if N != EMPTY:
            N, free, top = advance(states, links, N, free, top)
            return front, end, F, N, B, free, top
        if B == EMPTY:
            return front, end, EMPTY, EMPTY, EMPTY, free, top
        rotated, free, top = allocate(links, free, top)
        delay(links, rotated, F, B, EMPTY)
        free, top = force(states, links, rotated, free, top)
        return front, end, rotated, rotated, EMPTY, free, top

    @jit
    def start():
        return 0, 0, EMPTY, EMPTY, EMPTY, EMPTY, 1

    @jit
    def insert(states, links, mask, registers, v):
        front, end, F, N, B, free, top = registers
        total = combine(agg(states, B), v)
        cell, free, top = allocate(links, free, top)
        store(states, 2 * cell, v)
        store(states, 2 * cell + 1, total)
        links[5 * cell] = B
        return makeq(states, links, front, end + 1, F, N, cell, free, top)

    @jit
    def evict(states, links, mask, registers):
        front, end, F, N, B, free, top = registers
        rest, free, top = advance(states, links, F, free, top)
        if N == F:  # tail(N) is tail(F), which is forced now
            return front + 1, end, rest, rest, B, release(links, F, free), top
        front, end, rest, N, B, free, top = makeq(states, links, front + 1, end, rest, N, B, free, top)
        # Last, so that no cell of the old list is written to before all combines are done.
        return front, end, rest, N, B, release(links, F, free), top

    @jit
    def query(states, links, mask, registers):
        front, end, F, N, B, free, top = registers
        return combine(agg(states, F), agg(states, B))

    return start, insert, evict, query


def resize(old, new, registers, monoid):
    """Cells keep their numbers: the arena only gets longer."""
    new.states[: len(old.states)] = old.states
    new.links[: len(old.links)] = old.links
    return registers
