"""A user's own aggregate."""

from bench.report.index import Headline
from bench.report.page import Page, Records, ratio


def write(page: Page) -> None:
    page.title("An aggregate of one's own, against pandas' apply with Numba")
    page.say(
        "The geometric mean, written as `lift`, `combine` and `lower` (*user's*), beside the built-in `sw.geomean` and "
        "beside `rolling(n).apply(f, engine='numba', raw=True)`, which goes through the whole window for every row. "
        "Nanoseconds for a row; pandas gets fewer rows on long windows."
    )
    page.lines("windows", "Geometric mean: ns per row", page.records, "window", "library", "window, rows", "ns per row")
    rows = []
    for window in page.records.values("window"):
        of = {r["library"]: r for r in page.records.where(window=window)}
        over = str(ratio(of["pandas"], of["user's"])) if {"pandas", "user's"} <= of.keys() else "-"
        rows.append([f"{window}", *(of[name]["median"] if name in of else None for name in _names(page.records)), over])
    page.table(["window", *_names(page.records), "pandas, times user's"], rows)


def _names(records: Records) -> list[str]:
    return records.values("library")


def headlines(page: Page) -> list[Headline]:
    found = []
    for window in page.records.values("window"):
        over = page.records.ratio({"window": window, "library": "pandas"}, {"window": window, "library": "user's"})
        if over is not None:
            found.append(Headline(f"a user's aggregate, rolling {window} rows", "pandas with Numba", over))
    return found
