"""SlickDeque's experiments (Shein, Chrysanthis, Labrinidis, EDBT 2018): table 1 counted, figures 10 to 15 compiled."""

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, LiveRanges, counter
from bench.harness import SEED, Contestant, Report, disagreement, figure
from bench.machine import free_memory
from bench.papers import STAND_IN, advantage, average, curves, energy, finding, percent, power
from bench.slickdeque_counts import table_1
from slidewheel.swag.multi.registry import FORMS

AGGREGATES = {"sum": sw.sum(), "max": sw.max()}
SLICK = {"sum": "subtract_on_evict", "max": "slickdeque"}
OTHERS = ("recalc", "flatfat", "b_int", "flatfit", "two_stacks", "daba")
FLAT = {"flatfit", "two_stacks", "daba"}


@dataclass(frozen=True)
class Settings:
    counted: tuple[int, ...] = (1 << 4, 1 << 6, 1 << 8, 1 << 10)
    """Windows of table 1; those with many ranges up to 2^8."""
    windows: tuple[int, ...] = (*(1 << k for k in range(0, 25, 2)), 1 << 27)
    rounds: int = 1 << 18
    """In one measurement; the window's size if that is more, for algorithms that do much work once per window."""
    recalc: int = 1 << 12
    """The longest window or range that is recalculated."""
    ranges: tuple[int, ...] = tuple(1 << k for k in range(0, 17, 2))
    answers: int = 1 << 19
    """In one measurement of many ranges."""
    window: int = 1024
    latency_rounds: int = 1_000_000
    runs: int = 3
    memory: tuple[int, ...] = (*(w << k for k in (4, 8, 12, 16, 20, 24) for w in (2, 3)), 1 << 27)


FULL = Settings()
QUICK = Settings(
    counted=(1 << 4, 1 << 6),
    windows=(1, 4, 16, 1 << 8, 1 << 14, 1 << 18),
    rounds=1 << 15,
    recalc=1 << 8,
    ranges=(1, 4, 16, 64, 256),
    answers=1 << 16,
    latency_rounds=100_000,
    memory=(1 << 8, 3 << 8, 1 << 16, 3 << 16),
)
SMOKE = Settings(
    counted=(8, 16),
    windows=(1, 16, 32),
    rounds=64,
    recalc=16,
    ranges=(1, 4, 16),
    answers=64,
    window=16,
    latency_rounds=256,
    runs=1,
    memory=(16, 24),
)


def run(report: Report, settings: Settings) -> None:
    report.say(
        "Shein, Chrysanthis, Labrinidis: SlickDeque (EDBT 2018), section 5; a query after every item, in float64"
    )
    report.say(STAND_IN)
    settings = affordable(settings)
    report.say(f"the paper goes up to windows of 2^27, this to {power(max(settings.windows))}")
    report.say(f"and to {power(max(settings.ranges))} ranges: to fill a window with all its ranges takes steps squared")
    report.say(
        "SlickDeque (Inv) with one query is subtract_on_evict, the naive way is recalc; ± half the quartile range"
    )
    rows = 1 << (2 * max(*settings.windows, settings.latency_rounds) - 1).bit_length()
    columns = ("f",), (energy(rows, SEED),)
    table_1(report, settings.counted, columns[1][0])
    one_query(report, settings, "sum", 10, "15% more than the second best on average, 19% at most", FEW_ITEMS, columns)
    shapes = streams(report, settings)
    one_query(report, settings, "max", 11, "7% more than the second best on average, 10% at most", shapes, columns)
    for name, number, much in (("sum", 12, (45, 60)), ("max", 13, (266, 345))):
        more = f"{much[0]}% more than the second best on average, {much[1]}% at most"
        many_queries(report, settings, name, number, more, columns)
    latency(report, settings, columns)
    memory(report, settings, columns)


BYTES = 144
"""For each item of the longest window: twice as many in the stream, and states and links of all algorithms."""


def affordable(settings: Settings) -> Settings:
    """Without the windows that do not fit into memory."""
    longest = free_memory() // BYTES
    fitting = {name: tuple(w for w in getattr(settings, name) if w <= longest) for name in ("windows", "memory")}
    return replace(settings, **fitting)


