"""sw.query over sliding and trailing windows against polars, pandas and DuckDB, and the targets that it has."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import slidewheel as sw
from bench.harness import SEED, Contestant, Report, Timing, figure

STEP = 1000
"""Microseconds between two rows."""
DENSITY = 10
"""Rows of a key in each slide."""
BEGIN = 1_700_000_000_000_000
NAMES = {1: ("mean",), 5: ("count", "sum", "mean", "std", "max")}
OURS = {"count": sw.count(), "sum": sw.sum("v"), "mean": sw.mean("v"), "std": sw.std("v"), "max": sw.max("v")}
POLARS = {name: getattr(pl.col("v"), name)() for name in OURS} | {"count": pl.len()}
SQL = {"count": "count(*)", "sum": "sum(v)", "mean": "avg(v)", "std": "stddev_samp(v)", "max": "max(v)"}
STATES = "count(*) as n, sum(v) as s, sum(v * v) as q, max(v) as m"
FROM_STATES = {
    "count": "sum(n)::bigint",
    "sum": "sum(s)",
    "mean": "sum(s) / sum(n)",
    "std": "case when sum(n) > 1 then sqrt(greatest(sum(q) - sum(s) * sum(s) / sum(n), 0) / (sum(n) - 1)) end",
    "max": "max(m)",
}


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
    """What one run of another library may take; if all rows would take longer, it gets fewer."""
    rounds: int = 3


FULL = Settings()
QUICK = Settings(rows=50_000, keys=(1, 50, 1000), windows=(1, 10), batch=10_000, sample=500, seconds=0.05)


@dataclass(frozen=True)
class Case:
    """One combination. Window i of several has i times the slide of the first one, and the same ratio."""

    form: str
    keys: int
    ratio: int
    windows: int
    aggregates: int

    @property
    def slide(self) -> int:
        return STEP * DENSITY * self.keys

    @property
    def frames(self) -> list[tuple[int, int]]:
        """(range, every) of each window in microseconds."""
        return [(self.ratio * self.slide * i, self.slide * i) for i in range(1, self.windows + 1)]

    @property
    def names(self) -> tuple[str, ...]:
        return NAMES[self.aggregates]

    @property
    def by(self) -> list[str]:
        return ["k"] if self.keys > 1 else []

    @cached_property
    def query(self) -> sw.Query:
        specs = [
            sw.sliding(f"{length}us", every=f"{every}us") if self.form == "sliding" else sw.trailing(f"{length}us")
            for length, every in self.frames
        ]
        return sw.query(time="t", keys=self.by, windows=specs, aggregates=[OURS[name] for name in self.names])

    def outputs(self, rows: int) -> float:
        """About how many rows come out of `run`: at both ends of a key there are windows that it fills in part."""
        if self.form == "trailing":
            return rows
        slices = rows / DENSITY / self.keys
        return self.keys * sum(slices / i + self.ratio for i in range(1, self.windows + 1))

    def __str__(self) -> str:
        return (
            f"{self.form}, {self.keys} keys, ratio {self.ratio}, {self.windows} windows, {self.aggregates} aggregates"
        )


class Data:
    """Rows in the order of their times, no two at the same; any part of them in the form that a library likes best."""

    def __init__(self, table: pa.Table, keys: int) -> None:
        self.table, self.rows, self.keys = table, table.num_rows, keys

    @classmethod
    def made(cls, rows: int, keys: int) -> "Data":
        random = np.random.default_rng(SEED)
        times = BEGIN + np.arange(rows) * STEP + random.integers(0, STEP, rows)
        columns = {"t": times.astype("datetime64[us]"), "k": random.integers(0, keys, rows)}
        return cls(pa.table(columns | {"v": random.normal(100, 15, rows)}), keys)

    def sample(self, rows: int) -> "Data":
        """Few rows, of few keys."""
        return Data(self._of_keys(min(self.keys, 5)).slice(0, rows).combine_chunks(), self.keys)

    def _of_keys(self, keys: int) -> pa.Table:
        return self.table if self.keys == 1 else self.table.filter(pa.array(self.table["k"].to_numpy() < keys))

    @lru_cache(maxsize=4)  # noqa: B019
    def part(self, rows: int) -> pa.Table:
        """So many rows. Fewer of them are fewer keys, as each is then as full as before; of one key, its first rows."""
        if rows >= self.rows:
            return self.table
        return self._of_keys(max(1, self.keys * rows // self.rows)).slice(0, rows).combine_chunks()

    @lru_cache(maxsize=4)  # noqa: B019
    def polars(self, rows: int) -> pl.DataFrame:
        return pl.DataFrame(self.part(rows)).with_columns(one=pl.lit(1))

    @lru_cache(maxsize=4)  # noqa: B019
    def pandas(self, rows: int) -> pd.DataFrame:
        return self.part(rows).to_pandas().set_index("t")

    @lru_cache(maxsize=4)  # noqa: B019
    def duckdb(self, rows: int) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        connection.register("given", self.part(rows))
        connection.execute("create table rows as select t, k, v from given")
        return connection


# Each library: a function of the data, the number of rows and the case, which gives what is to be timed. It returns a
# table for each window, or one for all of them.
Library = Callable[[Data, int, Case], Callable[[], Any]]


def _run(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    table = data.part(rows)
    return lambda: case.query.run(table)


def _stream(data: Data, batch: int, case: Case) -> Callable[[], Any]:
    """Pushed batch by batch, and left open, as a stream is: only windows that have ended come out."""
    batches = [data.table.slice(first, batch) for first in range(0, data.rows, batch)]

    def run() -> int:
        stream = case.query.stream()
        return sum(stream.push(given).num_rows for given in batches)

    return run


def _polars_sliding(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    frame, aggregates = data.polars(rows), [POLARS[name].alias(name) for name in case.names]

    def run() -> list[pl.DataFrame]:
        return [
            # Its first window is the one that starts with the slide of the first row; ours, the first with that row.
            frame.group_by_dynamic(
                "t", every=f"{every}us", period=f"{length}us", offset=f"{every - length}us", closed="left",
                label="left", start_by="window", group_by=case.by or None
            ).agg(aggregates)
            for length, every in case.frames
        ]  # fmt: skip

    return run


def _polars_trailing(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    frame, aggregates = data.polars(rows), [POLARS[name].alias(name) for name in case.names]

    def run() -> list[pl.DataFrame]:
        return [
            frame.rolling("t", period=f"{length}us", group_by=case.by or None, closed="right").agg(aggregates)
            for length, _ in case.frames
        ]

    return run


def _polars_by(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    frame = data.polars(rows)

    def rolled(name: str, length: int) -> pl.Expr:
        column, kind = ("one", "sum") if name == "count" else ("v", name)
        found = getattr(pl.col(column), f"rolling_{kind}_by")("t", window_size=f"{length}us", min_samples=1)
        return (found.over(case.by) if case.by else found).alias(name)

    def run() -> list[pl.DataFrame]:
        return [frame.select("t", "k", *(rolled(name, length) for name in case.names)) for length, _ in case.frames]

    return run


def _pandas_tumbling(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    frame = data.pandas(rows)

    def run() -> list[pd.DataFrame]:
        return [
            frame.groupby([*case.by, frame.index.floor(f"{every}us")])["v"].agg(list(case.names))
            for _, every in case.frames
        ]

    return run


def _pandas_trailing(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    frame = data.pandas(rows)
    values = frame.groupby(case.by)["v"] if case.by else frame["v"]
    return lambda: [values.rolling(f"{length}us").agg(list(case.names)) for length, _ in case.frames]


def _queries(data: Data, rows: int, texts: Iterable[str]) -> Callable[[], Any]:
    connection, texts = data.duckdb(rows), list(texts)
    return lambda: [connection.sql(text).to_arrow_table() for text in texts]


def _duckdb_rows(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    """Each row once for each of its windows."""
    found = ", ".join(SQL[name] for name in case.names)
    keys = "".join(f"{key}, " for key in case.by)
    return _queries(data, rows, (
        f"select {keys} (epoch_us(t) // {every} - j) * {every} as s, {found} from rows, range({length // every}) w(j) "
        "group by all"
        for length, every in case.frames
    ))  # fmt: skip


def _duckdb_slices(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    """Slicing by hand: aggregates of each slide first, then each of them once for each of its windows."""
    found = ", ".join(FROM_STATES[name] for name in case.names)
    keys = "".join(f"{key}, " for key in case.by)
    return _queries(data, rows, (
        f"with slices as (select {keys} epoch_us(t) // {every} as slice, {STATES} from rows group by all) "
        f"select {keys} (slice - j) * {every} as start, {found} from slices, range({length // every}) w(j) group by all"
        for length, every in case.frames
    ))  # fmt: skip


def _duckdb_trailing(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    found = ", ".join(f"{SQL[name]} over w as {name}" for name in case.names)
    split = "partition by k" if case.by else ""
    # (t - range, t], as the others: SQL's ranges are closed at both ends.
    return _queries(data, rows, (
        f"select t, k, {found} from rows "
        f"window w as ({split} order by t range between interval {length - 1} microseconds preceding and current row)"
        for length, _ in case.frames
    ))  # fmt: skip


OTHERS: dict[str, dict[str, Library]] = {
    "sliding": {"polars": _polars_sliding, "duckdb": _duckdb_rows, "duckdb slices": _duckdb_slices},
    "trailing": {
        "polars": _polars_trailing,
        "polars _by": _polars_by,
        "pandas": _pandas_trailing,
        "duckdb": _duckdb_trailing,
    },
}
TUMBLING: dict[str, Library] = {"polars": _polars_sliding, "duckdb": _duckdb_rows, "pandas": _pandas_tumbling}
COLUMNS = {
    "sliding": ("sw run", "sw stream", "polars", "duckdb", "duckdb slices", "pandas"),
    "trailing": ("sw run", "sw stream", *OTHERS["trailing"]),
}


def plain(case: Case, answer: Any) -> np.ndarray:
    """The answers in one order, as numbers: window, key and start (or time of the row), then the aggregates."""
    tables = answer if isinstance(answer, list) else _split(case, answer)
    found = []
    for place, table in enumerate(tables):
        if isinstance(table, pd.DataFrame):
            table = pa.table(table.reset_index())
        columns = [np.asarray(column.to_pandas()) for column in pa.table(table).itercolumns()]
        columns = [c.astype("datetime64[us]").astype(np.int64) if c.dtype.kind == "M" else c for c in columns]
        names = pa.table(table).column_names
        instant = next(i for i, name in enumerate(names) if name in ("t", "s", "start", "window_start"))
        key = columns[names.index("k")] if case.by else np.zeros(len(columns[0]))
        # Small numbers: all their digits count in a comparison.
        numbers = [np.full(len(key), place), key, columns[instant] - BEGIN, *columns[-case.aggregates :]]
        found.append(np.stack([np.asarray(column, dtype=float) for column in numbers], axis=1))
    every = np.concatenate(found)
    return every[np.lexsort((every[:, 2], every[:, 1], every[:, 0]))]


def _split(case: Case, answer: pa.Table) -> list[pa.Table]:
    """Our one table, as one for each window."""
    if case.form == "trailing":
        names = [[f"{OURS[name].output}_{spec.name}" for name in case.names] for spec in case.query.windows]
        return [answer.select(["t", "k", *columns]) for columns in names]
    which = answer["window"].to_numpy()
    return [answer.filter(pa.array(which == spec.name)) for spec in case.query.windows]


def difference(found: np.ndarray, expected: np.ndarray) -> str | None:
    """Where answers differ: keys and starts at all, values by more than 1e-9."""
    if found.shape != expected.shape:
        return f"{len(found)} answers, not {len(expected)}"
    same = np.isclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    same[:, :3] = found[:, :3] == expected[:, :3]
    if same.all():
        return None
    row = int(np.argmin(same.all(axis=1)))
    return f"{(~same.all(axis=1)).sum()} of {len(same)} answers differ, first {found[row]}, not {expected[row]}"


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
        ready.append(Contestant(name, run, rows, answer=lambda: np.empty(0)))

    join("sw run", _run(data, all_rows, case), data.part(all_rows).num_rows)
    join("sw stream", _stream(data, settings.batch, case), data.rows)
    sample = data.sample(settings.sample)
    expected = plain(case, _run(sample, sample.rows, case)())
    libraries = TUMBLING if case.form == "sliding" and case.ratio == 1 else OTHERS[case.form]
    for name, library in libraries.items():
        problem = difference(plain(case, library(sample, sample.rows, case)()), expected)
        if problem is not None:
            report.wrong(f"{case}: {name}: {problem}")
            continue
        rows = _affordable(library, data, case, min(settings.sample, all_rows), all_rows, settings.seconds)
        join(name, library(data, rows, case), data.part(rows).num_rows)
    return ready


def _affordable(library: Library, data: Data, case: Case, rows: int, most: int, seconds: float) -> int:
    """As many rows as a library does in its time: it gets more of them for as long as that is likely to do."""
    while True:
        run = library(data, rows, case)
        begun = time.perf_counter()
        run()
        more = seconds / (time.perf_counter() - begun)
        if rows >= most or more < 2:
            return rows
        rows = int(min(most, rows * min(more, 10)))


def run(report: Report, settings: Settings) -> None:
    report.say(f"ns per row of input, {settings.rows} rows, {DENSITY} rows of a key in each slide; ± half the quartile")
    report.say("range; @ = on so many rows, of fewer keys: else it would take too long, or more would come out")
    report.say("than goes in. out/row: windows given out for each row, by run and by stream; run gives also those that")
    report.say("go beyond the ends of the data. duckdb: each row once for each of its windows; duckdb slices: slides")
    report.say("aggregated first, by hand. Of ten windows, the i-th has i times the slide and the range of the first.")
    report.say(f"Streams get {settings.batch} rows at a time. polars and DuckDB use all threads they like.")
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
