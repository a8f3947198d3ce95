"""Windows from Python, one item at a time."""

from bench.report.index import Headline
from bench.report.page import Page, Record, Records, ratio
from slidewheel.swag import registry


def write(page: Page) -> None:
    page.title("One item at a time, from Python")
    windows = page.records.values("window")
    page.say(
        f"Nanoseconds for one `evict`, `insert` and `query` of `sw.swag.window` on a window of {windows[0]} items, "
        "called from Python, for each algorithm; *plain deque* keeps the items and goes through all of them, "
        "*monotonic deque* is the textbook's sliding maximum, and river's classes are used as its documentation "
        "shows."
    )
    page.say(
        "river's sums, means and variances take back what leaves the window (`revert`), as `subtract_on_evict` does: "
        "fewer steps than the other algorithms need, but rounding errors stay behind. The monotonic deque is faster "
        "than any general algorithm, and is for maxima and minima only; `slickdeque` is its general form."
    )
    for aggregate in page.records.values("aggregate"):
        found = sorted(page.records.where(aggregate=aggregate), key=lambda r: r["median"])
        page.bars(
            aggregate,
            f"{aggregate}: ns for a round",
            {r["contestant"]: {_whose(r): r["median"]} for r in found},
            "ns",
            log=True,
        )
    names = page.records.values("aggregate")
    rows = []
    for contestant in page.records.values("contestant"):
        of = {r["aggregate"]: r["median"] for r in page.records.where(contestant=contestant)}
        rows.append([contestant, *(of.get(name) for name in names)])
    page.table(["", *names], rows)


def _whose(record: Record) -> str:
    ours = (*registry.ALGORITHMS, *registry.NOT_FIFO)
    return "slidewheel" if record["contestant"] in ours else "others"


def headlines(page: Page) -> list[Headline]:
    found = []
    for aggregate in page.records.values("aggregate"):
        records = page.records.where(aggregate=aggregate)
        ours = Records(r for r in records if r["contestant"] in ("two_stacks_lite", "daba_lite", "fiba"))
        others = [r for r in records if _whose(r) == "others"]
        if ours and others:
            best, mine = (min(group, key=lambda r: r["median"]) for group in (others, ours))
            what = f"one by one, {aggregate}, by {mine['contestant']}"
            found.append(Headline(what, best["contestant"], ratio(best, mine)))
    return found
