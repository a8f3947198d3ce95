"""query.spark over finite tables beside Spark's own plans."""

from bench.report.index import Headline
from bench.report.page import Page, Record, Records, ratio
from bench.report.plots import short

FORMS = {
    "sliding": (
        "Sliding windows",
        "The mean; windows slide by 10 s; the planner is told the number of keys. *by slices*: slides are aggregated "
        "first, then `F.window`; *by frames*: the same, then frames that reach forward from the start of each window, "
        "with Spark's segment tree. Spark copies each row into all of its windows, `ratio` times; beyond ratio 300 "
        "that is left out, as it writes so much code for them that it fails to compile it for a minute before it reads "
        "a row.",
    ),
    "per row": (
        "A window for each row",
        "The mean over the last seconds or rows. *frames*: `over()`, with Spark's segment tree off and on (*tree*). "
        "Hot key: one key has 90 % of the rows.",
    ),
    "ten windows": ("Ten windows, five aggregates", "In one query; natively, the union of ten queries."),
    "user's aggregate": (
        "A user's own aggregate",
        "The geometric mean. *pandas UDAF*: over `F.window`; *by key*: `applyInPandas` finds the windows of each key; "
        "*SQL*: `exp(avg(ln(x)))` over `F.window`, as for this one there is a way.",
    ),
    "quantile": ("The median as a sketch", "Within 1 %; natively, `percentile_approx` over `F.window`."),
}


def write(page: Page) -> None:
    page.title("On Spark, batch, against Spark's own windows")
    page.say(
        "Rows in a second, from Parquet files to a sink that takes everything, on `local[2]`; more is better. A plan "
        "that would take too long gets fewer rows, of fewer keys or of less time, as `@` says: what it takes to "
        "start weighs more then. The last column is how many times as long as ours the best native plan takes for a "
        "row."
    )
    for form, (title, text) in FORMS.items():
        records = page.records.where(form=form)
        if not records:
            continue
        page.heading(title)
        page.say(text)
        cases = {case: records.where(case=case) for case in records.values("case")}
        page.bars(
            form.replace(" ", "-").replace("'", ""),
            f"{title}: rows a second",
            {case: {r["plan"]: 1e9 / r["median"] for r in group} for case, group in cases.items()},
            "rows a second",
            log=True,
        )
        plans = records.values("plan")
        page.table(["", *plans, "best native, times ours"], [_row(case, group, plans) for case, group in cases.items()])


def _row(case: str, group: Records, plans: list[str]) -> list[str]:
    most = max(r["rows"] for r in group)
    best, ours = group.fastest("plan", ("ours",)), group.one(plan="ours")
    last = f"{ratio(best, ours)} {best['plan']}" if best is not None and ours is not None else "-"
    return [case, *(_cell(group.one(plan=plan), most) for plan in plans), last]


def _cell(record: Record | None, most: int) -> str:
    if record is None:
        return "-"
    return short(1e9 / record["median"]) + ("" if record["rows"] == most else f" @{short(record['rows'])}")


def headlines(page: Page) -> list[Headline]:
    found = []
    for form, (title, _) in FORMS.items():
        records = page.records.where(form=form)
        for case in records.values("case"):
            group = records.where(case=case)
            best, ours = group.fastest("plan", ("ours",)), group.one(plan="ours")
            if best is not None and ours is not None:
                found.append(Headline(f"Spark, {title.lower()}, {case}", best["plan"], ratio(best, ours)))
    return found
