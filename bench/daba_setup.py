"""What the files of the DABA suite share: aggregates, settings, the paper's tables, contestants."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import slidewheel as sw
from bench.algorithms import Interpreted
from bench.compiled import Live, columns_for
from bench.harness import SEED, Contestant, figure

AGGREGATES: dict[str, sw.Aggregate] = {
    "sum": sw.sum(),
    "max": sw.max(),
    "argmax": sw.argmax(),
    "min_count": sw.min_count(),
    "mean": sw.mean(),
    "std": sw.std(),
    "geomean": sw.geomean(),
    "bloom": sw.bloom(bits=16_384),
    "collect": sw.collect(),
}
SHOWN = ("sum", "geomean", "bloom")
"""Cheap, medium, expensive: those of figure 13."""

# Table 1: time, and what of a slide's combines that is about.
PAPERS_1 = {
    "subtract_on_evict": "worst O(1)",
    "recalc": "worst O(n)",
    "flatfat": "avg. O(log n)",
    "two_stacks": "avg. O(1)",
    "foa": "worst O(1)",
    "ioa": "worst O(1)",
    "daba": "worst O(1)",
}
# Table 2: average and standard deviation in cycles.
PAPERS_2: dict[str, dict[str, tuple[int, int]]] = {
    "sum": {"two_stacks": (127, 2980), "foa": (250, 15_559), "ioa": (1824, 1919), "daba": (193, 113)},
    "max": {"two_stacks": (125, 2991), "foa": (332, 15_356), "ioa": (1831, 2083), "daba": (200, 122)},
    "argmax": {"two_stacks": (136, 3214), "foa": (378, 18_693), "ioa": (1846, 1925), "daba": (207, 137)},
    "min_count": {"two_stacks": (154, 4463), "foa": (395, 20_150), "ioa": (1937, 2103), "daba": (222, 157)},
    "mean": {"two_stacks": (165, 3740), "foa": (397, 18_528), "ioa": (1898, 2084), "daba": (237, 149)},
    "std": {"two_stacks": (200, 4099), "foa": (469, 20_373), "ioa": (1943, 2081), "daba": (274, 160)},
    "geomean": {"two_stacks": (299, 3777), "foa": (484, 18_171), "ioa": (2055, 2100), "daba": (366, 168)},
    "bloom": {"two_stacks": (5532, 298_982), "foa": (12_394, 310_698), "ioa": (21_595, 14_691), "daba": (9021, 4249)},
}
# Table 3: Reactive, Two-Stacks, FOA, IOA, DABA.
ORDER_3 = ("flatfat", "two_stacks", "foa", "ioa", "daba")
PAPERS_3: dict[str, tuple[int | str, ...]] = {
    "sum": (1024, 32, 128, 1024, 112),
    "max": (1024, 28, 112, 1024, 64),
    "argmax": (512, 28, 112, 512, 64),
    "min_count": (512, 28, 64, 1024, 48),
    "mean": (1024, 32, 128, 1024, 112),
    "std": (1024, 32, 112, 1024, 64),
    "geomean": (16, 2, 4, 16, 4),
    "bloom": (16, 12, 28, 48, 28),
    "collect": ("never",) * 5,
}


@dataclass(frozen=True)
class Settings:
    aggregates: tuple[str, ...] = tuple(AGGREGATES)
    counted: tuple[int, ...] = (1 << 4, 1 << 8, 1 << 12)
    """Windows of table 1."""
    window: int = 1 << 14
    latency_rounds: int = 1_000_000
    bloom_part: int = 16
    """Bloom filters of 2 KB each take this part of the rounds."""
    interpreted_part: int = 20
    """Interpreted windows take this part of the rounds."""
    runs: int = 9
    even: tuple[int, ...] = tuple(1 << k for k in range(1, 12))
    rounds: int = 1 << 13
    windows: tuple[int, ...] = tuple(1 << k for k in range(0, 23, 2))
    throughput: int = 1 << 16
    bloom_window: int = 1 << 14
    interpreted: tuple[int, ...] = tuple(1 << k for k in range(0, 15, 2))
    """Windows at which FOA's throughput is taken."""


def columns(name: str, rows: int) -> Any:
    return _columns(name, 1 << (rows - 1).bit_length())


@cache
def _columns(name: str, rows: int) -> Any:
    return columns_for(AGGREGATES[name], rows, SEED)


def kept(name: str) -> int:
    """How many answers are compared."""
    return 1 << 4 if name == "bloom" else 1 << 8


def span(values: Iterable[float]) -> str:
    found = sorted(values)
    ends = [figure(end) if math.isfinite(end) else "never" for end in (found[0], found[-1])]
    return " to ".join(dict.fromkeys(ends))


def compiled(algorithm: str, name: str, window: int, count: int, given: Any) -> Contestant:
    """That many rounds of evict, insert and query in one run."""
    made, answers = Live(algorithm, AGGREGATES[name], window, given, kept(name)), kept(name)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: np.copy(made.advance(answers)))


def interpreted(algorithm: str, name: str, window: int, count: int) -> Contestant:
    given = columns("sum" if name == "collect" else name, max(1 << 14, 2 * window))
    made = Interpreted(algorithm, AGGREGATES[name], window, given, 8)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: np.copy(made.advance(8)))