FEW_ITEMS = "At four items or ranges, recalculation in registers is the fastest here."
DEGREE = "How much faster it is differs too: all algorithms are compiled alike here, and more is not known."


def streams(report: Report, settings: Settings) -> str:
    """SlickDeque for max on streams of different kinds, as its work depends on them. Why figure 11 is as it is."""
    report.say(f"\nSlickDeque, figure 11, streams: max at window {settings.window} on other streams, ns per query")
    rows = 1 << (settings.rounds + 2 * settings.window - 1).bit_length()
    count = np.arange(rows, dtype=float)
    given = {
        "energy": energy(rows, SEED),
        "uniform": np.random.default_rng(SEED).random(rows),
        "constant": np.ones(rows),
        "rising": count,
        "falling": -count,
    }
    algorithms = (SLICK["max"], "two_stacks", "daba")
    made = {
        stream: [_single(settings, a, "max", settings.window, (("f",), (values,))) for a in algorithms]
        for stream, values in given.items()
    }
    times = report.race({f"figure 11, streams, {stream}": group for stream, group in made.items()})
    table = report.table(list(given))
    found = {a: {s: times[f"figure 11, streams, {s}"][a] for s in given} for a in algorithms}
    for a, line in found.items():
        table.row(a, list(line.values()))
        for stream, timing in line.items():
            about = {"algorithm": a, "aggregate": "max", "stream": stream, "window": settings.window}
            report.keep("ns/query", timing, experiment="figure 11, streams", **about)
    slick, other = found[SLICK["max"]], found["two_stacks"]
    easy = {stream: figure(slick[stream].median) for stream in ("constant", "rising", "falling")}
    return (
        "SlickDeque takes the fewest combines here too, but its time goes with how well its loop can be foreseen: at "
        f"window {settings.window} a query takes {figure(slick['energy'].median)} ns on the energy reading and "
        f"{figure(slick['uniform'].median)} ns on uniform values, but {easy['constant']} ns on constant, "
        f"{easy['rising']} ns on rising and {easy['falling']} ns on falling ones, where two_stacks takes "
        f"{figure(min(t.median for t in other.values()))} to {figure(max(t.median for t in other.values()))} ns. That "
        "fits mispredicted branches, which were not counted themselves."
    )


def one_query(report: Report, settings: Settings, name: str, number: int, paper: str, why: str, columns: Any) -> None:
    report.say(f"\nSlickDeque, figure {number}: {name} over one window, million queries per second")
    slick = SLICK[name]
    groups = {
        w: [_single(settings, a, name, w, columns) for a in (slick, *OTHERS) if a != "recalc" or w <= settings.recalc]
        for w in settings.windows
    }
    found = curves(report, f"figure {number}", groups, per="query", aggregate=name)
    since = {10: 4, 11: 16}[number]
    fastest = f"SlickDeque is the fastest from {since} items on, {paper}"
    _judge(report, f"figure {number}", fastest, found, slick, since, why)
    short, long = 16, max(settings.windows)
    growth = {a: line[long].over(line[short]) for a, line in found.items() if short in line and long in line}
    constant = {a for a, ratio in growth.items() if ratio < 2}
    finding(
        report,
        f"figure {number}, growth",
        "SlickDeque, FlatFIT, TwoStacks and DABA keep their throughput as windows grow; FlatFAT and B-Int lose it",
        f"from 16 to {power(long)} items a query takes {', '.join(f'{a} {figure(r)}x' for a, r in growth.items())}",
        constant == {slick, *FLAT} & set(growth),
        "Constant is taken as less than twice the time. FlatFIT is near to that at the longest windows, and above it "
        "in some runs; probably as its links are one more array that does not fit into the caches. Where others are "
        "above it too, other programs on the machine may be the reason, which was not checked.",
    )


