"""The worked examples of the papers, and DABA's invariants after every operation."""

import random
from collections import deque
from functools import reduce

import pytest

import slidewheel as sw
from tests.support import Counter


class Pieces:
    """DABA's sublists, read from a window's memory."""

    def __init__(self, window):
        memory, registers = window._inside()
        self.F, self.E, self.L, self.R, self.A, self.B = registers[:6]
        self.vals = lambda p: memory.states[2 * (p & memory.mask)]
        self.aggs = lambda p: memory.states[2 * (p & memory.mask) + 1]

    @property
    def sizes(self):
        """|l_F|, |l_L|, |l_R|, |l_A|, |l_B|"""
        return self.B - self.F, self.R - self.L, self.A - self.R, self.B - self.A, self.E - self.B


def sizes_hold(pieces):
    front, left, right, accumulated, back = pieces.sizes
    ordered = pieces.F <= pieces.L <= pieces.R <= pieces.A <= pieces.B <= pieces.E
    empty = front == 0 and back == 0
    return ordered and (empty or (left + right + accumulated + 1 == front - back and left == right))


def aggs_hold(pieces):
    def total(first, last):
        return "".join(pieces.vals(p) for p in range(first, last))

    F, E, L, R, A, B = pieces.F, pieces.E, pieces.L, pieces.R, pieces.A, pieces.B
    wanted = {p: total(p, B) for p in range(F, L)}
    wanted |= {p: total(p, R) for p in range(L, R)}
    wanted |= {p: total(R, p + 1) for p in range(R, A)}
    wanted |= {p: total(p, B) for p in range(A, B)}
    wanted |= {p: total(B, p + 1) for p in range(B, E)}
    return all(pieces.aggs(p) == agg for p, agg in wanted.items())


