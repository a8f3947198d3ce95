"""Windows that are not FIFO: flatfat with holes and fiba, against plain recalculation; their structure and costs."""

import csv
import hashlib
import json
import math
import random
from bisect import insort
from datetime import UTC, datetime
from functools import cache, reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import slidewheel as sw
from slidewheel.swag import btree, registry
from slidewheel.swag.holes import HOLE
from slidewheel.swag.timed import TimedWindow
from tests.support import AGGREGATES, Counter, agree, outcome, recalculated

SHARED = Path(__file__).parents[3] / "shared" / "conformance"
ALGORITHMS = list(registry.NOT_FIFO)
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)

INTEGERS = [0, 1, 2, 3, -1, -5, 7, 2**63 - 1, -(2**63), 2**62]
FLOATS = [0.0, -0.0, 0.5, 1.0, 2.0, -4.0, 8.0, math.nan, math.inf, -math.inf]
PLAIN = [0, 1, 2, 3, 5, 8, -1, -2, 0.5, None]


class Model:
    """The items of each time in the order of their arrival, and what a window over them has to answer."""

    def __init__(self, aggregate):
        self.aggregate = aggregate
        self.items: dict[int, list] = {}
        self.inserted = 0

    def insert(self, time, value):
        pair = self.aggregate.arity == 2 and value is not None
        self.items.setdefault(time, []).append((value, self.inserted) if pair else value)
        self.inserted += 1

    def answer(self, start=None, end=None):
        times = sorted(self.items)
        inside = [t for t in times if (start is None or t >= start) and (end is None or t < end)]
        return recalculated(self.aggregate, [item for t in inside for item in self.items[t]])

    def compare(self, window, *ranges):
        assert len(window) == len(self.items)
        assert window.oldest == min(self.items, default=None)
        assert window.youngest == max(self.items, default=None)
        for limits in ((), *ranges):
            got, want = outcome(window.query, *limits), self.answer(*limits)
            assert agree(got, want), (window.algorithm, limits, self.items, got, want)


def sound(window):
    """The structure is what its file says."""
    {"flatfat": sound_flatfat, "fiba": sound_fiba}[window.algorithm](window._tree)


def sound_flatfat(tree):
    capacity, positions = tree._mask + 1, range(tree._front, tree._end)
    assert capacity & tree._mask == 0
    assert len(tree._states) == 2 * capacity
    assert len(tree._times) == capacity
    assert len(positions) <= capacity
    times = [tree._time(p) for p in positions]
    assert times == sorted(set(times))
    assert [t for t in times if t in tree._present] == sorted(tree._present)
    if times:
        assert times[0] in tree._present
        assert times[-1] in tree._present
    used = {p & tree._mask for p in positions if not tree._is_hole(p)}
    assert all(tree._states[capacity + leaf] is HOLE for leaf in set(range(capacity)) - used)
    for node in range(1, capacity):
        made = tree._join(tree._states[2 * node], tree._states[2 * node + 1])
        assert alike(tree._states[node], made)


def sound_fiba(tree):
    inside = tree._tree
    assert inside.root.parent is None
    depths, times = set(), []

    def walk(node, depth, left, right):
        assert (node.left, node.right) == (left, right)
        least = 0 if node is inside.root else btree.ARITY - 1
        assert least <= len(node.times) == len(node.values) <= 2 * btree.ARITY - 1
        whole = []
        if node.children:
            assert len(node.children) == len(node.times) + 1
        else:
            depths.add(depth)
        for i in range(len(node.times) + 1):
            if node.children:
                child, last = node.children[i], i == len(node.times)
                assert child.parent is node
                whole += walk(child, depth + 1, left and i == 0, right and last)
            if i < len(node.times):
                times.append(node.times[i])
                whole.append(node.values[i])
        if not (left or right):
            assert alike(node.agg, reduce(tree._join, whole, HOLE))
        return whole

    walk(inside.root, 0, True, True)
    assert len(depths) == 1
    assert times == sorted(set(times))
    assert len(times) == len(tree)
    for side, finger in ((0, inside.oldest), (-1, inside.youngest)):
        node = inside.root
        while node.children:
            node = node.children[side]
        assert node is finger


def alike(a, b):
    return a is b or a == b or agree(a, b) or (isinstance(a, tuple) and all(map(alike, a, b))) or str(a) == str(b)


def contents(window):
    """All that a window holds, time by time."""
    times = [t for t in range(-5, 300) if t in window]
    return len(window), window.oldest, window.youngest, [(t, window.query(t, t + 1)) for t in times]


