"""DABA, table 2 and the top of figure 13: what each single round costs."""

import time
from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, counter
from bench.daba_setup import AGGREGATES, PAPERS_2, SHOWN, Settings, columns, kept, span
from bench.harness import Report, disagreement, figure
from bench.papers import finding, power, summed, thinned

COMPILED = ("two_stacks", "ioa", "daba", "two_stacks_lite", "daba_lite")
INTERPRETED = ("two_stacks", "foa", "ioa", "daba")
DRAWN = ("foa", "ioa", "daba")
"""Those whose rounds figure 13 shows one by one."""


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
    report.keep(
        "cycles", {"median": apart / scale, "ghz": 1 / scale, "runs": settings.runs}, experiment="table 2, clock"
    )
    table = report.table(COMPILED, width=16)
    names = [name for name in settings.aggregates if name != "collect"]
    found: dict[str, dict[str, np.ndarray]] = {}
    for name in names:
        cycles = found[name] = _clocked(report, settings, name)
        _keep(report, settings, "cycles", "table 2", name, cycles)
        table.row(name, [f"{c.mean():,.0f} ± {c.std():,.0f}" for c in cycles.values()])
    _judge(report, found)
    report.say("\nDABA, figure 13, top: cycles of a round over the run; the median and the slowest round of each fifth")
    _series(report, found)


def _keep(
    report: Report, settings: Settings, unit: str, where: str, name: str, found: dict[str, np.ndarray], **what: Any
) -> None:
    """A row of table 2 beside the paper's; for the aggregates of figure 13 the series too."""
    for a, values in found.items():
        average, deviation = PAPERS_2[name].get(a, (None, None))
        about = {"aggregate": name, "algorithm": a, "window": settings.window, **what}
        paper = {} if average is None else {"paper": average, "paper_std": deviation, "paper_unit": "cycles"}
        report.keep(unit, summed(values), experiment=where, **about, **paper)
        if name in SHOWN and a in DRAWN:
            top = f"figure 13, {name}, latency" + (", interpreted" if what else "")
            report.keep(unit, thinned(values), experiment=top, kind="series", **about)


def _rounds(settings: Settings, name: str, part: int = 1) -> int:
    """Whole windows, as a flip in a part of one would weigh too much or too little."""
    wanted = settings.latency_rounds / part / (settings.bloom_part if name == "bloom" else 1)
    return max(round(wanted / settings.window), 1) * settings.window


def _clocked(report: Report, settings: Settings, name: str) -> dict[str, np.ndarray]:
    """The cycles of each round, for each algorithm; the runs go in turns."""
    rounds = _rounds(settings, name)
    given = columns(name, settings.window + rounds)
    live = {a: Live(a, AGGREGATES[name], settings.window, given, kept(name)) for a in COMPILED}
    least = {a: np.full((rounds, 4), np.iinfo(np.uint64).max, dtype=np.uint64) for a in live}
    for made in live.values():
        made.clock(np.zeros((1, 4), dtype=np.uint64))  # compiles
    for _ in range(settings.runs):
        answers = {a: made.clock(least[a]) for a, made in live.items()}
    for a in live:
        problem = disagreement(answers[a], answers[COMPILED[0]])
        if problem is not None:
            report.wrong(f"table 2: {name}: {a}: {problem}")
    return {a: found[:, 3].astype(float) for a, found in least.items()}


def _judge(report: Report, found: dict[str, dict[str, np.ndarray]]) -> None:
    means = {n: {a: float(c.mean()) for a, c in group.items()} for n, group in found.items()}
    spread = {n: {a: float(c.std() / c.mean()) for a, c in group.items()} for n, group in found.items()}
    over = {a: [m[a] / m["two_stacks"] for m in means.values()] for a in ("daba", "ioa")}
    deviation = {a: [s[a] for s in spread.values()] for a in ("two_stacks", "daba")}
    finding(
        report,
        "table 2, averages",
        "Two-Stacks has the lowest average for all operators; DABA takes 1.2 to 1.6 times as long",
        f"daba takes {span(over['daba'])} times as long",
        min(over["daba"]) > 1,
        "Both are generated and compiled from one text each, with flat arrays and the aggregate's functions inlined. "
        "Where a combine is one instruction, DABA's additional ones hardly show; where it is long, as with bloom, they "
        "do. The clock's own cycles, which are in all averages, bring short rounds nearer to each other too.",
    )
    finding(
        report,
        "table 2, two_stacks",
        "the standard deviation of Two-Stacks is above its average, 12 to 54 times",
        f"{span(deviation['two_stacks'])} times",
        min(deviation["two_stacks"]) > 1,
        "The deviation is that of the flips alone: each round is the fastest of several equal runs, so that an "
        "interruption by another program does not count, where the paper has single runs.",
    )
    finding(
        report,
        "table 2, daba",
        "the standard deviation of DABA is always below its average",
        f"{span(deviation['daba'])} of it",
        max(deviation["daba"]) < 1,
    )
    finding(
        report,
        "table 2, ioa",
        "IOA takes 6 to 14 times as long as Two-Stacks",
        f"{span(over['ioa'])} times",
        min(over["ioa"]) >= 6,
        "IOA's cells lie in an array here and are used again; the paper's are allocated and freed one by one, which it "
        "names itself as the reason for their cost.",
    )


