"""SlickDeque: table 1, figures 10 to 15."""

from bench.ratios import figure
from bench.report.page import Page, Record, Records
from bench.report.paper_parts import ALL_DIFFER, grid, million, power

POINTS = ("min", "25th", "median", "average", "75th", "max")


def write(page: Page) -> None:
    page.title("SlickDeque: the paper's experiments, repeated")
    windows = [r["window"] for r in page.records.where(experiment="figure 10", kind=None)]
    page.say(
        "Shein, Chrysanthis, Labrinidis: *SlickDeque: high throughput and low latency incremental sliding-window "
        "aggregation* (EDBT 2018), sections 4 and 5. SlickDeque (Inv) with one query is `subtract_on_evict`, with many "
        "`slickdeque_inv`; SlickDeque (Non-Inv) is `slickdeque`; the naive way is `recalc`. The paper's windows go up "
        f"to 2^27 items, these to {power(max(windows, default=1))}."
    )
    page.say(
        "The paper's data, of the DEBS 2012 Grand Challenge, were not at hand. A stand-in has the character of an "
        "energy reading at 100 Hz: levels that hold for some seconds, with noise, in whole numbers."
    )
    page.say(ALL_DIFFER)
    table_1(page)
    throughput(page, 10, "sum over one window", "million queries per second")
    throughput(page, 11, "max over one window", "million queries per second")
    streams(page)
    throughput(page, 12, "sum over the ranges 1 to n", "million slides per second")
    throughput(page, 13, "max over the ranges 1 to n", "million slides per second")
    latency(page)
    memory(page)


def table_1(page: Page) -> None:
    page.heading("Table 1: combines of a slide")
    page.say(
        "Counted: the average, and the most in one slide; in brackets what the paper's formulas give. *falling, then a "
        "top* is the worst input for SlickDeque (Non-Inv)."
    )
    for part in ("one query", "many queries"):
        found = page.records.where(experiment=f"table 1, {part}", kind=None)
        page.say(
            f"**{part.capitalize()}**" + (", of the ranges 1 to n:" if part == "many queries" else ", of n items:")
        )
        named = Records({**r, "line": _named(r)} for r in found)
        grid(page, named, "line", "window", _counted, power, ("the paper's formula", lambda r: r["formula"]))
    page.findings("table 1")


def _named(record: Record) -> str:
    return record["algorithm"] + ("" if record["stream"] == "random" else f", {record['stream']}")


def _counted(record: Record) -> str:
    def beside(value: float, paper: float | None) -> str:
        here = figure(value) if value != int(value) else f"{int(value):,}"
        return here if paper is None else f"{here} ({figure(paper) if paper != int(paper) else f'{int(paper):,}'})"

    return f"{beside(record['mean'], record['paper'])}, max {beside(record['max'], record['paper_max'])}"


def throughput(page: Page, number: int, title: str, unit: str) -> None:
    where = f"figure {number}"
    page.heading(f"{where.capitalize()}: {title}")
    found = page.records.where(experiment=where, kind=None)
    x_label = "n" if number > 11 else "window, items"
    page.lines(where.replace(" ", "-"), f"{title}: {unit}", found, "window", "algorithm", x_label, unit, y=million)
    grid(page, found, "algorithm", "window", lambda r: figure(million(r)), power)
    page.findings(where)


def streams(page: Page) -> None:
    found = page.records.where(experiment="figure 11, streams", kind=None)
    windows = found.values("window")
    if windows:
        page.say(f"**Max on other streams**, nanoseconds for a query at a window of {windows[0]} items:")
    grid(page, found, "algorithm", "stream", lambda r: figure(r["median"]))


def latency(page: Page) -> None:
    page.heading("Figure 14: latency")
    found = page.records.where(experiment="figure 14", kind=None)
    clock = page.records.one(experiment="figure 14, clock")
    if clock is not None and found:
        page.say(
            f"Nanoseconds for a query at a window of {found[0]['window']} items, {found[0]['measured']:,} queries, of "
            f"which the highest 0.005% are dropped, as in the paper. Each query is the fastest of {clock['runs']} "
            f"equal runs; {figure(clock['median'])} ns of each are the clock's."
        )
    page.bars(
        "latency",
        "ns per query",
        {r["algorithm"]: {point: r[point] for point in ("min", "median", "max")} for r in found},
        "ns per query",
        log=True,
    )
    page.table(["", *POINTS], [[r["algorithm"], *(r[point] for point in POINTS)] for r in found])
    page.findings("figure 14")


def memory(page: Page) -> None:
    page.heading("Figure 15: memory")
    page.say(
        "KB of states and links for one query, not the resident set as in the paper: Python and its compiler take more "
        "than all of these before the first item. Rings are counted with the part of them that a window needs; of "
        "`slickdeque`, the nodes that are in use at most."
    )
    found = page.records.where(experiment="figure 15", kind=None)
    page.lines("memory", "KB of states and links", found, "window", "algorithm", "window, items", "KB")
    grid(page, found, "algorithm", "window", lambda r: figure(r["median"]), power, ("the paper's space", _space))
    page.findings("figure 15")


def _space(record: Record) -> str:
    return str(record["paper"])
