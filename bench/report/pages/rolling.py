"""sw.rolling beside the libraries that people use now."""

from bench.ratios import figure
from bench.report.index import Headline
from bench.report.page import Page, Records, ratio

OURS = ("sw", "sw 1 thread", "sw 10% null")


def write(page: Page) -> None:
    page.title("Rolling windows against bottleneck, polars, pandas, scipy and DuckDB")
    page.say(
        "`sw.rolling(values, aggregate, size=n)` and, by time, `over='1h'`, over float64 values. Nanoseconds for a "
        "row; *1 thread* keeps slidewheel to one thread, as bottleneck, pandas and scipy are; *10% null* has a mask. "
        "The last column is how many times as long as slidewheel the fastest of the others takes."
    )
    page.say(
        "bottleneck is the fastest of the others for sums, means and deviations, and sometimes faster than slidewheel: "
        "it adds what comes and subtracts what goes, so that rounding errors stay behind, and after an infinity all "
        "answers are NaN. slidewheel never subtracts floats unless asked to."
    )
    for aggregate in page.records.values("aggregate"):
        records = page.records.where(aggregate=aggregate)
        page.heading(aggregate)
        counted = Records(r for r in records if r["window"].isdigit())
        sized = Records({**r, "size": int(r["window"])} for r in counted)
        page.lines(
            aggregate, f"{aggregate}: ns per row", sized, "size", "library", "window, rows", "ns per row", bars=True
        )
        libraries = records.values("library")
        rows = []
        for window in records.values("window"):
            of = {r["library"]: r for r in records.where(window=window)}
            best = Records(of.values()).fastest("library", OURS)
            last = f"{ratio(best, of['sw'])} {best['library']}" if best is not None and "sw" in of else "-"
            rows.append([window, *(figure(of[name]["median"]) if name in of else "-" for name in libraries), last])
        page.table(["window", *libraries, "fastest other, times ours"], rows)


def headlines(page: Page) -> list[Headline]:
    found = []
    for aggregate in page.records.values("aggregate"):
        for window in ("10", "1000", "1h"):
            records = page.records.where(aggregate=aggregate, window=window)
            best, ours = records.fastest("library", OURS), records.one(library="sw")
            if best is not None and ours is not None:
                over = "hour" if window == "1h" else f"{window} rows"
                found.append(Headline(f"rolling {aggregate}, {over}", best["library"], ratio(best, ours)))
    return found
