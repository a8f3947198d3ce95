"""What the suites that repeat the papers' experiments share: the data, the findings, break-even points."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.harness import Contestant, Report, Timing, figure

STAND_IN = (
    "the DEBS 2012 data are not at hand: a stand-in with the character of an energy reading at 100 Hz, "
    "levels that hold for some seconds, with noise, in whole numbers"
)


def energy(rows: int, seed: int) -> np.ndarray:
    """A power reading of a machine: a level for each state it is in, some seconds each, and noise."""
    chance = np.random.default_rng(seed)
    changes = chance.random(rows) < 1 / 500
    levels = chance.normal(12_000, 2_000, int(changes.sum()) + 1)
    return np.rint(levels[np.cumsum(changes)] + chance.normal(0, 60, rows))


def power(window: int) -> str:
    """A window's size, as a power of 2 where it is one."""
    exact = window >= 16 and window & (window - 1) == 0
    return f"2^{window.bit_length() - 1}" if exact else str(window)


def finding(report: Report, where: str, paper: str, here: str, seen: bool, why: str = "") -> None:
    """What a paper found, what we find, whether that is the same, and why not, as far as we know."""
    why = why if seen or why else "Not known."
    report.say(f"  the paper: {paper}")
    report.say(f"  here:      {here}; {'so here too' if seen else 'NOT so here'}")
    if why:
        report.say(f"  why:       {why}")
    report.keep("", {"seen": bool(seen), "here": here, "why": why}, experiment=where, kind="finding", paper=paper)


def curves(
    report: Report,
    where: str,
    groups: Mapping[int, Sequence[Contestant]],
    unit: str = "million/s",
    label: str = "",
    per: str = "item",
    named: Callable[[str], dict[str, Any]] = lambda name: {"algorithm": name},
    **what: Any,
) -> dict[str, dict[int, Timing]]:
    """Race the contestants of each window and print a line for each of them. The times by contestant and window.

    `named` says what the name of a contestant stands for, for the records.
    """
    times = report.race({f"{where}, {power(window)}": group for window, group in groups.items()})
    found: dict[str, dict[int, Timing]] = {}
    for window in groups:
        for name, timing in times[f"{where}, {power(window)}"].items():
            found.setdefault(name, {})[window] = timing
            fields = {**what, **named(name), "contestant": name, "window": window}
            report.keep(f"ns/{per}", timing, experiment=where, **fields)
    table = report.table([power(w) for w in groups], label=label or unit)
    for name, line in found.items():
        table.row(name, [_cell(line.get(window), unit) for window in groups])
    return found


POINTS = 400
"""The most points of a line over a run of many rounds."""


def thinned(values: np.ndarray) -> dict[str, list[int]]:
    """A long series as at most 400 stretches: the first round of each, and its median and highest value, rounded."""
    stretches = np.array_split(values, min(POINTS, len(values)))
    first = np.cumsum([0, *(len(stretch) for stretch in stretches[:-1])])
    return {
        "first": first.tolist(),
        "medians": [round(float(np.median(stretch))) for stretch in stretches],
        "highs": [round(float(stretch.max())) for stretch in stretches],
    }


def summed(values: np.ndarray) -> dict[str, float]:
    """What is kept of single rounds."""
    return {
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "std": float(values.std()),
        "min": float(values.min()),
        "max": float(values.max()),
        "measured": len(values),
    }


def break_even(
    report: Report, where: str, point: float, windows: Sequence[int], paper: float | str, **what: Any
) -> str:
    """Keep a break-even point between the smallest and the largest window; no median where it is beyond them."""
    shown = size(point, windows[0], windows[-1])
    known = {"median": None if math.isinf(point) else point, "smallest": windows[0], "largest": windows[-1]}
    report.keep("items", known | {"shown": shown}, experiment=where, paper=paper, **what)
    return shown


def _cell(timing: Timing | None, unit: str) -> str:
    if timing is None:
        return "-"
    shown = {"million/s": 1e3 / timing.median, "µs": timing.median / 1e3, "ns": timing.median}[unit]
    return f"{figure(shown)} ±{timing.spread:.0%}"


def advantage(line: Mapping[int, Timing], others: Sequence[Mapping[int, Timing]]) -> dict[int, float]:
    """At each window, how many times as fast as the fastest of the others."""
    best = {w: min((o[w] for o in others if w in o), key=lambda t: t.median) for w in line}
    return {w: best[w].over(line[w]) for w in line}


def crossing(base: Mapping[int, Timing], other: Mapping[int, Timing], times: float = 1.0) -> float:
    """The window from which on `other` is that many times as fast as `base`, between windows by interpolation.

    The smallest window if it always is, infinity if not even at the largest.
    """
    windows = sorted(w for w in base if w in other)
    gain = [math.log(base[w].over(other[w]) / times) for w in windows]
    behind = [k for k, g in enumerate(gain) if g < 0]
    if not behind:
        return float(windows[0])
    k = behind[-1]
    if k == len(windows) - 1:
        return math.inf
    share = -gain[k] / (gain[k + 1] - gain[k])
    return float(windows[k] * (windows[k + 1] / windows[k]) ** share)


def size(window: float, smallest: float, largest: float) -> str:
    """A break-even point for a table."""
    if window <= smallest:
        return f"<= {smallest:g}"
    return f"> {largest:g}" if math.isinf(window) else f"{window:.0f}"


def percent(ratio: float) -> str:
    return f"{ratio - 1:+.0%}"


def average(values: Any) -> float:
    """The geometric mean of ratios."""
    return float(np.exp(np.mean(np.log(list(values)))))
