"""Stores beside DuckDB and Polars over the raw rows."""

from bench.ratios import figure
from bench.report.index import Headline
from bench.report.page import Page, Records, ratio


def write(page: Page) -> None:
    page.title("Stores against DuckDB and Polars over the raw rows")
    _written(page)
    _from_disk(page)
    _in_memory(page)


def _written(page: Page) -> None:
    store = page.records.one(what="store")
    if store is None:
        return
    page.say(
        f"{store['days']} days, {store['rows']:,} rows of {store['keys']} keys; sum, count and maximum; levels from "
        "seconds to years. The raw rows are sorted by time in Parquet files of a month each, so that DuckDB and "
        "Polars leave out most of them for a short range."
    )
    levels = page.records.where(what="level")
    adding, compacting = page.records.one(what="adding"), page.records.one(what="compaction")
    rows = [
        ("rows added in a second, in process", f"{adding['median']:,.0f}" if adding else "-"),
        ("compaction of all of them at once", f"{figure(compacting['median'])} s" if compacting else "-"),
        ("raw Parquet", f"{figure(store['raw'] / 1e6)} MB"),
        ("store", f"{figure(store['median'] / 1e6)} MB"),
    ]
    rows += [
        (f"of it {r['level']}", f"{figure(r['median'] / 1e6)} MB, {r['rows']:,} rows in {r['files']} files")
        for r in levels
    ]
    page.table(["", ""], rows)
    page.say(
        "Where almost no two rows share a second and a key, the finest level is as large as the data; with "
        "`keep={'seconds': ...}` it is the coarser levels that remain."
    )


def _from_disk(page: Page) -> None:
    page.heading("From disk")
    page.say(
        "Milliseconds for a question. *Cold* opens the store for it; *open* has it open, but each question is a new "
        "range and reads files that were not read before. The last column is how many times as long DuckDB takes, by "
        "questions."
    )
    found = page.records.where(unit="ms")
    page.bars(
        "disk",
        "Milliseconds for a question, the median",
        {what: {r["who"]: r["median"] for r in found.where(what=what)} for what in found.values("what")},
        "ms",
        log=True,
    )
    rows = []
    for what in found.values("what"):
        group = found.where(what=what)
        theirs = group.one(who="duckdb")
        for r in group:
            over = "" if r["who"] == "duckdb" or theirs is None else str(ratio(theirs, r))
            rows.append([what, r["who"], r["median"], r["p95"], over])
    page.table(["", "", "median", "p95", "DuckDB, times this"], rows)


def _in_memory(page: Page) -> None:
    page.heading("In memory")
    page.say(
        "`store.load()` makes a wheel of the store; a question then gives an Arrow table with all three aggregates."
    )
    rows = [
        (r["what"], r["loading"], figure(r["bytes"] / 1e6), r["median"], r["p95"], figure(r["duckdb"] / r["median"]))
        for r in page.records.where(unit="us")
    ]
    page.table(["", "loading, s", "MB", "median us", "p95 us", "DuckDB over the rows, times this"], rows)


def headlines(page: Page) -> list[Headline]:
    found = []
    for what in page.records.where(unit="ms").values("what"):
        group = page.records.where(unit="ms", what=what)
        for who, name in (("cold", "opened for it"), ("open", "open")):
            others = Records(r for r in group if r["who"] in ("duckdb", "polars"))
            ours, best = group.one(who=who), min(others, key=lambda r: r["median"], default=None)
            if ours is not None and best is not None:
                found.append(Headline(f"store, {name}, {what}", best["who"] + " over the rows", ratio(best, ours)))
    return found
