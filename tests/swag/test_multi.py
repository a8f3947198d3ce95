"""Many ranges at once: every form against plain recalculation, and the costs of SlickDeque's table 1 by counting."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slidewheel as sw
from slidewheel.compiler import kernels, layout
from slidewheel.swag.multi.registry import FORMS, form
from slidewheel.swag.registry import lacking
from tests.support import AGGREGATES, Counter, agree, outcome, recalculated

PLAIN = [0, 1, 2, 3, 5, 8, -1, -2, 0.5, None]
AWKWARD = [0.0, -0.0, 0.5, 2.0, -4.0, 8.0, math.nan, math.inf, -math.inf, None]
LARGE = [0, 1, -5, 2**63 - 1, -(2**63), 2**62]
SIZES = [1, 2, 4, 8, 16, 64, 256]


def able(name, aggregate):
    return not any(lacking(FORMS[name].CARD, aggregate))


PAIRS = [(name, a) for name in FORMS for a, aggregate in AGGREGATES.items() if able(name, aggregate)]


def loose(name, aggregate):
    # Taking away cancels digits: that is what a user asks for with slickdeque_inv.
    return 1e-5 if name == "slickdeque_inv" and aggregate in ("var", "std") else 1e-9


def check(name, output, ranges, values):
    """All answers after every item are those of a plain fold of the last items."""
    aggregate = AGGREGATES[output]
    window, items = sw.swag.multi(aggregate, ranges=ranges, algorithm=name), []
    assert window.answers() == [outcome(recalculated, aggregate, [])] * len(ranges)
    for position, value in enumerate(values):
        window.insert(value)
        items.append((value, position) if aggregate.arity == 2 and value is not None else value)
        assert len(window) == min(len(items), max(ranges))
        wanted = [recalculated(aggregate, items[-span:]) for span in ranges]
        for span, want in zip(ranges, wanted, strict=True):
            got = outcome(window.query, span)
            assert agree(got, want, loose(name, output)), (span, items, got, want)
        if sw.Overflow in wanted:
            with pytest.raises(sw.Overflow):
                window.answers()
        else:
            got = window.answers()
            assert all(agree(g, w, loose(name, output)) for g, w in zip(got, wanted, strict=True)), (items, got, wanted)


@pytest.mark.parametrize(("name", "aggregate"), PAIRS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_any_ranges(name, aggregate, data):
    ranges = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    values = data.draw(st.lists(st.sampled_from(PLAIN + AWKWARD[4:]), max_size=50))
    check(name, aggregate, ranges, values)


@pytest.mark.parametrize(("name", "aggregate"), PAIRS)
@pytest.mark.parametrize("values", [LARGE, AWKWARD, PLAIN], ids=["large", "awkward", "plain"])
def test_random_streams(name, aggregate, values):
    chance = random.Random(f"{name} {aggregate}")
    if values is LARGE and AGGREGATES[aggregate].arithmetic and aggregate not in ("sum", "span"):
        values = LARGE[:3]  # floats of 2**63 round, and differently in another order
    for ranges in ([1], [3, 5], [8, 1, 8, 2, 7], [6, 13, 32, 31]):
        check(name, aggregate, ranges, [chance.choice(values) for _ in range(100)])


@pytest.mark.parametrize(("name", "aggregate"), PAIRS)
@pytest.mark.parametrize("values", [range(40), range(40, 0, -1), [3] * 40], ids=["rising", "falling", "equal"])
def test_runs_of_order(name, aggregate, values):
    check(name, aggregate, [7, 1, 4], list(values))


@pytest.mark.parametrize("name", ["recalc", "flatfat", "b_int", "flatfit"])
def test_ranges_that_are_asked_rarely(name):
    """Nobody asks for a while, then some ranges, in any order."""
    chance = random.Random(name)
    window, items = sw.swag.multi(sw.concat(), ranges=range(1, 33), algorithm=name), []
    for _ in range(400):
        for _ in range(chance.randrange(40)):
            items.append(chr(97 + len(items) % 26))
            window.insert(items[-1])
        for span in chance.sample(range(1, 33), 3) if items else ():
            assert window.query(span) == "".join(items[-span:])


# Costs: SlickDeque, table 1, with the ranges 1 to n answered at each slide.


def slides(name, n, aggregate=None, ranges=None, values=None, rounds=None):
    """The combines of each slide in the steady state, over one or more times the window."""
    counter = Counter(aggregate or sw.sum())
    window = sw.swag.multi(counter.aggregate, ranges=ranges or range(1, n + 1), algorithm=name)
    chance = random.Random(n)
    rounds = rounds or 2 * n
    values = iter(values or [chance.randrange(1000) for _ in range(3 * n + rounds)])
    for _ in range(3 * n):
        window.insert(next(values))
        window.answers()
    return [counter.cost(window.insert, next(values)) + counter.cost(window.answers) for _ in range(rounds)]


@pytest.mark.parametrize("n", SIZES[:-1])
def test_recalc_takes_half_the_square(n):
    assert set(slides("recalc", n)) == {n**2 / 2 - n / 2}


@pytest.mark.parametrize("n", SIZES)
def test_flatfat(n):
    """On average over all places of the window in the buffer.

    The paper has n log2 n - 3n/2 + 5/2 log2 n + 5/2, which is n + 1 - 1/n more: it counts nodes where we count the
    combines between them, one less for each of the n ranges.
    """
    log = math.log2(n)
    costs = slides("flatfat", n)
    ours = n * log - 5 * n / 2 + 5 * log / 2 + 3 / 2 + 1 / n
    papers = n * log - 3 * n / 2 + 5 * log / 2 + 5 / 2
    assert sum(costs) / len(costs) == pytest.approx(ours, rel=1e-12)
    assert ours + n + 1 - 1 / n == pytest.approx(papers, rel=1e-12)
    assert sum(costs) / len(costs) <= n * log + log


@pytest.mark.parametrize("n", [1, 3, 5, 12, 100])
def test_flatfat_look_up_takes_the_fewest_nodes(n):
    """Of other lengths too: at most 2 log2 of the leaves for a range, and log2 for the insert."""
    height = math.ceil(math.log2(n))
    counter = Counter(sw.concat())
    window = sw.swag.multi(counter.aggregate, ranges=range(1, n + 1), algorithm="flatfat")
    for k in range(4 * n):
        assert counter.cost(window.insert, chr(97 + k % 26)) == height
        for span in range(1, n + 1):
            assert counter.cost(window.query, span) <= 2 * math.floor(math.log2(span))


def test_flatfat_figure_4():
    """16 leaves, the last 11 up to the last leaf: nodes of 8, 2 and 1 leaves, two combines."""
    counter = Counter(sw.concat())
    window = sw.swag.multi(counter.aggregate, ranges=[11, 16], algorithm="flatfat")
    for k in range(16):
        window.insert("abcdefghijklmnop"[k])
    assert counter.cost(window.query, 11) == 2
    assert counter.cost(window.query, 16) == 0
    assert window.answers() == ["fghijklmnop", "abcdefghijklmnop"]


@pytest.mark.parametrize("n", SIZES)
def test_b_int(n):
    """Order n log n as FlatFAT, and a little less: an insert takes one combine on average, not log2 n."""
    log = math.log2(n)
    costs = slides("b_int", n)
    assert sum(costs) / len(costs) == pytest.approx(n * log - 5 * n / 2 + 3 * log / 2 + 5 / 2, rel=1e-12)


@pytest.mark.parametrize("n", [*SIZES, 3, 100])
def test_flatfit_takes_one_combine_for_all_but_the_shortest(n):
    assert set(slides("flatfit", n)) == {n - 1}


@pytest.mark.parametrize("ranges", [[64], [64, 32], [100, 37], [256, 255, 254], [200, 150, 100, 50, 3]])
def test_flatfit_with_few_ranges(ranges):
    """Three combines for one range on average, and not much more for each of several, as they cut each other's paths.

    Never more than n - 1 for all together: in a slide, each item's partial is put together once at most.
    """
    n = max(ranges)
    costs = slides("flatfit", n, ranges=ranges, rounds=8 * (n + 1))
    average = sum(costs) / len(costs)
    assert average <= len(ranges) * (3 if len(ranges) == 1 else math.log2(n))
    assert average < sum(slides("flatfat", n, ranges=ranges)) / (2 * n)
    assert max(costs) <= n - 1


@pytest.mark.parametrize("n", [*SIZES, 3, 100])
def test_slickdeque_inv_takes_two_for_each_range(n):
    assert set(slides("slickdeque_inv", n)) == {2 * n}


def test_slickdeque_inv_keeps_one_answer_for_equal_ranges():
    assert set(slides("slickdeque_inv", 5, ranges=[3, 5, 3, 5, 5])) == {4}


SHAPES = {
    "random": lambda count, n: [random.Random(n).randrange(1000) for _ in range(count)],
    "rising": lambda count, n: list(range(count)),
    "falling": lambda count, n: list(range(count, 0, -1)),
    "equal": lambda count, n: [1] * count,
    "sawtooth": lambda count, n: [-k % (n + 1) for k in range(count)],
}


@pytest.mark.parametrize("n", [*SIZES, 3, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_slickdeque(n, shape):
    """4.1: fewer than 2 combines a slide on average and n at most, whatever the number of ranges; a walk of n nodes."""
    counter, walked = Counter(sw.max()), []
    window = sw.swag.multi(counter.aggregate, ranges=range(1, n + 1), algorithm="slickdeque")
    total = 0
    count = 6 * n + 10
    for value in SHAPES[shape](count, n):
        cost = counter.cost(window.insert, value)
        assert cost <= n
        total += cost
        _, _, head, tail = window._registers
        assert tail - head <= n
        assert window._memory.links[n_slots(n)] == head
        assert counter.cost(window.answers) == 0
        walked.append(window._memory.links[n_slots(n)] - head)  # one walk: from the head to the last node it needs
        assert walked[-1] < max(tail - head, 1)
    assert total < 2 * count
    if shape == "rising":
        assert total == count - 1 if n > 1 else total == 0
    if shape == "falling":
        assert max(walked) == n - 1


def n_slots(n):
    return 1 << (n - 1).bit_length()


def test_slickdeque_worst_case_is_n():
    n = 64
    counter = Counter(sw.max())
    window = sw.swag.multi(counter.aggregate, ranges=range(1, n + 1), algorithm="slickdeque")
    for value in range(2 * n, n, -1):
        window.insert(value)
    assert counter.cost(window.insert, 3 * n) == n - 1  # the oldest has left before


@pytest.mark.parametrize("name", ["recalc", "b_int", "flatfat", "flatfit", "slickdeque_inv"])
@pytest.mark.parametrize("n", SIZES)
def test_one_range_as_one_window(name, n):
    """The single-query costs of table 1 hold for one range of n; those of windows are in test_costs.py."""
    costs = slides(name, n, ranges=[n], rounds=4 * (n + 1))
    log = math.log2(n)
    average = sum(costs[: 4 * n]) / (4 * n)
    assert {
        "recalc": set(costs) == {n - 1},
        "flatfat": max(costs) <= 3 * log and min(costs) == log,
        "b_int": max(costs) <= 3 * log and average <= 2 * log + 1,
        "flatfit": max(costs) <= max(n - 1, 2) and sum(costs) == 4 * 3 * (n - 1),
        "slickdeque_inv": set(costs) == {2},
    }[name]


@pytest.mark.parametrize("n", [1, 2, 64, 1024])
def test_space(n):
    """Table 1 for n a power of 2. FlatFIT's and SlickDeque's second n are links; FlatFIT's stack lies in n more."""
    wanted = {
        "recalc": (n, 0),
        "flatfat": (2 * n, 0),
        "b_int": (2 * n, 0),
        "flatfit": (n, 2 * n),
        "slickdeque_inv": (2 * n, 0),
        "slickdeque": (n, n + 1),
    }
    for name in FORMS:
        aggregate = sw.max() if name == "slickdeque" else sw.count()
        memory = sw.swag.multi(aggregate, ranges=range(1, n + 1), algorithm=name)._memory
        assert (len(memory.states), len(memory.links)) == wanted[name], name
    one = sw.swag.multi(sw.count(), ranges=[n])._memory
    assert len(one.states) == n + 1


