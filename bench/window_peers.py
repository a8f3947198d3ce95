"""The contestants of the suite `windows`: the same answers by sw.query, polars, pandas and DuckDB."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import slidewheel as sw
from bench.harness import SEED

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


def at_once(data: Data, rows: int, case: Case) -> Callable[[], Any]:
    table = data.part(rows)
    return lambda: case.query.run(table)


def in_batches(data: Data, batch: int, case: Case) -> Callable[[], Any]:
    """Pushed batch by batch, and left open, as a stream is: only windows that have ended come out."""
    batches = [data.table.slice(first, batch) for first in range(0, data.rows, batch)]

    def run() -> int:
        stream = case.query.stream()
        return sum(stream.push(given).num_rows for given in batches)

    return run


def streamed(data: Data, case: Case) -> pa.Table:
    """All that comes out of a stream, the windows that end with the data too."""
    stream = case.query.stream()
    third = -(-data.rows // 3)
    pushed = [stream.push(data.table.slice(first, third)) for first in range(0, data.rows, third)]
    return pa.concat_tables([*pushed, stream.finish()])


def full_stream(case: Case, batch: int) -> Callable[[], Any]:
    """A stream that has seen more than one window; each call pushes the next batch."""
    block = Data.made(batch, case.keys).table
    times = block["t"].to_numpy().astype(np.int64)
    stream, pushed = case.query.stream(), 0

    def push() -> int:
        nonlocal pushed
        now = pa.array(times + pushed * batch * STEP).view(pa.timestamp("us"))
        pushed += 1
        return int(stream.push(block.set_column(0, "t", now)).num_rows)

    longest = max(length for length, _ in case.frames)
    while pushed * batch * STEP < 1.2 * longest:
        push()
    return push


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
