"""sw.query over sliding and trailing windows against polars, pandas and DuckDB, and the targets that it has."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.harness import Contestant, Report, Timing, figure
from bench.window_peers import (
    COLUMNS,
    DENSITY,
    OTHERS,
    TUMBLING,
    Case,
    Data,
    Library,
    at_once,
    difference,
    full_stream,
    in_batches,
    plain,
    streamed,
)


@dataclass(frozen=True)
class Settings:
    rows: int = 5_000_000
    keys: tuple[int, int, int] = (1, 1000, 100_000)
    """One, many, very many."""
    ratios: tuple[int, ...] = (3, 60, 300, 3600)
    windows: tuple[int, ...] = (1, 10)
    aggregates: tuple[int, ...] = (1, 5)
    trailing: tuple[int, ...] = (60,)
    batch: int = 100_000
    sample: int = 2000
    """Rows on which answers are compared, and the fewest that are timed."""
    seconds: float = 0.15
    """What one run of another library may take, which gets fewer rows for that."""
    patience: float = 0.8
    """But it gets all rows, and all keys, if they take no longer than this."""
    rounds: int = 3


FULL = Settings()
QUICK = Settings(rows=50_000, keys=(1, 50, 1000), batch=10_000, sample=500, seconds=0.05, patience=0.05)
SMOKE = Settings(
    rows=400,
    keys=(1, 2, 4),
    ratios=(1, 60),
    aggregates=(5,),
    trailing=(3,),
    batch=100,
    sample=200,
    seconds=0.001,
    patience=0.001,
    rounds=1,
)


@dataclass
class Measured:
    case: Case
    times: dict[str, Timing]
    rows: dict[str, int]

    @property
    def best(self) -> str | None:
        others = [name for name in self.times if not name.startswith("sw")]
        return min(others, key=lambda name: self.times[name].median) if others and "sw run" in self.times else None

    @property
    def gain(self) -> float:
        """How many times as long as we the fastest of the others takes for a row."""
        return self.times[self.best].over(self.times["sw run"]) if self.best else float("nan")


def measure(report: Report, settings: Settings, data: Data, cases: list[Case]) -> list[Measured]:
    """All these cases in the same rounds."""
    ready = {str(case): _contestants(report, settings, data, case) for case in cases}
    times = replace(report, rounds=settings.rounds).race(ready)
    found = []
    for case in cases:
        rows = {contestant.name: contestant.units for contestant in ready[str(case)]}
        for name, timing in times[str(case)].items():
            known = {field: getattr(case, field) for field in ("form", "keys", "ratio", "windows", "aggregates")}
            report.keep("ns/row", timing, **known, library=name, rows=rows[name], outputs=case.outputs(data.rows))
        found.append(Measured(case, times[str(case)], rows))
    return found


def _contestants(report: Report, settings: Settings, data: Data, case: Case) -> list[Contestant]:
    """Those who give the right answers, each with as many rows as it can do."""
    all_rows = max(1, int(data.rows * min(1.0, data.rows / case.outputs(data.rows))))
    ready: list[Contestant] = []

    def join(name: str, run: Callable[[], Any], rows: int) -> None:
        # The answers have been compared already, more strictly than a race does.
        ready.append(Contestant(name, run, rows, no_answer))

    join("sw run", at_once(data, all_rows, case), data.part(all_rows).num_rows)
    join("sw stream", in_batches(data, settings.batch, case), data.rows)
    sample = data.sample(settings.sample)
    expected = plain(case, at_once(sample, sample.rows, case)())
    problem = difference(plain(case, streamed(sample, case)), expected)
    if problem is not None:
        report.wrong(f"{case}: sw stream: {problem}")
    libraries = TUMBLING if case.form == "sliding" and case.ratio == 1 else OTHERS[case.form]
    for name, library in libraries.items():
        problem = difference(plain(case, library(sample, sample.rows, case)()), expected)
        if problem is not None:
            report.wrong(f"{case}: {name}: {problem}")
            continue
        rows = _affordable(library, data, case, min(settings.sample, all_rows), all_rows, settings)
        join(name, library(data, rows, case), data.part(rows).num_rows)
    return ready


def _affordable(library: Library, data: Data, case: Case, rows: int, most: int, settings: Settings) -> int:
    """As many rows as a library does in its time: it gets more of them for as long as that is likely to do."""
    while True:
        run = library(data, rows, case)
        begun = time.perf_counter()
        run()
        taken = time.perf_counter() - begun
        more = settings.seconds / taken
        if rows >= most or more < 2:
            return most if taken * most / rows <= settings.patience else rows
        rows = int(min(most, rows * min(more, 10)))


def run(report: Report, settings: Settings) -> None:
    report.say(f"ns per row of input, {settings.rows} rows, {DENSITY} rows of a key in each slide; ± half the quartile")
    report.say("range; @ = on so many rows, of fewer keys: else it would take too long, or more would come out")
    report.say("than goes in. out/row: windows given out for each row, by run and by stream; run gives also those that")
    report.say("go beyond the ends of the data. duckdb: each row once for each of its windows; duckdb slices: slides")
    report.say("aggregated first, by hand. Of ten windows, the i-th has i times the slide and the range of the first.")
    report.say(f"Streams get {settings.batch} rows at a time. polars and DuckDB use all threads they like.")
    alone(report, settings)
    found = []
    for keys in settings.keys:
        data = Data.made(settings.rows, keys)
        for aggregates in settings.aggregates:
            sliding = [Case("sliding", keys, r, w, aggregates) for w in settings.windows for r in settings.ratios]
            several = (1, 10) if keys == settings.keys[1] and aggregates == 1 else (1,)
            trailing = [Case("trailing", keys, r, w, aggregates) for w in several for r in settings.trailing]
            for cases in (sliding, trailing):
                measured = measure(report, settings, data, cases)
                for windows in dict.fromkeys(case.windows for case in cases):
                    _table(report, data, [m for m in measured if m.case.windows == windows])
                found += measured
        memory(report, settings, data)
    full_streams(report, settings)
    judge(report, settings, {m.case: m for m in found})


def _table(report: Report, data: Data, found: list[Measured]) -> None:
    first = found[0].case
    report.say(f"\n{first.form}, {first.keys} keys, windows: {first.windows}, aggregates: {', '.join(first.names)}")
    columns = COLUMNS[first.form]
    table = report.table(["out/row", *columns, "fastest other"], label="ratio", first=6, width=13)
    for measured in found:
        cells = [_cell(measured, name, data.rows) for name in columns]
        best = f"{figure(measured.gain)}x {measured.best}" if measured.best else "-"
        table.row(str(measured.case.ratio), [_out(measured.case, data), *cells, best])


def _out(case: Case, data: Data) -> str:
    """Given out for each row, by run and by stream."""
    if case.form == "trailing":
        return "1 1"
    left = replace(case, ratio=0).outputs(data.rows)
    return f"{figure(case.outputs(data.rows) / data.rows)} {figure(left / data.rows)}"


def _cell(measured: Measured, name: str, rows: int) -> str:
    if name not in measured.times:
        return "-"
    used = measured.rows[name]
    return f"{measured.times[name]}" + ("" if used == rows else f" @{used // 1000}k" if used >= 1000 else f" @{used}")


def memory(report: Report, settings: Settings, data: Data) -> None:
    """What streams hold after each batch, and what explain says that they hold at most."""
    report.say(f"\nstates held, {data.keys} keys, 5 aggregates: the most after any batch, and what explain announces")
    columns = ["entries/key", "states/key", "announced", "bytes/key", "of the states"]
    table = report.table(columns, label="ratio, windows", first=14)
    for windows in settings.windows:
        for ratio in settings.ratios:
            case = Case("sliding", data.keys, ratio, windows, 5)
            entries, states, taken, bytes_of_states = _held(case, data, settings.batch)
            said = re.findall(r"states a key: at most .* = (\d+)", case.query.explain())
            announced = sum(int(number) for number in said)
            per_key = states / data.keys
            cells = [figure(entries / data.keys), figure(per_key), announced, figure(taken / data.keys)]
            table.row(f"{ratio}, {windows}", [*cells, figure(bytes_of_states / data.keys)])
            known = {"keys": data.keys, "ratio": ratio, "windows": windows, "aggregates": 5, "announced": announced}
            report.keep("states/key", {"median": per_key, "bytes": taken / data.keys}, **known)
            report.judge(f"states held over announced, {case}", per_key / announced, 1.0 + 1e-9)


def _held(case: Case, data: Data, batch: int) -> tuple[int, int, int, int]:
    """The most entries, states, bytes taken and bytes of states after a batch."""
    stream, most = case.query.stream(), (0, 0, 0, 0)
    for first in range(0, data.rows, batch):
        stream.push(data.table.slice(first, batch))
        now = [0, 0, 0, 0]
        for track in stream._engine.tracks:
            arena = track.arena
            rows, components = 1 + 2 * len(arena.shifts), arena.components
            sizes = sum(component.dtype.itemsize for component in components)
            now[0] += arena.entries
            now[1] += arena.entries * rows * len(components)
            now[2] += sum(component.nbytes for component in components) + arena.ids.nbytes
            now[3] += arena.entries * rows * sizes
        most = tuple(map(max, most, now))
    return most


def alone(report: Report, settings: Settings) -> None:
    """Ten windows and one by `run`, before others have used the memory of this process."""
    report.say("\nrun, with nobody else in the rounds: ns per row")
    table = report.table(["aggregates", "ratio", "one window", "ten windows", "over"], label="keys", first=8)
    for keys in settings.keys[:2]:
        data = Data.made(settings.rows, keys)
        for aggregates in settings.aggregates:
            for ratio in settings.ratios:
                one = Case("sliding", keys, ratio, 1, aggregates)
                ten = replace(one, windows=10)
                if ten.outputs(data.rows) > data.rows:
                    continue
                runs = [Contestant(str(c), at_once(data, data.rows, c), data.rows, no_answer) for c in (one, ten)]
                times = replace(report, rounds=settings.rounds).race({"": runs})[""]
                first, second = times[str(one)], times[str(ten)]
                over = second.over(first)
                table.row(str(keys), [aggregates, ratio, first, second, figure(over)])
                report.judge(f"run alone, {keys} keys, {aggregates} aggregates: ten windows over one", over, 3)


def full_streams(report: Report, settings: Settings) -> None:
    """Streams that hold as many slices as their windows need, so that nothing grows any more."""
    few, middle, many = min(settings.ratios), settings.ratios[1], max(settings.ratios)
    report.say(f"\nfull streams, {settings.batch} rows at a time: ns per row, the first windows behind them")
    table = report.table(["keys", "aggregates", "one", "other", "over"], label="what", first=32)
    for keys in settings.keys[:2]:
        for aggregates in settings.aggregates:
            one = Case("sliding", keys, few, 1, aggregates)
            pairs = {
                f"ratio {many} over ratio {few}": (one, replace(one, ratio=many), 1.3),
                f"ten windows over one, ratio {middle}": (
                    replace(one, ratio=middle),
                    replace(one, ratio=middle, windows=10),
                    3,
                ),
            }
            for what, (case, other, limit) in pairs.items():
                pushes = [
                    Contestant(str(c), full_stream(c, settings.batch), settings.batch, no_answer) for c in (case, other)
                ]
                times = replace(report, rounds=20 * settings.rounds).race({"": pushes})[""]
                first, second = times[str(case)], times[str(other)]
                table.row(what, [keys, aggregates, first, second, figure(second.over(first))])
                for c in (case, other):
                    known = {"keys": keys, "ratio": c.ratio, "windows": c.windows, "aggregates": aggregates}
                    report.keep("ns/row", times[str(c)], form="full", **known)
                report.judge(f"full stream, {keys} keys, {aggregates} aggregates: {what}", second.over(first), limit)


def no_answer() -> np.ndarray:
    """For what has been compared elsewhere."""
    return np.empty(0)


def judge(report: Report, settings: Settings, found: dict[Case, Measured]) -> None:
    """The targets, each by its worst combination."""
    report.say("\ntargets, each by the combination that is furthest from it")
    sliding = [case for case in found if case.form == "sliding"]
    few, many = min(r for r in settings.ratios if r > 1), max(settings.ratios)
    _, some_keys, most_keys = settings.keys

    def over(case: Case, other: Case, name: str) -> float:
        """How many times as long a row takes. Whatever was not measured on all rows says nothing here."""
        if any(found[c].rows[name] < settings.rows for c in (case, other)):
            return float("nan")
        if case.keys == other.keys:  # measured in the same rounds
            return found[case].times[name].over(found[other].times[name])
        return found[case].times[name].median / found[other].times[name].median

    for keys in settings.keys:
        of_keys = [case for case in sliding if case.keys == keys]
        for name in ("sw run", "sw stream"):
            ends = [(c, over(c, replace(c, ratio=few), name)) for c in of_keys if c.ratio == many and c.windows == 1]
            _worst(report, f"{name}, {keys} keys: ratio {many} over ratio {few}", ends, 1.3)
            tens = [(c, over(c, replace(c, windows=1), name)) for c in of_keys if c.windows == 10]
            _worst(report, f"{name}, {keys} keys: ten windows over one", tens, 3)
        long = [(c, 1 / found[c].gain) for c in of_keys if c.ratio >= 60]
        _worst(report, f"sw run, {keys} keys: over the fastest other, ratio 60 and above", long, 0.2)
    for name in ("sw run", "sw stream"):
        crowds = [(c, over(c, replace(c, keys=some_keys), name)) for c in sliding if c.keys == most_keys]
        _worst(report, f"{name}: {most_keys} keys over {some_keys} keys", crowds, 4)
    held = [t for t in report.targets if t["suite"] == report.suite and t["target"].startswith("states held")]
    if held:
        worst = max(held, key=lambda t: t["measured"])
        missed = sum(not t["met"] for t in held)
        report.say(f"  {worst['target']}: {figure(worst['measured'])}; {missed} of {len(held)} missed")
    slower = [case for case, measured in found.items() if measured.gain < 1]
    report.say(f"another is faster in {len(slower)} of {len(found)} combinations:" if slower else "none is faster")
    for case in slower:
        report.say(f"  {case}: {found[case].best} takes {figure(found[case].gain)} of our time")


def _worst(report: Report, name: str, figures: list[tuple[Case, float]], limit: float) -> None:
    known = [(case, value) for case, value in figures if not np.isnan(value)]
    if known:
        case, value = max(known, key=lambda pair: pair[1])
        where = f"ratio {case.ratio}, windows {case.windows}, aggregates {case.aggregates}"
        report.target(f"{name} ({where})", value, limit)