STREAM = [6, 5, 0, 1, 3, 4, 2, 7]


def example(name, aggregate, filled):
    """The answers for the ranges 3 and 5, and the combines of all steps; the slots are `filled` at the start."""
    counter = Counter(aggregate)
    window = sw.swag.multi(counter.aggregate, ranges=[3, 5], algorithm=name)
    for value in filled:
        window.insert(value)
    counter.calls, answers = 0, []
    for value in STREAM:
        window.insert(value)
        answers.append(window.answers())
    return answers, counter.calls


def test_slickdeque_example_2():
    answers = [[6, 6], [11, 11], [11, 11], [6, 12], [4, 15], [8, 13], [9, 10], [13, 17]]
    assert example("recalc", sw.sum(), [0] * 5) == (answers, 48)
    assert example("slickdeque", sw.sum(), []) == (answers, 32)


def test_slickdeque_example_3():
    """Figure 9 has 6 for the first range in step 3, 5 in step 4."""
    answers = [[6, 6], [6, 6], [6, 6], [5, 6], [3, 6], [4, 5], [4, 4], [7, 7]]
    assert example("recalc", sw.max(), [-math.inf] * 5) == (answers, 48)
    assert example("slickdeque", sw.max(), []) == (answers, 11)


# The compiled forms.


