"""Windows used from Python, one item at a time: nanoseconds for evict, insert and query."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

import slidewheel as sw
from bench.harness import SEED, Contestant, Report
from slidewheel.swag import registry

AGGREGATES = {"sum": sw.sum(), "max": sw.max(), "mean": sw.mean(), "std": sw.std()}
TARGETS = {"daba": 1500, "two_stacks": 800}
Operations = tuple[Callable[[float], Any], Callable[[], Any], Callable[[], Any]]


@dataclass(frozen=True)
class Settings:
    window: int = 1000
    rounds: int = 50_000
    """In one measurement; a hundredth of it for those that go through the whole window in each round."""
    aggregates: tuple[str, ...] = tuple(AGGREGATES)
    algorithms: tuple[str, ...] = tuple(registry.ALGORITHMS)


FULL = Settings()
QUICK = Settings(rounds=10_000)


def run(report: Report, settings: Settings) -> None:
    report.say(f"ns per round of evict, insert and query, in Python, window {settings.window}")
    values = np.random.default_rng(SEED).uniform(0.5, 1.5, 1 << 16).tolist()
    times = {}
    for name in settings.aggregates:
        report.say(f"  measuring {name} ...")
        times |= report.race({name: list(_contestants(settings, name, values))})
    table = report.table(settings.aggregates)
    for contestant in dict.fromkeys(contestant for group in times.values() for contestant in group):
        table.row(contestant, [group.get(contestant, "-") for group in times.values()])
    for name, group in times.items():
        for contestant, timing in group.items():
            report.keep("ns/round", timing, aggregate=name, contestant=contestant, window=settings.window)
    for algorithm, limit in TARGETS.items():
        for name, group in times.items():
            if algorithm in group:
                report.target(f"{name} by {algorithm}", group[algorithm].median, limit, " ns")


def _contestants(settings: Settings, name: str, values: list[float]) -> Iterator[Contestant]:
    many, few = settings.rounds, max(settings.rounds // 100, 1)
    for algorithm in settings.algorithms:
        if not list(registry.lacking(registry.ALGORITHMS[algorithm].CARD, AGGREGATES[name])):
            live = sw.swag.window(AGGREGATES[name], algorithm)
            operations = live.insert, live.evict, live.query
            yield _contestant(settings, algorithm, operations, few if algorithm == "recalc" else many, values)
    if name in PLAIN:
        yield _contestant(settings, "plain deque", plain_deque(PLAIN[name]), few, values)
    if name == "max":
        yield _contestant(settings, "monotonic deque", monotonic_deque(), many, values)


def _contestant(settings: Settings, name: str, operations: Operations, rounds: int, values: list[float]) -> Contestant:
    insert, evict, query = operations
    coming = cycle(values)
    for value in islice(coming, settings.window):
        insert(value)

    def run() -> None:
        for value in islice(coming, rounds):
            evict()
            insert(value)
            query()

    def answers() -> np.ndarray:
        found = []
        for value in islice(coming, settings.window):
            evict()
            insert(value)
            found.append(query())
        return np.array(found)

    return Contestant(name, run, rounds, answer=answers)


# What people write without a library.

PLAIN: dict[str, Callable[[Any], float]] = {
    "sum": sum,
    "max": max,
    "mean": lambda items: sum(items) / len(items),
}


def plain_deque(function: Callable[[Any], float]) -> Operations:
    """Keep the items, and go through all of them at each query."""
    items: deque[float] = deque()
    return items.append, items.popleft, lambda: function(items)


def monotonic_deque() -> Operations:
    """The textbook's sliding maximum: only items that are greater than all younger ones, with their positions."""
    items: deque[tuple[float, int]] = deque()
    front = end = 0

    def insert(value: float) -> None:
        nonlocal end
        while items and items[-1][0] <= value:
            items.pop()
        items.append((value, end))
        end += 1

    def evict() -> None:
        nonlocal front
        if items[0][1] == front:
            items.popleft()
        front += 1

    return insert, evict, lambda: items[0][0]
