"""DABA's experiments (Tangwongsan, Hirzel, Schneider, DEBS 2017): tables 2 and 3, figure 13.

Reactive is flatfat here. FOA lives on Python objects and has no compiled form: it is compared with the others where
they are interpreted too.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import slidewheel as sw
from bench.algorithms import Interpreted
from bench.compiled import Live, columns_for, counter
from bench.harness import SEED, Contestant, Report, Timing, disagreement, figure
from bench.papers import average, crossing, curves, finding, power, size

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
TABLE_2 = ("two_stacks", "ioa", "daba", "two_stacks_lite", "daba_lite")
TABLE_3 = ("flatfat", "two_stacks", "ioa", "daba")
# Table 3 of the paper: Reactive, Two-Stacks, FOA, IOA, DABA.
PAPERS = {
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
    window: int = 1 << 14
    latency_rounds: int = 1_000_000
    bloom_part: int = 16
    """Bloom filters of 2 KB each take this part of the rounds."""
    runs: int = 9
    even: tuple[int, ...] = tuple(1 << k for k in range(1, 12))
    rounds: int = 1 << 13
    windows: tuple[int, ...] = tuple(1 << k for k in range(0, 23, 2))
    throughput: int = 1 << 16
    bloom_window: int = 1 << 14


FULL = Settings()
QUICK = Settings(
    aggregates=("sum", "max", "geomean", "bloom", "collect"),
    latency_rounds=100_000,
    runs=3,
    even=(2, 8, 32, 128, 512),
    rounds=1 << 11,
    windows=(1, 1 << 4, 1 << 8, 1 << 14, 1 << 18),
    throughput=1 << 14,
    bloom_window=1 << 12,
)


def run(report: Report, settings: Settings) -> None:
    report.say("Tangwongsan, Hirzel, Schneider: DABA (DEBS 2017), section 5; rounds of evict, insert, query; float64")
    report.say("Reactive is flatfat; two_stacks_lite and daba_lite are not in the paper")
    latency(report, settings)
    functional(report, settings)
    break_even(report, settings)
    throughput(report, settings)


@cache
def _columns(name: str, rows: int) -> Any:
    return columns_for(AGGREGATES[name], 1 << (rows - 1).bit_length(), SEED)


def _kept(name: str) -> int:
    return 1 << 4 if name == "bloom" else 1 << 8


def latency(report: Report, settings: Settings) -> None:
    scale, apart = counter()
    report.say(
        f"\nDABA, table 2: average ± standard deviation of a round, in cycles of {figure(1 / scale)} GHz, at window "
        f"{power(settings.window)}, {settings.latency_rounds} rounds"
    )
    report.say(
        f"each round the fastest of {settings.runs} equal runs, as other programs use this machine too; "
        f"{apart / scale:.0f} cycles of each are the clock's"
    )
    table = report.table(TABLE_2, width=16)
    all_cycles: dict[str, dict[str, np.ndarray]] = {}
    for name in settings.aggregates:
        if name == "collect":
            continue
        cycles = all_cycles[name] = _clocked(report, settings, name)
        for a, found in cycles.items():
            measured = {"median": float(np.median(found)), "mean": float(found.mean()), "std": float(found.std())}
            report.keep(
                "cycles", measured | {"max": float(found.max())}, experiment="table 2", aggregate=name, algorithm=a
            )
        table.row(name, [f"{c.mean():,.0f} ± {c.std():,.0f}" for c in cycles.values()])
    means = {n: {a: float(c.mean()) for a, c in group.items()} for n, group in all_cycles.items()}
    spread = {n: {a: float(c.std() / c.mean()) for a, c in group.items()} for n, group in all_cycles.items()}
    over = {a: [m[a] / m["two_stacks"] for m in means.values()] for a in ("daba", "ioa")}
    deviation = {a: [s[a] for s in spread.values()] for a in ("two_stacks", "daba")}
    finding(
        report,
        "table 2, averages",
        "Two-Stacks has the lowest average for all operators; DABA takes 1.2 to 1.6 times as long",
        f"daba takes {_span(over['daba'])} times as long",
        min(over["daba"]) > 1,
    )
    finding(
        report,
        "table 2, two_stacks",
        "the standard deviation of Two-Stacks is above its average, 12 to 54 times",
        f"{_span(deviation['two_stacks'])} times",
        min(deviation["two_stacks"]) > 1,
    )
    finding(
        report,
        "table 2, daba",
        "the standard deviation of DABA is always below its average",
        f"{_span(deviation['daba'])} of it",
        max(deviation["daba"]) < 1,
    )
    finding(
        report,
        "table 2, ioa",
        "IOA takes 6 to 14 times as long as Two-Stacks",
        f"{_span(over['ioa'])} times",
        min(over["ioa"]) >= 6,
    )
    _series(report, settings, all_cycles)


def _span(values: Iterable[float]) -> str:
    found = list(values)
    return f"{figure(min(found))} to {figure(max(found))}"


def _clocked(report: Report, settings: Settings, name: str) -> dict[str, np.ndarray]:
    """The cycles of each round, for each algorithm; the runs go in turns."""
    rounds = settings.latency_rounds // (settings.bloom_part if name == "bloom" else 1)
    columns = _columns(name, settings.window + rounds)
    live = {a: Live(a, AGGREGATES[name], settings.window, columns, _kept(name)) for a in TABLE_2}
    least = {a: np.full((rounds, 4), np.iinfo(np.uint64).max, dtype=np.uint64) for a in live}
    for made in live.values():
        made.clock(np.zeros((1, 4), dtype=np.uint64))  # compiles
    for _ in range(settings.runs):
        answers = {a: made.clock(least[a]) for a, made in live.items()}
    for a in live:
        problem = disagreement(answers[a], answers[TABLE_2[0]])
        if problem is not None:
            report.wrong(f"table 2: {name}: {a}: {problem}")
    return {a: found[:, 3].astype(float) for a, found in least.items()}


def _series(report: Report, settings: Settings, cycles: dict[str, dict[str, np.ndarray]]) -> None:
    report.say("\nDABA, figure 13, top: cycles of a round over the run; the median and the slowest round of each fifth")
    table = report.table([f"{k}/5" for k in range(1, 6)], width=18, first=20)
    worst: dict[str, tuple[float, float]] = {}
    for name in SHOWN:
        for a in ("ioa", "daba") if name in cycles else ():
            fifths = np.array_split(cycles[name][a], 5)
            table.row(f"{name}, {a}", [f"{np.median(f):,.0f} max {f.max():,.0f}" for f in fifths])
        if name in cycles:
            medians = {a: float(np.median(cycles[name][a])) for a in ("ioa", "daba")}
            worst[name] = medians["ioa"] / medians["daba"], float(cycles[name]["daba"].max() / medians["ioa"])
    finding(
        report,
        "figure 13, top",
        "DABA's typical round costs a tenth of IOA's, and its worst is usually below IOA's best",
        "; ".join(
            f"{n}: ioa's typical round {figure(r)}x daba's, daba's worst {figure(w)}x that"
            for n, (r, w) in worst.items()
        ),
        all(r > 5 and w < 1 for r, w in worst.values()),
    )


def functional(report: Report, settings: Settings) -> None:
    """FOA beside the others where all are interpreted."""
    rounds = settings.latency_rounds // 20
    report.say(
        f"\nDABA, table 2, FOA: sum, ns of a round, all interpreted, window {power(settings.window)}, {rounds} rounds"
    )
    columns = _columns("sum", settings.window + rounds)
    values = columns[1][0].tolist()
    found = {}
    for a in ("two_stacks", "foa", "ioa", "daba"):
        live = sw.swag.window(AGGREGATES["sum"], a, capacity=settings.window)
        for value in values[: settings.window]:
            live.insert(value)
        ns = np.empty(rounds)
        for k in range(rounds):
            before = time.perf_counter_ns()
            live.evict()
            live.insert(values[settings.window + k])
            live.query()
            ns[k] = time.perf_counter_ns() - before
        found[a] = ns
        measured = {
            "median": float(np.median(ns)),
            "mean": float(ns.mean()),
            "std": float(ns.std()),
            "max": float(ns.max()),
        }
        report.keep("ns", measured, experiment="table 2, interpreted", aggregate="sum", algorithm=a)
    table = report.table(list(found), width=16)
    table.row("sum", [f"{ns.mean():,.0f} ± {ns.std():,.0f}" for ns in found.values()])
    ratio = float(found["foa"].mean() / found["two_stacks"].mean())
    finding(
        report,
        "table 2, foa",
        "FOA's average is 1.6 to 2.8 times that of Two-Stacks",
        f"{figure(ratio)} times",
        1.6 <= ratio <= 2.8,
    )


def break_even(report: Report, settings: Settings) -> None:
    report.say("\nDABA, table 3: the window from which on each is faster than recalc; in brackets the paper's")
    report.say("  foa and all of collect interpreted, against recalc interpreted")
    order = ("flatfat", "two_stacks", "foa", "ioa", "daba")
    table = report.table(order, width=16)
    points: dict[str, dict[str, float]] = {}
    for name in settings.aggregates:
        largest = {"collect": 256, "bloom": 256}.get(name, max(settings.even))
        windows = [w for w in settings.even if w <= largest]
        compiled = () if name == "collect" else TABLE_3
        lines = _lines(report, settings, name, windows, ("recalc", *compiled), False) if compiled else {}
        rest = ("recalc", "foa") if compiled else ("recalc", *order)
        few = [w for w in windows if w <= 256]
        # Interpreted, the states of bloom are of another form.
        slow = {} if name == "bloom" else _lines(report, settings, name, few, rest, True)
        points[name] = {a: crossing(lines["recalc"], lines[a]) for a in compiled}
        points[name] |= {a: crossing(slow["recalc"], slow[a]) for a in rest[1:] if slow}
        for a, point in points[name].items():
            report.keep("items", {"median": point}, experiment="table 3", aggregate=name, algorithm=a)
        cells = []
        for a, paper in zip(order, PAPERS[name], strict=True):
            limit = few[-1] if a not in compiled else windows[-1]
            cells.append(
                f"{size(points[name][a], windows[0], limit)} ({paper})" if a in points[name] else f"- ({paper})"
            )
        table.row(name, cells)
    usual = {n: p for n, p in points.items() if n != "collect"}
    finding(
        report,
        "table 3",
        "Two-Stacks, FOA and DABA pay from small windows on: 2 to 128 items",
        "; ".join(f"{a} from {_span(p[a] for p in usual.values() if a in p)}" for a in ("two_stacks", "foa", "daba")),
        all(p.get(a, 0) <= 128 for p in usual.values() for a in ("two_stacks", "foa", "daba")),
    )
    later = {n: p["flatfat"] / p["two_stacks"] for n, p in usual.items() if n != "bloom"}
    finding(
        report,
        "table 3, flatfat",
        "Reactive's break-even points are 10 to 100 times higher, but for Bloom; IOA's are like Reactive's",
        f"flatfat's are {_span(later.values())} times those of two_stacks, "
        f"ioa's {_span(p['ioa'] / p['flatfat'] for p in usual.values())} times flatfat's",
        min(later.values()) >= 10,
    )
    if "collect" in points:
        finding(
            report,
            "table 3, collect",
            "for Collect, whose answer is the window itself, recalculation is never beaten",
            ", ".join(f"{a} from {size(p, windows[0], few[-1])}" for a, p in points["collect"].items()),
            all(p > max(few) for p in points["collect"].values()),
        )


def _lines(
    report: Report, settings: Settings, name: str, windows: list[int], algorithms: tuple[str, ...], interpreted: bool
) -> dict[str, dict[int, Timing]]:
    groups = {w: [_contestant(settings, a, name, w, interpreted) for a in algorithms] for w in windows}
    times = report.race({f"table 3, {name}, {power(w)}": group for w, group in groups.items()})
    return {a: {w: times[f"table 3, {name}, {power(w)}"][a] for w in windows} for a in algorithms}


def _contestant(settings: Settings, algorithm: str, name: str, window: int, interpreted: bool) -> Contestant:
    count, kept = settings.rounds, _kept(name)
    made: Any
    if interpreted:
        made = Interpreted(
            algorithm, AGGREGATES[name], window, _columns("sum" if name == "collect" else name, 1 << 14), 8
        )
        count, kept = max(count // 16, 32), 8
    else:
        made = Live(algorithm, AGGREGATES[name], window, _columns(name, 1 << 14), kept)
    if name == "bloom":
        count = max(count // 64, 32)
    if algorithm == "recalc":
        count = max(2 * count // window, 16)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: np.copy(made.advance(kept)))


def throughput(report: Report, settings: Settings) -> None:
    for name in SHOWN:
        if name not in settings.aggregates:
            continue
        report.say(f"\nDABA, figure 13, bottom: {name}, million items per second")
        windows = [w for w in settings.windows if name != "bloom" or w <= settings.bloom_window]
        columns = _columns(name, 1 << 15 if name == "bloom" else 2 * max(windows))
        groups = {w: [_fast(settings, a, name, w, columns) for a in _fit(w)] for w in windows}
        found = curves(report, f"figure 13, {name}", groups)
        wide = [w for w in windows if w >= 16]
        order = {a: average(found[a][w].median for w in wide) for a in ("two_stacks", "daba", "flatfat", "ioa")}
        ranks = sorted(order, key=lambda a: order[a])
        finding(
            report,
            f"figure 13, {name}",
            "Two-Stacks has the best throughput and DABA is next, before Reactive and IOA",
            f"from 16 items on, fastest first: {', '.join(f'{a} {figure(order[a])} ns' for a in ranks)}",
            ranks[:2] == ["two_stacks", "daba"],
        )


def _fit(window: int) -> list[str]:
    return ["two_stacks", "daba", "flatfat", "ioa", *(["recalc"] if window <= 1 << 10 else [])]


def _fast(settings: Settings, algorithm: str, name: str, window: int, columns: Any) -> Contestant:
    made = Live(algorithm, AGGREGATES[name], window, columns, _kept(name))
    count = settings.throughput // (64 if name == "bloom" else 1)
    if algorithm in ("two_stacks", "daba", "ioa"):
        count = max(count, window)  # their work is not spread evenly over a window's length
    if algorithm == "recalc":
        count = max(count // window, 16)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: np.copy(made.advance(_kept(name))))