def replayed(name, aggregate, kinds, columns, ranges):
    module = FORMS[name]
    falling = np.array(sorted(set(ranges), reverse=True))
    monoid = aggregate.monoid(*kinds, invertible="inverse" in module.CARD.needs)
    slots = n_slots(int(falling[0]))
    states = layout.allocate(monoid.state, module.CARD.states(slots, len(falling)), monoid.identity)
    links = np.zeros(module.CARD.links(slots), dtype=np.int64)
    shape = (len(columns[0]) * len(falling), *monoid.state.shape)
    kind = monoid.state.base if monoid.state.shape else monoid.result if monoid.result != "like0" else columns[0].dtype
    out = np.zeros(shape, dtype=kind)
    kernels.kernel(module, monoid).run("replay_ranges", columns, falling, out, states, links, slots - 1)
    return out.reshape(len(columns[0]), len(falling), *monoid.state.shape), falling.tolist()


@pytest.mark.parametrize("name", FORMS)
def test_compiled_is_interpreted(name):
    aggregate = sw.argmax() if name == "slickdeque" else sw.sum()
    chance = np.random.default_rng(5)
    values = chance.integers(-5, 6, 300)
    pairs = aggregate.arity == 2
    columns = (values, np.arange(len(values))) if pairs else (values,)
    got, falling = replayed(name, aggregate, ("i",) * len(columns), columns, [1, 2, 7, 19, 16])
    window = sw.swag.multi(aggregate, ranges=falling, algorithm=name)
    for row, value in zip(got.tolist(), values.tolist(), strict=True):
        window.insert(value)
        assert row == window.answers()


