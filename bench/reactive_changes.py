"""The Reactive Aggregator where windows resize, where many items change at once, against AW, and its memory."""

import numpy as np

import slidewheel as sw
from bench.compiled import Live
from bench.harness import Contestant, Report, figure
from bench.papers import average, curves, finding, power
from bench.reactive_setup import AW, ISS, MAX_STD, RA, TABLE_4, M, Settings, batch, columns, named, parts, rows, sliding
from bench.reactive_swing import Swinging


def figure_9(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, figure 9: windows of n items, and windows whose capacity swings between n and 2n, "
        "µs per tuple"
    )
    groups: dict[int, list[Contestant]] = {}
    for w in settings.dynamic:
        groups[w] = []
        for name, aggregate in MAX_STD.items():
            steady = sliding(settings, RA, aggregate, ("f",), w)
            groups[w] += named(name, [Contestant("fixed", steady.run, steady.units, steady.answer)])
            groups[w].append(_swinging(settings, aggregate, name, w))
    found = curves(
        report,
        "figure 9",
        groups,
        "µs",
        per="tuple",
        named=lambda name: {"aggregate": name.split(", ")[0], "capacity": name.split(", ")[1], "algorithm": RA},
    )
    ratios = [found[f"{n}, osc."][w].over(found[f"{n}, fixed"][w]) for n in MAX_STD for w in settings.dynamic]
    finding(
        report,
        "figure 9",
        "resizing is amortised: windows that swing are even faster, as they hold fewer items most of the time",
        f"swinging takes {figure(min(ratios))} to {figure(max(ratios))} of that, {figure(average(ratios))} on average",
        average(ratios) <= 1,
        "That a window holds fewer items saves nothing here, as a write always goes up to the root; the paper's skips "
        "what is unused. Putting two trees together in each swing takes some 6 combines for each tuple, which weigh "
        "the less the longer the window. The trees are there from the beginning; the paper's are allocated each time.",
    )


def _swinging(settings: Settings, aggregate: sw.Aggregate, name: str, window: int) -> Contestant:
    made = Swinging(RA, aggregate, window, columns(("f",), rows(2 * window)), 1)
    times = max(settings.rounds // window, 1)
    folded: list[float] = []

    def answer() -> np.ndarray:
        found = made.swing(1).copy()
        folded.append(float(made.items.max() if name == "max" else made.items.std(ddof=1)))
        return found

    made.swing(1)  # fills the empty window
    inserted = times * (window + 1 - (window // 2 - 1))
    return Contestant(f"{name}, osc.", lambda: made.swing(times), inserted, answer, expected=lambda: np.array(folded))


def figure_10(report: Report, settings: Settings) -> None:
    report.say(
        "\nReactive Aggregator, figure 10: StdDev with m items between queries, µs per tuple, RA writing them at once"
    )
    groups: dict[int, list[Contestant]] = {}
    for w in settings.coarse:
        groups[w] = []
        for text in M:
            m = {"n/16": w // 16, "n/4": w // 4, "n": w}.get(text) or int(text)
            made = batch(settings, RA, MAX_STD["std"], w, m)
            other = batch(settings, "two_stacks", MAX_STD["std"], w, m)
            groups[w].append(Contestant(f"m = {text}", made.run, made.units, made.answer, expected=other.answer))
    found = curves(
        report,
        "figure 10",
        groups,
        "µs",
        per="tuple",
        named=lambda name: {"m": name.removeprefix("m = "), "algorithm": RA},
        aggregate="std",
    )
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
            groups[w] += named(f"m = {text}", [batch(settings, a, MAX_STD["max"], w, m) for a in (AW, RA)])
    found = curves(report, "figure 11", groups, "µs", per="tuple", named=parts("m"), aggregate="max")
    ratios = {t: [found[f"m = {t}, {AW}"][w].over(found[f"m = {t}, {RA}"][w]) for w in groups] for t in ("1", "n/16")}
    finding(
        report,
        "figure 11",
        "RA and AW are of the same order, RA faster by a constant factor",
        "; ".join(f"m = {t}: AW takes {figure(min(r))} to {figure(max(r))} of RA's time" for t, r in ratios.items()),
        all(min(r) > 1 for r in ratios.values()),
        AW_IS_FAST,
    )


AW_IS_FAST = (
    "One reason may be that our AW puts an interval together once, when its last item comes: an insert takes one "
    "combine on average where RA's takes log2 n. RA is timed with one write for each slide into a full buffer."
)


def table_4(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, table 4: AW's time over RA's with a query after every tuple")
    table = report.table([f"n = {power(w)}" for w in settings.table_4] + ["the paper's, n = 8, 8K, 8M"])
    ratios: dict[str, list[float]] = {}
    for name, (aggregate, papers) in TABLE_4.items():
        # One aggregate after the other, as the trees of all of them at once would fill the memory.
        groups = {w: [batch(settings, a, aggregate, w, 1) for a in (AW, RA)] for w in settings.table_4}
        times = report.race({f"table 4, {name}, {power(w)}": group for w, group in groups.items()})
        for w, paper, at in zip(settings.table_4, papers, (1 << 3, 1 << 13, 1 << 23), strict=True):
            group = times[f"table 4, {name}, {power(w)}"]
            ratio = group[AW].over(group[RA])
            ratios.setdefault(name, []).append(ratio)
            known = {"paper": paper, "paper_window": at}
            report.keep("AW/RA", {"median": ratio}, experiment="table 4", aggregate=name, window=w, **known)
            for a, timing in group.items():
                about = {"aggregate": name, "algorithm": a, "window": w}
                report.keep("ns/tuple", timing, experiment="table 4, times", **about)
        table.row(name, [*(figure(r) for r in ratios[name]), ", ".join(figure(p) for p in papers)])
    ends = [(r[0], r[-1]) for r in ratios.values()]
    finding(
        report,
        "table 4",
        "AW takes longer for all aggregates, the more so the longer the window; the aggregate matters little",
        f"{figure(min(a for a, _ in ends))} to {figure(max(a for a, _ in ends))} at {settings.table_4[0]} items, "
        f"{figure(min(b for _, b in ends))} to {figure(max(b for _, b in ends))} at {power(settings.table_4[-1])}",
        all(1 < a < b for a, b in ends),
        AW_IS_FAST,
    )


def figure_12(report: Report, settings: Settings) -> None:
    report.say("\nReactive Aggregator, figure 12: KB of states; the paper has the resident set of the whole process")
    table = report.table([power(w) for w in settings.tumbling])
    used: dict[str, list[float]] = {}
    for name, aggregate in MAX_STD.items():
        for a in (ISS, RA):
            made = [Live(a, aggregate, w, columns(("f",), 1 << 14), 1 << 4) for w in settings.tumbling]
            used[f"{name}, {a}"] = [live.states.nbytes / 1024 for live in made]
            for w, kb in zip(settings.tumbling, used[f"{name}, {a}"], strict=True):
                about = {"aggregate": name, "algorithm": a, "window": w}
                report.keep("KB", {"median": kb}, experiment="figure 12", **about)
            table.row(f"{name}, {a}", [figure(kb) for kb in used[f"{name}, {a}"]])
    ratios = [r / i for n in MAX_STD for r, i in zip(used[f"{n}, {RA}"], used[f"{n}, {ISS}"], strict=True)]
    finding(
        report,
        "figure 12",
        "RA takes space in proportion to n, with a small constant",
        f"{figure(max(ratios))} times that of ISS at all sizes",
        max(ratios) <= 2,
        "States are counted, not the resident set of the process, most of which is Python and its compiler here and "
        "the streaming system in the paper.",
    )
