"""sw.query beside what people write with polars, pandas and DuckDB."""

from bench.ratios import figure
from bench.report.index import Headline
from bench.report.page import Page, Record, Records, ratio

OURS = ("sw run", "sw stream")


def write(page: Page) -> None:
    page.title("Queries against polars, pandas and DuckDB")
    page.say(
        "`sw.query` over tables with keys: periodic windows (*sliding*; the ratio is range over slide) and one "
        "window for each row (*trailing*), at once (`sw run`) and in batches (`sw stream`). Nanoseconds for a row of "
        "input. A system that would take too long gets fewer rows, of fewer keys, as `@` says; so does `sw run` "
        "where more windows would come out than rows go in. *duckdb* joins each row with its windows, *duckdb "
        "slices* aggregates slides first, by hand, as slidewheel does by itself. The last column is how many times "
        "as long as `sw run` the fastest other takes."
    )
    for form in ("sliding", "trailing"):
        of_form = page.records.where(form=form)
        for keys in of_form.values("keys"):
            _drawn(page, form, keys, of_form.where(keys=keys))
    _streams(page)
    _memory(page)


def _drawn(page: Page, form: str, keys: int, records: Records) -> None:
    page.heading(f"{form}, {_keys(keys)}")
    alone = records.where(windows=1, aggregates=min(records.values("aggregates")))
    if form == "sliding":
        title = f"One window, one aggregate, {_keys(keys)}: ns per row"
        page.lines(f"{form}-{keys}", title, alone, "ratio", "library", "range / slide", "ns per row")
    libraries = records.values("library")
    rows = []
    for windows in records.values("windows"):
        for aggregates in records.values("aggregates"):
            for group in _by_ratio(records.where(windows=windows, aggregates=aggregates)):
                rows.append(_row(group, libraries))
    page.table(["windows", "aggregates", "ratio", *libraries, "fastest other, times ours"], rows)


def _keys(count: int) -> str:
    return "1 key" if count == 1 else f"{count:,} keys"


def _by_ratio(records: Records) -> list[Records]:
    return [records.where(ratio=value) for value in records.values("ratio")]


def _row(group: Records, libraries: list[str]) -> list[str]:
    most = max(r["rows"] for r in group)
    cells = [_cell(group.one(library=name), most) for name in libraries]
    first, best = group[0], group.fastest("library", OURS)
    ours = group.one(library="sw run")
    last = f"{ratio(best, ours)} {best['library']}" if best is not None and ours is not None else "-"
    return [str(first["windows"]), str(first["aggregates"]), str(first["ratio"]), *cells, last]


def _cell(record: Record | None, most: int) -> str:
    if record is None:
        return "-"
    rows = record["rows"]
    return figure(record["median"]) + ("" if rows == most else f" @{rows // 1000}k" if rows >= 1000 else f" @{rows}")


def _streams(page: Page) -> None:
    found = page.records.where(form="full")
    if not found:
        return
    page.heading("Streams whose windows are full")
    page.say("Nanoseconds for a row when the stream already holds as many slices as its windows need.")
    rows = [(r["keys"], r["aggregates"], r["windows"], r["ratio"], r["median"]) for r in found]
    page.table(["keys", "aggregates", "windows", "ratio", "ns per row"], dict.fromkeys(rows))


def _memory(page: Page) -> None:
    found = page.records.where(unit="states/key")
    page.heading("What a stream holds")
    page.say(
        "States for each key with 5 aggregates, the most after any batch; what `explain()` announces as the most; "
        "and the bytes that are taken for them."
    )
    rows = [(r["keys"], r["ratio"], r["windows"], r["median"], r["announced"], r["bytes"]) for r in found]
    page.table(["keys", "ratio", "windows", "states a key", "announced", "bytes a key"], rows)


def headlines(page: Page) -> list[Headline]:
    found = []
    for form, ratios in (("sliding", (3, 60, 3600)), ("trailing", (60,))):
        for keys in page.records.values("keys"):
            for value in ratios:
                records = page.records.where(form=form, keys=keys, ratio=value, windows=1, aggregates=1)
                best, ours = records.fastest("library", OURS), records.one(library="sw run")
                if best is not None and ours is not None:
                    what = f"{form} windows, {_keys(keys)}, ratio {value}"
                    found.append(Headline(what, best["library"], ratio(best, ours)))
    return found
