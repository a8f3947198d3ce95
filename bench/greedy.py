"""The greedy algorithm (Basin, Klaedtke, Zalinescu, IPL 2015): the fewest combines for any sequence of windows.

The paper proves; we know of no measurements in it. Counted here: its example, small sequences against every other way
to compute them, and long random sequences by several algorithms; timed: whether the running time is linear, and what
the fewest combines are worth.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import slidewheel as sw
from bench import combines
from bench.compiled import Live, columns_for
from bench.harness import SEED, Contestant, Report, figure
from bench.papers import average, curves, finding

ALGORITHMS = ("greedy", "recalc", "two_stacks", "two_stacks_lite", "daba", "daba_lite")
COUNTED = 200_000
"""Recalculation is run for up to so many combines; beyond, the paper's sum gives their number."""
FIXED = 64
Windows = list[tuple[int, int]]


@dataclass(frozen=True)
class Settings:
    cases: int = 60
    """Small sequences that are compared with the exhaustive optimum."""
    lengths: tuple[int, ...] = (100, 1_000, 10_000)
    seeds: int = 5
    windows: tuple[int, ...] = tuple(1 << k for k in range(4, 17, 2))
    rounds: int = 1 << 16
    bloom: int = 1 << 12
    """The longest window of Bloom filters."""


FULL = Settings()
QUICK = Settings(cases=30, lengths=(100, 1_000, 5_000), seeds=3, windows=(1 << 4, 1 << 8, 1 << 12), rounds=1 << 13)
SMOKE = Settings(cases=5, lengths=(20, 40), seeds=2, windows=(4, 16), rounds=64, bloom=16)


def uniform(chance: random.Random, items: int) -> Windows:
    """As many windows as items, with ends anywhere, in order."""
    ends = [sorted(chance.randrange(items) for _ in range(items)) for _ in range(2)]
    return [(min(pair), max(pair) + 1) for pair in zip(*ends, strict=True)]


def walk(chance: random.Random, items: int) -> Windows:
    """Both ends go on by some items before each query."""
    windows, left, right = [], 0, 0
    while right < items:
        right = min(items, right + chance.randint(1, 8))
        left = min(right - 1, left + chance.randint(0, 8))
        windows.append((left, right))
    return windows


def bursts(chance: random.Random, items: int) -> Windows:
    """Many items come, one after the other, then many leave, with a query after each of them."""
    windows, left, right = [], 0, 0
    while right < items:
        for _ in range(min(chance.randint(1, 100), items - right)):
            right += 1
            windows.append((left, right))
        for _ in range(chance.randrange(right - left)):
            left += 1
            windows.append((left, right))
    return windows