def case(name):
    return json.loads((SHARED / "fifo_cases.json").read_text())[name]


needs_cases = pytest.mark.skipif(
    not SHARED.exists(), reason="the shared conformance cases are not beside this checkout"
)


@cache
def sums():
    """The rows of the case, and all of its answers by a running total."""
    with (SHARED / case("nonfifo_map_sum")["csv"]).open() as lines:
        rows = [(int(r["evict_ts"]), int(r["insert_ts"]), int(r["value"])) for r in csv.DictReader(lines)]
    held, total, answers = {}, 0, []
    for evicted, inserted, value in rows:
        total -= held.pop(evicted, 0)
        answers.append(total)
        held[inserted] = held.get(inserted, 0) + value
        total += value
        answers.append(total)
    return rows, answers


@needs_cases
def test_the_running_total_is_the_case():
    known, answers = case("nonfifo_map_sum"), sums()[1]
    assert len(answers) == known["nq"]
    assert answers[:6] == known["first"]
    assert answers[-1] == known["last"]
    assert hashlib.sha256("\n".join(map(str, answers)).encode()).hexdigest()[:16] == known["sha"]


def conforms(algorithm, count=None):
    window, (rows, wanted) = sw.swag.window(sw.sum(), algorithm, fifo=False), sums()
    answers = []
    for evicted, inserted, value in rows[:count]:
        if evicted in window:
            window.evict(evicted)
        answers.append(window.query() or 0)
        window.insert(inserted, value)
        answers.append(window.query())
    assert answers == wanted[: len(answers)]


@needs_cases
@every_algorithm
def test_conformance(algorithm):
    conforms(algorithm, 4000)


@needs_cases
@pytest.mark.slow
@every_algorithm
def test_conformance_of_the_whole_case(algorithm):
    conforms(algorithm)


@pytest.mark.parametrize("values", [INTEGERS, FLOATS, PLAIN], ids=["integers", "floats", "plain"])
@pytest.mark.parametrize("name", AGGREGATES)
@every_algorithm
def test_random_operations(algorithm, name, values):
    """Grow, shrink to empty, refill, with times that repeat and lie on both sides of what is there."""
    chance = random.Random(f"{algorithm} {name} {len(values)}")
    aggregate = AGGREGATES[name]
    if aggregate.arithmetic and values is INTEGERS and name not in ("sum", "span"):
        values = INTEGERS[:7]  # floats of 2**63 round, and differently in another order
    window, model = sw.swag.window(aggregate, algorithm, fifo=False), Model(aggregate)
    for growing in (0.9, 0.2, 0.5, 0.95, 0.0, 0.7):
        for _ in range(40):
            if chance.random() < growing:
                time, value = chance.randrange(-20, 80), chance.choice(values)
                window.insert(time, value)
                model.insert(time, value)
            elif model.items:
                time = chance.choice([min(model.items), max(model.items), *model.items])
                window.evict(None if time == min(model.items) else time)
                del model.items[time]
            model.compare(window, sorted(chance.sample(range(-25, 85), 2)), (None, 30), (30,))
        sound(window)


