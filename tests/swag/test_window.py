"""Windows one item at a time: nulls, pairs, errors that leave them usable, memory."""

import random

import pytest

import slidewheel as sw
from slidewheel.swag import registry
from slidewheel.swag.registry import ALGORITHMS, lacking
from tests.support import AGGREGATES

ANY = [name for name, module in ALGORITHMS.items() if not module.CARD.needs]
FOR_MAX = [name for name, module in ALGORITHMS.items() if not any(lacking(module.CARD, sw.max()))]


@sw.aggregate(state=object, commutative=True)
class Fragile:
    """A sum whose combine fails for certain values."""

    identity = 0

    def lift(x):
        return x

    def combine(a, b):
        if "bad" in (a, b):
            raise ZeroDivisionError("as ordered")
        return a + b

    def inverse(a, b):
        return a - b


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_evict_from_empty(algorithm):
    aggregate = sw.max() if algorithm == "slickdeque" else sw.count()
    window = sw.swag.window(aggregate, algorithm)
    with pytest.raises(IndexError):
        window.evict()
    window.insert(3)
    window.evict()
    with pytest.raises(IndexError):
        window.evict()
    window.insert(4)
    assert len(window) == 1
    assert window.query() == (4 if algorithm == "slickdeque" else 1)


@pytest.mark.parametrize("algorithm", [*ANY, "subtract_on_evict"])
@pytest.mark.parametrize("before", range(7))
def test_a_failing_combine_leaves_the_window_usable(algorithm, before):
    """The bad item is refused, or it can be evicted: what is answered before and after is right."""
    window, items = sw.swag.window(Fragile(), algorithm), []
    for value in range(before):
        window.insert(value)
        items.append(value)
        window.query()
    if before > 4:
        window.evict()
        items.pop(0)
    try:
        window.insert("bad")
        items.append("bad")
    except ZeroDivisionError:
        pass
    assert len(window) == len(items)
    for value in (10, 20):
        try:
            window.insert(value)
            items.append(value)
        except ZeroDivisionError:
            pass
    if "bad" in items:
        if len(items) > 1:
            with pytest.raises(ZeroDivisionError):
                window.query()
        while "bad" in items:
            window.evict()
            items.pop(0)
    assert window.query() == (sum(items) if items else None)
    for value in range(30, 60):
        window.insert(value)
        items.append(value)
        if len(items) > 9:
            window.evict()
            items.pop(0)
        assert window.query() == sum(items)


