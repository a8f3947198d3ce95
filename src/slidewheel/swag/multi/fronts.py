"""Many ranges by an algorithm whose query can start at any item: the window of each range has a front of its own."""


def later_fronts(start, insert, evict, query, jit):
    """The form for many ranges of an algorithm whose registers are (front, end), those of the longest range.

    `ranges` are distinct and fall, so that ranges[0] is the longest.
    """

    @jit
    def slide(states, links, mask, registers, ranges, v):
        if registers[1] - registers[0] == ranges[0]:
            registers = evict(states, links, mask, registers)
        return insert(states, links, mask, registers, v)

    @jit
    def answer(states, links, mask, registers, ranges, k):
        front, end = registers
        return query(states, links, mask, (max(front, end - ranges[k]), end))

    return start, slide, answer