def machine(name):
    """Both algorithms for one aggregate, driven by hypothesis, which shrinks what fails."""
    aggregate = AGGREGATES[name]
    times = st.integers(-3, 40)

    class Windows(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.windows = [sw.swag.window(aggregate, algorithm, fifo=False) for algorithm in ALGORITHMS]
            self.model = Model(aggregate)

        @rule(items=st.lists(st.tuples(times, st.sampled_from(PLAIN + FLOATS[4:])), min_size=1, max_size=16))
        def insert(self, items):
            for time, value in items:
                self.model.insert(time, value)
                for window in self.windows:
                    window.insert(time, value)
                    sound(window)

        @rule(start=times, values=st.lists(st.sampled_from(PLAIN), min_size=1, max_size=40))
        def insert_in_order(self, start, values):
            self.insert(list(enumerate(values, start=max(self.model.items, default=start) + 1)))

        @precondition(lambda self: self.model.items)
        @rule(data=st.data())
        def evict(self, data):
            for time in data.draw(st.lists(st.sampled_from(sorted(self.model.items)), unique=True)):
                del self.model.items[time]
                for window in self.windows:
                    window.evict(time)
                    sound(window)

        @precondition(lambda self: self.model.items)
        @rule(data=st.data())
        def evict_the_oldest(self, data):
            for _ in range(data.draw(st.integers(1, len(self.model.items)))):
                del self.model.items[min(self.model.items)]
                for window in self.windows:
                    window.evict()
                    sound(window)

        @rule(time=times)
        def evict_what_is_not_there(self, time):
            for window in self.windows:
                assert (time in window) == (time in self.model.items)
                if time not in self.model.items:
                    with pytest.raises(sw.swag.MissingTime):
                        window.evict(time)

        @rule(start=st.none() | times, end=st.none() | times)
        def query_range(self, start, end):
            for window in self.windows:
                self.model.compare(window, (start, end))

        @invariant()
        def query(self):
            for window in self.windows:
                self.model.compare(window)

    Windows.TestCase.settings = settings(
        max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    return Windows


def _register() -> None:
    for name in AGGREGATES:
        globals()[f"Test_{name}"] = type(f"Test_{name}", (machine(name).TestCase,), {})


_register()


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATES)
def test_long_stateful_runs(name):
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(machine(name), settings=settings(max_examples=300, stateful_step_count=50, deadline=None))


@every_algorithm
def test_an_item_at_a_time_that_is_there_comes_after_it(algorithm):
    window = sw.swag.window(sw.concat(), algorithm, fifo=False)
    for time, text in (2, "c"), (1, "a"), (2, "d"), (1, "b"), (2, None), (3, None):
        window.insert(time, text)
    assert (window.query(), len(window)) == ("abcd", 3)
    assert window.query(3) is None
    window.evict(1)
    assert window.query() == "cd"


@every_algorithm
def test_empty_windows_and_nulls(algorithm):
    for aggregate, empty in (sw.count(), 0), (sw.count("x"), 0), (sw.max(), None), (sw.var(), None):
        window = sw.swag.window(aggregate, algorithm, fifo=False)
        assert (len(window), window.oldest, window.youngest, 3 in window) == (0, None, None, False)
        assert (window.query(), window.query(1, 2), window.query(None, 0)) == (empty, empty, empty)
        with pytest.raises(IndexError):
            window.evict()
        with pytest.raises(KeyError, match="no item at 3"):
            window.evict(3)
        window.insert(5, None)
        assert window.query() == (1 if aggregate.columns == () or not aggregate.skips_nulls else empty)
        window.insert(6, 2.0)
        window.evict(6)
        assert (len(window), window.oldest, window.youngest) == (1, 5, 5)
        window.evict()
        assert (len(window), window.query()) == (0, empty)


@every_algorithm
def test_too_few_values_have_no_answer(algorithm):
    window = sw.swag.window(sw.var(), algorithm, fifo=False)
    for time, value in (1, 4.0), (2, None), (3, 6.0):
        window.insert(time, value)
    assert window.query() == 2.0
    assert window.query(1, 3) is None
    window.insert(1, 6.0)
    assert window.query(1, 3) == 2.0


@every_algorithm
def test_instants_of_every_kind(algorithm):
    window = sw.swag.window(sw.concat(), algorithm, fifo=False)
    window.insert(datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), "c")
    window.insert("1970-01-01T00:00:01", "b")
    window.insert(np.datetime64("1969-12-31"), "a")
    window.insert(np.int64(3_000_000), "d")
    assert window.query() == "abcd"
    assert window.query(end="1970-01-01") == "a"
    assert window.query("1970-01-01T00:00:01", datetime(1970, 1, 1, 0, 0, 3)) == "bc"
    assert "1970-01-01T00:00:02" in window
    assert (window.oldest, window.youngest) == (-86_400_000_000, 3_000_000)
    window.evict("1970-01-01T00:00:02Z")
    assert window.query() == "abd"
    for call in (window.evict, window.query, window.__contains__, lambda time: window.insert(time, "x")):
        with pytest.raises(sw.InvalidTime):
            call("yesterday")
    with pytest.raises(sw.InvalidTime):
        window.insert(2.5, "x")
    assert (window.query(), len(window)) == ("abd", 3)


@every_algorithm
def test_pairs(algorithm):
    window = sw.swag.window(sw.argmax("delay", "flight"), algorithm, fifo=False)
    window.insert(2, 5, "N1")
    window.insert(1, (9, "N2"))
    window.insert(3, None)
    window.insert(4, None, "N3")
    assert (window.query(), window.query(2)) == ("N2", "N1")
    with pytest.raises(sw.Unsupported, match="pairs"):
        window.insert(5, 7)
    with pytest.raises(sw.Unsupported, match="one value"):
        sw.swag.window(sw.max(), algorithm, fifo=False).insert(1, 2, 3)
    window = sw.swag.window(sw.argmax(), algorithm, fifo=False)
    for time, value in (7, 1), (5, 8), (6, 3):
        window.insert(time, value)
    assert window.query() == 1


