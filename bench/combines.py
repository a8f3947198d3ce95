"""Combines, counted by the monoid that the tests count with: exact figures, the same on every machine."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import slidewheel as sw
from tests.support import Counter

OPERATIONS = ("evict", "insert", "query")


def of_slides(
    algorithm: str, n: int, slides: int, aggregate: sw.Aggregate | None = None, values: Iterable[Any] | None = None
) -> dict[str, list[int]]:
    """The combines of each operation, and of each slide as a whole, while a full window of n items slides."""
    counter = Counter(aggregate or sw.sum())
    window = sw.swag.window(counter.aggregate, algorithm, capacity=n)
    coming = iter(values) if values is not None else _random(n)
    for _ in range(n):
        window.insert(next(coming))
    window.query()
    costs: dict[str, list[int]] = {name: [] for name in (*OPERATIONS, "slide")}
    for _ in range(slides):
        each = (counter.cost(window.evict), counter.cost(window.insert, next(coming)), counter.cost(window.query))
        for name, cost in zip(OPERATIONS, each, strict=True):
            costs[name].append(cost)
        costs["slide"].append(sum(each))
    return costs


def of_ranges(
    algorithm: str,
    n: int,
    slides: int,
    aggregate: sw.Aggregate | None = None,
    ranges: Sequence[int] | None = None,
    values: Iterable[Any] | None = None,
) -> list[int]:
    """The combines of each slide that answers all ranges from 1 to n, or those given, in the steady state."""
    counter = Counter(aggregate or sw.sum())
    window = sw.swag.multi(counter.aggregate, ranges=ranges or range(1, n + 1), algorithm=algorithm)
    coming = iter(values) if values is not None else _random(n)
    for _ in range(3 * n):
        window.insert(next(coming))
        window.answers()
    return [counter.cost(window.insert, next(coming)) + counter.cost(window.answers) for _ in range(slides)]


def of_windows(
    algorithm: str, items: Sequence[Any], windows: Iterable[tuple[int, int]], aggregate: sw.Aggregate
) -> tuple[list[Any], int]:
    """The answers for these windows [left, right), neither end of which moves back, and the combines of all of it."""
    counter = Counter(aggregate)
    window = sw.swag.window(counter.aggregate, algorithm)
    answers = asked(window.insert, window.evict, window.query, items, windows)
    return answers, counter.calls


def asked(
    insert: Callable[[Any], Any],
    evict: Callable[[], Any],
    query: Callable[[], Any],
    items: Sequence[Any],
    windows: Iterable[tuple[int, int]],
) -> list[Any]:
    """The answer for each window [left, right)."""
    left = right = 0
    answers = []
    for first, last in windows:
        while right < last:
            insert(items[right])
            right += 1
        while left < first:
            evict()
            left += 1
        answers.append(query())
    return answers


def _random(seed: int) -> Iterator[int]:
    chance = random.Random(seed)
    while True:
        yield chance.randrange(1000)
