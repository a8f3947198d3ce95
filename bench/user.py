"""A user's own aggregate, compiled, against the nearest thing in pandas: apply with Numba."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

import slidewheel as sw
from bench.harness import SEED, Contestant, Report, figure


@sw.aggregate(state={"n": "i8", "logs": "f8"}, commutative=True)
class GeoMean:
    identity = (0, 0.0)

    def lift(x):
        return 1, math.log(x)

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    def lower(s):
        return math.exp(s[1] / s[0])


def over_window(values):
    """The same for pandas, which calls it with all values of each window."""
    logs = 0.0
    for value in values:
        logs += math.log(value)
    return math.exp(logs / len(values))


@dataclass(frozen=True)
class Settings:
    rows: int = 1_000_000
    pandas_work: int = 20_000_000
    """Rows times window for pandas, whose time grows with the window."""
    windows: tuple[int, ...] = (10, 100, 1000)


FULL = Settings()
QUICK = Settings(rows=200_000, pandas_work=5_000_000)
SMOKE = Settings(rows=100, pandas_work=500, windows=(10,))


def run(report: Report, settings: Settings) -> None:
    values = np.random.default_rng(SEED).uniform(1.0, 100.0, settings.rows)
    report.say(f"geometric mean, ns per row, {settings.rows} rows (fewer for pandas)")
    names = ("user's", "sw.geomean", "pandas")
    table = report.table([*names, "pandas over user's"], label="window", first=9)
    for window in settings.windows:
        fewer = pd.Series(values[: max(settings.pandas_work // window, window)])
        rolling = fewer.rolling(window, min_periods=1)
        contestants = [
            Contestant("user's", lambda w=window: sw.rolling(values, GeoMean, size=w), len(values)),
            Contestant("sw.geomean", lambda w=window: sw.rolling(values, sw.geomean(), size=w), len(values)),
            Contestant("pandas", lambda r=rolling: r.apply(over_window, raw=True, engine="numba"), len(fewer)),
        ]
        title = f"window {window}"
        times = report.race({title: contestants})[title]
        for name, timing in times.items():
            report.keep("ns/row", timing, aggregate="geomean", window=window, library=name)
        ratio = f"{figure(times['pandas'].over(times[names[0]]))}x" if {"pandas", names[0]} <= times.keys() else "-"
        table.row(str(window), [*(times.get(name, "-") for name in names), ratio])