def fixed(chance: random.Random, items: int) -> Windows:
    """A window of 64 items, or of a quarter of all, that slides by one."""
    size = min(FIXED, items // 4)
    return [(k, k + size) for k in range(items - size + 1)]


KINDS: dict[str, Callable[[random.Random, int], Windows]] = {
    made.__name__: made for made in (uniform, walk, bursts, fixed)
}


def run(report: Report, settings: Settings) -> None:
    report.say("Basin, Klaedtke, Zalinescu: Greedily computing associative aggregations on sliding windows (IPL 2015)")
    report.say("from the paper: its theorems and its example; we know of no measurements in it")
    example(report)
    optimum(report, settings)
    for kind in KINDS:
        counted(report, settings, kind)
    linear(report, settings)
    for name in ("sum", "bloom"):
        slides(report, settings, name)


def example(report: Report) -> None:
    report.say("\nGreedy, example: a = (2, 4, 5, 2) and the windows (1, 3), (1, 4), (2, 4)")
    items, windows = (2, 4, 5, 2), [(0, 3), (0, 4), (1, 4)]
    papers = {"recalc": 7, "greedy": 4}
    found = {a: combines.of_windows(a, items, windows, sw.sum()) for a in papers}
    for a, (answers, count) in found.items():
        report.keep("combines", {"median": count}, experiment="example", algorithm=a, paper=papers[a])
        if answers != [11, 13, 11]:
            report.wrong(f"example: {a}: {answers}")
    finding(
        report,
        "example",
        "7 combines for the straightforward algorithm, 4 for the best one",
        ", ".join(f"{count} by {a}" for a, (_, count) in found.items()),
        all(found[a][1] == count for a, count in papers.items()),
    )


def optimum(report: Report, settings: Settings) -> None:
    report.say(f"\nGreedy, optimum: {settings.cases} random sequences over 2 to 6 items, against every set of results")
    more = total = 0
    for seed in range(settings.cases):
        chance = random.Random(seed)
        items = chance.randint(2, 6)
        windows = sorted({window for window in uniform(chance, items) if chance.random() < 0.8}) or [(0, items)]
        _, count = combines.of_windows("greedy", "abcdef"[:items], windows, sw.concat())
        best = fewest(items, windows)
        if count < best:
            report.wrong(f"optimum: {count} combines for {windows}, and the search found none below {best}")
        more, total = more + count - best, total + best
        about = {"algorithm": "greedy", "items": items, "windows": len(windows), "seed": seed}
        report.keep("combines", {"median": count}, experiment="optimum", exhaustive=best, **about)
    finding(
        report,
        "optimum",
        "no algorithm that only uses associativity takes fewer combines",
        f"{total + more} combines for all {settings.cases} sequences, where the exhaustive search needs {total}",
        more == 0,
    )


def fewest(items: int, windows: Windows) -> int:
    """The fewest combines that compute these windows, by trying ever larger sets of intermediate results."""
    needed = {(a, b) for a, b in windows if b - a > 1}
    others = [(a, b) for a in range(items) for b in range(a + 2, items + 1) if (a, b) not in needed]
    for extra in range(len(others) + 1):
        for chosen in combinations(others, extra):
            have = needed.union(chosen)
            made = {(k, k + 1) for k in range(items)} | have
            if all(any((a, k) in made and (k, b) in made for k in range(a + 1, b)) for a, b in have):
                return len(have)
    raise AssertionError("with all results at hand, each is a combine of two others")


def counted(report: Report, settings: Settings, kind: str) -> None:
    where = f"combines, {kind}"
    report.say(
        f"\nGreedy, {where}: {KINDS[kind].__doc__} Combines for each window, the average of {settings.seeds} seeds"
    )
    table = report.table([f"{length} items" for length in settings.lengths])
    found: dict[str, dict[int, list[int]]] = {a: {} for a in ALGORITHMS}
    queries: dict[int, list[int]] = {}
    for length in settings.lengths:
        for seed in range(settings.seeds):
            windows = KINDS[kind](random.Random(f"{kind} {length} {seed}"), length)
            queries.setdefault(length, []).append(len(windows))
            for a, count in _counts(report, where, length, windows).items():
                found[a].setdefault(length, []).append(count)
                about = {"sequence": kind, "algorithm": a, "items": length, "windows": len(windows), "seed": seed}
                paper = {"paper": _naive(windows), "counted": _naive(windows) <= COUNTED} if a == "recalc" else {}
                each = {"median": count, "per_window": count / len(windows)}
                report.keep("combines", each, experiment=where, **about, **paper)
    for a, line in found.items():
        table.row(a, [figure(sum(line[n]) / sum(queries[n])) for n in settings.lengths])
    best, longest = found["greedy"], settings.lengths[-1]
    ratios = {a: sum(line[longest]) / sum(best[longest]) for a, line in found.items() if a != "greedy"}
    fewer = [a for a, line in found.items() for n in line if any(c < b for c, b in zip(line[n], best[n], strict=True))]
    finding(
        report,
        where,
        "the fewest combines of all; recalculation takes the sum of the windows' lengths, less one each",
        f"for {longest} items the others take "
        + ", ".join(f"{figure(r)} times as many ({a})" for a, r in ratios.items()),
        not fewer,
    )


def _naive(windows: Windows) -> int:
    """The paper's number for the straightforward algorithm."""
    return sum(right - left - 1 for left, right in windows)


def _counts(report: Report, where: str, length: int, windows: Windows) -> dict[str, int]:
    items = [random.Random(SEED).randrange(1000) for _ in range(length)]
    before = np.concatenate(([0], np.cumsum(items)))
    right = [int(before[b] - before[a]) for a, b in windows]
    found = {}
    for a in ALGORITHMS:
        naive = _naive(windows)
        if a == "recalc" and naive > COUNTED:
            found[a] = naive
            continue
        answers, found[a] = combines.of_windows(a, items, windows, sw.sum())
        if answers != right:
            report.wrong(f"{where}, {length} items: {a}: answers differ")
        if a == "recalc" and found[a] != naive:
            report.wrong(f"{where}, {length} items: recalc takes {found[a]} combines, not {naive}")
    return found


def linear(report: Report, settings: Settings) -> None:
    report.say("\nGreedy, time: the sequences from above, interpreted, µs for each item")
    report.say("  recalc is left out: its time grows with the windows' lengths")
    grown: dict[str, float] = {}
    for kind, make in KINDS.items():
        where = f"time, {kind}"
        groups = {n: _sequence(make(random.Random(f"{kind} {n}"), n), n) for n in settings.lengths}
        report.say(f"  {kind}")
        curves(report, where, groups, "µs", sequence=kind, interpreted=True)
        short, long = (_processor(report, kind, n, groups[n][0]) for n in settings.lengths[-2:])
        grown[kind] = long / short
    longer = settings.lengths[-1] / settings.lengths[-2]
    finding(
        report,
        "time",
        "the running time is linear in the number of items (taken as less than 1.5 times the time for an item)",
        f"with {longer:g} times as many items ({settings.lengths[-1]}), an item takes, in the processor's time, "
        + ", ".join(f"{figure(g)} times as long ({kind})" for kind, g in grown.items()),
        all(g < 1.5 for g in grown.values()),
        "The bound is for the algorithm's steps. Windows of the walk and of uniform ends also get longer with the "
        "sequence, up to the bound on their combines.",
    )


def _processor(report: Report, kind: str, items: int, greedy: Contestant) -> float:
    """The processor's time for an item: a long run is interrupted by other programs more often than a short one."""
    times = []
    for _ in range(report.rounds):
        before = time.process_time_ns()
        for _ in range(max(1000 // items, 1)):
            greedy.run()
        times.append((time.process_time_ns() - before) / max(1000 // items, 1) / items)
    about = {"sequence": kind, "algorithm": "greedy", "items": items, "interpreted": True}
    report.keep("ns/item", {"median": min(times)}, experiment="time, processor", **about)
    return min(times)


def _sequence(windows: Windows, length: int) -> list[Contestant]:
    items = np.random.default_rng(SEED).integers(0, 1000, length).tolist()

    def contestant(algorithm: str) -> Contestant:
        def go() -> np.ndarray:
            live = sw.swag.window(sw.sum(), algorithm)
            return np.array(combines.asked(live.insert, live.evict, live.query, items, windows))

        return Contestant(algorithm, go, length)

    return [contestant(a) for a in ALGORITHMS if a != "recalc"]


def slides(report: Report, settings: Settings, name: str) -> None:
    """What fewer combines are worth where they are cheap, and where they are dear."""
    aggregate = {"sum": sw.sum(), "bloom": sw.bloom()}[name]
    windows = [w for w in settings.windows if name == "sum" or w <= settings.bloom]
    report.say(f"\nGreedy, time of a slide: {name}, compiled, a query for every item, ns")
    columns = columns_for(aggregate, 1 << 15 if name == "bloom" else 2 * max(windows), SEED)
    groups = {
        w: [_slide(settings, a, aggregate, w, columns) for a in ALGORITHMS if a != "recalc" or w <= 1 << 8]
        for w in windows
    }
    found = curves(report, f"time of a slide, {name}", groups, "ns", aggregate=name)
    ratio = {a: average(line[w].over(found["greedy"][w]) for w in line) for a, line in found.items() if a != "greedy"}
    report.say("  of greedy's time: " + ", ".join(f"{a} {figure(r)}" for a, r in ratio.items()))


def _slide(settings: Settings, algorithm: str, aggregate: sw.Aggregate, window: int, columns: Any) -> Contestant:
    kept = 1 << 4
    made = Live(algorithm, aggregate, window, columns, kept)
    count = max(settings.rounds // (64 if aggregate.name == "bloom" else 1), window)
    if algorithm == "recalc":
        count = max(count // window, 16)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: np.copy(made.advance(kept)))
