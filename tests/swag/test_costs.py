"""The papers' theorems, by counting combines: worst case and average, over windows of 1 to 2^12 items."""

import math
import random
from itertools import combinations, pairwise

import pytest

import slidewheel as sw
from slidewheel.swag.registry import ALGORITHMS
from tests.support import Counter

SIZES = [1, 2, 3, 4, 5, 7, 8, 15, 16, 33, 64, 100, 255, 256, 1000, 1024, 4096]


class Costs:
    """The combines of each operation while a full window of n items slides."""

    def __init__(self, algorithm, n, aggregate=None, values=None, slides=None):
        counter = Counter(aggregate or sw.sum())
        window = sw.swag.window(counter.aggregate, algorithm, capacity=n)
        chance = random.Random(n)
        slides = slides or 3 * n + 10
        values = values or (chance.randrange(1000) for _ in range(n + slides))
        values = iter(values)
        self.filling = [counter.cost(window.insert, next(values)) for _ in range(n)]
        counter.cost(window.query)
        self.insert, self.evict, self.query = [], [], []
        for _ in range(slides):
            self.evict.append(counter.cost(window.evict))
            self.insert.append(counter.cost(window.insert, next(values)))
            self.query.append(counter.cost(window.query))
        self.slide = [sum(round) for round in zip(self.evict, self.insert, self.query, strict=True)]

    def average(self, operation, n):
        """Over as many slides as whole windows fit in."""
        costs = getattr(self, operation)
        whole = len(costs) // n * n
        return sum(costs[:whole]) / whole


@pytest.mark.parametrize("n", SIZES)
def test_recalc_folds_all_but_one(n):
    costs = Costs("recalc", n, slides=20)
    assert set(costs.query) == {n - 1}
    assert set(costs.insert) == set(costs.evict) == {0}


@pytest.mark.parametrize("n", SIZES[1:])
def test_subtract_on_evict_takes_exactly_two(n):
    assert set(Costs("subtract_on_evict", n).slide) == {2}


@pytest.mark.parametrize("n", SIZES)
def test_two_stacks(n):
    costs = Costs("two_stacks", n)
    assert set(costs.insert) == set(costs.query) == {1}
    assert set(costs.evict) <= {0, n}
    assert max(costs.evict) == n
    assert costs.average("slide", n) == 3


@pytest.mark.parametrize("n", SIZES)
def test_two_stacks_lite(n):
    costs = Costs("two_stacks_lite", n)
    assert set(costs.insert) == {1}
    assert set(costs.query) <= {0, 1}
    assert max(costs.evict) == max(n - 2, 0)
    assert costs.average("slide", n) <= 3


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("algorithm", ["foa", "ioa", "daba"])
def test_worst_cases_of_the_daba_paper(algorithm, n):
    """Theorems 3.3 and 4.3."""
    costs = Costs(algorithm, n)
    assert max(costs.insert + costs.filling) <= 4
    assert max(costs.evict) <= 3
    assert max(costs.query) <= 1


@pytest.mark.parametrize("n", [64, 100, 255, 256, 1000, 1024, 4096])
def test_daba_averages(n):
    """Theorem 4.3: 2.5 for an insert and 1.5 for an evict, of which SlickDeque's table 1 makes 5 a slide."""
    costs = Costs("daba", n, slides=8 * n)
    assert costs.average("insert", n) + costs.average("evict", n) == pytest.approx(4, rel=0.05)
    assert costs.average("slide", n) == pytest.approx(5, rel=0.05)


def test_daba_insert_and_evict_apart():
    """Over a window that grows and shrinks at random, shrink cases fall on inserts and evicts alike."""
    counter = Counter(sw.sum())
    window, chance = sw.swag.window(counter.aggregate, "daba"), random.Random(7)
    inserts, evicts = [], []
    for _ in range(2000):
        inserts.append(counter.cost(window.insert, 1))
    for _ in range(60_000):
        if chance.random() < 0.5 and len(window) > 1:
            evicts.append(counter.cost(window.evict))
        else:
            inserts.append(counter.cost(window.insert, 1))
    assert sum(inserts) / len(inserts) == pytest.approx(2.5, abs=0.1)
    assert sum(evicts) / len(evicts) == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize("n", SIZES)
