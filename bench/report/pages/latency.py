"""The slowest single operations."""

from bench.report.page import Page


def write(page: Page) -> None:
    page.title("The slowest single operations")
    page.say(
        "Nanoseconds, by the processor's cycle counter, at a window of 2^14 items. The same operations are run several "
        "times and each counts with its fastest run, so that an interruption by another program does not count, while "
        "work that the algorithm does there is done every time. The counter takes some nanoseconds of each."
    )
    for aggregate in page.records.values("aggregate"):
        found = page.records.where(aggregate=aggregate)
        page.heading(aggregate)
        rounds = found.where(operation="round")
        page.bars(
            aggregate,
            f"{aggregate}: ns of one round",
            {r["algorithm"]: {point: r[point] for point in ("p50", "p99.99", "max")} for r in rounds},
            "ns",
            log=True,
        )
        rows = []
        for r in rounds:
            single = [
                found.one(algorithm=r["algorithm"], operation=name)["max"] for name in ("evict", "insert", "query")
            ]
            rows.append([r["algorithm"], *(r[point] for point in ("p50", "p99", "p99.99", "max")), *single])
        page.table(["", "p50", "p99", "p99.99", "max", "slowest evict", "slowest insert", "slowest query"], rows)
