"""How long a single operation takes at worst: the reason for DABA.

Every evict, insert and query is measured by the processor's cycle counter, in compiled code. The same sequence of
operations is run several times, and each operation counts with its fastest run: an interruption by the system hits
another operation each time, while work that the algorithm does there is done every time.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, columns_for, counter
from bench.harness import SEED, Report, disagreement, figure
from slidewheel.swag import registry

AGGREGATES = {"sum": sw.sum(), "max": sw.max(), "geomean": sw.geomean(), "bloom": sw.bloom()}
ALGORITHMS = ("two_stacks", "two_stacks_lite", "daba", "daba_lite", "flatfit", "slickdeque", "flatfat", "ioa")
OPERATIONS = ("evict", "insert", "query", "round")
POINTS = {"p50": 50.0, "p99": 99.0, "p99.99": 99.99, "max": 100.0}


@dataclass(frozen=True)
class Settings:
    window: int = 1 << 14
    rounds: int = 1 << 18
    bloom_rounds: int = 1 << 16
    """Its states are 2 KB each: a round takes some microseconds."""
    runs: int = 25
    aggregates: tuple[str, ...] = tuple(AGGREGATES)
    algorithms: tuple[str, ...] = ALGORITHMS


FULL = Settings(bloom_rounds=200_000)
QUICK = Settings(rounds=200_000, runs=5)
SMOKE = Settings(window=8, rounds=64, runs=2, aggregates=("sum",), algorithms=("two_stacks", "daba"))


def run(report: Report, settings: Settings) -> None:
    scale, apart = counter()
    if math.isnan(scale):
        report.say("this processor has no cycle counter that a program can read: nothing to measure with")
        return
    report.say(f"ns of one operation at window {settings.window}; each the fastest of {settings.runs} equal runs")
    report.say(f"reading the counter is part of each figure: two readings in a row are {figure(apart)} ns apart")
    for name in settings.aggregates:
        _aggregate(report, settings, name, scale)


def _aggregate(report: Report, settings: Settings, name: str, scale: float) -> None:
    aggregate = AGGREGATES[name]
    rounds = settings.bloom_rounds if name == "bloom" else settings.rounds
    cards = [registry.ALGORITHMS[algorithm].CARD for algorithm in settings.algorithms]
    fitting = [card.name for card in cards if not list(registry.lacking(card, aggregate))]
    columns = columns_for(aggregate, 1 << (settings.window + rounds).bit_length(), SEED)
    report.say(f"\n{name}: {rounds} rounds")
    least = _fastest(report, settings, name, fitting, columns, rounds)
    table = report.table([*POINTS, *(f"max {operation}" for operation in OPERATIONS[:3])], label="one round")
    for algorithm, cycles in least.items():
        found = {o: _points(cycles[:, k] * scale) for k, o in enumerate(OPERATIONS)}
        for operation, points in found.items():
            report.keep("ns", points, aggregate=name, algorithm=algorithm, operation=operation)
        single = [found[operation]["max"] for operation in OPERATIONS[:3]]
        table.row(algorithm, [figure(v) for v in (*found["round"].values(), *single)])
    if "daba" in least and "two_stacks" in least:
        worst = {algorithm: float(least[algorithm][:, :3].max()) for algorithm in ("daba", "two_stacks")}
        ratio = worst["daba"] / worst["two_stacks"]
        report.say(f"  the slowest operation of daba is 1/{1 / ratio:.0f} of two_stacks'")
        report.target(f"{name}: slowest operation of daba over two_stacks', times 50", 50 * ratio, 1)


def _points(ns: np.ndarray) -> dict[str, float]:
    return {name: float(np.percentile(ns, point, method="higher")) for name, point in POINTS.items()}


def _fastest(
    report: Report, settings: Settings, name: str, algorithms: list[str], columns: Any, rounds: int
) -> dict[str, np.ndarray]:
    """For each algorithm the cycles of (round, operation), the least of all runs; the runs go in turns."""
    kept = 1 << 6 if name == "bloom" else 1 << 12
    live = {a: Live(a, AGGREGATES[name], settings.window, columns, kept) for a in algorithms}
    least = {a: np.full((rounds, len(OPERATIONS)), np.iinfo(np.uint64).max, dtype=np.uint64) for a in algorithms}
    for a in algorithms:
        live[a].clock(np.zeros_like(least[a][:1]))  # compiles
    for turn in range(settings.runs):
        answers = {a: live[a].clock(least[a]) for a in least}
        for a in algorithms if turn == 0 else ():
            problem = disagreement(answers[a], answers[algorithms[0]])
            if problem is not None:
                report.wrong(f"{name}: {a}: {problem}")
                del least[a]
    return least