def test_daba_lite(n):
    costs = Costs("daba_lite", n)
    assert max(costs.insert + costs.filling) <= 3
    assert max(costs.evict) <= 2
    assert max(costs.query) <= 1
    assert costs.average("slide", n) <= 4 + 4 / n
    assert n == 1 or sum(costs.slide) < sum(Costs("daba", n).slide)


@pytest.mark.parametrize("algorithm", ["daba", "daba_lite", "foa", "ioa"])
def test_worst_case_holds_for_any_sequence_of_operations(algorithm):
    counter = Counter(sw.sum())
    window, chance = sw.swag.window(counter.aggregate, algorithm), random.Random(3)
    for growing in (0.9, 0.5, 0.1, 0.7, 0.3, 0.5):
        for _ in range(500):
            if chance.random() < growing:
                assert counter.cost(window.insert, 1) <= 4
            elif len(window):
                assert counter.cost(window.evict) <= 3
            assert counter.cost(window.query) <= 1


@pytest.mark.parametrize("n", SIZES)
def test_flatfat(n):
    """Theorem 4.2 for one write, and prefix and suffix for the answer of an inverted buffer."""
    costs = Costs("flatfat", n, slides=n + 10)
    height = max(3, math.ceil(math.log2(n)))  # windows start with 8 leaves
    assert set(costs.insert) <= {height}
    assert set(costs.evict) <= {height}
    assert max(costs.query) <= 2 * height + 1
    assert min(costs.query) == 0


