"""Every algorithm, compiled."""

from bench.report.page import Page


def write(page: Page) -> None:
    page.title("Every algorithm, compiled")
    page.say(
        "Nanoseconds for one round of evict, insert and query on a full window, in compiled code, without lifting. "
        "`foa` has no compiled form and runs interpreted; it and bloom stop at 2^14, `recalc` at 2^8."
    )
    for aggregate in page.records.values("aggregate"):
        found = page.records.where(aggregate=aggregate)
        page.heading(aggregate)
        page.lines(
            aggregate, f"{aggregate}: ns per round", found, "window", "algorithm", "window, items", "ns per round"
        )
        windows = sorted(found.values("window"))
        rows = []
        for algorithm in found.values("algorithm"):
            of = {r["window"]: r["median"] for r in found.where(algorithm=algorithm)}
            rows.append([algorithm, *(of.get(window) for window in windows)])
        page.table(["", *map(str, windows)], rows)
