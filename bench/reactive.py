"""The Reactive Aggregator's experiments (Tangwongsan, Hirzel, Schneider, Wu, VLDB 2015): figures 6 to 12, tables 3, 4.

RA is flatfat here, the non-incremental Aggregate of InfoSphere Streams (ISS) is recalc, and Arasu and Widom's
algorithm (AW) is b_int.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from typing import Any

import numpy as np

import slidewheel as sw
from bench.algorithms import Interpreted
from bench.compiled import Live, LiveBatches
from bench.harness import SEED, Contestant, Report, Timing, figure
from bench.papers import average, crossing, curves, finding, power, size

RA, ISS, AW = "flatfat", "recalc", "b_int"
MAX_STD = {"max": sw.max(), "std": sw.std()}
# Table 3: the aggregate, the kinds of its columns, and the paper's break-even point and 10x point.
TABLE_3: dict[str, tuple[sw.Aggregate, tuple[str, ...], str, str]] = {
    "count": (sw.count(), ("i",), "never", "never"),
    "sum": (sw.sum(), ("i",), "370", "5200"),
    "sum, float": (sw.sum(), ("f",), "290", "5200"),
    "max": (sw.max(), ("i",), "260", "5200"),
    "max, float": (sw.max(), ("f",), "130", "3600"),
    "mean": (sw.mean(), ("i",), "10", "900"),
    "min_count": (sw.min_count(), ("i",), "200", "4480"),
    "std, ddof=1": (sw.std(), ("i",), "10", "700"),
    "std, ddof=0": (sw.std(ddof=0), ("i",), "10", "700"),
    "argmax": (sw.argmax(), ("i", "i"), "130", "2770"),
    "argmax, float": (sw.argmax(), ("f", "i"), "250", "5810"),
    "collect": (sw.collect(), (), "never", "never"),
}
TABLE_4 = {"sum": sw.sum(), "max": sw.max(), "mean": sw.mean(), "min_count": sw.min_count(), "std": sw.std(ddof=0)}
M = ("1", "4", "64", "n/16", "n/4", "n")


@dataclass(frozen=True)
class Settings:
    even: tuple[int, ...] = tuple(1 << k for k in range(2, 14))
    """Windows between which break-even points are looked for."""
    table_3: tuple[str, ...] = tuple(TABLE_3)
    collect: int = 1 << 10
    short: tuple[int, ...] = tuple(1 << k for k in range(0, 11, 2))
    long: tuple[int, ...] = tuple(1 << k for k in range(0, 23, 2))
    tumbling: tuple[int, ...] = tuple(1 << k for k in range(0, 13, 2))
    dynamic: tuple[int, ...] = tuple(1 << k for k in range(4, 14, 3))
    coarse: tuple[int, ...] = tuple(1 << k for k in range(6, 19, 3))
    table_4: tuple[int, ...] = (1 << 3, 1 << 13, 1 << 20)
    rounds: int = 1 << 14
    tuples: int = 1 << 16


FULL = Settings()
QUICK = Settings(
    even=(4, 16, 64, 256, 1024, 4096),
    table_3=("count", "sum", "max, float", "std, ddof=1", "argmax", "collect"),
    collect=1 << 8,
    short=(1, 16, 256, 1024),
    long=(1, 1 << 4, 1 << 8, 1 << 12, 1 << 16),
    tumbling=(1, 64, 4096),
    dynamic=(16, 1024),
    coarse=(64, 1 << 10, 1 << 14),
    table_4=(1 << 3, 1 << 13, 1 << 17),
    rounds=1 << 12,
    tuples=1 << 14,
)


def run(report: Report, settings: Settings) -> None:
    report.say(
        "Tangwongsan, Hirzel, Schneider, Wu: General incremental sliding-window aggregation (VLDB 2015), section 6"
    )
    report.say(
        "RA is flatfat, ISS is recalc, AW is b_int, all compiled alike; int64 or float64 where the paper has int32"
    )
    table_3(report, settings)
    figure_6(report, settings)
    figure_7(report, settings)
    figure_8(report, settings)
    figure_9(report, settings)
    figure_10(report, settings)
    figure_11(report, settings)
    table_4(report, settings)
    figure_12(report, settings)


@cache
def _columns(kinds: tuple[str, ...], rows: int) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    values = np.random.default_rng(SEED).integers(1, 1000, rows)
    given = {"i": values, "f": values.astype("f8") + 0.5}
    return kinds, (given[kinds[0]], np.arange(rows))[: len(kinds)]


def _round(settings: Settings, algorithm: str, aggregate: sw.Aggregate, kinds: Any, window: int) -> Contestant:
    """Evict, insert, query."""
    made = Live(algorithm, aggregate, window, _columns(kinds, 1 << max(14, window.bit_length())), 1 << 6)
    count = max(settings.rounds // window, 32) if algorithm == ISS else settings.rounds
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: made.advance(1 << 6).copy())


def table_3(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, table 3: the smallest windows at which RA is faster than ISS, and 10 times as fast"
    )
    largest = max(settings.even)
    points: dict[str, tuple[float, float]] = {}
    table = report.table(["break-even", "the paper's", "10x", "the paper's"], first=22)
    for name in settings.table_3:
        aggregate, kinds, even, ten = TABLE_3[name]
        windows = settings.even if kinds else tuple(w for w in settings.even if w <= settings.collect)
        groups = {
            power(w): [
                _round(settings, a, aggregate, kinds, w) if kinds else _interpreted(a, aggregate, w) for a in (ISS, RA)
            ]
            for w in windows
        }
        times = report.race({f"table 3, {name}, {title}": group for title, group in groups.items()})
        lines: dict[str, dict[int, Timing]] = {ISS: {}, RA: {}}
        for w, group in zip(windows, times.values(), strict=True):
            for a, timing in group.items():
                lines[a][w] = timing
        points[name] = crossing(lines[ISS], lines[RA]), crossing(lines[ISS], lines[RA], 10)
        report.keep("items", {"even": points[name][0], "ten": points[name][1]}, experiment="table 3", aggregate=name)
        shown = [size(p, windows[0], windows[-1]) for p in points[name]]
        table.row(name if kinds else f"{name} (interpreted)", [shown[0], even, shown[1], ten])
    usual = {n: p for n, p in points.items() if n not in ("count", "collect")}
    evens = [p[0] for p in usual.values()]
    tens = [p[1] for p in usual.values()]
    finding(
        report,
        "table 3",
        "RA never breaks even for Count and Collect, and for the others at 10 to 370 items; 10 times at 700 to 5810",
        f"collect {size(points.get('collect', (math.inf,))[0], 4, settings.collect)}, "
        f"count {size(points.get('count', (math.inf,))[0], 4, largest)}, "
        f"the others {min(evens):.0f} to {max(evens):.0f}; 10 times {min(tens):.0f} to {size(max(tens), 0, largest)}",
        max(evens) <= 370 and all(math.isinf(points[n][0]) for n in ("count", "collect") if n in points),
    )


def _interpreted(algorithm: str, aggregate: sw.Aggregate, window: int) -> Contestant:
    made = Interpreted(algorithm, aggregate, window, _columns(("i",), 1 << 14), 1 << 3)
    count = max(2048 // window, 8)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: made.advance(1 << 3))


def figure_6(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, figure 6: sustained throughput, million tuples per second")
    found = _both(report, settings, "figure 6", settings.short, (ISS, RA), "million/s")
    low, high = min(settings.short), max(settings.short)
    gains = {n: {w: found[f"{n}, {ISS}"][w].over(found[f"{n}, {RA}"][w]) for w in (low, high)} for n in MAX_STD}
    finding(
        report,
        "figure 6",
        "RA is slower on small windows (5 to 10%), faster at 1024, and more so for StdDev (10x) than for Max (3x)",
        "; ".join(f"{n} {figure(g[low])}x as fast at {low}, {figure(g[high])}x at {high}" for n, g in gains.items()),
        all(g[low] < 1 for g in gains.values()) and gains["std"][high] > gains["max"][high] > 1,
    )


def _both(
    report: Report, settings: Settings, where: str, windows: tuple[int, ...], algorithms: tuple[str, ...], unit: str
) -> dict[str, dict[int, Timing]]:
    """max and std by these algorithms; the answers of each aggregate are compared."""
    groups: dict[int, list[Contestant]] = {w: [] for w in windows}
    for w in windows:
        for name, aggregate in MAX_STD.items():
            made = [_round(settings, a, aggregate, ("f",), w) for a in algorithms]
            groups[w] += _named(name, made)
    return curves(report, where, groups, unit)


def _named(name: str, made: list[Contestant]) -> list[Contestant]:
    """The same contestants with a name before theirs, compared with the first of them."""
    answer = made[0].answer
    assert answer is not None
    reference = cache(answer)
    first = Contestant(f"{name}, {made[0].name}", made[0].run, made[0].units, reference, expected=reference)
    rest = [Contestant(f"{name}, {c.name}", c.run, c.units, c.answer, expected=reference) for c in made[1:]]
    return [first, *rest]


def figure_7(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, figure 7: RA's cost per tuple, µs, and how well a straight line in log2 n fits it"
    )
    found = _both(report, settings, "figure 7", settings.long, (RA,), "µs")
    fits = {name: _fit(line) for name, line in found.items()}
    finding(
        report,
        "figure 7",
        "the cost grows as log n, without a knee where the tree outgrows the caches (taken as R² > 0.9)",
        "; ".join(f"{n} {a:.1f} + {b:.1f} log2 n ns, R² {r:.2f}" for n, (a, b, r) in fits.items()),
        all(r > 0.9 for _, _, r in fits.values()),
    )


def _fit(line: Mapping[int, Timing]) -> tuple[float, float, float]:
    """a, b and R² of a + b log2 n."""
    x, y = np.log2(list(line)), np.array([t.median for t in line.values()])
    b, a = np.polyfit(x, y, 1)
    rest = y - a - b * x
    return float(a), float(b), float(1 - rest.var() / y.var())


def figure_8(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, figure 8: tumbling windows, n new items for each query, µs per query")
    groups: dict[int, list[Contestant]] = {w: [] for w in settings.tumbling}
    for w in settings.tumbling:
        for name, aggregate in MAX_STD.items():
            groups[w] += _named(name, [_batch(settings, a, aggregate, w, w, per_tuple=False) for a in (ISS, RA)])
    found = curves(report, "figure 8", groups, "µs")
    high = max(settings.tumbling)
    ratios = {n: found[f"{n}, {RA}"][high].over(found[f"{n}, {ISS}"][high]) for n in MAX_STD}
    finding(
        report,
        "figure 8",
        "with nothing to reuse, RA costs what ISS costs (taken as within a fifth)",
        "; ".join(f"{n} at {high} items {figure(r)}x ISS" for n, r in ratios.items()),
        all(0.8 < r < 1.25 for r in ratios.values()),
    )


def _batch(
    settings: Settings, algorithm: str, aggregate: sw.Aggregate, window: int, m: int, *, per_tuple: bool = True
) -> Contestant:
    """m items leave and enter, then a query."""
    columns = _columns(("f",), 1 << max(14, window.bit_length()))
    made = LiveBatches(algorithm, aggregate, window, m, columns, 1 << 4)
    count = max(settings.tuples // m, 4)
    units = count * m if per_tuple else count
    return Contestant(algorithm, lambda: made.advance(count), units, answer=lambda: made.advance(1 << 4).copy())


def figure_9(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, figure 9: windows of n items, and windows whose capacity swings between n and 2n"
    )
    report.say("  µs per tuple, interpreted: compiled windows do not resize")
    groups: dict[int, list[Contestant]] = {}
    for w in settings.dynamic:
        groups[w] = [
            _swinging(settings, aggregate, name, w, swings)
            for name, aggregate in MAX_STD.items()
            for swings in (False, True)
        ]
    found = curves(report, "figure 9", groups, "µs")
    ratios = [found[f"{n}, osc."][w].over(found[f"{n}, fixed"][w]) for n in MAX_STD for w in settings.dynamic]
    finding(
        report,
        "figure 9",
        "resizing is amortised: windows that swing are even faster, as they hold fewer items most of the time",
        f"swinging takes {figure(min(ratios))} to {figure(max(ratios))} of that, {figure(average(ratios))} on average",
        average(ratios) <= 1,
    )


def _swinging(settings: Settings, aggregate: sw.Aggregate, name: str, window: int, swings: bool) -> Contestant:
    values = _columns(("f",), 1 << 14)[1][0].tolist()
    live = sw.swag.window(aggregate, RA, capacity=window)
    coming, times = cycle(values), max(settings.rounds // 8 // window, 1)
    taken = 0

    def insert(count: int) -> None:
        nonlocal taken
        for value in islice(coming, count):
            live.insert(value)
            live.query()
        taken += count

    def evict(count: int) -> None:
        for _ in range(count):
            live.evict()

    def run() -> None:
        for _ in range(times):
            if swings:
                evict(len(live) - (window // 2 - 1))
                insert(window + 1 - len(live))
            else:
                for _ in range(window):
                    evict(1)
                    insert(1)

    insert(window + 1 if swings else window)

    def answer() -> np.ndarray:
        items = [values[k % len(values)] for k in range(taken - len(live), taken)]
        folded.append(max(items) if name == "max" else np.std(items, ddof=1))
        return np.array([live.query()])

    folded: list[float] = []
    units = times * (window // 2 + 2 if swings else window)
    title = f"{name}, {'osc.' if swings else 'fixed'}"
    return Contestant(title, run, units, answer, expected=lambda: np.array(folded))


def figure_10(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, figure 10: StdDev with m items between queries, µs per tuple, RA writing them at once"
    )
    groups: dict[int, list[Contestant]] = {}
    for w in settings.coarse:
        groups[w] = []
        for text in M:
            m = {"n/16": w // 16, "n/4": w // 4, "n": w}.get(text) or int(text)
            made = _batch(settings, RA, MAX_STD["std"], w, m)
            other = _batch(settings, "two_stacks", MAX_STD["std"], w, m)
            groups[w].append(Contestant(f"m = {text}", made.run, made.units, made.answer, expected=other.answer))
    found = curves(report, "figure 10", groups, "µs")
    low, high = min(settings.coarse), max(settings.coarse)
    growth = {name: line[high].over(line[low]) for name, line in found.items()}
    finding(
        report,
        "figure 10",
        "for constant m the cost of a tuple grows with log n; for m a part of n it does not (taken as < 1.5x)",
        f"from {low} to {power(high)} items it grows " + ", ".join(f"{figure(g)}x for {n}" for n, g in growth.items()),
        all(growth[f"m = {m}"] < 1.5 for m in M[3:]) and all(growth[f"m = {m}"] > 1.5 for m in M[:3]),
    )


def figure_11(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, figure 11: Max by RA and by AW, m items between queries, µs per tuple")
    groups: dict[int, list[Contestant]] = {}
    for w in settings.coarse:
        groups[w] = []
        for text, m in (("1", 1), ("n/16", w // 16)):
            groups[w] += _named(f"m = {text}", [_batch(settings, a, MAX_STD["max"], w, m) for a in (AW, RA)])
    found = curves(report, "figure 11", groups, "µs")
    ratios = {t: [found[f"m = {t}, {AW}"][w].over(found[f"m = {t}, {RA}"][w]) for w in groups] for t in ("1", "n/16")}
    finding(
        report,
        "figure 11",
        "RA and AW are of the same order, RA faster by a constant factor",
        "; ".join(f"m = {t}: AW takes {figure(min(r))} to {figure(max(r))} of RA's time" for t, r in ratios.items()),
        all(min(r) > 1 for r in ratios.values()),
    )


def table_4(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, table 4: AW's time over RA's with a query after every tuple")
    papers = {"sum": (1.02, 1.20, 1.36), "max": (1.02, 1.25, 1.37), "mean": (1.05, 1.24, 1.39)}
    papers |= {"min_count": (1.04, 1.23, 1.35), "std": (1.06, 1.26, 1.37)}
    groups = {
        f"{name}, {power(w)}": [_batch(settings, a, aggregate, w, 1) for a in (AW, RA)]
        for name, aggregate in TABLE_4.items()
        for w in settings.table_4
    }
    times = report.race({f"table 4, {title}": group for title, group in groups.items()})
    table = report.table([f"n = {power(w)}" for w in settings.table_4] + ["the paper's, n = 8, 8K, 8M"])
    ratios: dict[str, list[float]] = {}
    for name in TABLE_4:
        for w in settings.table_4:
            group = times[f"table 4, {name}, {power(w)}"]
            ratios.setdefault(name, []).append(group[AW].over(group[RA]))
            report.keep("AW/RA", {"median": ratios[name][-1]}, experiment="table 4", aggregate=name, window=w)
        table.row(name, [*(figure(r) for r in ratios[name]), ", ".join(figure(p) for p in papers[name])])
    ends = [(r[0], r[-1]) for r in ratios.values()]
    finding(
        report,
        "table 4",
        "AW takes longer for all aggregates, the more so the longer the window; the aggregate matters little",
        f"{figure(min(a for a, _ in ends))} to {figure(max(a for a, _ in ends))} at {settings.table_4[0]} items, "
        f"{figure(min(b for _, b in ends))} to {figure(max(b for _, b in ends))} at {power(settings.table_4[-1])}",
        all(1 < a < b for a, b in ends),
    )


def figure_12(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, figure 12: KB of states; the paper has the resident set of the whole process")
    table = report.table([power(w) for w in settings.tumbling])
    used: dict[str, list[float]] = {}
    for name, aggregate in MAX_STD.items():
        for a in (ISS, RA):
            made = [Live(a, aggregate, w, _columns(("f",), 1 << 14), 1 << 4) for w in settings.tumbling]
            used[f"{name}, {a}"] = [live.states.nbytes / 1024 for live in made]
            table.row(f"{name}, {a}", [figure(kb) for kb in used[f"{name}, {a}"]])
    ratios = [r / i for n in MAX_STD for r, i in zip(used[f"{n}, {RA}"], used[f"{n}, {ISS}"], strict=True)]
    finding(
        report,
        "figure 12",
        "RA takes space in proportion to n, with a small constant",
        f"{figure(max(ratios))} times that of ISS at all sizes",
        max(ratios) <= 2,
    )
