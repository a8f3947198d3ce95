"""The first page of the report: one line for each comparison with what a user would take instead, lost ones first."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.ratios import Ratio
from bench.report import plots
from bench.report.page import Page
from bench.suites import SUITES

PAPERS = {
    "daba": "DABA (DEBS 2017)",
    "reactive": "Reactive Aggregator (VLDB 2015)",
    "slickdeque": "SlickDeque (EDBT 2018)",
    "greedy": "greedy (2015)",
    "uwheel": "uWheel (DEBS 2024)",
}
HOW = """
## How it is measured

- Every system gets the same rows, in the form that it likes best, in its best configuration: the code that runs each of
  them is short and stands in `bench/`, so that it can be judged.
- **Answers first.** All answers of a comparison are checked against each other before any time is taken. A system with
  another answer is reported as an error and not timed.
- **Ratios, not times.** All contestants run once in each round, in turn, another one first each time, so that a
  neighbour who uses the machine for a while slows all of them. A ratio is taken within a round; the median of all
  rounds is reported, with an interval that needs no assumption on how times are spread: it lies between two of the
  ordered ratios, and its probability is given.
- **Everything is kept.** `bench/results/` has a file for each suite with every round, the machine, the versions, the
  commit and the seed. These pages are made from the files by `slidewheel bench --only-report`; nothing on them is typed
  by hand but the explanations.
- A plan that would take too long for a round gets fewer rows, and its page says how many.

Run it yourself, from a checkout: `slidewheel bench --quick` (all suites, about 15 minutes), `slidewheel bench` (all of
it), or `slidewheel bench rolling` (one suite). Where Rust's cargo is there, uwheel is built for its comparison.
"""


@dataclass(frozen=True)
class Headline:
    """One comparison."""

    what: str
    other: str
    """The best alternative that was measured."""
    faster: Ratio
    """How many times as long the alternative takes."""


def text(pages: Mapping[str, Page], lines: Mapping[str, list[Headline]]) -> str:
    """The index of these pages, with the comparisons that each of them brings."""
    found = [(suite, line) for suite, group in lines.items() for line in group]
    parts = ["# Benchmarks", _summary(found, pages)]
    if found and pages:
        folder = next(iter(pages.values())).folder
        title = "How many times as long the best alternative takes"
        drawn = {suite: [line.faster.median for line in group] for suite, group in lines.items() if group}
        plots.strips(
            folder / "summary.svg", title, drawn, "times our time, a dot for each comparison; left of 1 we lose"
        )
        parts.append(f"![{title}](summary.svg)")
        parts += ["## Against what a user would take instead", _table(found)]
    parts += ["## The papers' experiments, repeated", _papers(pages), "## All pages", _all(pages), HOW.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(found: list[tuple[str, Headline]], pages: Mapping[str, Page]) -> str:
    if not found:
        return "Nothing has been measured yet."
    sure = [line for _, line in found if line.faster.low > 1]
    lost = [line for _, line in found if line.faster.high < 1]
    near = len(found) - len(sure) - len(lost)
    said = (
        f"In {len(sure)} of {len(found)} comparisons with the best alternative that we know, slidewheel is faster; in "
        f"{len(lost)} it is slower; {near} are too close to call."
    )
    if lost:
        said += " Where it is slower:\n\n" + "\n".join(
            f"- {line.what}: {line.other} takes {line.faster} of our time" for line in lost
        )
    targets = [target for page in pages.values() for target in page.results.targets]
    met = sum(target["met"] for target in targets)
    said += (
        f"\n\nBeside these comparisons stand {len(targets)} aims that we set ourselves, mostly how many times as fast "
        f"as another system something is to be. {met} are met and {len(targets) - met} missed; each page lists the "
        "missed ones."
    )
    return said


def _table(found: list[tuple[str, Headline]]) -> str:
    rows = ["| | the best alternative | takes so many times as long | |", "|---|---|---|---|"]
    rows += [f"| {h.what} | {h.other} | {h.faster} | [{suite}]({suite}.md) |" for suite, h in found]
    return "\n".join(rows)


def _papers(pages: Mapping[str, Page]) -> str:
    rows = ["| paper | findings repeated | the same here | |", "|---|---|---|---|"]
    for suite, name in PAPERS.items():
        if suite in pages:
            seen = [bool(record["seen"]) for record in pages[suite].records if "seen" in record]
            rows.append(f"| {name} | {len(seen)} | {sum(seen)} | [{suite}]({suite}.md) |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _all(pages: Mapping[str, Page]) -> str:
    return "\n".join(f"- [{suite}]({suite}.md): {SUITES[suite]}" for suite in pages)
