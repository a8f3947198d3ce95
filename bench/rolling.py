"""sw.rolling against the libraries that people use now, by count and by time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bottleneck as bn
import duckdb
import numpy as np
import pandas as pd
import polars as pl
from scipy import ndimage

import slidewheel as sw
from bench.harness import SEED, Contestant, Report, Timing, figure
from slidewheel.engine import batch

AGGREGATES = {"max": sw.max(), "sum": sw.sum(), "mean": sw.mean(), "std": sw.std()}
COLUMNS = ("sw", "sw 1 thread", "sw 10% null", "bottleneck", "polars", "pandas", "scipy", "duckdb")
SQL = {"max": "max", "sum": "sum", "mean": "avg", "std": "stddev_samp"}
SECOND = 1_000_000


@dataclass(frozen=True)
class Settings:
    rows: int = 2_000_000
    duckdb_rows: int = 200_000
    """DuckDB takes up to a microsecond a row."""
    windows: tuple[int, ...] = (10, 100, 1000, 100_000)
    aggregates: tuple[str, ...] = tuple(AGGREGATES)


FULL = Settings()
QUICK = Settings(rows=500_000, duckdb_rows=50_000)
SMOKE = Settings(rows=300, duckdb_rows=100, windows=(10,), aggregates=("max",))


def run(report: Report, settings: Settings) -> None:
    rows = f"{settings.rows} rows of float64 ({settings.duckdb_rows} for DuckDB)"
    report.say(f"ns per row, {rows}; ± half the quartile range")
    report.say("the last column: how many times as long as sw it takes; polars and DuckDB use all threads they like")
    data = Data(settings)
    for name in settings.aggregates:
        report.say(f"\n{name}")
        table = report.table([*COLUMNS, "fastest other"], label="window", first=9)
        for window in settings.windows:
            _row(report, table, name, str(window), _by_count(data, name, window))
        _row(report, table, name, "1h", _by_time(data, name))


def _row(report: Report, table: Any, name: str, window: str, contestants: list[Contestant]) -> None:
    title = f"{name}, window {window}"
    times = report.race({title: contestants})[title]
    for library, timing in times.items():
        report.keep("ns/row", timing, aggregate=name, window=window, library=library)
    table.row(window, [*(times.get(column, "-") for column in COLUMNS), _best(times)])


def _best(times: dict[str, Timing]) -> str:
    others = {library: timing for library, timing in times.items() if not library.startswith("sw")}
    if "sw" not in times or not others:
        return "-"
    fastest = min(others, key=lambda library: others[library].median)
    return f"{figure(others[fastest].over(times['sw']))}x {fastest}"


class Data:
    """The same rows in the form that each library likes best."""

    def __init__(self, settings: Settings) -> None:
        rows, random = settings.rows, np.random.default_rng(SEED)
        self.values = random.normal(100.0, 15.0, rows)
        # About a second apart, always increasing, so that no library has to deal with peers.
        self.times = np.arange(rows) * SECOND + random.integers(0, SECOND, rows)
        self.null = random.random(rows) < 0.1
        self.nulled = pd.Series(np.where(self.null, np.nan, self.values))
        instants = self.times.astype("datetime64[us]")
        self.polars = pl.DataFrame({"t": instants, "v": self.values})
        self.pandas = pd.Series(self.values)
        self.timely = pd.Series(self.values, index=pd.DatetimeIndex(instants))
        self.timely_nulled = pd.Series(self.nulled.to_numpy(), index=self.timely.index)
        self.duckdb_rows = min(settings.duckdb_rows, rows)
        self.duckdb = duckdb.connect()
        self.duckdb.register("given", self.polars.head(self.duckdb_rows).to_arrow())
        self.duckdb.execute("create table rows as select t, v from given")


def one_thread(call: Callable[[], Any]) -> Any:
    """The call, with slidewheel kept to one thread."""
    before, batch.ENOUGH_FOR_TWO = batch.ENOUGH_FOR_TWO, 1 << 62
    try:
        return call()
    finally:
        batch.ENOUGH_FOR_TWO = before


def _ours(data: Data, aggregate: sw.Aggregate, nulled: Callable[[], Any], **frame: Any) -> list[Contestant]:
    rows, values = len(data.values), data.values

    def plain() -> Any:
        return sw.rolling(values, aggregate, **frame)

    def masked() -> Any:
        return sw.rolling(values, aggregate, mask=data.null, **frame)

    return [
        Contestant("sw", plain, rows),
        Contestant("sw 1 thread", lambda: one_thread(plain), rows),
        Contestant("sw 10% null", masked, rows, expected=nulled),
    ]


def _by_count(data: Data, name: str, window: int) -> list[Contestant]:
    values, rows = data.values, len(data.values)
    size = min(window, rows)
    pandas = getattr(data.pandas.rolling(size, min_periods=1), name)
    polars = getattr(data.polars["v"], f"rolling_{name}")
    found = _ours(data, AGGREGATES[name], getattr(data.nulled.rolling(size, min_periods=1), name), size=size)
    move, options = getattr(bn, f"move_{name}"), {"ddof": 1} if name == "std" else {}
    found += [
        Contestant("bottleneck", lambda: move(values, size, min_count=1, **options), rows),
        Contestant("polars", lambda: polars(size, min_samples=1), rows),
        Contestant("pandas", pandas, rows),
    ]
    origin = (size - 1) // 2  # the window ends with its row
    if name == "max":
        run = lambda: ndimage.maximum_filter1d(values, size, mode="constant", cval=-np.inf, origin=origin)  # noqa: E731
        found.append(Contestant("scipy", run, rows))
    if name == "mean":
        run = lambda: ndimage.uniform_filter1d(values, size, mode="constant", origin=origin)  # noqa: E731
        found.append(Contestant("scipy", run, rows, compared_from=size - 1))
    return [*found, _duckdb(data, name, f"rows between {size - 1} preceding and current row")]


def _by_time(data: Data, name: str) -> list[Contestant]:
    rows = len(data.values)
    ours = {"over": "1h", "times": data.times}
    polars = getattr(pl.col("v"), f"rolling_{name}_by")("t", window_size="1h", min_samples=1)
    return [
        *_ours(data, AGGREGATES[name], getattr(data.timely_nulled.rolling("1h"), name), **ours),
        Contestant("polars", lambda: data.polars.select(polars)["v"], rows),
        Contestant("pandas", getattr(data.timely.rolling("1h"), name), rows),
        # (t - 1h, t], as the others: SQL's ranges are closed at both ends.
        _duckdb(data, name, f"range between interval {3600 * SECOND - 1} microseconds preceding and current row"),
    ]


def _duckdb(data: Data, name: str, frame: str) -> Contestant:
    query = f"select {SQL[name]}(v) over (order by t {frame}) as answer from rows"
    return Contestant("duckdb", lambda: data.duckdb.execute(query).fetchnumpy()["answer"], data.duckdb_rows)
