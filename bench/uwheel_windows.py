"""What goes into a wheel, and sliding windows of it: figures 5 and 6 of the uWheel paper."""

from functools import partial
from typing import Any

import numpy as np

from bench import uwheel_paper
from bench.harness import Report, Timing
from bench.ratios import Ratio
from bench.uwheel_data import (
    EVERY,
    REPLAYED,
    STREAMS,
    VALUES,
    Settings,
    Stream,
    agrees,
    clocked,
    interleaved,
    keep,
    length_of,
    over,
    shown_ratio,
    stream,
)
from bench.uwheel_others import FibaWindows, replay
from bench.uwheel_peer import Feed, Peer

INGEST_LIMIT = {"Citi Bike": 0.2, "DEBS12": 0.8, "DEBS12, tenfold": 0.8}
WINDOW_LIMIT = {"Citi Bike": 0.15, "DEBS12": 0.8}
UWHEEL = {"uwheel": True, "uwheel default": False}
"""Whether it keeps all slots, as ours do, or as many as a rotation of each level has."""


def run(report: Report, settings: Settings, program: str | None) -> None:
    ingest(report, settings, program)
    windows(report, settings, program)


def ingest(report: Report, settings: Settings, program: str | None) -> None:
    report.say(
        f"\ningest: ns per row, sums, the watermark follows every {EVERY} rows; both keep all slots, and uwheel's"
    )
    report.say("default, which keeps a rotation of each level, for comparison; ratio: to the one that keeps all")
    columns = ["out of order", "late", "ahead", "slidewheel", *UWHEEL, "ratio", "to default"]
    table = report.table(columns, label="stream", first=22)
    for kind in settings.kinds:
        for name in STREAMS:
            source = stream(name, settings.slow_rows if name == "Citi Bike" else settings.rows, kind)
            with source.peer(program) as peer:
                for ahead in settings.ahead:
                    ratio = ingest_once(report, settings, "ingest", source, ahead, peer, table)
                    if ratio is not None:
                        what = f"ingest, {name}, {VALUES[kind]}, ahead {ahead}"
                        report.judge(f"{what}: over uwheel", ratio, INGEST_LIMIT[name])


def ingest_once(
    report: Report, settings: Settings, experiment: str, source: Stream, ahead: int, peer: Peer | None, table: Any
) -> Ratio | None:
    """The ratio to uwheel."""
    wheel = source.wheel(ahead)
    source.into(wheel)
    mine = [wheel.landmark() or 0, wheel.late, wheel.watermark]
    long = settings.lasting
    runs = {"slidewheel": clocked(source.into, len(source), lambda: source.wheel(ahead), lasting=long)}
    for name, whole in UWHEEL.items() if peer is not None else ():
        feed = Feed(ahead=ahead, keep=whole, delay=source.delay)
        theirs = peer.ingest(feed)
        what = f"{experiment}, {source.name}, {source.dtype}, ahead {ahead}: {name}"
        if agrees(report, what, [theirs.landmark or 0, theirs.late, theirs.watermark], mine):
            runs[name] = lambda feed=feed: peer.ingest(feed, long).ns / len(source)
    times = interleaved(report.rounds, runs)
    late = wheel.late / len(source)
    known = {"stream": source.name, "values": VALUES[source.dtype], "write_ahead": ahead, "rows": len(source)}
    keep(report, "ns/row", times, experiment=experiment, **known, out_of_order=source.disorder, late=late)
    ratios = [over(times, "slidewheel", name) for name in UWHEEL]
    cells = [
        f"{source.disorder:.1%}",
        f"{late:.1%}",
        ahead,
        *(times.get(name, "-") for name in ("slidewheel", *UWHEEL)),
    ]
    table.row(f"{source.name}, {source.dtype}", [*cells, *map(shown_ratio, ratios)])
    return ratios[0]


def windows(report: Report, settings: Settings, program: str | None) -> None:
    report.say(
        "\nwindows, figures 5 and 6: ns per row with one sliding window. FiBA is ours, interpreted, and gets fewer"
    )
    report.say(
        "rows; CG, coarse-grained: over slices of a slide, not of a second. Ratios: to uwheel that keeps all slots"
    )
    found: dict[str, dict[str, dict[str, dict[str, Timing]]]] = {"figure 5": {}, "figure 6": {}}
    for name in REPLAYED:
        slow = name == "Citi Bike"
        source = stream(name, settings.slow_window_rows if slow else settings.window_rows, "i8")
        rows = min(settings.slow_fiba_rows if slow else settings.fiba_rows, len(source)) // EVERY * EVERY
        report.say(f"  {source.name}, {len(source)} rows, {source.disorder:.1%} out of order")
        table = report.table(window_columns(settings.ahead), label="range/slide", first=12)
        with source.peer(program) as peer:
            for experiment, all_windows in (("figure 5", settings.high), ("figure 6", settings.low)):
                times = {
                    label(window): window_race(report, settings, experiment, source, window, peer, rows, table)
                    for window in all_windows
                }
                found[experiment][name] = times
                _judge(report, experiment, name, times, settings.ahead)
    uwheel_paper.figure_5(report, found["figure 5"])
    uwheel_paper.figure_6(report, found["figure 5"], found["figure 6"])


