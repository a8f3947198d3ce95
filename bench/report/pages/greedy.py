"""The greedy algorithm: the fewest combines for any sequence of windows."""

from statistics import fmean

from bench.ratios import figure
from bench.report.page import Page, Record, Records
from bench.report.paper_parts import grid, micro, power

KINDS = {
    "uniform": "as many windows as items, with ends anywhere",
    "walk": "both ends go on by some items, at random, before each query",
    "bursts": "many items come and then many leave, with a query after each",
    "fixed": "a window of 64 items, or a quarter of all, that slides by one",
}


def write(page: Page) -> None:
    page.title("The greedy algorithm: the fewest combines for any sequence of windows")
    page.say(
        "Basin, Klaedtke, Zalinescu: *Greedily computing associative aggregations on sliding windows* (Information "
        "Processing Letters 2015). The paper proves that its algorithm takes the fewest combines that associativity "
        "allows, in linear time, and shows an example; we know of no measurements in it. Here its combines are "
        "counted beside those of the other algorithms, and its time is taken."
    )
    page.heading("The example, and the optimum")
    example = page.records.where(experiment="example", kind=None)
    page.table(["", "combines", "the paper's"], [(r["algorithm"], r["median"], r["paper"]) for r in example])
    page.findings("example")
    page.findings("optimum")
    for kind, what in KINDS.items():
        _combines(page, kind, what)
    _linear(page)
    _slides(page)


def _combines(page: Page, kind: str, what: str) -> None:
    where = f"combines, {kind}"
    page.heading(f"Combines: {kind}")
    found = page.records.where(experiment=where, unit="combines")
    summed = sorted({r["items"] for r in found.where(algorithm="recalc", counted=False)})
    page.say(
        f"Windows: {what}. Combines for each window, the average of all seeds."
        + (f" With {' and '.join(f'{n:,}' for n in summed)} items those of `recalc` are " if summed else "")
        + ("the paper's sum for some of the seeds, as counting them would take long." if summed else "")
    )
    averages = Records(
        {"algorithm": a, "items": n, "median": fmean(r["per_window"] for r in found.where(algorithm=a, items=n))}
        for a in found.values("algorithm")
        for n in found.values("items")
    )
    page.lines(
        where.replace(", ", "-"),
        f"{kind}: combines for each window",
        averages,
        "items",
        "algorithm",
        "items in the sequence",
        "combines for each window",
    )
    grid(page, averages, "algorithm", "items", lambda r: figure(r["median"]), lambda n: f"{n:,} items")
    page.findings(where)


def _linear(page: Page) -> None:
    page.heading("Running time of whole sequences")
    page.say("Microseconds for an item, interpreted, for sequences of the kinds above.")
    for kind in KINDS:
        found = page.records.where(experiment=f"time, {kind}")
        page.say(f"**{kind}**")
        grid(page, found, "algorithm", "window", lambda r: figure(micro(r)), lambda n: f"{n:,} items")
    page.findings("time")


def _slides(page: Page) -> None:
    page.heading("Running time of a slide")
    page.say(
        "Nanoseconds for evict, insert and query on a full window, compiled: `sum`, where a combine is an addition, "
        "and `bloom`, where it is the union of two filters of 2 KB."
    )
    for name in ("sum", "bloom"):
        found = page.records.where(experiment=f"time of a slide, {name}")
        page.lines(
            f"slide-{name}", f"{name}: ns per slide", found, "window", "algorithm", "window, items", "ns per slide"
        )
        grid(page, found, "algorithm", "window", _cell, power)


def _cell(record: Record) -> str:
    return figure(record["median"])