def test_compiled_states_that_are_arrays():
    """A look-up that held on to a view of a slot would see it change."""
    from slidewheel.algebra.bloom import hash_column

    got, _ = replayed("flatfat", sw.bloom(bits=128, hashes=2), ("hash",), (hash_column(np.arange(60)),), [1, 3, 7])
    items = got[:, 2]
    for k, row in enumerate(got):
        for span, found in zip([7, 3], row, strict=False):
            assert (found == np.bitwise_or.reduce(items[max(0, k + 1 - span) : k + 1])).all()


# What is asked for.


def test_auto_says_what_it_takes_and_why():
    taken = {a.name: sw.swag.multi(a, ranges=[3]).algorithm for a in (sw.count(), sw.max(), sw.sum(), sw.std())}
    assert taken == {"count": "slickdeque_inv", "max": "slickdeque", "sum": "flatfit", "std": "flatfit"}
    assert "2 combines for each range" in sw.swag.multi(sw.count(), ranges=[3]).reason
    assert sw.swag.multi(sw.max(), ranges=[3], algorithm="recalc").reason == "it was asked for"
    assert repr(sw.swag.multi(sw.max("fare"), ranges=[3, 5])) == "<window of 0: max_fare over 3, 5 by slickdeque>"


def test_slickdeque_is_two_algorithms():
    assert form("slickdeque", sw.max()) is FORMS["slickdeque"]
    assert form("slickdeque", sw.sum()) is FORMS["slickdeque_inv"]
    with pytest.raises(sw.Unsupported, match="concat has neither"):
        sw.swag.multi(sw.concat(), ranges=[3], algorithm="slickdeque")
    with pytest.raises(sw.Unsupported, match="an inverse; max has none"):
        sw.swag.multi(sw.max(), ranges=[3], algorithm="slickdeque_inv")