def _judge(
    report: Report, experiment: str, name: str, times: dict[str, dict[str, Timing]], aheads: tuple[int, ...]
) -> None:
    ratios = {
        f"{window}, ahead {ahead}": over(group, f"slidewheel {ahead}", f"uwheel {ahead}")
        for window, group in times.items()
        for ahead in aheads
    }
    known = {what: ratio for what, ratio in ratios.items() if ratio is not None}
    for what, ratio in known.items():
        report.judge(f"{experiment}, {name}, {what}: over uwheel", ratio, WINDOW_LIMIT[name])
    if known:
        met = sum(ratio.median < WINDOW_LIMIT[name] for ratio in known.values())
        worst = max(known, key=lambda what: known[what].median)
        said = f"{met} of {len(known)} met; the worst is {known[worst]}, {worst}"
        report.say(f"  target < {WINDOW_LIMIT[name]}: {said}")


def label(window: tuple[int, int]) -> str:
    return "/".join(map(length_of, window))


def window_columns(aheads: tuple[int, ...]) -> list[str]:
    systems = [f"{system} {ahead}" for system in ("slidewheel", *UWHEEL) for ahead in aheads]
    return [*systems, "FiBA", "FiBA CG", *(f"ratio {ahead}" for ahead in aheads)]


def window_race(
    report: Report,
    settings: Settings,
    experiment: str,
    source: Stream,
    window: tuple[int, int],
    peer: Peer | None,
    fiba_rows: int,
    table: Any,
) -> dict[str, Timing]:
    """One sliding window by all of them, in one race."""
    what, aheads, long = f"{experiment}, {source.name}, {label(window)}", settings.ahead, settings.lasting
    runs, answers = {}, {}
    for ahead in aheads:
        answers[ahead] = _whole_windows(source, source.into(source.wheel(ahead, window)))
        wheel = partial(source.wheel, ahead, window)
        runs[f"slidewheel {ahead}"] = clocked(source.into, len(source), wheel, lasting=long)
    for name, whole in UWHEEL.items() if peer is not None else ():
        for ahead in aheads:
            feed = Feed(ahead=ahead, keep=whole, delay=source.delay)
            theirs = peer.windows(*window, feed)
            if _same(report, f"{what}: {name} {ahead}", (theirs.ends, theirs.values), answers[ahead]):
                runs[f"{name} {ahead}"] = lambda feed=feed: peer.windows(*window, feed, long).ns / len(source)
    for name, coarse in (("FiBA", False), ("FiBA CG", True)) if fiba_rows else ():
        pairs = replay(source, fiba_rows, FibaWindows(source, window, coarse=coarse))
        ends, sums = (np.array([pair[k] for pair in pairs], source.times.dtype) for k in range(2))
        first = tuple(column[: len(ends)] for column in answers[aheads[0]])
        if _same(report, f"{what}: {name}", (ends, sums), first):
            runs[name] = clocked(
                lambda made: replay(source, fiba_rows, made),
                fiba_rows,
                lambda coarse=coarse: FibaWindows(source, window, coarse=coarse, full=True),
                warm=False,
            )
    times = interleaved(report.rounds, runs)
    known = {"stream": source.name, "window": label(window), "range_s": window[0], "slide_s": window[1]}
    for name, timing in times.items():
        system, _, ahead = name.rpartition(" ")
        its = {"system": system, "write_ahead": int(ahead)} if ahead.isdigit() else {"system": name}
        report.keep("ns/row", timing, experiment=experiment, **known, **its, contestant=name)
    ratios = [over(times, f"slidewheel {ahead}", f"uwheel {ahead}") for ahead in aheads]
    cells = [times.get(name, "-") for name in window_columns(aheads)[: -len(aheads)]]
    table.row(label(window), [*cells, *map(shown_ratio, ratios)])
    return times


def _same(report: Report, what: str, found: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> bool:
    return all(
        agrees(report, f"{what}: {part}", *both) for part, *both in zip(("ends", "sums"), found, expected, strict=True)
    )


def _whole_windows(source: Stream, table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ends and sums of the windows that begin after the wheel: uwheel has no others, and 0 where one is empty."""
    starts, ends = (table[name].to_numpy().astype("M8[us]").astype(np.int64) for name in ("start", "end"))
    sums = table["sum"].fill_null(0).to_numpy()
    return ends[starts >= source.start], sums[starts >= source.start]
