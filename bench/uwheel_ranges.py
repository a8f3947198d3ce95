"""What a wheel is asked later: ranges (figures 9 and 10), groups, space (figure 11), and what planning costs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import numpy as np

import slidewheel as sw
from bench import uwheel_paper
from bench.harness import SEED, Report, Timing, figure
from bench.uwheel_data import (
    DAY,
    FAR_AHEAD,
    PRECISIONS,
    SECOND,
    START,
    VALUES,
    Settings,
    Stream,
    agrees,
    clocked,
    days,
    interleaved,
    keep,
    latencies,
    over,
    random_ranges,
    shown_ratio,
    tails,
)
from bench.uwheel_others import FILTERED, SUM, SegmentTree, SortedRows, duckdb_file, fiba_memory, fiba_of, load
from bench.uwheel_peer import Peer
from slidewheel.wheel import many

MODES: dict[str, dict[str, Any]] = {"": {}, "hints": {"scan_threshold": 15_000}, "prefix": {"prefix": True}}
"""The paper's three wheels; its threshold of a scan is 15,000 too."""
LIMITS = {"": 0.15, "prefix": 0.02}
ONCE = ", once"
"""Of the first pass behind another contestant."""
ONE_THREAD = 4000
"""So many ranges at a time are answered by one thread, where each is planned."""


def run(report: Report, settings: Settings, program: str | None) -> None:
    found = uwheel_paper.Ranges()
    for count, kind in settings.spans:
        source = days(count, kind)
        wheels = {mode: filled(source, **options) for mode, options in MODES.items()}
        with source.peer(program) as peer:
            pairs = {name: random_ranges(count * DAY, unit, settings.ranges) for name, unit in PRECISIONS.items()}
            tree = SegmentTree(source)
            at_once = ranges(report, settings, source, wheels, pairs, tree, peer)
            groups(report, settings, source, wheels[""], peer)
            planning(report, source, wheels[""], pairs["second"], peer)
            if source.name in found.single:
                continue  # Of the other type of values only what differs by it.
            found.many[source.name] = at_once
            found.combines[source.name] = combines(report, settings, source, wheels, pairs, tree, peer)
            found.single[source.name] = single(report, settings, source, wheels, pairs, tree, peer)
    found.space = space(report, settings, program)
    uwheel_paper.figures_9_to_11(report, found)


def named(system: str, mode: str) -> str:
    return f"{system} {mode}".rstrip()