CHEAP = (
    "IOA is nearer to DABA as it allocates nothing here. Why single rounds of DABA take many times its usual time is "
    "not known: they remain when each round is the fastest of several runs, and no round takes more than 8 combines."
)
DEAR = (
    "In DABA and in IOA alike, a quarter of the window of rounds with 8 combines is followed by as many with 2, as "
    "counting them shows. With long combines these phases are most of the cost, so that DABA's worst round is above "
    "IOA's best; IOA's memory, which the paper's figure is about, costs little here."
)


def _series(report: Report, found: dict[str, dict[str, np.ndarray]]) -> None:
    table = report.table([f"{k}/5" for k in range(1, 6)], width=18, first=20)
    worst: dict[str, tuple[float, float]] = {}
    for name in (n for n in SHOWN if n in found):
        for a in ("ioa", "daba"):
            fifths = np.array_split(found[name][a], 5)
            table.row(f"{name}, {a}", [f"{np.median(f):,.0f} max {f.max():,.0f}" for f in fifths])
        medians = {a: float(np.median(found[name][a])) for a in ("ioa", "daba")}
        worst[name] = medians["ioa"] / medians["daba"], float(found[name]["daba"].max() / found[name]["ioa"].min())
    for name, (typical, highest) in worst.items():
        finding(
            report,
            f"figure 13, {name}, latency",
            "DABA's typical round costs a tenth of IOA's, and its worst is usually below IOA's best",
            f"ioa's typical round takes {figure(typical)} times as long as daba's; daba's worst takes "
            f"{figure(highest)} times as long as ioa's best",
            typical > 5 and highest < 1,
            DEAR if name == "bloom" else CHEAP,
        )


def functional(report: Report, settings: Settings) -> None:
    """FOA beside the others where all are interpreted."""
    report.say(f"\nDABA, table 2, FOA: ns of a round, all interpreted, window {power(settings.window)}")
    table = report.table(INTERPRETED, width=16)
    found: dict[str, dict[str, np.ndarray]] = {}
    for name in (n for n in settings.aggregates if n != "collect"):
        values = _values(name, settings.window + _rounds(settings, name, settings.interpreted_part))
        # Each round the fastest of some runs, as above.
        runs = [
            {a: _timed(a, AGGREGATES[name], settings.window, values) for a in INTERPRETED}
            for _ in range(min(settings.runs, 3))
        ]
        found[name] = {a: np.min([each[a] for each in runs], axis=0) for a in INTERPRETED}
        _keep(report, settings, "ns", "table 2, interpreted", name, found[name], interpreted=True)
        table.row(name, [f"{ns.mean():,.0f} ± {ns.std():,.0f}" for ns in found[name].values()])
    over = [float(f["foa"].mean() / f["two_stacks"].mean()) for f in found.values()]
    finding(
        report,
        "table 2, foa",
        "FOA's average is 1.6 to 2.8 times that of Two-Stacks",
        f"{span(over)} times, all interpreted",
        min(over) >= 1.6 and max(over) <= 2.8,
        "FOA lives on Python objects and has no compiled form, so it stands beside interpreted ones; the paper's is "
        "Standard ML beside C++. Where a combine is long, the rest of FOA's work shows less.",
    )
    spread = {n: float(f["foa"].std() / f["two_stacks"].std()) for n, f in found.items()}
    finding(
        report,
        "table 2, foa, deviation",
        "FOA's standard deviation is as much as 5 times that of Two-Stacks, by garbage collection",
        f"{span(spread.values())} times",
        max(spread.values()) > 2,
        "Each round is the fastest of some runs here, so that a collector's pause does not count unless it falls on "
        "the same round every time; and Python frees most cells by counting references, as soon as nobody has them.",
    )


def _values(name: str, rows: int) -> list[Any]:
    parts = [column[:rows].tolist() for column in columns(name, rows)[1]]
    return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))


def _timed(algorithm: str, aggregate: sw.Aggregate, window: int, values: list[Any]) -> np.ndarray:
    live = sw.swag.window(aggregate, algorithm, capacity=window)
    for value in values[:window]:
        live.insert(value)
    ns = np.empty(len(values) - window)
    for k, value in enumerate(values[window:]):
        before = time.perf_counter_ns()
        live.evict()
        live.insert(value)
        live.query()
        ns[k] = time.perf_counter_ns() - before
    return ns
