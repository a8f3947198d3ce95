"""What all suites share: races, tables, targets and the report.

A race runs its contestants in one process. First each gives its answer, and all answers are compared: one that is
unequal is an error, and is not timed. Then come some rounds; in each of them every contestant runs once, so that a
neighbour who uses the machine for a while slows all of them. Ratios are taken within a round.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from bench.ratios import Ratio, figure

SEED = 20240229


@dataclass(frozen=True)
class Contestant:
    name: str
    run: Callable[[], Any]
    """What is timed."""
    units: int
    """How many rows or rounds one run is."""
    answer: Callable[[], Any] | None = None
    """What is compared, where it is not what `run` returns."""
    compared_from: int = 0
    """The first row that is compared: some libraries have no short windows at the start."""
    expected: Callable[[], Any] | None = None
    """Another reference, for a contestant whose input is not that of the others."""


@dataclass(frozen=True)
class Timing:
    """Nanoseconds per unit, one for each round of a race."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return float(np.median(self.rounds))

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a part of the median."""
        low, high = np.percentile(self.rounds, [25, 75])
        return float((high - low) / 2 / self.median)

    def over(self, other: "Timing") -> float:
        """How many times as long as the other: the median over the rounds."""
        return Ratio.between(self.rounds, other.rounds).median

    def to_dict(self) -> dict[str, Any]:
        low, high = np.percentile(self.rounds, [25, 75])
        return {
            "median": self.median,
            "quartiles": [float(low), float(high)],
            "min": min(self.rounds),
            "max": max(self.rounds),
            "rounds": list(self.rounds),
        }

    def __str__(self) -> str:
        return f"{figure(self.median)} ±{self.spread:.0%}"


def disagreement(found: Any, expected: Any) -> str | None:
    """Where two answers differ, or None. Null and NaN are the same here, as most of the libraries have only NaN."""
    found, expected = _plain(found), _plain(expected)
    if found.shape != expected.shape:
        return f"{found.shape} answers, not {expected.shape}"
    if found.dtype.kind == "f" or expected.dtype.kind == "f":
        # Sums by subtraction drift; 1e-7 of the values is far from any real mistake.
        same = np.isclose(found, expected, rtol=1e-7, atol=1e-7, equal_nan=True)
    else:
        same = found == expected
    if same.all():
        return None
    row = tuple(int(k) for k in np.argwhere(~same)[0])
    return f"{(~same).sum()} of {same.size} answers differ, first at {row}: {found[row]}, not {expected[row]}"


def _rotated(group: Sequence[Contestant], k: int) -> list[Contestant]:
    """Another one first in each round, as each leaves the caches to the next."""
    first = k % max(len(group), 1)
    return [*group[first:], *group[:first]]


def _plain(answers: Any) -> np.ndarray:
    if isinstance(answers, np.ma.MaskedArray):
        return answers.astype(float).filled(np.nan)
    return np.asarray(answers)


@dataclass
class Report:
    """Prints what is measured as it is measured, and keeps it for the JSON file."""

    rounds: int = 7
    out: TextIO = field(default_factory=lambda: sys.stdout)
    results: list[dict[str, Any]] = field(default_factory=list)
    targets: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    suite: str = ""

    def say(self, text: str = "") -> None:
        print(text, file=self.out, flush=True)

    def table(self, columns: Sequence[str], label: str = "", first: int = 18, width: int = 11) -> "Table":
        return Table(self, [label, *columns], first, width)

    def keep(self, unit: str, timing: Timing | dict[str, Any], **what: Any) -> None:
        """One result for the JSON file."""
        measured = timing.to_dict() if isinstance(timing, Timing) else timing
        self.results.append({"suite": self.suite, **what, "unit": unit, **measured})

    def judge(self, name: str, found: float | Ratio, limit: float, unit: str = "") -> str:
        """Whether a figure stays below its limit: "met", or by how much it was missed.

        Of a ratio it is also kept within what its median lies: where the limit does too, another run may say otherwise.
        """
        measured = found.median if isinstance(found, Ratio) else found
        met = measured < limit
        known = {"suite": self.suite, "target": name, "limit": limit, "measured": measured, "unit": unit, "met": met}
        if isinstance(found, Ratio):
            known["within"] = [found.low, found.high]
        self.targets.append(known)
        return "met" if met else f"missed by {figure(measured - limit)}{unit}"

    def target(self, name: str, found: float | Ratio, limit: float, unit: str = "") -> None:
        verdict = self.judge(name, found, limit, unit)
        shown = str(found) if isinstance(found, Ratio) else f"{figure(found)}{unit}"
        self.say(f"  target: {name} < {figure(limit)}{unit}; it is {shown}: {verdict}")

    def race(self, groups: Mapping[str, Sequence[Contestant]]) -> dict[str, dict[str, Timing]]:
        """The time of each contestant per unit, by group; those with a wrong answer are left out.

        The answers of a group are compared with each other; the rounds go through all groups.
        """
        right = {title: self._agreeing(title, contestants) for title, contestants in groups.items()}
        times: dict[str, dict[str, list[float]]] = {t: {c.name: [] for c in group} for t, group in right.items()}
        for k in range(self.rounds):
            for title, group in right.items():
                for contestant in _rotated(group, k):
                    before = time.perf_counter_ns()
                    contestant.run()
                    elapsed = time.perf_counter_ns() - before
                    times[title][contestant.name].append(elapsed / contestant.units)
        return {title: {name: Timing(tuple(ns)) for name, ns in group.items()} for title, group in times.items()}

    def _agreeing(self, title: str, contestants: Sequence[Contestant]) -> list[Contestant]:
        """Those whose answers are equal to the first one's. This also warms them up."""
        reference = None
        right = []
        for contestant in contestants:
            found = (contestant.answer or contestant.run)()
            if contestant.answer is not None:
                contestant.run()
            if reference is None:
                reference = found
            expected = reference if contestant.expected is None else contestant.expected()
            start = contestant.compared_from
            # A contestant that takes fewer rows is compared on those.
            problem = disagreement(found[start:], expected[start : len(found)])
            if problem is None:
                right.append(contestant)
            else:
                self.wrong(f"{title}: {contestant.name}: {problem}")
        return right

    def wrong(self, problem: str) -> None:
        self.errors.append(f"{self.suite}: {problem}")
        self.say(f"  ERROR {problem}")


class Table:
    """Lines with aligned cells, printed one by one."""

    def __init__(self, report: Report, header: Sequence[str], first: int, width: int) -> None:
        self.report, self.first = report, first
        self.widths = [max(width, len(name)) for name in header[1:]]
        self.row(header[0], header[1:])

    def row(self, label: str, cells: Sequence[Any]) -> None:
        aligned = [str(cell).rjust(width) for cell, width in zip(cells, self.widths, strict=True)]
        self.report.say("  " + "  ".join([label.ljust(self.first), *aligned]).rstrip())