def filled(source: Stream, ahead: int = 512, **options: Any) -> sw.Wheel:
    """A wheel with all of a stream below its watermark."""
    wheel = source.wheel(ahead, **options)
    source.into(wheel)
    wheel.advance_to((int(source.times.max()) // SECOND + 1) * SECOND)
    return wheel


def ranges(
    report: Report,
    settings: Settings,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    tree: SegmentTree,
    peer: Peer | None,
) -> dict[str, dict[str, Timing]]:
    """By precision the times of all systems."""
    count = len(next(iter(pairs.values())))
    report.say(f"\nranges, figure 9: {source.name}, {source.dtype}, ns per range of {count} random ones by query_many,")
    report.say(
        "by what they share or by prefix sums, again and again; once: after another process had the caches, and a run"
    )
    report.say(
        "to get warm; each planned: as single calls are. Ratio: to uwheel with the making of its ranges of times, as"
    )
    report.say("ours reads and checks times too; bare: without that; by one: if each is planned")
    columns = ["slidewheel", "once", "each planned", "uwheel", "and ranges", "ratio", "bare", "by one"]
    table = report.table(columns, label="precision, mode", first=18)
    below = np.concatenate([[0], np.cumsum(source.values)])
    found: dict[str, dict[str, Timing]] = {}
    for precision, asked in pairs.items():
        low, high = (np.ascontiguousarray(side) for side in asked.T)
        at = (asked - source.start) // SECOND
        right = below[at[:, 1]] - below[at[:, 0]]
        where = f"figure 9, {source.name}, {VALUES[source.dtype]}, {precision}"
        agrees(report, f"{where}: segment tree", tree.query_many(asked)[0], right)
        long = settings.lasting
        runs = {"segment tree": clocked(lambda _, a=asked: tree.query_many(a), count, lasting=long)}
        took: dict[str, list[float]] = {}
        for mode, wheel in wheels.items():
            ours, theirs = named("slidewheel", mode), named("uwheel", mode)
            agrees(report, f"{where}: {ours}", wheel.query_many(low, high), right)
            ask = partial(_at_once, wheel, low, high)
            runs[ours + ONCE] = clocked(ask, count)  # first, as the caches are not its own then
            runs[ours] = clocked(ask, count, lasting=long)
            runs[f"{ours}, each planned"] = clocked(partial(_each_planned, wheel, low, high), count, lasting=long)
            if peer is not None and agrees(report, f"{where}: {theirs}", _ask(peer, asked, mode).values, right):
                took[theirs] = []
                runs[theirs] = partial(_theirs, peer, asked, mode, long, took[theirs])
        times = interleaved(report.rounds, runs)
        times |= {f"{name}, and ranges": Timing(tuple(both)) for name, both in took.items()}
        known = {"span": source.name, "values": VALUES[source.dtype], "precision": precision}
        keep(report, "ns/range", times, experiment="figure 9, many at once", **known)
        found[precision] = times
        for mode in wheels:
            ours, theirs = named("slidewheel", mode), named("uwheel", mode)
            names = [ours, ours + ONCE, f"{ours}, each planned", theirs, f"{theirs}, and ranges"]
            ratios = [over(times, names[a], names[b]) for a, b in ((0, 4), (0, 3), (2, 4))]
            cells = [times.get(name, "-") for name in names]
            table.row(f"{precision}, {mode or 'default'}", [*cells, *map(shown_ratio, ratios)])
            if ratios[0] is not None and mode in LIMITS:
                report.judge(f"{where}, {ours}: over uwheel", ratios[0], LIMITS[mode])
        table.row(f"{precision}, seg. tree", [times["segment tree"], *["-"] * 7])
    return found


def _at_once(wheel: sw.Wheel, low: np.ndarray, high: np.ndarray, _: Any = None) -> None:
    wheel.query_many(low, high)


def _each_planned(wheel: sw.Wheel, low: np.ndarray, high: np.ndarray, _: Any = None) -> None:
    """Ranges that share nothing, in one thread."""
    least, many.WORTH_SHARING = many.WORTH_SHARING, len(low) + 1
    try:
        for k in range(0, len(low), ONE_THREAD):
            wheel.query_many(low[k : k + ONE_THREAD], high[k : k + ONE_THREAD])
    finally:
        many.WORTH_SHARING = least


def _ask(peer: Peer, asked: np.ndarray, mode: str, lasting: int = 0) -> Any:
    return peer.ranges(asked, mode or "default", FAR_AHEAD, lasting)


def _theirs(peer: Peer, asked: np.ndarray, mode: str, lasting: int, took: list[float]) -> float:
    found = _ask(peer, asked, mode, lasting)
    took.append(found.whole_ns / len(asked))
    return found.ns / len(asked)


def combines(
    report: Report,
    settings: Settings,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    tree: SegmentTree,
    peer: Peer | None,
) -> dict[str, dict[str, float]]:
    """By precision the averages of all systems."""
    report.say(f"\ncombines per range, figure 10: {source.name}, the average of {settings.explained} ranges")
    columns = [named(who, mode) for mode in MODES for who in ("slidewheel", "uwheel")]
    table = report.table([*columns, "segment tree"], label="precision", first=10)
    found: dict[str, dict[str, float]] = {}
    for precision, all_pairs in pairs.items():
        asked = all_pairs[: settings.explained]
        averages = {"segment tree": tree.query_many(asked)[1] / len(asked)}
        for mode, wheel in wheels.items():
            costs = [wheel.explain(int(a), int(b)).cost for a, b in asked]
            averages[named("slidewheel", mode)] = float(np.mean(costs))
            if peer is not None:
                averages[named("uwheel", mode)] = float(np.mean(_ask(peer, asked, mode).combines))
        for who, average in averages.items():
            known = {"span": source.name, "precision": precision, "contestant": who}
            report.keep("combines/range", {"median": average}, experiment="figure 10", **known)
        cells = [figure(averages[who]) if who in averages else "-" for who in (*columns, "segment tree")]
        table.row(precision, cells)
        found[precision] = averages
    return found


def single(
    report: Report,
    settings: Settings,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    tree: SegmentTree,
    peer: Peer | None,
) -> dict[str, dict[str, dict[str, Timing]]]:
    """By query the median and p95 of single calls of all systems."""
    report.say(f"\nsingle calls, figure 9: {source.name}, {source.dtype}, p95, ns; uwheel in Rust, the others from")
    report.say(
        "Python: FiBA (interpreted), a segment tree (compiled), the rows in order, and DuckDB; Q1 is the landmark. All"
    )
    report.say("of them behind a pass that is not timed; once: without it, after another one had the caches")
    systems = [named("slidewheel", mode) + when for mode in MODES for when in ("", ONCE)]
    systems += [named("uwheel", mode) for mode in MODES]
    others = ["segment tree", "FiBA", "sorted rows", "DuckDB"]
    table = report.table([*systems, *others, "DuckDB/ours"], label="query", first=10)
    fiba, rows = fiba_of(source), SortedRows(source)
    whole = np.tile([source.start, source.start + len(source) * SECOND], (settings.singles, 1))
    found: dict[str, dict[str, dict[str, Timing]]] = {}
    with duckdb.connect() as database:
        load(database, source)
        for precision, all_pairs in {"Q1": whole, **pairs}.items():
            asked = all_pairs[: settings.singles]
            calls: dict[str, Callable[..., Any]] = {
                **{
                    named("slidewheel", mode): (lambda *_, w=wheel: w.landmark()) if precision == "Q1" else wheel.query
                    for mode, wheel in wheels.items()
                },
                "segment tree": tree.query,
                "FiBA": (lambda *_: fiba.query()) if precision == "Q1" else fiba.query,
                "sorted rows": (lambda *_: rows.values.sum()) if precision == "Q1" else rows.query,
                "DuckDB": (lambda *_: database.execute(SUM).fetchone()[0])
                if precision == "Q1"
                else (lambda *pair: database.execute(FILTERED, pair).fetchone()[0]),
            }
            times = _raced(report, settings, f"figure 9, {source.name}, {precision}", calls, asked, peer)
            query = precision if precision == "Q1" else f"Q2, {precision}s"
            for who, both in times.items():
                for statistic, timing in both.items():
                    known = {"span": source.name, "query": query, "contestant": who, "statistic": statistic}
                    report.keep("ns", timing, experiment="figure 9", **known)
            found[precision] = {who: both for who, both in times.items() if not who.endswith(ONCE)}
            high = {who: both["p95"] for who, both in times.items()}
            gain = high["DuckDB"].over(high["slidewheel"])
            cells = [figure(high[who].median) if who in high else "-" for who in (*systems, *others)]
            table.row(query, [*cells, f"{gain:.0f}x"])
            for mode in ("", "prefix") if precision != "Q1" else ():
                who = named("slidewheel", mode)
                what = f"figure 9, {source.name}, {query}, {who}"
                report.judge(f"{what}: median", times[who]["median"].median, 1500, " ns")
                ratio = over(high, who, "DuckDB")
                if ratio is not None:
                    report.judge(f"{what}: p95 over DuckDB's", ratio, 0.001)
    return found


def _raced(
    report: Report,
    settings: Settings,
    where: str,
    calls: dict[str, Callable[..., Any]],
    asked: np.ndarray,
    peer: Peer | None,
) -> dict[str, dict[str, Timing]]:
    arguments = [tuple(pair) for pair in asked.tolist()]
    few = arguments[: settings.queries]
    right: Any = None
    runs: dict[str, Callable[[], np.ndarray]] = {}
    for who, call in calls.items():
        answers = [call(*pair) for pair in few]
        right = answers if right is None else right
        if agrees(report, f"{where}: {who}", answers, right):
            some = few if who in ("FiBA", "sorted rows", "DuckDB") else arguments
            if who.startswith("slidewheel"):
                runs[who + ONCE] = partial(latencies, call, some)  # whoever ran before had the caches
            runs[who] = partial(_warm_latencies, call, some)
    for mode in MODES if peer is not None else ():
        runs[named("uwheel", mode)] = lambda mode=mode: _their_latencies(peer, asked, mode)
    return tails(report.rounds, runs)


def _warm_latencies(call: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> np.ndarray:
    """Behind a pass that is not timed, as uwheel's are in its own process."""
    latencies(call, arguments)
    return latencies(call, arguments)


def _their_latencies(peer: Peer, asked: np.ndarray, mode: str) -> np.ndarray:
    found = _ask(peer, asked, mode)
    return np.maximum(found.latencies.astype(float) - found.clock_ns, 0)


def groups(report: Report, settings: Settings, source: Stream, wheel: sw.Wheel, peer: Peer | None) -> None:
    begin, end = source.start, source.start + DAY * SECOND
    what = f"group by minute over a day, {source.name}, {source.dtype}"
    found = wheel.group_by(begin, end, "1m")

    def several(_: Any) -> None:
        for _ in range(settings.repeat):
            wheel.group_by(begin, end, "1m")

    runs = {"slidewheel": clocked(several, settings.repeat)}
    sums = found["sum"].to_numpy()
    agrees(report, f"{what}: slidewheel", sums, source.values[:DAY].reshape(-1, 60).sum(axis=1))
    if peer is not None:
        theirs = peer.group(begin, end, 60, feed=FAR_AHEAD)
        starts = found["start"].to_numpy().astype("M8[us]").astype(np.int64)
        if agrees(report, f"{what}: uwheel: times", theirs.times, starts) and agrees(
            report, f"{what}: uwheel", theirs.values, sums
        ):
            runs["uwheel"] = lambda: peer.group(begin, end, 60, repeat=settings.repeat, feed=FAR_AHEAD).ns
    times = interleaved(report.rounds, runs)
    keep(report, "ns", times, experiment="figure 9, groups", span=source.name, values=VALUES[source.dtype])
    report.say(f"\n{what}, ns: " + ", ".join(f"{name} {timing}" for name, timing in times.items()))
    ratio = over(times, "slidewheel", "uwheel")
    if ratio is not None:
        report.target(f"{what}: over uwheel", ratio, 0.2)


def planning(report: Report, source: Stream, wheel: sw.Wheel, pairs: np.ndarray, peer: Peer | None) -> None:
    """A line through the time of ranges against their combines: what is left at none is not combining."""
    costs = np.array([wheel.explain(int(a), int(b)).cost for a, b in pairs])
    order = np.argsort(costs, kind="stable")
    parts = np.array_split(order, max(len(order) // 3000, 4))
    asked = [np.ascontiguousarray(pairs[part].T) for part in parts]
    runs = {str(k): clocked(partial(_each_planned, wheel, *a), a.shape[1]) for k, a in enumerate(asked)}
    times = interleaved(report.rounds, runs)
    per_range = np.array([times[name].median for name in runs])
    shown = {"slidewheel": (np.array([costs[part].mean() for part in parts]), per_range)}
    if peer is not None:
        theirs = peer.ranges(pairs, "default", FAR_AHEAD)
        ns = np.maximum(theirs.latencies.astype(float) - theirs.clock_ns, 0)
        parts = np.array_split(np.argsort(theirs.combines, kind="stable"), len(parts))
        middles = [np.median(ns[part]) for part in parts]
        shown["uwheel"] = (np.array([theirs.combines[part].mean() for part in parts]), np.array(middles))
    report.say(
        f"\nplanning: {source.name}, {source.dtype}, second precision, default mode, each planned: a line through"
    )
    report.say("the time of ranges by their combines; what it says for none is reading, checking and planning")
    for who, (number, taken) in shown.items():
        slope, fixed = np.polyfit(number, taken, 1)
        share = fixed / taken.mean()
        report.say(
            f"  {who}: {figure(fixed)} ns + {figure(slope)} ns a combine; {share:.0%} of the time is not combining"
        )
        known = {"span": source.name, "values": VALUES[source.dtype], "contestant": who}
        measured = {"median": float(fixed), "ns_per_combine": float(slope), "share_not_combining": float(share)}
        report.keep("ns", measured, experiment="figure 10, planning", **known)


def space(report: Report, settings: Settings, program: str | None) -> dict[str, dict[str, int]]:
    """By span the bytes of all systems."""
    report.say(
        "\nspace, figure 11: bytes; needed: 8 for each slot of all levels; DuckDB: its file, after a checkpoint;"
    )
    report.say("FiBA: Python's objects. Counts: of about one event a second (Poisson), compressed and not")
    columns = ["needed", *(f"slidewheel{kind}" for kind in ("", " prefix", " compressed")), "uwheel", "uwheel prefix"]
    columns += ["segment tree", "FiBA", "sorted rows", "DuckDB"]
    table = report.table([*columns, "counts", "compressed"], label="span", first=8)
    found: dict[str, dict[str, int]] = {}
    for count in dict.fromkeys(count for count, _ in settings.spans):
        source = days(count, "f8")
        wheels = {
            name: filled(source, **options)
            for name, options in {"": {}, " prefix": {"prefix": True}, " compressed": {"compress": True}}.items()
        }
        sizes = {"needed": 8 * sum(count * DAY * SECOND // level.length for level in wheels[""].levels)}
        sizes |= {f"slidewheel{kind}": wheel.nbytes for kind, wheel in wheels.items()}
        with source.peer(program) as peer:
            if peer is not None:
                few = random_ranges(count * DAY, 1, 10)
                sizes |= {named("uwheel", mode): _ask(peer, few, mode).size for mode in ("", "prefix")}
        sizes |= {"segment tree": SegmentTree(source).nodes.nbytes, "sorted rows": SortedRows(source).nbytes}
        sizes["DuckDB"] = duckdb_file(source)
        if count == 1:
            sizes["FiBA"] = fiba_memory(source)
        found[source.name] = sizes
        plain, packed = (_counts(count, compress) for compress in (False, True))
        agrees(report, f"space, {count} days: compressed counts", packed.landmark(), plain.landmark())
        table.row(source.name, [*(sizes.get(name, "-") for name in columns), plain.nbytes, packed.nbytes])
        for who, size in sizes.items():
            report.keep("bytes", {"median": size}, experiment="figure 11", span=source.name, contestant=who)
        for who, wheel in (("slidewheel", plain), ("slidewheel compressed", packed)):
            known = {"span": source.name, "contestant": who}
            report.keep("bytes", {"median": wheel.nbytes}, experiment="figure 11, counts", **known)
        report.target(f"space, {source.name}: over 8 bytes a slot", sizes["slidewheel"] / sizes["needed"], 1.1)
        report.target(f"space, {source.name}: compressed counts over plain", packed.nbytes / plain.nbytes, 1 / 3)
    return found


def _counts(count: int, compress: bool) -> sw.Wheel:
    chance = np.random.default_rng(SEED)
    times = START + np.sort(chance.integers(0, count * DAY * SECOND, count * DAY))
    wheel = sw.Wheel(sw.count(), start=START, write_ahead=512, compress=compress)
    wheel.ingest(times, times)
    wheel.advance_to(START + count * DAY * SECOND)
    return wheel
