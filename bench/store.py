"""A store against DuckDB and Polars over the raw rows: a year, second by second, for a hundred keys."""

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import slidewheel as sw
from bench.harness import SEED, Report, figure

SECOND = 1_000_000
START = 1_704_067_200 * SECOND
DAY = 86400 * SECOND
NAMES = ("sum_x", "count", "max_x")
COLD, WARM, FASTER = 50.0, 100.0, 50.0
"""What is aimed at: milliseconds from a store that was not open, microseconds in memory, times as fast as DuckDB."""


@dataclass(frozen=True)
class Settings:
    days: int = 365
    keys: int = 100
    per_second: int = 1
    """Rows in all in a second; each is of a random key."""
    batch_days: int = 30
    questions: int = 20


FULL = Settings()
QUICK = Settings(days=20, batch_days=7, questions=8)
SMOKE = Settings(days=2, keys=3, batch_days=1, questions=2)


def run(report: Report, settings: Settings) -> None:
    folder = Path(tempfile.mkdtemp(prefix="slidewheel-bench-"))
    try:
        store, raw = _written(report, settings, folder)
        dice = np.random.default_rng(SEED)
        usual = _disk(report, settings, store, raw, dice)
        _memory(report, settings, store, dice, usual)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


QUERY = sw.query(
    time="t",
    keys="k",
    windows=sw.tumbling("1h"),
    aggregates=[sw.sum("x"), sw.count(), sw.max("x")],
)


def _rows(settings: Settings, first: int, days: int) -> pa.Table:
    """Some days; x is a whole number of eighths, so that sums do not depend on their order."""
    dice = np.random.default_rng((SEED, first))
    count = days * 86400 * settings.per_second
    seconds = np.arange(count) // settings.per_second
    times = START + (first * 86400 + seconds) * SECOND + dice.integers(0, SECOND, count)
    names = pa.array([f"sensor {k:03}" for k in range(settings.keys)])
    keys = pa.DictionaryArray.from_arrays(pa.array(dice.integers(0, settings.keys, count), pa.int32()), names)
    x = np.round(dice.normal(20, 5, count) * 8) / 8
    return pa.table(
        {"t": pa.array(np.sort(times)).cast(pa.timestamp("us", "UTC")), "k": keys.cast(pa.string()), "x": x}
    )


def _written(report: Report, settings: Settings, folder: Path) -> tuple[sw.Store, Path]:
    store = sw.create_store(folder / "store", QUERY)
    raw = folder / "raw"
    raw.mkdir()
    adding, rows = 0.0, 0
    for first in range(0, settings.days, settings.batch_days):
        days = min(settings.batch_days, settings.days - first)
        table = _rows(settings, first, days)
        rows += table.num_rows
        pq.write_table(table, raw / f"{first:03}.parquet", compression="zstd", row_group_size=1 << 20)
        began = time.perf_counter()
        store.append(table, batch=("bench", first))
        adding += time.perf_counter() - began
    began = time.perf_counter()
    store.compact()
    compacting = time.perf_counter() - began
    store.vacuum(keep=0)
    size = sum(file.stat().st_size for file in raw.iterdir())
    info = store.info()
    kept = sum(level.bytes for level in info.levels)
    shape = f"{settings.days} days, {rows:,} rows of {settings.keys} keys"
    report.say(f"  {shape}: {rows / adding / 1e6:.2f} million rows/s added, compacted in {compacting:.1f} s")
    report.say(f"  raw Parquet {size / 1e6:,.0f} MB, store {kept / 1e6:,.0f} MB, of it:")
    for level in info.levels:
        report.say(f"    {level.name:<8} {level.rows:>12,} rows {level.bytes / 1e6:>8,.1f} MB in {level.files} files")
    report.keep("bytes", {"median": kept}, what="store", raw=size, rows=rows, days=settings.days, keys=settings.keys)
    for level in info.levels:
        report.keep(
            "bytes", {"median": level.bytes}, what="level", level=level.name, rows=level.rows, files=level.files
        )
    report.keep("rows/s", {"median": rows / adding}, what="adding")
    report.keep("s", {"median": compacting}, what="compaction")
    return store, raw


def _ranges(settings: Settings, dice: np.random.Generator, count: int, longest: int) -> list[tuple[int, int, str]]:
    """Ranges up to so many seconds, at second precision, each with a key; without a limit, both ends are anywhere."""
    whole = settings.days * 86400
    ends = np.sort(dice.integers(0, whole + 1, (count, 2)))
    if longest < whole:
        ends[:, 1] = np.minimum(ends[:, 0] + dice.integers(1, longest + 1, count), whole)
    keys = dice.integers(0, settings.keys, count)
    return [
        (START + int(low) * SECOND, START + int(high) * SECOND, f"sensor {k:03}")
        for (low, high), k in zip(ends.tolist(), keys, strict=True)
    ]


SQL = (
    "SELECT k, sum(x), count(*), max(x) FROM read_parquet('{files}') "
    "WHERE t >= make_timestamptz({a}) AND t < make_timestamptz({b}){only} GROUP BY k ORDER BY k"
)


