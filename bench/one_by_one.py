"""Windows used from Python, one item at a time: nanoseconds for evict, insert and query.

river's windows evict by themselves when they are full. Its sum, mean and variance go back by what they subtract, its
extremes keep the window sorted. It has exact quantiles over windows, where ours are sketches: they are not compared.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count, cycle, islice
from typing import Any

import numpy as np
from river import stats, utils

import slidewheel as sw
from bench.harness import SEED, Contestant, Report
from slidewheel.swag import registry

AGGREGATES = {"sum": sw.sum(), "max": sw.max(), "min": sw.min(), "mean": sw.mean(), "var": sw.var(), "std": sw.std()}
TIMED = "mean by time"
TARGETS = {"daba": 1500, "two_stacks": 800}
Operations = tuple[Callable[[float], Any], Callable[[], Any] | None, Callable[[], Any]]
"""Insert, evict, query."""


@dataclass(frozen=True)
class Settings:
    window: int = 1000
    rounds: int = 50_000
    """In one measurement; a hundredth of it for those that go through the whole window in each round."""
    aggregates: tuple[str, ...] = (*AGGREGATES, TIMED)
    algorithms: tuple[str, ...] = tuple(registry.ALGORITHMS)


FULL = Settings()
QUICK = Settings(rounds=10_000)
SMOKE = Settings(window=20, rounds=50, aggregates=("max", "var", TIMED))


def run(report: Report, settings: Settings) -> None:
    report.say(f"ns per round of evict, insert and query, in Python, window {settings.window}")
    values = np.random.default_rng(SEED).uniform(0.5, 1.5, 1 << 16).tolist()
    times = {}
    for name in settings.aggregates:
        report.say(f"  measuring {name} ...")
        group = _timed(settings, values) if name == TIMED else _contestants(settings, name, values)
        times |= report.race({name: list(group)})
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
    if name in RIVER:
        made = RIVER[name](settings.window)
        yield _contestant(settings, "river", (made.update, None, made.get), many, values)
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

    def run_evicting() -> None:
        for value in islice(coming, rounds):
            insert(value)
            query()

    def answers() -> np.ndarray:
        found = []
        for value in islice(coming, settings.window):
            if evict is not None:
                evict()
            insert(value)
            found.append(query())
        return np.array(found)

    return Contestant(name, run_evicting if evict is None else run, rounds, answer=answers)


RIVER: dict[str, Callable[[int], Any]] = {
    "sum": lambda window: utils.Rolling(stats.Sum, window_size=window),
    "max": lambda window: stats.RollingMax(window_size=window),
    "min": lambda window: stats.RollingMin(window_size=window),
    "mean": lambda window: utils.Rolling(stats.Mean, window_size=window),
    "var": lambda window: utils.Rolling(stats.Var, window_size=window, ddof=1),
}


def _timed(settings: Settings, values: list[float]) -> Iterator[Contestant]:
    """An item a second, and a window of so many seconds. Items come in order, for which a window that need not be able
    to take others, and the times beside it, is enough; river and the rest of ours take them in any order."""
    rounds = max(settings.rounds // 5, 1)
    seconds = zip(count(), cycle(values), strict=False)
    yield _timed_contestant(settings, "two_stacks_lite", in_order("two_stacks_lite", settings.window), rounds, seconds)
    for algorithm in registry.NOT_FIFO:
        live = sw.swag.window(sw.mean(), algorithm, fifo=False)
        operations = live.insert, live.evict, live.query
        yield _timed_contestant(settings, algorithm, operations, rounds, zip(count(), cycle(values), strict=False))
    made = utils.TimeRolling(stats.Mean, period=timedelta(seconds=settings.window))
    start = datetime(2024, 1, 1)
    times = [start + timedelta(seconds=k) for k in range(2 * settings.window + 12 * rounds)]
    coming = zip(times, cycle(values), strict=False)
    operations = (lambda time, value: made.update(value, t=time)), None, made.get
    yield _timed_contestant(settings, "river", operations, rounds, coming)


def in_order(algorithm: str, period: int) -> tuple[Callable[[int, float], Any], None, Callable[[], Any]]:
    """A window of the items of the last seconds, with a deque of their times."""
    live, times = sw.swag.window(sw.mean(), algorithm), deque[int]()

    def insert(time: int, value: float) -> None:
        live.insert(value)
        times.append(time)
        while times[0] <= time - period:
            times.popleft()
            live.evict()

    return insert, None, live.query


def _timed_contestant(
    settings: Settings, name: str, operations: Any, rounds: int, coming: Iterator[tuple[Any, float]]
) -> Contestant:
    insert, evict, query = operations
    for time, value in islice(coming, settings.window):
        insert(time, value)

    def run(rounds: int = rounds) -> np.ndarray:
        found = []
        for time, value in islice(coming, rounds):
            if evict is not None:
                evict()
            insert(time, value)
            found.append(query())
        assert len(found) == rounds, "there are not as many items as rounds"
        return np.array(found)

    return Contestant(name, run, rounds, answer=lambda: run(settings.window))


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
