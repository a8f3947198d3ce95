"""What a wheel is asked later: ranges (figures 9 and 10), groups, space (figure 11), and what planning costs."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import slidewheel as sw
from bench.harness import SEED, Report, Timing, figure
from bench.uwheel_peer import Peer
from bench.wheel_data import (
    DAY,
    FAR_AHEAD,
    PRECISIONS,
    SECOND,
    START,
    SegmentTree,
    Settings,
    Stream,
    agrees,
    clocked,
    days,
    fiba_of,
    interleaved,
    keep,
    latencies,
    over,
    random_ranges,
    shown_ratio,
)

MODES: dict[str, dict[str, Any]] = {"default": {}, "hints": {"scan_threshold": 15_000}, "prefix": {"prefix": True}}
LIMITS = {"default": 0.15, "prefix": 0.02}
ONE_THREAD = 4000
"""So many ranges at a time are answered by one thread."""
SUM = "select sum(v) from rows"
FILTERED = f"{SUM} where t >= ? and t < ?"


def run(report: Report, settings: Settings, program: str | None) -> None:
    for count, kind in settings.spans:
        source = days(count, kind)
        wheels = {mode: filled(source, **options) for mode, options in MODES.items()}
        with source.peer(program) as peer:
            pairs = {name: random_ranges(count * DAY, unit, settings.ranges) for name, unit in PRECISIONS.items()}
            tree = SegmentTree(source)
            ranges(report, source, wheels, pairs, tree, peer)
            combines(report, settings, source, wheels, pairs, tree, peer)
            single(report, settings, source, wheels, pairs, peer)
            groups(report, settings, source, wheels["default"], peer)
            planning(report, source, wheels["default"], pairs["second"], peer)
    space(report, settings, program)


def filled(source: Stream, **options: Any) -> sw.Wheel:
    """A wheel with all of a stream below its watermark."""
    wheel = source.wheel(512, **options)
    source.into(wheel)
    wheel.advance_to((int(source.times.max()) // SECOND + 1) * SECOND)
    return wheel


def ranges(
    report: Report,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    tree: SegmentTree,
    peer: Peer | None,
) -> None:
    count = len(next(iter(pairs.values())))
    report.say(f"\nranges, figure 9: {source.name}, {source.dtype}, ns per range of {count} random ones by query_many,")
    report.say(
        "which takes two threads unless it has prefix sums; uwheel has one. Ratio: to uwheel with the making of its"
    )
    report.say(
        "ranges of times, as ours reads and checks times too; bare: without that; by one: the ratio in one thread"
    )
    columns = ["ours", "1 thread", "uwheel", "and ranges", "ratio", "bare", "by one"]
    table = report.table(columns, label="precision, mode", first=18)
    below = np.concatenate([[0], np.cumsum(source.values)])
    for precision, asked in pairs.items():
        low, high = (np.ascontiguousarray(side) for side in asked.T)
        at = (asked - source.start) // SECOND
        right = below[at[:, 1]] - below[at[:, 0]]
        for mode, wheel in wheels.items():
            what = f"ranges, {source.name}, {source.dtype}, {precision}, {mode}"
            agrees(report, f"{what}: ours", wheel.query_many(low, high), right)
            runs = {
                "ours": clocked(lambda _, w=wheel, a=low, b=high: w.query_many(a, b), count),
                "1 thread": clocked(lambda _, w=wheel, a=low, b=high: _in_parts(w, a, b), count),
            }
            took: list[float] = []
            if peer is not None and agrees(
                report, f"{what}: uwheel", peer.ranges(asked, mode, FAR_AHEAD).values, right
            ):
                runs["uwheel"] = lambda m=mode, a=asked, took=took: _theirs(peer, a, m, took)
            times = interleaved(report.rounds, runs)
            if took:
                times["and ranges"] = Timing(tuple(took))
            keep(
                report,
                "ns/range",
                times,
                experiment="ranges",
                span=source.name,
                kind=source.dtype,
                precision=precision,
                mode=mode,
            )
            ratios = [
                over(times, *two) for two in (("ours", "and ranges"), ("ours", "uwheel"), ("1 thread", "and ranges"))
            ]
            cells = [times.get(name, "-") for name in columns[:4]]
            table.row(f"{precision}, {mode}", [*cells, *map(shown_ratio, ratios)])
            if ratios[0] is not None and mode in LIMITS:
                report.judge(f"{what}: over uwheel", ratios[0], LIMITS[mode])
        agrees(report, f"ranges, {source.name}, {precision}: segment tree", tree.query_many(asked)[0], right)
        times = interleaved(report.rounds, {"tree": clocked(lambda _, a=asked: tree.query_many(a), count)})
        keep(report, "ns/range", times, experiment="ranges", span=source.name, kind=source.dtype, precision=precision)
        table.row(f"{precision}, seg. tree", [times["tree"], *["-"] * 6])


def _in_parts(wheel: sw.Wheel, low: np.ndarray, high: np.ndarray) -> None:
    for k in range(0, len(low), ONE_THREAD):
        wheel.query_many(low[k : k + ONE_THREAD], high[k : k + ONE_THREAD])


def _theirs(peer: Peer, asked: np.ndarray, mode: str, took: list[float]) -> float:
    found = peer.ranges(asked, mode, FAR_AHEAD)
    took.append((found.ns + found.convert_ns) / len(asked))
    return found.ns / len(asked)


def combines(
    report: Report,
    settings: Settings,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    tree: SegmentTree,
    peer: Peer | None,
) -> None:
    report.say(f"\ncombines per range, figure 10: {source.name}, the average of {settings.explained} ranges")
    columns = [f"{who} {mode}" for mode in MODES for who in ("ours", "uwheel")]
    table = report.table([*columns, "segment tree"], label="precision", first=10)
    for precision, all_pairs in pairs.items():
        asked = all_pairs[: settings.explained]
        cells = []
        for mode, wheel in wheels.items():
            costs = [wheel.explain(int(a), int(b)).cost for a, b in asked]
            shown = {"ours": float(np.mean(costs))}
            if peer is not None:
                shown["uwheel"] = float(np.mean(peer.ranges(asked, mode, FAR_AHEAD).combines))
            for who, average in shown.items():
                known = {"experiment": "combines", "span": source.name, "precision": precision, "mode": mode}
                report.keep("combines/range", {"median": average}, **known, contestant=who)
            cells += [figure(shown[who]) if who in shown else "-" for who in ("ours", "uwheel")]
        table.row(precision, [*cells, figure(tree.query_many(asked)[1] / len(asked))])


def single(
    report: Report,
    settings: Settings,
    source: Stream,
    wheels: dict[str, sw.Wheel],
    pairs: dict[str, np.ndarray],
    peer: Peer | None,
) -> None:
    report.say(
        f"\nsingle calls, figure 9: {source.name}, {source.dtype}, ns, median and p95; ours, FiBA (ours, interpreted)"
    )
    report.say("and DuckDB over the raw rows from Python, uwheel in Rust; Q1 is the landmark")
    columns = ["ours", "p95", "uwheel", "p95", "FiBA", "p95", "DuckDB", "p95", "DuckDB/ours"]
    table = report.table(columns, label="precision, mode", first=18)
    with duckdb.connect() as database:
        _load(database, source)
        tree = fiba_of(source)
        ours = {name: wheels[name] for name in ("default", "prefix")}
        whole = np.tile([source.start, source.start + len(source) * SECOND], (settings.singles, 1))
        for precision, all_pairs in {**pairs, "Q1": whole}.items():
            asked = all_pairs[: settings.singles]
            arguments = [tuple(pair) for pair in asked.tolist()]
            few = arguments[: settings.queries]
            q1 = precision == "Q1"
            sql = (
                (lambda *_: database.execute(SUM).fetchone())
                if q1
                else (lambda *pair: database.execute(FILTERED, pair).fetchone())
            )
            between = (lambda *_: tree.query()) if q1 else tree.query
            right = wheels["default"].query_many(*asked[: len(few)].T.copy())
            agrees(report, f"single, {source.name}, {precision}: DuckDB", [sql(*pair)[0] for pair in few], right)
            agrees(report, f"single, {source.name}, {precision}: FiBA", [between(*pair) for pair in few], right)
            others = {"FiBA": _percentiles(report, between, few), "DuckDB": _percentiles(report, sql, few)}
            for mode, wheel in ours.items():
                what = f"single, {source.name}, {source.dtype}, {precision}, {mode}"
                ask: Callable[..., Any] = (lambda *_, w=wheel: w.landmark()) if q1 else wheel.query
                agrees(report, f"{what}: ours", [ask(*pair) for pair in few], right)
                found = {"ours": _percentiles(report, ask, arguments)}
                if peer is not None:
                    theirs = peer.ranges(asked, mode, FAR_AHEAD)
                    ns = np.maximum(theirs.latencies.astype(float) - theirs.clock_ns, 0)
                    found["uwheel"] = tuple(map(float, np.percentile(ns, [50, 95])))
                found |= others
                for who, (middle, high) in found.items():
                    known = {"experiment": "single", "span": source.name, "kind": source.dtype, "mode": mode}
                    report.keep("ns", {"median": middle, "p95": high}, **known, precision=precision, contestant=who)
                gain = found["DuckDB"][1] / found["ours"][1]
                cells = [
                    round(ns) if who in found else "-"
                    for who in ("ours", "uwheel", "FiBA", "DuckDB")
                    for ns in found.get(who, (0, 0))
                ]
                table.row(f"{precision}, {mode}", [*cells, f"{gain:.0f}x"])
                if not q1:
                    report.judge(f"{what}: median", found["ours"][0], 1500, " ns")
                    report.judge(f"{what}: p95 over DuckDB's", 1 / gain, 0.001)


def _percentiles(report: Report, call: Callable[..., Any], arguments: list[tuple[int, int]]) -> tuple[float, float]:
    """Median and p95; of these the medians over the rounds."""
    found = [np.percentile(latencies(call, arguments), [50, 95]) for _ in range(report.rounds)]
    middle, high = np.median(found, axis=0)
    return float(middle), float(high)


def _load(database: Any, source: Stream) -> None:
    rows = pa.table({"t": source.times, "v": source.values})
    database.register("given", rows)
    database.execute("create table rows as select * from given")
    database.unregister("given")


def groups(report: Report, settings: Settings, source: Stream, wheel: sw.Wheel, peer: Peer | None) -> None:
    begin, end = source.start, source.start + DAY * SECOND
    what = f"group by minute over a day, {source.name}, {source.dtype}"
    found = wheel.group_by(begin, end, "1m")

    def several(_: Any) -> None:
        for _ in range(settings.repeat):
            wheel.group_by(begin, end, "1m")

    runs = {"ours": clocked(several, settings.repeat)}
    sums = found["sum"].to_numpy()
    agrees(report, f"{what}: ours", sums, source.values[:DAY].reshape(-1, 60).sum(axis=1))
    if peer is not None:
        theirs = peer.group(begin, end, 60, feed=FAR_AHEAD)
        starts = found["start"].to_numpy().astype("M8[us]").astype(np.int64)
        if agrees(report, f"{what}: uwheel: times", theirs.times, starts) and agrees(
            report, f"{what}: uwheel", theirs.values, sums
        ):
            runs["uwheel"] = lambda: peer.group(begin, end, 60, repeat=settings.repeat, feed=FAR_AHEAD).ns
    times = interleaved(report.rounds, runs)
    keep(report, "ns", times, experiment="group by minute", span=source.name, kind=source.dtype)
    report.say(f"\n{what}, ns: " + ", ".join(f"{name} {timing}" for name, timing in times.items()))
    ratio = over(times, "ours", "uwheel")
    if ratio is not None:
        report.target(f"{what}: over uwheel", ratio, 0.2)


def planning(report: Report, source: Stream, wheel: sw.Wheel, pairs: np.ndarray, peer: Peer | None) -> None:
    """A line through the time of ranges against their combines: what is left at none is not combining."""
    costs = np.array([wheel.explain(int(a), int(b)).cost for a, b in pairs])
    order = np.argsort(costs, kind="stable")
    parts = np.array_split(order, max(len(order) // 3000, 4))
    asked = [np.ascontiguousarray(pairs[part].T) for part in parts]
    runs = {str(k): clocked(lambda _, a=a: wheel.query_many(*a), a.shape[1]) for k, a in enumerate(asked)}
    times = interleaved(report.rounds, runs)
    per_range = np.array([times[name].median for name in runs])
    shown = {"ours": (np.array([costs[part].mean() for part in parts]), per_range)}
    if peer is not None:
        theirs = peer.ranges(pairs, "default", FAR_AHEAD)
        ns = np.maximum(theirs.latencies.astype(float) - theirs.clock_ns, 0)
        parts = np.array_split(np.argsort(theirs.combines, kind="stable"), len(parts))
        middles = [np.median(ns[part]) for part in parts]
        shown["uwheel"] = (np.array([theirs.combines[part].mean() for part in parts]), np.array(middles))
    report.say(f"\nplanning: {source.name}, {source.dtype}, second precision, default mode, one thread: a line through")
    report.say("the time of ranges by their combines; what it says for none is reading, checking and planning")
    for who, (number, taken) in shown.items():
        slope, fixed = np.polyfit(number, taken, 1)
        share = fixed / taken.mean()
        report.say(
            f"  {who}: {figure(fixed)} ns + {figure(slope)} ns a combine; {share:.0%} of the time is not combining"
        )
        known = {"experiment": "planning", "span": source.name, "kind": source.dtype, "contestant": who}
        report.keep("ns", {"median": float(fixed), "a combine": float(slope), "share": float(share)}, **known)


def space(report: Report, settings: Settings, program: str | None) -> None:
    report.say("\nspace, figure 11: bytes; needed: 8 for each slot of all levels; DuckDB: its file, after a checkpoint")
    report.say("counts: of about one event a second (Poisson), compressed and not")
    columns = ["needed", "ours", "prefix", "compressed", "uwheel", "uwheel prefix", "DuckDB", "counts", "compressed"]
    table = report.table(columns, label="span", first=10)
    for count in dict.fromkeys(count for count, _ in settings.spans):
        source = days(count, "f8")
        wheels = {
            name: filled(source, **options)
            for name, options in {"ours": {}, "prefix": {"prefix": True}, "compressed": {"compress": True}}.items()
        }
        needed = 8 * sum(count * DAY * SECOND // level.length for level in wheels["ours"].levels)
        sizes = {name: wheel.nbytes for name, wheel in wheels.items()}
        with source.peer(program) as peer:
            if peer is not None:
                few = random_ranges(count * DAY, 1, 10)
                sizes["uwheel"] = peer.ranges(few, "default", FAR_AHEAD).size
                sizes["uwheel prefix"] = peer.ranges(few, "prefix", FAR_AHEAD).size
        sizes["DuckDB"] = _file_size(source)
        plain, packed = (_counts(count, compress) for compress in (False, True))
        agrees(report, f"space, {count} days: compressed counts", packed.landmark(), plain.landmark())
        cells = [sizes.get(name, "-") for name in columns[1:7]]
        table.row(source.name, [needed, *cells, plain.nbytes, packed.nbytes])
        report.keep("bytes", {"median": sizes["ours"], **sizes, "needed": needed}, experiment="space", span=source.name)
        counts = {"median": packed.nbytes, "plain": plain.nbytes}
        report.keep("bytes", counts, experiment="space of counts", span=source.name)
        report.target(f"space, {source.name}: over 8 bytes a slot", sizes["ours"] / needed, 1.1)
        report.target(f"space, {source.name}: compressed counts over plain", packed.nbytes / plain.nbytes, 1 / 3)


def _counts(count: int, compress: bool) -> sw.Wheel:
    chance = np.random.default_rng(SEED)
    times = START + np.sort(chance.integers(0, count * DAY * SECOND, count * DAY))
    wheel = sw.Wheel(sw.count(), start=START, write_ahead=512, compress=compress)
    wheel.ingest(times, times)
    wheel.advance_to(START + count * DAY * SECOND)
    return wheel


def _file_size(source: Stream) -> int:
    with tempfile.TemporaryDirectory(prefix="wheel-") as directory:
        path = Path(directory) / "rows.duckdb"
        with duckdb.connect(str(path)) as database:
            _load(database, source)
            database.execute("checkpoint")
        return path.stat().st_size