def _disk(report: Report, settings: Settings, store: sw.Store, raw: Path, dice: np.random.Generator) -> float:
    """A store that was not open, one that is, and others over the raw rows: the same questions, interleaved.

    Returns the seconds that DuckDB takes for any range of a key.
    """
    usual = 0.0
    files, path = f"{raw}/*.parquet", store.path
    for title, longest in (("any range", settings.days * 86400), ("up to an hour", 3600)):
        for kind in ("one key", "all keys"):
            times: dict[str, list[float]] = {name: [] for name in ("cold", "open", "duckdb", "polars")}
            for low, high, name in _ranges(settings, dice, settings.questions, longest):
                key = name if kind == "one key" else None
                only = "" if key is None else f" AND k = '{key}'"
                contestants: dict[str, Callable[[], list[Any]]] = {
                    "cold": partial(_asked, None, path, low, high, key),
                    "open": partial(_asked, store, path, low, high, key),
                    "duckdb": partial(_duckdb, SQL.format(files=files, a=low, b=high, only=only)),
                    "polars": partial(_polars, files, low, high, key),
                }
                answers = {}
                for who, ask in contestants.items():
                    gc.collect()
                    began = time.perf_counter()
                    answers[who] = ask()
                    times[who].append(time.perf_counter() - began)
                for who, found in answers.items():
                    if found != answers["duckdb"]:
                        report.wrong(f"{title}, {kind}: {who} says {found[:2]}, DuckDB {answers['duckdb'][:2]}")
            _shown(report, f"{title}, {kind}", times, longest > 3600)
            usual = usual or float(np.median(times["duckdb"]))
    return usual


def _asked(store: sw.Store | None, path: str, low: int, high: int, key: str | None) -> list[Any]:
    """The open store, or one that is opened for it."""
    found = (store or sw.open_store(path)).query(low, high, keys=key)
    return list(zip(*(found[name].to_pylist() for name in ("k", *NAMES)), strict=True))


def _shown(report: Report, kind: str, times: dict[str, list[float]], long: bool) -> None:
    table = report.table(["median", "p95", "slowest", "times DuckDB"], f"{kind}, ms", first=26, width=9)
    for name, seconds in times.items():
        ms = 1000 * np.array(seconds)
        ratio = float(np.median(np.divide(times["duckdb"], seconds)))
        table.row(name, [figure(float(v)) for v in (np.median(ms), np.percentile(ms, 95), ms.max(), ratio)])
        known = {"median": float(np.median(ms)), "p95": float(np.percentile(ms, 95)), "rounds": ms.tolist()}
        report.keep("ms", known, what=kind, who=name)
    cold = 1000 * np.array(times["cold"])
    report.target(f"{kind}, cold, p95", float(np.percentile(cold, 95)), COLD, " ms")
    ratio = float(np.median(np.divide(times["open"], times["duckdb"])))
    if long:
        report.target(f"{kind}, open: part of DuckDB's time", ratio, 1 / FASTER, "")


def _duckdb(sql: str) -> list[Any]:
    with duckdb.connect() as connection:
        return connection.execute(sql).fetchall()


def _polars(files: str, low: int, high: int, key: str | None) -> list[Any]:
    at = pl.col("t")
    rows = pl.scan_parquet(files).filter(
        (at >= pl.lit(low).cast(pl.Datetime("us", "UTC"))) & (at < pl.lit(high).cast(pl.Datetime("us", "UTC")))
    )
    if key is not None:
        rows = rows.filter(pl.col("k") == key)
    found = rows.group_by("k").agg(pl.col("x").sum().alias("s"), pl.len().cast(pl.Int64), pl.col("x").max().alias("m"))
    return found.sort("k").collect().rows()


def _memory(report: Report, settings: Settings, store: sw.Store, dice: np.random.Generator, usual: float) -> None:
    """Wheels that were loaded: one key second by second, and all of them minute by minute."""
    table = report.table(["load s", "MB", "median us", "p95 us"], "in memory", width=10)
    shapes: Sequence[tuple[str, dict[str, Any], int]] = (
        ("a key, seconds", {"keys": "sensor 007"}, SECOND),
        ("all keys, minutes", {"level": "minutes"}, 60 * SECOND),
    )
    for name, arguments, unit in shapes:
        began = time.perf_counter()
        wheel = store.load(**arguments)
        loading = time.perf_counter() - began
        times = []
        for low, high, _ in _ranges(settings, dice, 2000, settings.days * 86400):
            a = max(low // unit * unit, wheel.start)
            b = min(max(high // unit * unit, a), wheel.watermark)
            began = time.perf_counter()
            wheel.query(a, b, keys="sensor 007")
            times.append(time.perf_counter() - began)
            if len(times) % 500 == 0 and wheel.query(a, b, keys="sensor 007")["count"].to_pylist() != (
                store.query(a, b, keys="sensor 007")["count"].to_pylist() or [0]
            ):
                report.wrong(f"{name}: the wheel and the store disagree on [{a}, {b})")
        us = 1e6 * np.array(times[100:])
        table.row(name, [figure(v) for v in (loading, wheel.nbytes / 1e6, float(np.median(us)), np.percentile(us, 95))])
        report.target(f"{name}, warm, median", float(np.median(us)), WARM, " us")
        ratio = float(np.median(us)) / 1e6 / usual
        report.target(f"{name}, warm: part of DuckDB's time for any range", ratio, 1 / FASTER, "")
        known = {"median": float(np.median(us)), "p95": float(np.percentile(us, 95))}
        report.keep(
            "us", known | {"loading": loading, "bytes": wheel.nbytes}, what=name, who="wheel", duckdb=usual * 1e6
        )
        del wheel
