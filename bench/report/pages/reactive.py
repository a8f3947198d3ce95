"""The Reactive Aggregator: tables 3 and 4, figures 6 to 12."""

from collections.abc import Callable

from bench.ratios import figure
from bench.report.page import Page, Record, Records
from bench.report.paper_parts import ALL_DIFFER, grid, micro, million, power

NAMES = {"flatfat": "RA", "recalc": "ISS", "b_int": "AW"}


def write(page: Page) -> None:
    page.title("The Reactive Aggregator: the paper's experiments, repeated")
    page.say(
        "Tangwongsan, Hirzel, Schneider, Wu: *General incremental sliding-window aggregation* (VLDB 2015), section 6. "
        "RA is `flatfat` here; ISS, the Aggregate of InfoSphere Streams, which recalculates, is `recalc`; AW, the "
        "algorithm of Arasu and Widom, is `b_int`. Integers have 64 bits, where the paper's have 32."
    )
    page.say(ALL_DIFFER)
    table_3(page)
    _figure(page, 6, "sustained throughput", "million tuples per second", million, _both)
    _figure(page, 7, "cost of a tuple, RA", "µs per tuple", micro, _both, log="x")
    _fits(page)
    _figure(page, 8, "tumbling windows, cost of a query", "µs per query", micro, _both)
    _figure(page, 9, "windows that swing between n and 2n", "µs per tuple", micro, _swing)
    _figure(page, 10, "StdDev, m items between queries", "µs per tuple", micro, lambda r: f"m = {r['m']}")
    _figure(page, 11, "Max, m items between queries", "µs per tuple", micro, _against)
    table_4(page)
    _figure(page, 12, "memory", "KB of states", "median", _both)


def _both(record: Record) -> str:
    return f"{record['aggregate']}, {NAMES[record['algorithm']]}"


def _swing(record: Record) -> str:
    return f"{record['aggregate']}, {record['capacity']}"


def _against(record: Record) -> str:
    return f"m = {record['m']}, {NAMES[record['algorithm']]}"


def _figure(
    page: Page,
    number: int,
    title: str,
    unit: str,
    y: str | Callable[[Record], float],
    line: Callable[[Record], str],
    log: str = "xy",
) -> None:
    where = f"figure {number}"
    page.heading(f"{where.capitalize()}: {title}")
    found = page.records.where(experiment=where, kind=None)
    page.lines(where.replace(" ", "-"), f"{title}: {unit}", found, "window", line, "window, items", unit, y=y, log=log)
    named = Records({**r, "line": line(r), "value": y(r) if callable(y) else r[y]} for r in found)
    grid(page, named, "line", "window", lambda r: figure(r["value"]), power)
    page.findings(where)


def _fits(page: Page) -> None:
    found = page.records.where(experiment="figure 7, fit")
    rows = [(r["aggregate"], r["at_1"], r["per_doubling"], f"{r['r_squared']:.3f}") for r in found]
    page.say("The straight line in log2 n that fits best:")
    page.table(["", "ns at 1 item", "ns for each doubling", "R²"], rows)


def table_3(page: Page) -> None:
    page.heading("Table 3: break-even points")
    page.say(
        "The smallest window at which RA is faster than ISS, and 10 times as fast, between the measured windows by "
        "interpolation; in brackets the paper's. *collect* is interpreted on both sides."
    )
    found = page.records.where(experiment="table 3", kind=None)
    shown = {1: "break-even", 10: "10 times as fast"}
    grid(page, found, "aggregate", "faster", lambda r: f"{r['shown']} ({r['paper']})", shown.__getitem__)
    page.findings("table 3")


def table_4(page: Page) -> None:
    page.heading("Table 4: AW's time over RA's")
    page.say("With a query after every tuple; in brackets the paper's.")
    found = page.records.where(experiment="table 4", kind=None)
    grid(page, found, "aggregate", "window", _ratio, lambda w: f"n = {power(w)}")
    page.findings("table 4")


def _ratio(record: Record) -> str:
    at = "" if record["window"] == record["paper_window"] else f" at {power(record['paper_window'])}"
    return f"{figure(record['median'])} ({figure(record['paper'])}{at})"