@pytest.mark.parametrize("algorithm", [*ANY, "slickdeque", "subtract_on_evict"])
def test_a_combine_that_fails_now_and_then(algorithm):
    """After an error the window is as it was before, or says that it can't go on; it is never wrong."""
    chance = random.Random(algorithm)
    state = {"failing": False}

    def unreliable(a, b):
        if state["failing"] and chance.random() < 0.3:
            raise ZeroDivisionError("as ordered")
        return max(a, b) if algorithm == "slickdeque" else a + b

    members = {"identity": -1 if algorithm == "slickdeque" else "", "lift": lambda x: x, "combine": unreliable}
    if algorithm == "subtract_on_evict":
        members["inverse"] = lambda a, b: a[len(b) :] if unreliable("", "") == "" else a
    aggregate = sw.aggregate(state=object, selective=True)(type("Unreliable", (), members))()
    for _ in range(60):
        window, items = sw.swag.window(aggregate, algorithm), []
        for step in range(120):
            state["failing"] = chance.random() < 0.2
            growing = (0.7, 0.4, 0.2, 0.6)[step // 30]
            value = chance.randrange(9) if algorithm == "slickdeque" else chr(97 + step % 26)
            try:
                if chance.random() < growing or not items:
                    window.insert(value)
                    items.append(value)
                else:
                    window.evict()
                    items.pop(0)
            except ZeroDivisionError:
                pass
            try:
                state["failing"] = chance.random() < 0.2
                window.query()
            except (ZeroDivisionError, sw.SlidewheelError):
                pass
            state["failing"] = False
            try:
                got = window.query()
            except sw.SlidewheelError:
                break
            fold = max(items, default=None) if algorithm == "slickdeque" else "".join(items) or None
            assert got == fold
            assert len(window) == len(items)


@pytest.mark.parametrize("algorithm", FOR_MAX)
def test_an_interrupted_window_says_so(algorithm):
    """Ctrl-C in the middle of an operation: rather an error than a wrong answer."""
    state = {"interrupt": False}

    @sw.aggregate(state=object, selective=True)
    class Interrupted:
        identity = -1

        def lift(x):
            return x

        def combine(a, b):
            if state["interrupt"]:
                raise KeyboardInterrupt
            return max(a, b)

    window = sw.swag.window(Interrupted(), algorithm)
    for value in (5, 3, 4, 1):
        window.insert(value)
    window.query()
    state["interrupt"] = True
    with pytest.raises(KeyboardInterrupt):
        for value in (0, 1, 2):
            window.insert(value)
            window.query()
            window.evict()
    state["interrupt"] = False
    for operation in (window.query, window.evict, lambda: window.insert(1), lambda: len(window)):
        with pytest.raises(sw.SlidewheelError, match="make a new one"):
            operation()


def test_nulls_take_a_place_and_count_for_nothing():
    window = sw.swag.window(sw.max())
    window.insert(None)
    assert len(window) == 1
    assert window.query() is None
    window.insert(3)
    window.insert(None)
    assert window.query() == 3
    window.evict()
    window.evict()
    assert len(window) == 1
    assert window.query() is None


def test_count_of_rows_counts_nulls_and_count_of_a_column_does_not():
    rows, values = sw.swag.window(sw.count()), sw.swag.window(sw.count("fare"))
    assert rows.query() == values.query() == 0
    for window in (rows, values):
        window.insert(None)
        window.insert(7)
    assert rows.query() == 2
    assert values.query() == 1


@pytest.mark.parametrize("algorithm", ["two_stacks_lite", "daba", "slickdeque"])
def test_argmax_takes_pairs(algorithm):
    window = sw.swag.window(sw.argmax("delay", "tail"), algorithm)
    window.insert(3, "a")
    window.insert((9, "b"))
    window.insert(9, "c")
    window.insert(None, "d")
    assert window.query() == "b"
    window.evict()
    window.evict()
    assert window.query() == "c"
    with pytest.raises(sw.SlidewheelError, match="pairs"):
        window.insert(5)
    assert window.query() == "c"


def test_argmax_without_an_argument_gives_the_position():
    window = sw.swag.window(sw.argmax())
    for value in (3, 9, 9):
        window.insert(value)
    assert window.query() == 1
    window.evict()
    window.evict()
    assert window.query() == 2


def test_values_of_any_type():
    window = sw.swag.window(sw.max())
    for value in ("pear", "apple", "plum"):
        window.insert(value)
    assert window.query() == "plum"
    import decimal

    total = sw.swag.window(sw.sum())
    total.insert(decimal.Decimal("0.1"))
    total.insert(decimal.Decimal("0.2"))
    assert total.query() == decimal.Decimal("0.3")


def test_integer_sums_beyond_64_bits_are_an_error():
    window = sw.swag.window(sw.sum())
    window.insert(2**62)
    window.insert(2**62)
    with pytest.raises(sw.Overflow):
        window.query()
    window.insert(-5)
    assert window.query() == 2**63 - 5


@pytest.mark.parametrize("capacity", [0, -5, 2.5, True, "a"])
def test_bad_capacity(capacity):
    with pytest.raises(sw.InvalidArgument, match="capacity"):
        sw.swag.window(sw.max(), capacity=capacity)
    with pytest.raises(sw.InvalidArgument, match="reserve"):
        sw.swag.window(sw.max()).reserve(capacity)


def test_a_span_beyond_64_bits_is_an_error():
    window = sw.swag.window(sw.span())
    window.insert(2**62)
    window.insert(-(2**62) - 5)
    with pytest.raises(sw.Overflow):
        window.query()
    with pytest.raises(sw.Overflow):
        sw.rolling([-(2**62) - 5, 2**62], sw.span(), size=2)


@pytest.mark.parametrize("algorithm", [*ANY, "slickdeque"])
def test_reserve_makes_room_at_once(algorithm):
    window = sw.swag.window(sw.max(), algorithm)
    for value in (5, 9, 2):
        window.insert(value)
    window.evict()
    window.reserve(1000)
    before = window._inside()[0].mask
    assert before == 1023
    for value in range(998):
        window.insert(value)
    assert window._inside()[0].mask == before
    assert window.query() == 997
    window.reserve(10)
    assert window._inside()[0].mask == before


@pytest.mark.parametrize("algorithm", ANY)
def test_growing_at_every_phase(algorithm):
    """A window that grows while its items lie anywhere in the ring keeps its order."""
    for evictions in range(0, 12):
        window, items = sw.swag.window(sw.concat(), algorithm), []
        for k in range(8 + evictions):
            if len(items) == 8:
                window.evict()
                items.pop(0)
            window.insert(chr(97 + k))
            items.append(chr(97 + k))
            if k % 3 == 0:
                window.query()
        for k in range(40):
            window.insert(chr(65 + k % 26))
            items.append(chr(65 + k % 26))
            assert window.query() == "".join(items)


def test_auto_says_why():
    chosen = {name: sw.swag.window(aggregate).algorithm for name, aggregate in AGGREGATES.items()}
    assert chosen["count"] == "subtract_on_evict"
    assert chosen["max"] == chosen["first"] == "slickdeque"
    assert chosen["sum"] == chosen["std"] == chosen["concat"] == "two_stacks_lite"
    assert sw.swag.window(sw.std(), steady=True).algorithm == "daba_lite"
    assert "selective" in sw.swag.window(sw.max()).reason


def test_unknown_and_unsuitable_algorithms():
    with pytest.raises(sw.UnknownAlgorithm, match="two_stacks"):
        sw.swag.window(sw.max(), "two_stack")
    with pytest.raises(sw.UnknownAlgorithm, match="rolling"):
        sw.swag.window(sw.max(), "blocks")
    with pytest.raises(sw.Unsupported, match="inverse"):
        sw.swag.window(sw.max(), "subtract_on_evict")
    with pytest.raises(sw.Unsupported, match="selective"):
        sw.swag.window(sw.sum(), "slickdeque")
    with pytest.raises(sw.InvalidArgument, match="aggregate"):
        sw.swag.window("max")


def test_every_algorithm_has_a_card():
    cards = {card.name: card for card in sw.algorithms()}
    assert set(cards) == {*registry.ALGORITHMS, "blocks"}
    promised = "recalc subtract_on_evict two_stacks two_stacks_lite daba daba_lite flatfat b_int flatfit slickdeque"
    assert set(registry.ALGORITHMS) == {*promised.split(), "foa", "ioa", "greedy"}
    for card in cards.values():
        assert card.paper in str(card)
        assert card.use in str(card)
