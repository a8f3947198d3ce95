"""Every algorithm with every aggregate that it supports, over random operations, against plain recalculation."""

import math
import random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import slidewheel as sw
from slidewheel.swag.registry import ALGORITHMS, lacking
from tests.support import AGGREGATES, PAIRS, agree, outcome, recalculated

INTEGERS = [0, 1, 2, 3, -1, -5, 7, 2**63 - 1, -(2**63), 2**62]
FLOATS = [0.0, -0.0, 0.5, 1.0, 2.0, -4.0, 8.0, math.nan, math.inf, -math.inf]
# Numbers that are exact in any order, so that rounding can't hide a mistake.
PLAIN = [0, 1, 2, 3, 5, 8, -1, -2, 0.5, None]


def loose(algorithm: str, aggregate: str) -> float:
    # Taking away cancels digits: that is what a user asks for with subtract_on_evict.
    return 1e-5 if algorithm == "subtract_on_evict" and aggregate in ("var", "std") else 1e-9


@pytest.mark.parametrize(("algorithm", "aggregate"), PAIRS)
@pytest.mark.parametrize("values", [INTEGERS, FLOATS, PLAIN], ids=["integers", "floats", "plain"])
def test_random_operations(algorithm, aggregate, values):
    """Grow, shrink to empty, refill: the answer is always that of a plain fold."""
    chance = random.Random(f"{algorithm} {aggregate} {len(values)}")
    wanted = AGGREGATES[aggregate]
    if wanted.arithmetic and values is INTEGERS and aggregate not in ("sum", "span"):
        values = INTEGERS[:7]  # floats of 2**63 round, and differently in another order
    window, items = sw.swag.window(wanted, algorithm), []
    pairs = wanted.arity == 2
    position = 0
    for growing in (0.8, 0.2, 0.5, 0.95, 0.0, 0.6):
        for _ in range(40):
            if chance.random() < growing:
                value = chance.choice(values)
                window.insert(value)
                items.append((value, position) if pairs and value is not None else value)
                position += 1
            elif items:
                window.evict()
                items.pop(0)
            assert len(window) == len(items)
            got, want = outcome(window.query), recalculated(wanted, items)
            assert agree(got, want, loose(algorithm, aggregate)), (items, got, want)


@pytest.mark.parametrize(("algorithm", "aggregate"), PAIRS)
def test_runs_of_order(algorithm, aggregate):
    """Rising, falling and equal values, with the window sliding at a constant length."""
    wanted = AGGREGATES[aggregate]
    for values in (range(40), range(40, 0, -1), [3] * 40):
        window, items = sw.swag.window(wanted, algorithm), []
        for position, value in enumerate(values):
            if len(items) == 7:
                window.evict()
                items.pop(0)
            window.insert(value)
            items.append((value, position) if wanted.arity == 2 else value)
            assert agree(window.query(), recalculated(wanted, items), loose(algorithm, aggregate))


def machine(name: str) -> type[RuleBasedStateMachine]:
    """All algorithms of one aggregate, driven by hypothesis, which shrinks what fails."""
    aggregate = AGGREGATES[name]

    class Windows(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            able = [a for a, module in ALGORITHMS.items() if not any(lacking(module.CARD, aggregate))]
            self.windows = {a: sw.swag.window(aggregate, a) for a in able}
            self.items: list = []
            self.position = 0

        @rule(values=st.lists(st.sampled_from(PLAIN + FLOATS[4:]), min_size=1, max_size=12))
        def insert(self, values):
            for value in values:
                for window in self.windows.values():
                    window.insert(value)
                self.items.append((value, self.position) if aggregate.arity == 2 and value is not None else value)
                self.position += 1

        @precondition(lambda self: self.items)
        @rule(data=st.data())
        def evict(self, data):
            for _ in range(data.draw(st.integers(1, len(self.items)))):
                for window in self.windows.values():
                    window.evict()
                self.items.pop(0)

        @precondition(lambda self: not self.items)
        @rule()
        def evict_from_empty(self):
            for window in self.windows.values():
                with pytest.raises(IndexError):
                    window.evict()

        @rule()
        def query(self):
            want = recalculated(aggregate, self.items)
            for algorithm, window in self.windows.items():
                got = outcome(window.query)
                assert agree(got, want, loose(algorithm, name)), (algorithm, self.items, got, want)

        @invariant()
        def length(self):
            assert all(len(window) == len(self.items) for window in self.windows.values())

    Windows.TestCase.settings = settings(
        max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    return Windows


def _register() -> None:
    for name in AGGREGATES:
        case = machine(name).TestCase
        globals()[f"Test_{name}"] = type(f"Test_{name}", (case,), {})


_register()


@pytest.mark.slow
@pytest.mark.parametrize("name", AGGREGATES)
def test_long_stateful_runs(name):
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(machine(name), settings=settings(max_examples=400, stateful_step_count=60, deadline=None))