@pytest.mark.parametrize("leaves", [1, 2, 4, 8, 64, 1024])
def test_flatfat_tree(leaves):
    """Theorem 4.2, clause by clause."""
    from types import SimpleNamespace

    from slidewheel.swag import flatfat

    counter = Counter(sw.concat())
    monoid = counter.aggregate.monoid()
    ring = SimpleNamespace(load=list.__getitem__, store=list.__setitem__)
    laws = SimpleNamespace(combine=monoid.combine)
    new, update, update_many, aggregate, prefix, suffix = flatfat.tree(laws, ring, lambda f: f)
    items = [chr(65 + k % 26) for k in range(leaves)]
    states = [None] * leaves + items
    log = int(math.log2(leaves))
    assert counter.cost(new, states, leaves - 1) == leaves - 1
    assert counter.cost(aggregate, states) == 0
    assert aggregate(states) == "".join(items)
    for k in range(leaves):
        assert counter.cost(prefix, states, leaves - 1, k) <= log
        assert prefix(states, leaves - 1, k) == "".join(items[: k + 1])
        assert counter.cost(suffix, states, leaves - 1, k) <= log
        assert suffix(states, leaves - 1, k) == "".join(items[k:])
    chance = random.Random(leaves)
    for m in {1, 2, 3, leaves // 2, leaves} - {0}:
        if m > leaves:
            continue
        places = chance.sample(range(leaves), m)
        for place in places:
            items[place] = chr(97 + place % 26)
        cost = counter.cost(update_many, states, leaves - 1, places, [items[p] for p in places])
        assert cost <= m * (1 + math.ceil(math.log2(leaves / m)))
        assert aggregate(states) == "".join(items)
    assert counter.cost(update, states, leaves - 1, 0, items[0]) == log


@pytest.mark.parametrize("n", SIZES)
def test_b_int(n):
    costs = Costs("b_int", n)
    log = max(3, math.ceil(math.log2(n)))
    assert max(costs.insert) <= log
    assert costs.average("insert", n) <= 1
    assert set(costs.evict) == {0}
    assert max(costs.query) <= 2 * log


@pytest.mark.parametrize("n", SIZES[1:])
def test_flatfit(n):
    """SlickDeque paper, 4.1: 3(n - 1) combines in each period of n + 1 slides, n - 1 of them in the window reset."""
    costs = Costs("flatfit", n, slides=4 * (n + 1))
    assert set(costs.insert) == set(costs.evict) == {0}
    assert max(costs.query) == max(n - 1, 2 if n > 2 else 1)
    period = costs.query[n + 1 : 3 * (n + 1)]
    assert sum(period) == 2 * 3 * (n - 1)
    if n > 3:
        resets = [k for k, cost in enumerate(costs.query) if cost == n - 1]
        assert all(later - earlier == n + 1 for earlier, later in pairwise(resets))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("shape", ["random", "rising", "falling", "equal", "sawtooth"])
def test_slickdeque_stays_below_two(n, shape):
    slides = 3 * n + 10
    values = {
        "random": [random.Random(n).randrange(1000) for _ in range(n + slides)],
        "rising": list(range(n + slides)),
        "falling": list(range(n + slides, 0, -1)),
        "equal": [1] * (n + slides),
        "sawtooth": [-k % (n + 1) for k in range(n + slides)],
    }[shape]
    costs = Costs("slickdeque", n, sw.max(), values, slides)
    assert set(costs.evict) == set(costs.query) == {0}
    assert sum(costs.insert + costs.filling) < 2 * (n + slides)
    assert max(costs.insert) <= n


def test_slickdeque_worst_case_is_n():
    n = 100
    counter = Counter(sw.max())
    window = sw.swag.window(counter.aggregate, "slickdeque")
    for value in range(n, 0, -1):
        window.insert(value)
    assert counter.cost(window.insert, n + 1) == n


def combines(aggregate, algorithm, items, windows):
    """All answers for the windows [l, r), and the combines of the whole run."""
    counter = Counter(aggregate)
    window = sw.swag.window(counter.aggregate, algorithm)
    left = right = 0
    answers = []
    counter.calls = 0
    for first, last in windows:
        while right < last:
            window.insert(items[right])
            right += 1
        while left < first:
            window.evict()
            left += 1
        answers.append(window.query())
    return answers, counter.calls


def fewest(n, windows):
    """The fewest combines that compute these windows over n items, by trying every set of intermediate results."""
    needed = {(a, b) for a, b in windows if b - a > 1}
    others = [(a, b) for a in range(n) for b in range(a + 2, n + 1) if (a, b) not in needed]
    for extra in range(len(others) + 1):
        for chosen in combinations(others, extra):
            have = needed.union(chosen)
            made = {(k, k + 1) for k in range(n)} | have
            if all(any((a, k) in made and (k, b) in made for k in range(a + 1, b)) for a, b in have):
                return len(have)
    raise AssertionError("every interval can be made")


@pytest.mark.parametrize("seed", range(60))
def test_greedy_is_minimal(seed):
    chance = random.Random(seed)
    n = chance.randint(2, 6)
    items = [chr(97 + k) for k in range(n)]
    margins = [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(1, 5))]
    lefts, rights = sorted(a for a, _ in margins), sorted(b + 1 for _, b in margins)
    windows = [(a, max(b, a + 1)) for a, b in zip(lefts, rights, strict=True)]
    windows = [(a, max(b, *(x for _, x in windows[: k + 1]))) for k, (a, b) in enumerate(windows)]
    answers, cost = combines(sw.concat(), "greedy", items, windows)
    assert answers == ["".join(items[a:b]) for a, b in windows]
    assert cost == fewest(n, windows)


@pytest.mark.parametrize("seed", range(10))
def test_greedy_needs_no_more_than_any_other(seed):
    chance = random.Random(seed)
    items, windows, left, right = list(range(400)), [], 0, 0
    while right < len(items):
        right = min(len(items), right + chance.randrange(1, 9))
        left = min(right - 1, left + chance.randrange(0, 9))
        windows.append((left, right))
    costs = {name: combines(sw.sum(), name, items, windows)[1] for name in ALGORITHMS if name != "slickdeque"}
    del costs["subtract_on_evict"]  # it has an inverse to help it
    assert costs["greedy"] == min(costs.values())
    assert costs["greedy"] < min(costs[name] for name in ("recalc", "two_stacks", "daba", "flatfat", "b_int"))
    assert costs["greedy"] <= 3 * len(windows) + len(items)
