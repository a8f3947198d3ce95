"""What the files of the Reactive Aggregator suite share: aggregates, settings, columns, contestants."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, LiveBatches
from bench.harness import SEED, Contestant

RA, ISS, AW = "flatfat", "recalc", "b_int"
MAX_STD = {"max": sw.max(), "std": sw.std()}
Point = int | str
# Table 3: the aggregate, the kinds of its columns, and the paper's break-even point and 10x point.
TABLE_3: dict[str, tuple[sw.Aggregate, tuple[str, ...], Point, Point]] = {
    "count": (sw.count(), ("i",), "never", "never"),
    "sum": (sw.sum(), ("i",), 370, 5200),
    "sum, float": (sw.sum(), ("f",), 290, 5200),
    "max": (sw.max(), ("i",), 260, 5200),
    "max, float": (sw.max(), ("f",), 130, 3600),
    "mean": (sw.mean(), ("i",), 10, 900),
    "min_count": (sw.min_count(), ("i",), 200, 4480),
    "std, ddof=1": (sw.std(), ("i",), 10, 700),
    "std, ddof=0": (sw.std(ddof=0), ("i",), 10, 700),
    "argmax": (sw.argmax(), ("i", "i"), 130, 2770),
    "argmax, float": (sw.argmax(), ("f", "i"), 250, 5810),
    "collect": (sw.collect(), (), "never", "never"),
}
# Table 4: the aggregate, and AW's time over RA's for n = 8, 8K and 8M.
TABLE_4: dict[str, tuple[sw.Aggregate, tuple[float, float, float]]] = {
    "sum": (sw.sum(), (1.02, 1.20, 1.36)),
    "max": (sw.max(), (1.02, 1.25, 1.37)),
    "mean": (sw.mean(), (1.05, 1.24, 1.39)),
    "min_count": (sw.min_count(), (1.04, 1.23, 1.35)),
    "std": (sw.std(ddof=0), (1.06, 1.26, 1.37)),
}
M = ("1", "4", "64", "n/16", "n/4", "n")
"""Items between two queries in figure 10."""


@dataclass(frozen=True)
class Settings:
    even: tuple[int, ...] = tuple(1 << k for k in range(2, 14))
    """Windows between which break-even points are looked for."""
    table_3: tuple[str, ...] = tuple(TABLE_3)
    collect: int = 1 << 10
    short: tuple[int, ...] = tuple(1 << k for k in range(0, 11, 2))
    long: tuple[int, ...] = (*(1 << k for k in range(0, 23, 2)), 1 << 23)
    tumbling: tuple[int, ...] = tuple(1 << k for k in range(0, 13, 2))
    dynamic: tuple[int, ...] = tuple(1 << k for k in range(4, 21, 4))
    coarse: tuple[int, ...] = tuple(1 << k for k in range(6, 19, 3))
    table_4: tuple[int, int, int] = (1 << 3, 1 << 13, 1 << 23)
    rounds: int = 1 << 14
    tuples: int = 1 << 16


@cache
def columns(kinds: tuple[str, ...], rows: int) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    values = np.random.default_rng(SEED).integers(1, 1000, rows)
    given = {"i": values, "f": values.astype("f8") + 0.5}
    return kinds, (given[kinds[0]], np.arange(rows))[: len(kinds)]


def rows(window: int) -> int:
    """Enough for a window, as a power of 2."""
    return 1 << max(14, window.bit_length())


def sliding(settings: Settings, algorithm: str, aggregate: sw.Aggregate, kinds: Any, window: int) -> Contestant:
    """Evict, insert, query."""
    made = Live(algorithm, aggregate, window, columns(kinds, rows(window)), 1 << 6)
    count = max(settings.rounds // window, 32) if algorithm == ISS else settings.rounds
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: made.advance(1 << 6).copy())


def batch(
    settings: Settings, algorithm: str, aggregate: sw.Aggregate, window: int, m: int, *, per_tuple: bool = True
) -> Contestant:
    """m items leave and enter, then a query."""
    made = LiveBatches(algorithm, aggregate, window, m, columns(("f",), rows(window)), 1 << 4)
    count = max(settings.tuples // m, 4)
    units = count * m if per_tuple else count
    return Contestant(algorithm, lambda: made.advance(count), units, answer=lambda: made.advance(1 << 4).copy())


def named(name: str, made: list[Contestant]) -> list[Contestant]:
    """The same contestants with a name before theirs, compared with the first of them."""
    answer = made[0].answer
    assert answer is not None
    reference = cache(answer)
    first = Contestant(f"{name}, {made[0].name}", made[0].run, made[0].units, reference, expected=reference)
    rest = [Contestant(f"{name}, {c.name}", c.run, c.units, c.answer, expected=reference) for c in made[1:]]
    return [first, *rest]


def parts(first: str) -> Any:
    """What the names of `named` stand for: a field of this name, and the algorithm."""

    def fields(name: str) -> dict[str, str]:
        of, _, algorithm = name.partition(", ")
        return {first: of.removeprefix("m = "), "algorithm": algorithm}

    return fields
