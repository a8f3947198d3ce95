"""SlickDeque, table 1: the combines of a slide for one query and for the ranges 1 to n, beside the paper's formulas."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import slidewheel as sw
from bench import combines
from bench.harness import Report
from bench.papers import finding, power

Formula = Callable[[int], float]


def _log(n: int) -> float:
    return math.log2(n)


@dataclass(frozen=True)
class Row:
    """A line of table 1: the algorithm here, and the paper's figures for the average and the worst slide."""

    algorithm: str
    paper: str
    average: Formula | None
    worst: Formula | None
    stream: str = "random"


ONE = (
    Row("recalc", "n - 1", lambda n: n - 1, lambda n: n - 1),
    Row("flatfat", "log2 n", _log, _log),
    Row("b_int", "order log n", None, None),
    Row("flatfit", "3(n - 1) in n + 1 slides, n - 1 at worst", lambda n: 3 * (n - 1) / (n + 1), lambda n: n - 1),
    Row("two_stacks", "3 on average, n at worst for the flip", lambda n: 3, lambda n: n),
    Row("daba", "5 on average, 8 at worst", lambda n: 5, lambda n: 8),
    Row("slickdeque_inv", "2", lambda n: 2, lambda n: 2),
    Row("slickdeque", "fewer than 2 on average, n at worst", lambda n: 2, lambda n: n, "energy"),
    Row("slickdeque", "fewer than 2 on average, n at worst", lambda n: 2, lambda n: n, "falling, then a top"),
)
MANY = (
    Row("recalc", "n^2/2 - n/2", lambda n: n * n / 2 - n / 2, lambda n: n * n / 2 - n / 2),
    Row("flatfat", "n log2 n - 3n/2 + 5/2 log2 n + 5/2", lambda n: n * _log(n) - 1.5 * n + 2.5 * _log(n) + 2.5, None),
    Row("b_int", "order n log n", None, None),
    Row("flatfit", "n - 1", lambda n: n - 1, lambda n: n - 1),
    Row("slickdeque_inv", "2n", lambda n: 2 * n, lambda n: 2 * n),
    Row("slickdeque", "2 to 2n, walking the deque counted", None, lambda n: 2 * n, "energy"),
    Row("slickdeque", "2 to 2n, walking the deque counted", None, lambda n: 2 * n, "falling, then a top"),
)
LONGEST = {"recalc": 1 << 6}
"""With many ranges; others up to 2^8."""


def table_1(report: Report, windows: tuple[int, ...], energy: np.ndarray) -> None:
    one = _part(report, "table 1, one query", ONE, windows, energy)
    many = _part(report, "table 1, many queries", MANY, windows, energy)
    n = windows[-1]
    finding(
        report,
        "table 1, one query",
        "on average n - 1, log2 n, 3, 3, 5, 2 and fewer than 2 combines a slide for Naive, FlatFAT, FlatFIT, "
        "TwoStacks, DABA, SlickDeque (Inv) and (Non-Inv)",
        f"at {power(n)} items " + ", ".join(f"{name} {mean:.2f}" for name, (mean, _) in one[n].items()),
        all(
            math.isclose(one[w][row.algorithm][0], row.average(w), rel_tol=0.02)
            for w in windows
            for row in ONE
            if row.average is not None and row.algorithm not in ("slickdeque", "flatfat")
        )
        and all(mean < 2 for w in windows for name, (mean, _) in one[w].items() if name.startswith("slickdeque,"))
        and one[n]["flatfat"][0] <= 1.15 * math.log2(n),
        "FlatFAT answers with its root in the paper, which is right for sums and maxima. Ours keeps the order of the "
        "items for aggregates that are not commutative: a window that wraps around the end of the buffer is put "
        "together of a suffix and a prefix. The others are the same; TwoStacks' worst slide also inserts and queries.",
    )
    most = max(w for w in windows if w in many)
    finding(
        report,
        "table 1, many queries",
        "per slide n^2/2 - n/2 for Naive, n log2 n - 3n/2 + 5/2 log2 n + 5/2 for FlatFAT, n - 1 for FlatFIT, 2n for "
        "SlickDeque (Inv); for (Non-Inv) at worst 2n, of which n are steps of a walk",
        f"at {power(most)} ranges " + ", ".join(f"{name} {mean:.2f}" for name, (mean, _) in many[most].items()),
        all(
            many[w][row.algorithm][0] == row.average(w)
            for w in many
            for row in MANY
            if row.average is not None and row.algorithm in many[w] and row.algorithm != "flatfat"
        )
        and all(mean < 2 for w in many for name, (mean, _) in many[w].items() if name.startswith("slickdeque,"))
        and all(abs(many[w]["flatfat"][0] + w + 1 - 1 / w - MANY[1].average(w)) < 1e-6 for w in many),
        "FlatFAT's formula counts the nodes that an answer is put together of, and we count the combines between them: "
        "one less for each of the ranges, n + 1 - 1/n fewer in all; taken as the same. The walk over SlickDeque's "
        "nodes takes no combines, so that fewer than 2 remain.",
    )


def _of(row: Row) -> str:
    return "" if row.stream == "random" else f", {row.stream}"


def _part(
    report: Report, where: str, rows: tuple[Row, ...], windows: tuple[int, ...], energy: np.ndarray
) -> dict[int, dict[str, tuple[float, int]]]:
    """Average and most for each window and row."""
    many = rows is MANY
    report.say(f"\nSlickDeque, {where}: combines of a slide, average and most")
    shown = [w for w in windows if not many or w <= 1 << 8]
    table = report.table([*(power(w) for w in shown), "the paper's"], first=34, width=17)
    found: dict[int, dict[str, tuple[float, int]]] = {w: {} for w in shown}
    for row in rows:
        cells = []
        for w in shown:
            if many and w > LONGEST.get(row.algorithm, w):
                cells.append("-")
                continue
            costs = _counted(row, w, many, energy)
            mean, most = found[w][row.algorithm + _of(row)] = float(np.mean(costs)), max(costs)
            paper = {
                "paper": row.average(w) if row.average else None,
                "paper_max": row.worst(w) if row.worst else None,
                "formula": row.paper,
            }
            about = {"algorithm": row.algorithm, "stream": row.stream, "window": w}
            report.keep("combines/slide", {"mean": mean, "max": most}, experiment=where, **about, **paper)
            cells.append(f"{mean:,.2f} max {most:,}")
        table.row(row.algorithm + _of(row), [*cells, row.paper])
    return found


def _counted(row: Row, n: int, many: bool, energy: np.ndarray) -> list[int]:
    aggregate = sw.sum() if row.stream == "random" else sw.max()
    values = {"random": None, "energy": _cycled(energy), "falling, then a top": _falling(n)}[row.stream]
    # Whole periods: n + 1 slides for FlatFIT, n for the others.
    slides = 4 * (n + 1) if row.algorithm == "flatfit" else 4 * n
    if row.algorithm in ("two_stacks", "daba"):
        return combines.of_slides(row.algorithm, n, slides, aggregate, values)["slide"]
    slides = 16 if row.algorithm == "recalc" else slides
    return combines.of_ranges(row.algorithm, n, slides, aggregate, None if many else [n], values)


def _cycled(energy: np.ndarray) -> Iterator[float]:
    while True:
        yield from energy[: 1 << 16].tolist()


def _falling(n: int) -> Iterator[int]:
    """n items, each below the one before, again and again: the first of each run removes those of the last one."""
    while True:
        yield from range(n, 0, -1)
