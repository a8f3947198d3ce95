"""The suites: what each of them measures, and what it needs besides slidewheel."""

import importlib
import importlib.util
from types import ModuleType

SUITES = {
    "rolling": "sw.rolling against bottleneck, polars, pandas, scipy and DuckDB",
    "windows": "sw.query over sliding and trailing windows against polars, pandas and DuckDB",
    "user": "a user's own aggregate against pandas' apply with Numba",
    "one_by_one": "windows used from Python, one item at a time, against river",
    "start": "from the start of a process to its first answer",
    "algorithms": "every algorithm, compiled: ns per round at windows from 2^4 to 2^20",
    "latency": "the slowest single operations of each algorithm",
    "daba": "the experiments of the DABA paper: tables 1 to 3, figure 13",
    "reactive": "the experiments of the Reactive Aggregator paper: tables 3 and 4, figures 6 to 12",
    "slickdeque": "the experiments of the SlickDeque paper: table 1, figures 10 to 15",
    "greedy": "the greedy algorithm: combines for random sequences of windows",
    "uwheel": "sw.Wheel against uwheel, DuckDB, a segment tree and FiBA: figures 5 to 11 of the uWheel paper",
    "store": "a store against DuckDB and Polars over the raw rows, and wheels loaded from it",
    "serve": "the server under load, while rows are appended and compacted",
    "spark": "query.spark over finite tables against F.window, frames and functions in pandas",
    "stream": "query.spark over Structured Streaming against F.window with a watermark",
}
NEEDS = {
    "rolling": ("bottleneck", "polars", "pandas", "scipy", "duckdb"),
    "windows": ("polars", "pandas", "duckdb"),
    "user": ("pandas",),
    "one_by_one": ("river",),
    "uwheel": ("duckdb",),
    "store": ("deltalake", "polars", "duckdb"),
    "serve": ("deltalake", "fastapi", "uvicorn"),
    "spark": ("pyspark", "pandas"),
    "stream": ("pyspark", "pandas"),
}
"""Packages that not everybody has."""


def lacking(suite: str) -> list[str]:
    """What has to be installed before this suite can run."""
    return [package for package in NEEDS.get(suite, ()) if importlib.util.find_spec(package) is None]


def module(suite: str) -> ModuleType:
    """With `run(report, settings)`, and the settings SMOKE, QUICK and FULL."""
    return importlib.import_module(f"bench.{suite}")
