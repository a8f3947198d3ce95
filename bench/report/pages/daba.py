"""DABA: tables 1, 2 and 3, figure 13."""

from bench.ratios import figure
from bench.report.page import Page, Record, Records
from bench.report.paper_parts import ALL_DIFFER, grid, million, power

SHOWN = ("sum", "geomean", "bloom")


def write(page: Page) -> None:
    page.title("DABA: the paper's experiments, repeated")
    page.say(
        "Tangwongsan, Hirzel, Schneider: *Low-latency sliding-window aggregation in worst-case constant time* (DEBS "
        "2017), table 1 and section 5. *Reactive* is `flatfat` here. `foa` lives on Python objects and has no compiled "
        "form; it is compared with the others where they are interpreted too. `two_stacks_lite` and `daba_lite` are "
        "not in the paper."
    )
    page.say(ALL_DIFFER)
    table_1(page)
    table_2(page)
    figure_13_top(page)
    table_3(page)
    figure_13_bottom(page)


def table_1(page: Page) -> None:
    page.heading("Table 1: complexities")
    page.say("Combines of a slide (evict, insert, query) on average, and at most, counted at several window sizes.")
    found = page.records.where(experiment="table 1", kind=None)
    grid(page, found, "algorithm", "window", lambda r: f"{r['mean']:.2f}, max {r['max']}", power, ("paper", _paper))
    space = {r["algorithm"]: r["median"] for r in page.records.where(experiment="table 1, space")}
    counted = ", ".join(f"{a} {n}" for a, n in space.items() if n is not None)
    page.say(f"Space is O(n) for all in the paper; states for each item here: {counted}; foa has cells of its own.")
    page.say("Theorem 4.3, for DABA alone: counted, and in brackets the paper's bound and average.")
    theorem = page.records.where(experiment="table 1, theorem 4.3", kind=None)
    grid(
        page,
        theorem,
        "operation",
        "window",
        lambda r: f"max {r['max']} ({r['paper']}), {r['mean']:.2f} ({r['paper_mean']})",
        power,
    )
    page.findings("table 1")


def _paper(record: Record) -> str:
    return str(record["paper"])


def table_2(page: Page) -> None:
    clock = page.records.one(experiment="table 2, clock")
    page.heading("Table 2: latency")
    if clock is not None:
        page.say(
            f"Average ± standard deviation of a round of evict, insert and query, in cycles of {figure(clock['ghz'])} "
            f"GHz; in brackets the paper's. Each round is the fastest of {clock['runs']} equal runs; "
            f"{clock['median']:.0f} cycles of each are the clock's, and lifting is no part of it."
        )
    found = page.records.where(experiment="table 2", kind=None)
    grid(page, found, "aggregate", "algorithm", _spread)
    page.say("All interpreted, in nanoseconds; the paper's, in brackets, are in cycles.")
    grid(page, page.records.where(experiment="table 2, interpreted"), "aggregate", "algorithm", _spread)
    page.findings("table 2")


def _spread(record: Record) -> str:
    here = f"{record['mean']:,.0f} ± {record['std']:,.0f}"
    return f"{here} ({record['paper']:,} ± {record['paper_std']:,})" if record.get("paper") else here


def figure_13_top(page: Page) -> None:
    page.heading("Figure 13, top: latency over a run")
    page.say(
        "The run is cut into at most 400 stretches; of each the median and the slowest round are shown. FOA stands "
        "beside DABA where both are interpreted."
    )
    for name in SHOWN:
        for where, algorithms, unit in (("", ("ioa", "daba"), "cycles"), (", interpreted", ("foa", "daba"), "ns")):
            found = page.records.where(experiment=f"figure 13, {name}, latency{where}", kind="series")
            points = Records(_points(found.where(algorithm=lambda a, known=algorithms: a in known)))
            page.lines(
                f"latency-{name}{where.replace(', ', '-')}",
                f"{name}: {unit} of a round{where}",
                points,
                "round",
                "line",
                "rounds into the run",
                f"{unit} of a round",
                log="y",
                bars=False,
                markers=False,
            )
        page.findings(f"figure 13, {name}, latency")


def _points(series: Records) -> list[Record]:
    names = {"medians": "median", "highs": "slowest"}
    return [
        {"line": f"{r['algorithm']}, {name}", "round": first, "median": value}
        for r in series
        for field, name in names.items()
        for first, value in zip(r["first"], r[field], strict=True)
    ]


def table_3(page: Page) -> None:
    page.heading("Table 3: break-even points")
    page.say(
        "The window from which on each algorithm is faster than recalculation, between the measured windows by "
        "interpolation; in brackets the paper's. `foa`, and all of *collect*, are interpreted, as is the recalculation "
        "that they are compared with."
    )
    found = page.records.where(experiment="table 3", kind=None)
    grid(page, found, "aggregate", "algorithm", lambda r: f"{r['shown']} ({r['paper']})")
    page.findings("table 3")


def figure_13_bottom(page: Page) -> None:
    page.heading("Figure 13, bottom: throughput")
    for name in SHOWN:
        for where in ("", ", interpreted"):
            found = page.records.where(experiment=f"figure 13, {name}, throughput{where}", kind=None)
            page.lines(
                f"throughput-{name}{where.replace(', ', '-')}",
                f"{name}: million items per second{where}",
                found,
                "window",
                "algorithm",
                "window, items",
                "million items per second",
                y=million,
            )
            grid(page, found, "algorithm", "window", lambda r: figure(million(r)), power)
        page.findings(f"figure 13, {name}, throughput")