def _single(settings: Settings, algorithm: str, name: str, window: int, columns: Any) -> Contestant:
    made = Live(algorithm, AGGREGATES[name], window, columns, 1 << 8)
    count = settings.rounds
    if algorithm in FLAT:
        count = max(window, count)
    if algorithm == "recalc":
        count = max(count // window, 64)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: made.advance(1 << 8).copy())


def _judge(report: Report, where: str, paper: str, found: Any, slick: str, since: int, why: str) -> None:
    """Whether SlickDeque is the fastest at every size from `since` on; from which on it is, and by how much."""
    gains = advantage(found[slick], [line for name, line in found.items() if name != slick])
    behind = [w for w, gain in gains.items() if gain <= 1]
    ahead = {w: gain for w, gain in gains.items() if w > max(behind, default=0)}
    if ahead:
        here = (
            f"the fastest from {power(min(ahead))} on, {percent(average(ahead.values()))} on average, "
            f"{percent(max(ahead.values()))} at most"
        )
    else:
        largest = max(gains)
        here = f"at {power(largest)} {percent(gains[largest])} against the best other"
    seen = bool(ahead) and max(behind, default=0) < since
    finding(report, where, paper, here, seen, DEGREE if seen else f"{why} {DEGREE}")


def many_queries(report: Report, settings: Settings, name: str, number: int, paper: str, columns: Any) -> None:
    report.say(f"\nSlickDeque, figure {number}: {name} over the ranges 1 to n at each slide, million slides per second")
    slick = "slickdeque" if name == "max" else "slickdeque_inv"
    forms = {slick: FORMS[slick]} | {a: FORMS[a] for a in OTHERS if a in FORMS}
    groups = {
        n: [
            _ranges(settings, form, name, n, columns)
            for a, form in forms.items()
            if a != "recalc" or n <= min(settings.recalc, 1 << 8)
        ]
        for n in settings.ranges
    }
    found = curves(report, f"figure {number}", groups, label="n", per="slide", aggregate=name)
    fastest = f"SlickDeque is the fastest from 4 ranges on, {paper}"
    _judge(report, f"figure {number}", fastest, found, slick, 4, FEW_ITEMS)


def _ranges(settings: Settings, form: ModuleType, name: str, longest: int, columns: Any) -> Contestant:
    made = LiveRanges(form, AGGREGATES[name], longest, columns)
    count = max(settings.answers // longest, 32)
    return Contestant(form.CARD.name, lambda: made.advance(count), count, answer=lambda: made.advance(50).copy())


POINTS = {"min": 0, "25th": 25, "median": 50, "average": None, "75th": 75, "max": 100}


def latency(report: Report, settings: Settings, columns: Any) -> None:
    scale, apart = counter()
    report.say(
        f"\nSlickDeque, figure 14: ns per query at window {settings.window}, {settings.latency_rounds} queries; "
        f"the highest 0.005% dropped"
    )
    report.say(
        f"each query the fastest of {settings.runs} equal runs, as other programs use this machine too; "
        f"{figure(apart)} ns of each are the clock's"
    )
    found: dict[str, dict[str, float]] = {}
    for name in AGGREGATES:
        # The paper shows one line for sum and max together, but for SlickDeque.
        algorithms = (SLICK[name], *OTHERS) if name == "sum" else (SLICK[name],)
        live = {a: Live(a, AGGREGATES[name], settings.window, columns, 1 << 8) for a in algorithms}
        least = {a: np.full((settings.latency_rounds, 4), np.iinfo(np.uint64).max, dtype=np.uint64) for a in live}
        for made in live.values():
            made.clock(np.zeros((1, 4), dtype=np.uint64))  # compiles
        for _ in range(settings.runs):
            answers = {a: made.clock(least[a]) for a, made in live.items()}
        for a in algorithms:
            problem = disagreement(answers[a], answers[algorithms[0]])
            if problem is not None:
                report.wrong(f"figure 14: {a}: {problem}")
            found[a] = _points(least[a][:, 3] * scale)
            about = {"aggregate": name, "algorithm": a, "window": settings.window, "measured": len(least[a])}
            report.keep("ns/query", found[a], experiment="figure 14", **about)
    table = report.table(list(POINTS))
    for a, points in found.items():
        table.row(a, [figure(v) for v in points.values()])
    slicks = set(SLICK.values())
    best = {p: min((a for a in found if a not in slicks), key=lambda a, p=p: found[a][p]) for p in POINTS}
    lower = {a: [p for p in POINTS if found[a][p] <= found[best[p]][p]] for a in slicks}
    finding(
        report,
        "figure 14",
        "both SlickDeques have the lowest min, max, average, median and quartiles; DABA has the next lowest max",
        "; ".join(f"{a} has the lowest {', '.join(lower[a]) or 'of none'}" for a in sorted(slicks))
        + f"; the lowest max of the others is {best['max']}'s",
        all(len(points) == len(POINTS) for points in lower.values()) and best["max"] == "daba",
        f"The clock goes in steps of about {figure(apart)} ns, in which most of these differences vanish. SlickDeque "
        "(Non-Inv) takes the longer the more nodes an item removes, so that its slowest queries take longer than those "
        "of DABA, whose combines are bounded; the paper's streams may have had fewer such items.",
    )
    report.keep("ns", {"median": apart, "runs": settings.runs}, experiment="figure 14, clock")


def _points(ns: np.ndarray) -> dict[str, float]:
    kept = np.sort(ns)[: max(1, len(ns) - round(len(ns) * 0.00005))]
    return {p: float(kept.mean() if at is None else np.percentile(kept, at)) for p, at in POINTS.items()}


# Table 1: the space for one query.
SPACE = {"recalc": "n", "flatfat": "2n (3n where n is no power of 2)", "b_int": "2n (3n where n is no power of 2)"}
SPACE |= {"flatfit": "2n", "two_stacks": "2n", "daba": "2n", "subtract_on_evict": "n", "slickdeque": "2 to 2n"}


def memory(report: Report, settings: Settings, columns: Any) -> None:
    report.say("\nSlickDeque, figure 15: KB of states and links for one query")
    report.say("  not the resident set, as in the paper: Python and its compiler take 100 MB before the first item")
    report.say("  slickdeque: the nodes in use at most; the ring that they lie in has room for all items")
    used: dict[str, dict[int, float]] = {}
    for window in settings.memory:
        for a in (*OTHERS, SLICK["sum"], SLICK["max"]):
            name = "max" if a == "slickdeque" else "sum"
            made = Live(a, AGGREGATES[name], window, columns, 1 << 8)
            # Rings are powers of 2, of which an array of the window's own length would need this part.
            part = 1.0 if a in ("flatfat", "b_int") else window / (made.mask + 1)
            if a == "slickdeque":
                part = _nodes(made) / (made.mask + 1)
            used.setdefault(a, {})[window] = part * (made.states.nbytes + made.links.nbytes) / 1024
    table = report.table([str(w) for w in settings.memory])
    for a, line in used.items():
        table.row(a, [figure(kb) for kb in line.values()])
        for window, kb in line.items():
            report.keep("KB", {"median": kb}, experiment="figure 15", algorithm=a, window=window, paper=SPACE[a])
    ratios = [used["recalc"][w] / used["slickdeque"][w] for w in settings.memory]
    inverse = average(used["subtract_on_evict"][w] / used["recalc"][w] for w in settings.memory)
    finding(
        report,
        "figure 15",
        "Inv takes what Naive takes; Non-Inv half of it on average, a fifth at best; all others more than Naive",
        f"Inv takes {figure(inverse)} times what Naive takes; "
        f"Non-Inv 1/{average(ratios):.0f} on average, 1/{max(ratios):.0f} at best",
        inverse < 1.5
        and min(ratios) > 1
        and all(used[a][w] > used["recalc"][w] for a in OTHERS[1:] for w in settings.memory),
        "The figure counts states and links, not the resident set. A float sum that can be taken back counts "
        "infinities beside the finite sum, so that its state has three numbers. Of SlickDeque (Non-Inv) the nodes in "
        "use are counted; the ring that they lie in has room for all items, so that few nodes do not make it smaller.",
    )


def _nodes(made: Live) -> int:
    """The most nodes that the deque has at once, looked at every now and then over two windows."""
    most = 0
    for _ in range(64):
        made.advance(max(made.window // 32, 1))
        most = max(most, int(made.registers[3] - made.registers[2]))
    return most