@pytest.mark.parametrize("seed", range(8))
def test_daba_invariants_after_every_operation(seed):
    chance = random.Random(seed)
    window = sw.swag.window(sw.concat(), "daba", capacity=256)
    for step in range(1500):
        if chance.random() < (0.6, 0.4)[step // 100 % 2] or not len(window):
            window.insert(chr(97 + step % 26))
        else:
            window.evict()
        pieces = Pieces(window)
        assert sizes_hold(pieces)
        assert aggs_hold(pieces)


@pytest.mark.parametrize("seed", range(4))
def test_daba_lite_sizes_and_contents_after_every_operation(seed):
    chance = random.Random(seed)
    window, items = sw.swag.window(sw.concat(), "daba_lite", capacity=256), deque()
    for step in range(1500):
        if chance.random() < (0.6, 0.4)[step // 100 % 2] or not items:
            items.append(chr(97 + step % 26))
            window.insert(items[-1])
        else:
            window.evict()
            items.popleft()
        assert sizes_hold(Pieces(window))
        memory, (F, E, L, R, A, B, agg_ra, agg_b) = window._inside()
        text = "".join(items)

        def total(first, last, text=text, F=F):
            return text[first - F : last - F]

        wanted = {p: total(p, B) for p in range(F, L)}
        wanted |= {p: total(p, R) for p in range(L, R)}
        wanted |= {p: total(p, p + 1) for p in [*range(R, A), *range(B, E)]}
        wanted |= {p: total(p, B) for p in range(A, B)}
        assert all(memory.states[p & memory.mask] == content for p, content in wanted.items())
        assert (agg_b or "") == total(B, E)
        assert L == R or agg_ra == total(R, B)


def case(before, after):
    """Which cases of fixup an operation went through (figure 12)."""
    if after.sizes[0] == 1 and after.sizes[4] == 0 and after.L == after.E:
        return "singleton"
    flip = "flip " if after.B != before.B else ""
    return flip + ("shift" if after.R == before.R + 1 and not flip else "shrink")


def daba_in_state_a():
    """A window 2, 6, 3, 5, 3 as in state a of figure 11: l_L and l_R of one item, l_A of two, l_B empty."""
    frontier = deque([""])
    while frontier:
        path = frontier.popleft()
        window = sw.swag.window(sw.max(), "daba")
        inserts = path.count("i")
        values = iter([0] * (inserts - 5) + [2, 6, 3, 5, 3]) if inserts >= 5 else iter([0] * inserts)
        for operation in path:
            if operation == "i":
                window.insert(next(values))
            else:
                window.evict()
        if len(window) == 5 and Pieces(window).sizes == (5, 1, 1, 2, 0):
            return window
        frontier.extend([path + "i", path + "e"] if len(window) else [path + "i"])
    raise AssertionError("state a can be reached")


def test_daba_figure_4_and_11():
    window = daba_in_state_a()
    items, answers, cases = deque([2, 6, 3, 5, 3]), [window.query()], []
    for value in (None, 1, None, 4, None, 0, None, 5, None):
        before = Pieces(window)
        if value is None:
            window.evict()
            items.popleft()
        else:
            window.insert(value)
            items.append(value)
        cases.append(case(before, Pieces(window)))
        answers.append(window.query())
        assert window.query() == max(items)
    assert answers[:4] == [6, 6, 6, 5]
    assert cases == ["shrink", "shift", "shift", "shift", "flip shrink", "shrink", "shift", "shift", "flip shrink"]


@pytest.mark.parametrize(
    "algorithm", [c.name for c in sw.algorithms() if c.name not in ("blocks", "subtract_on_evict")]
)
def test_figure_4_by_every_algorithm(algorithm):
    window = sw.swag.window(sw.max(), algorithm)
    for value in (2, 6, 3, 5, 3):
        window.insert(value)
    assert window.query() == 6
    window.evict()
    window.insert(1)
    assert window.query() == 6
    window.evict()
    assert window.query() == 5


STREAM = [6, 5, 0, 1, 3, 4, 2, 7]


def test_slickdeque_example_2():
    """Sums over ranges 3 and 5, both slots full of zeros at the start: 32 operations where the naive way takes 48."""
    total, answers = 0, {}
    for span in (3, 5):
        counter = Counter(sw.sum())
        window = sw.swag.window(counter.aggregate, "subtract_on_evict")
        for _ in range(span):
            window.insert(0)
        counter.calls, answers[span] = 0, []
        for value in STREAM:
            window.evict()
            window.insert(value)
            answers[span].append(window.query())
        total += counter.calls
    assert answers[3] == [6, 11, 11, 6, 4, 8, 9, 13]
    assert answers[5] == [6, 11, 11, 12, 15, 13, 10, 17]
    assert total == 32
    naive = sum(span - 1 for span in (3, 5) for _ in STREAM)
    assert naive == 48


def test_slickdeque_example_3():
    """Max over the longest range of 5: one deque, 11 operations for all eight steps, as in figure 9."""
    counter = Counter(sw.max())
    window = sw.swag.window(counter.aggregate, "slickdeque")
    nodes, answers = [], []
    counter.calls = 0
    for value in STREAM:
        if len(window) == 5:
            window.evict()
        window.insert(value)
        answers.append(window.query())
        memory, (_, _, head, tail) = window._inside()
        nodes.append([memory.states[p & memory.mask] for p in range(head, tail)])
    assert counter.calls == 11
    assert answers == [6, 6, 6, 6, 6, 5, 4, 7]
    assert nodes == [[6], [6, 5], [6, 5, 0], [6, 5, 1], [6, 5, 3], [5, 4], [4, 2], [7]]


def test_greedy_example():
    """a = (2, 4, 5, 2) and the windows (1, 3), (1, 4), (2, 4): 4 combines, the fewest for an associative operator."""
    counter = Counter(sw.sum())
    window = sw.swag.window(counter.aggregate, "greedy")
    costs, answers = [], []
    for value in (2, 4, 5):
        window.insert(value)
    costs.append(counter.cost(lambda: answers.append(window.query())))
    window.insert(2)
    costs.append(counter.cost(lambda: answers.append(window.query())))
    window.evict()
    costs.append(counter.cost(lambda: answers.append(window.query())))
    assert answers == [11, 13, 11]
    assert costs == [2, 1, 1]


def test_flatfat_figure_5():
    """The latest four numbers in four slots: what lies where, and an answer in window order when it is inverted."""
    window = sw.swag.window(sw.concat(), "flatfat")
    window._resize(4)
    slots = []
    for value in ("4", "7", "3", "2", None, "9"):
        if value is None:
            window.evict()
        else:
            window.insert(value)
        slots.append(window._inside()[0].states[4:])
    empty = None
    assert slots == [
        ["4", empty, empty, empty],
        ["4", "7", empty, empty],
        ["4", "7", "3", empty],
        ["4", "7", "3", "2"],
        [empty, "7", "3", "2"],
        ["9", "7", "3", "2"],
    ]
    assert window.query() == "7329"


def test_flatfat_gives_memory_back():
    """Doubles when full, halves when less than a quarter is used."""
    window = sw.swag.window(sw.concat(), "flatfat")
    for k in range(100):
        window.insert(str(k % 10))
    assert window._inside()[0].mask + 1 == 128
    while len(window) > 32:
        window.evict()
    assert window._inside()[0].mask + 1 == 128
    window.evict()
    assert window._inside()[0].mask + 1 == 64
    assert window.query() == "".join(str(k % 10) for k in range(69, 100))


def test_foa_suspends_at_most_one_rotation():
    """Lemma 3.1, by walking the lists."""
    chance = random.Random(1)
    window = sw.swag.window(sw.concat(), "foa")
    seen = 0
    for step in range(800):
        if chance.random() < (0.65, 0.35)[step // 80 % 2] or not len(window):
            window.insert("x")
        else:
            window.evict()
        _, (_, _, F, N, B) = window._inside()
        for cells, allowed in ((F, 1), (N, 1), (B, 0)):
            suspended = 0
            while cells is not None:
                suspended += cells.suspended is not None
                cells = cells.rest
            assert suspended <= allowed
            seen += suspended
    assert seen > 0


def test_ioa_arena_stays_as_small_as_the_window():
    """Cells are taken back: the arena never holds more than the largest window and the delayed cells."""
    chance = random.Random(5)
    window = sw.swag.window(sw.sum(), "ioa")
    largest = 0
    for step in range(3000):
        if chance.random() < (0.6, 0.4)[step // 200 % 2] or not len(window):
            window.insert(1)
        else:
            window.evict()
        largest = max(largest, len(window))
        top = window._inside()[1][6]
        assert top <= largest + 5


def test_space():
    """States per item as the cards say; FlatFIT's and SlickDeque's second n are links."""
    n = 64
    twice = {"two_stacks", "daba", "flatfat", "b_int", "greedy", "ioa"}
    for card in sw.algorithms():
        if card.name in ("blocks", "foa"):
            continue
        aggregate = sw.max() if "selective" in card.needs else sw.count()
        memory = sw.swag.window(aggregate, card.name, capacity=n)._inside()[0]
        per_item = 2 if card.name in twice else 1
        assert len(memory.states) == per_item * (n + card.extra_slots), card.name
        assert card.extra_slots <= 5


def test_order_is_kept_by_a_long_fold():
    items = [chr(97 + k % 26) for k in range(500)]
    for card in sw.algorithms():
        if card.needs or card.name == "blocks":
            continue
        window = sw.swag.window(sw.concat(), card.name)
        for item in items:
            window.insert(item)
        assert window.query() == reduce(lambda a, b: a + b, items), card.name
