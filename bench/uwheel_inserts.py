"""Figures 7 and 8 of the uWheel paper: what part of the work inserts are, and how long single ones take."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench import uwheel_paper
from bench.harness import Report, Timing, figure
from bench.uwheel_data import (
    EVERY,
    REPLAYED,
    SECOND,
    Settings,
    Stream,
    interleaved,
    latencies,
    length_of,
    stream,
    tails,
)
from bench.uwheel_others import FibaWindows
from bench.uwheel_peer import Feed, Peer

AHEAD = 512
PART, P95 = "inserts, % of the time", "p95"


def run(report: Report, settings: Settings, program: str | None) -> None:
    report.say("\nfigure 7: the part of inserts in all calls, and in their time: ours from Python with insert_many of")
    report.say(
        f"{EVERY} rows and advance_to, uwheel's in Rust, one by one. Figure 8: single inserts, ns, median and p95"
    )
    who = ("slidewheel", "uwheel", "FiBA CG")
    columns = ["calls", "time", "uwheel's", *(f"{name}{part}" for name in who for part in ("", " p95"))]
    table = report.table(columns, label="stream, window", first=24)
    shares: dict[str, dict[str, dict[str, float]]] = {}
    inserts: dict[str, dict[str, dict[str, dict[str, Timing]]]] = {}
    for name in REPLAYED:
        source = stream(name, settings.latency_rows, "i8")
        shares[name], inserts[name] = {}, {}
        with source.peer(program) as peer:
            for window in settings.low:
                title = "/".join(map(length_of, window))
                known = {"stream": name, "window": title, "range_s": window[0], "slide_s": window[1]}
                part = _shares(report, source, window, peer, known)
                found = _latencies(report, source, window, peer, known)
                shares[name][title], inserts[name][title] = part, found
                cells = [f"{part[key]:.0f}%" if key in part else "-" for key in ("calls", "slidewheel", "uwheel")]
                cells += [figure(found[c][s].median) if c in found else "-" for c in who for s in ("median", "p95")]
                table.row(f"{name}, {title}", cells)
    uwheel_paper.figure_7(report, shares)
    uwheel_paper.figure_8(report, inserts)


def _shares(
    report: Report, source: Stream, window: tuple[int, int], peer: Peer | None, known: dict[str, Any]
) -> dict[str, float]:
    """Percent: inserts among all calls, and of the time of each system."""
    span = (source.times.max() - source.start) / SECOND
    calls = {"inserts": len(source), "advances": len(source) // EVERY, "windows": span / window[1]}
    part = 100 * len(source) / sum(calls.values())
    report.keep(
        "%", {"median": part}, experiment="figure 7", **known, contestant="calls", measure="inserts, % of calls"
    )
    runs: dict[str, Callable[[], float]] = {"slidewheel": lambda: _share(source, window)}
    if peer is not None:
        runs["uwheel"] = lambda: _their_share(peer, window)
    times = interleaved(report.rounds, runs)
    for name, timing in times.items():
        report.keep("%", timing, experiment="figure 7", **known, contestant=name, measure=PART)
    return {"calls": part, **{name: timing.median for name, timing in times.items()}}


def _share(source: Stream, window: tuple[int, int]) -> float:
    wheel = source.wheel(AHEAD, window)
    firsts = range(0, len(source), EVERY)
    spent = np.zeros(2)
    for first, move in zip(firsts, _moves(source), strict=True):
        batch = source.times[first : first + EVERY], source.values[first : first + EVERY]
        spent += latencies(wheel.insert_many, [batch])[0], latencies(wheel.advance_to, [(move,)])[0]
    return float(100 * spent[0] / spent.sum())


def _their_share(peer: Peer, window: tuple[int, int]) -> float:
    found = peer.insert_latency(*window, Feed(ahead=AHEAD, keep=True))
    inserts, moves = (np.maximum(a.astype(float) - found.clock_ns, 0).sum() for a in (found.inserts, found.advances))
    return float(100 * inserts / (inserts + moves))


def _latencies(
    report: Report, source: Stream, window: tuple[int, int], peer: Peer | None, known: dict[str, Any]
) -> dict[str, dict[str, Timing]]:
    runs: dict[str, Callable[[], np.ndarray]] = {
        "slidewheel": lambda: _inserts(source, source.wheel(AHEAD, window)),
        "FiBA CG": lambda: _inserts(source, FibaWindows(source, window, coarse=True, full=True)),
    }
    if peer is not None:
        runs["uwheel"] = lambda: _theirs(peer, window)
    found = tails(report.rounds, runs)
    for name, both in found.items():
        for statistic, timing in both.items():
            report.keep("ns", timing, experiment="figure 8", **known, contestant=name, statistic=statistic)
    return found


def _inserts(source: Stream, into: Any) -> np.ndarray:
    """Nanoseconds of each, with the watermark after every hundred."""
    rows = list(zip(source.times.tolist(), source.values.tolist(), strict=True))
    found = []
    for first, move in zip(range(0, len(rows), EVERY), _moves(source), strict=True):
        found.append(latencies(into.insert, rows[first : first + EVERY]))
        into.advance_to(move)
    return np.concatenate(found)


def _theirs(peer: Peer, window: tuple[int, int]) -> np.ndarray:
    found = peer.insert_latency(*window, Feed(ahead=AHEAD, keep=True))
    return np.maximum(found.inserts.astype(float) - found.clock_ns, 0)


def _moves(source: Stream) -> list[int]:
    """The watermark after every hundred rows."""
    greatest = np.maximum.accumulate(source.times)
    lasts = [min(first + EVERY, len(source)) - 1 for first in range(0, len(source), EVERY)]
    return (greatest[lasts] - source.delay * SECOND).tolist()