def test_wrong_arguments():
    with pytest.raises(sw.UnknownAlgorithm, match="did you mean flatfit or flatfat"):
        sw.swag.multi(sw.max(), ranges=[3], algorithm="flatfitt")
    for ranges in ([], 3, [0], [2.5], [True], ["a"]):
        with pytest.raises(sw.InvalidArgument, match="range"):
            sw.swag.multi(sw.max(), ranges=ranges)
    with pytest.raises(sw.InvalidArgument, match="aggregate"):
        sw.swag.multi(max, ranges=[3])
    window = sw.swag.multi(sw.max(), ranges=np.array([3, 5]))
    with pytest.raises(sw.InvalidArgument, match="4 is not one of the ranges 3, 5"):
        window.query(4)


def test_nulls_are_counted_for_each_range():
    window = sw.swag.multi(sw.var(), ranges=[2, 4])
    for value in (1, 3, None, 5):
        window.insert(value)
    assert window.answers() == [None, 4.0]
    rows = sw.swag.multi(sw.count(), ranges=[2, 4])
    rows.insert(None)
    rows.insert(7)
    assert rows.answers() == [2, 2]


def test_pairs():
    window = sw.swag.multi(sw.argmax("delay", "tail"), ranges=[1, 2])
    window.insert(3, "a")
    window.insert((9, "b"))
    window.insert(1, "c")
    assert window.answers() == ["c", "b"]
    with pytest.raises(sw.Unsupported, match="takes pairs"):
        window.insert(5)


@pytest.mark.parametrize("name", FORMS)
def test_after_an_error_it_is_as_before_or_says_so(name):
    """A combine that fails now and then: never a wrong answer."""
    chance = random.Random(name)
    state = {"failing": False}

    def unreliable(a, b):
        if state["failing"] and chance.random() < 0.3:
            raise ZeroDivisionError("as ordered")
        return max(a, b) if name == "slickdeque" else a + b

    members = {"identity": -1 if name == "slickdeque" else "", "lift": lambda x: x, "combine": unreliable}
    if name == "slickdeque_inv":
        members["inverse"] = lambda a, b: a[len(b) :]
    aggregate = sw.aggregate(state=object, selective=name == "slickdeque")(type("Unreliable", (), members))()
    for _ in range(40):
        window, items = sw.swag.multi(aggregate, ranges=[3, 8], algorithm=name), []
        for step in range(60):
            state["failing"] = chance.random() < 0.2
            value = chance.randrange(9) if name == "slickdeque" else chr(97 + step % 26)
            try:
                window.insert(value)
                items.append(value)
                window.answers()
            except ZeroDivisionError:
                pass
            state["failing"] = False
            try:
                got = window.answers()
            except sw.SlidewheelError as error:
                assert "make a new one" in str(error)
                break
            fold = max if name == "slickdeque" else "".join
            assert got == ([fold(items[-3:]), fold(items[-8:])] if items else [None, None])
            assert len(window) == min(len(items), 8)