@sw.aggregate(state=object)
class Fragile:
    identity = ""

    def lift(x):
        return x

    def combine(a, b):
        if "!" in a + b:
            raise ZeroDivisionError("as ordered")
        return a + b


@pytest.mark.parametrize("before", [*range(1, 20), 63, 64, 65])
@every_algorithm
def test_a_combine_that_fails_leaves_the_window_as_it_was(algorithm, before):
    window = sw.swag.window(Fragile, algorithm, fifo=False)
    for time in range(0, 2 * before, 2):
        window.insert(time, chr(97 + time % 26))
    was = contents(window)
    for time in range(-1, 2 * before + 1):
        try:
            window.insert(time, "!")
        except ZeroDivisionError:
            pass
        else:  # nothing had to be combined with it yet
            with pytest.raises(ZeroDivisionError):
                window.query()
            window.evict(time)
        assert contents(window) == was
        sound(window)
    window.insert(1, "A")
    window.evict(0)
    assert window.query() == "A" + "".join(chr(97 + time % 26) for time in range(2, 2 * before, 2))


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@every_algorithm
def test_a_combine_that_fails_now_and_then(algorithm, error):
    """Inserts and evicts alike: either done, or as if they had not been asked for."""
    chance = random.Random(f"{algorithm} {error}")
    state = {"failing": 0.0}

    def unreliable(a, b):
        if chance.random() < state["failing"]:
            raise error("as ordered")
        return a + b

    members = {"identity": "", "lift": lambda x: x, "combine": unreliable}
    aggregate = sw.aggregate(state=object)(type("Unreliable", (), members))()
    failed = dict.fromkeys(("insert", "evict", "query"), 0)
    for _ in range(12):
        window, items = sw.swag.window(aggregate, algorithm, fifo=False), {}
        for step in range(250):
            growing = (0.9, 0.5, 0.1, 0.8, 0.2)[step // 50]
            state["failing"] = chance.choice([0, 0.05, 0.3])
            doing = "insert" if chance.random() < growing or not items else "evict"
            time, value = chance.randrange(200), chr(97 + step % 26)
            try:
                if doing == "insert":
                    window.insert(time, value)
                    items[time] = items.get(time, "") + value
                else:
                    time = chance.choice([min(items), *items])
                    window.evict(time)
                    del items[time]
                doing = "query"
                window.query()
            except error:
                failed[doing] += 1
            state["failing"] = 0
            assert window.query() == ("".join(items[t] for t in sorted(items)) or None)
            assert len(window) == len(items)
        sound(window)
    assert failed["insert"] > 20
    assert failed["evict"] > 20


def test_a_lift_that_fails_adds_nothing():
    for algorithm in ALGORITHMS:
        window = sw.swag.window(sw.geomean(), algorithm, fifo=False)
        window.insert(1, 4.0)
        with pytest.raises((TypeError, ValueError)):
            window.insert(2, "four")
        assert (len(window), 2 in window, window.query()) == (1, False, pytest.approx(4.0))


def test_choice_and_cards():
    window = sw.swag.window(sw.mean(), fifo=False)
    assert isinstance(window, TimedWindow)
    assert window.algorithm == "fiba"
    assert "O(log d)" in window.reason
    assert repr(window) == "<window of 0 time(s): mean by fiba>"
    asked = sw.swag.window(sw.mean(), "fiba")
    assert isinstance(asked, TimedWindow)
    assert asked.reason == "it was asked for"
    assert not isinstance(sw.swag.window(sw.mean(), "flatfat"), TimedWindow)
    cards = {card.name: card for card in sw.algorithms(fifo=False)}
    assert list(cards) == ALGORITHMS == ["flatfat", "fiba"]
    assert all(card.use in str(card) and card.paper in str(card) for card in cards.values())
    assert "fiba" not in {card.name for card in sw.algorithms()}


def test_arguments_that_contradict_each_other():
    with pytest.raises(sw.Unsupported, match="daba is for FIFO windows"):
        sw.swag.window(sw.max(), "daba", fifo=False)
    with pytest.raises(sw.UnknownAlgorithm, match="fifo=False"):
        sw.swag.window(sw.max(), "fiba", fifo=True)
    with pytest.raises(sw.UnknownAlgorithm, match="fifo=False"):
        sw.rolling([1, 2], sw.max(), size=2, algorithm="fiba")
    with pytest.raises(sw.UnknownAlgorithm):
        sw.swag.window(sw.max(), "fibber", fifo=False)
    with pytest.raises(sw.Unsupported, match="steady"):
        sw.swag.window(sw.max(), fifo=False, steady=True)
    with pytest.raises(sw.InvalidArgument, match="capacity"):
        sw.swag.window(sw.max(), fifo=False, capacity=0)
    with pytest.raises(sw.InvalidArgument, match="aggregate"):
        sw.swag.window("max", fifo=False)


# The Reactive Aggregator: section 5.1.1 and theorem 4.2.


def filled(n, aggregate=None, **options):
    counter = Counter(aggregate or sw.sum())
    window = sw.swag.window(counter.aggregate, "flatfat", fifo=False, **options)
    for time in range(n):
        window.insert(10 * time, time)
    return window, counter


def capacity(window):
    return window._tree._mask + 1


def holes(window):
    tree = window._tree
    return tree._end - tree._front - len(tree)


def test_flatfat_compacts_when_full_with_at_most_three_quarters_used():
    for gone, after in (1, 32), (3, 32), (4, 16), (9, 16):
        window, _ = filled(16)
        for time in range(10, 10 * gone + 10, 10):
            window.evict(time)
        assert (capacity(window), holes(window)) == (16, gone)
        window.insert(1000, 1)
        assert (capacity(window), holes(window), len(window)) == (after, 0, 17 - gone)
        sound(window)


def test_flatfat_halves_when_less_than_a_quarter_is_used():
    for order in (1, -1):
        window, _ = filled(33)
        assert capacity(window) == 64
        for time in list(range(0, 330, 10))[::order]:
            window.evict(time)
            allowed = {size for size in (8, 16, 32, 64) if size == 8 or 4 * len(window) >= size}
            assert capacity(window) == max(allowed)
            sound(window)


def test_flatfat_reuses_a_hole_where_the_time_belongs():
    window, counter = filled(8)
    window.evict(30)
    assert counter.cost(window.evict, 40) <= 3
    for time in (35, 33):
        assert counter.cost(window.insert, time, 1) <= 3
        assert capacity(window) == 8
        sound(window)
    assert holes(window) == 0


def test_flatfat_grows_at_both_ends():
    window = sw.swag.window(sw.collect(), "flatfat", fifo=False)
    for k in range(40):
        window.insert(k, k)
        window.insert(-k - 1, -k - 1)
        sound(window)
    assert window.query() == list(range(-40, 40))


def test_flatfat_makes_room_beforehand():
    window, counter = filled(0, capacity=1000)
    assert capacity(window) == 1024
    assert max(counter.cost(window.insert, k, k) for k in range(1000)) <= 10


@pytest.mark.parametrize("n", [8, 64, 256, 1024])
def test_flatfat_costs_of_theorem_4_2(n):
    """m writes take at most m (1 + ceil(log2(c / m))) combines; an item that is late by d writes d + 1 leaves."""
    log = int(math.log2(n)) + 1
    for late in {0, 1, 2, 5, n // 4, n // 2 - 1}:
        window, counter = filled(n, capacity=2 * n)
        m = late + 1
        for near_the_young_end in (True, False):
            place = n - late if near_the_young_end else late
            cost = counter.cost(window.insert, 10 * place - 5, 1)
            assert cost <= m * (1 + math.ceil(math.log2(2 * n / m)))
        assert counter.cost(window.evict) <= log
        assert counter.cost(window.evict, 10 * (n // 2)) <= log
        assert counter.cost(window.insert, window.youngest, 5) <= log + 1


@pytest.mark.parametrize("n", [8, 64, 256, 1024])
def test_flatfat_costs_of_queries(n):
    window, counter = filled(n, capacity=n)
    assert counter.cost(window.query) == 0
    for k in range(n // 2):
        window.evict()
        window.insert(10 * (n + k), 1)
    log, chance = int(math.log2(n)), random.Random(n)
    assert 0 < counter.cost(window.query) <= 2 * log + 1
    for _ in range(100):
        start, end = sorted(chance.choices(range(15 * n), k=2))
        assert counter.cost(window.query, start, end) <= 2 * log + 1


def test_flatfat_amortised():
    """Growing, holes, compaction and shrinking: on average a constant more than the path to the root."""
    window, counter = filled(0)
    chance, present, cost, operations, clock = random.Random(5), [], 0, 0, 0
    for growing in (0.9, 0.5, 0.1, 0.7, 0.3, 0.5) * 3:
        for _ in range(1500):
            operations += 1
            if chance.random() < growing or not present:
                clock += 1
                cost += counter.cost(window.insert, clock, 1)
                present.append(clock)
            else:
                cost += counter.cost(window.evict, present.pop(chance.randrange(len(present))))
    assert cost / operations <= 11 + 3


# FiBA.


def in_order(n, slides=3000):
    """Average combines of insert and evict, and the most of a query, while a window of n items slides in order."""
    counter = Counter(sw.sum())
    window = sw.swag.window(counter.aggregate, "fiba")
    filling = [counter.cost(window.insert, time, 1) for time in range(n)]
    inserts, evicts, queries = [], [], []
    for time in range(n, n + slides):
        evicts.append(counter.cost(window.evict))
        inserts.append(counter.cost(window.insert, time, 1))
        queries.append(counter.cost(window.query))
    return sum(filling) / n, sum(inserts) / slides, sum(evicts) / slides, max(queries)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 64, 100, 1024, 16384])
def test_fiba_in_order_is_constant(n):
    filling, insert, evict, query = in_order(n)
    assert filling <= 8
    assert insert <= 8
    assert evict <= 7
    assert query <= 2


def test_fiba_in_order_does_not_depend_on_the_window():
    small, large = in_order(512), in_order(16384)
    assert sum(large[1:3]) <= 1.05 * sum(small[1:3])


def late(n, d, young, rounds=600):
    """Average combines of an insert d items from one end of a window of n, which slides on in between."""
    counter = Counter(sw.sum())
    window = sw.swag.window(counter.aggregate, "fiba")
    times = [1_000_000 * k for k in range(n)]
    for time in times:
        window.insert(time, 1)
    cost = 0
    for _ in range(rounds):
        time = times[n - d - 1] + 1 if young else times[d] - 1
        cost += counter.cost(window.insert, time, 1)
        insort(times, time)
        gone = times.pop(0) if young else times.pop()
        window.evict(gone)
    assert len(window) == n
    return cost / rounds


@pytest.mark.parametrize("young", [True, False])
def test_fiba_costs_the_logarithm_of_the_distance(young):
    costs = {d: late(4096, d, young) for d in (0, 1, 4, 16, 64, 256, 1024, 2047)}
    for d, cost in costs.items():
        assert cost <= 8 + 5 * math.log2(d + 1), (d, costs)
    for d in (0, 4, 64, 256):
        assert late(1024, d, young) == pytest.approx(costs[d], rel=0.25, abs=2)


@pytest.mark.parametrize("n", [8, 64, 1024, 4096])
def test_fiba_worst_case_is_logarithmic(n):
    """Any operation, anywhere: at most one climb, one descent along each spine, and twice that for a new root."""
    counter, chance = Counter(sw.sum()), random.Random(n)
    window, present = sw.swag.window(counter.aggregate, "fiba"), []
    height = 1 + math.ceil(math.log(n, btree.ARITY))
    bound = 3 * height * (4 * btree.ARITY)
    for step in range(2 * n + 500):
        if step < n or len(present) < n or chance.random() < 0.5:
            time = chance.randrange(10**9)
            insort(present, time)
            assert counter.cost(window.insert, time, 1) <= bound
        else:
            time = present.pop(chance.choice([0, -1, chance.randrange(len(present))]))
            assert counter.cost(window.evict, time) <= bound
        assert counter.cost(window.query) <= 2
        start, end = sorted(chance.choices(range(10**9), k=2))
        assert counter.cost(window.query, start, end) <= bound


def test_fiba_keeps_its_arity_through_growth_and_decay():
    chance, window, present = random.Random(11), sw.swag.window(sw.collect(), "fiba"), []
    for growing in (1.0, 0.45, 0.9, 0.1, 0.8, 0.0):
        for _ in range(600):
            if chance.random() < growing:
                time = chance.randrange(10**6)
                if time not in present:
                    window.insert(time, time)
                    insort(present, time)
            elif present:
                window.evict(present.pop(chance.choice([0, 0, -1, chance.randrange(len(present))])))
        sound(window)
        assert window.query() == (present or None)
