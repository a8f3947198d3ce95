"""query.spark over finite tables against Spark's own windows and frames, and the targets that it has."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

import slidewheel as sw
from bench import spark_peers as peers
from bench.harness import Contestant, Report, Timing, figure
from bench.spark_data import CROWD, STEP, Part, Rows, affordable, difference, numbers, rate, short, started
from bench.spark_peers import SLIDE, Plan
from bench.user import GeoMean
from slidewheel.spark.plans import plan_of


@dataclass(frozen=True)
class Settings:
    rows: int = 2_000_000
    keys: tuple[int, int, int] = (10, 1000, 100_000)
    """Few, many, very many."""
    ratios: tuple[int, ...] = (3, 60, 300, 3600)
    middle: int = 60
    """The ratio at which few and very many keys are measured, and aggregates besides the mean."""
    trailing: tuple[int, ...] = (60, 600, 3600)
    """Seconds."""
    last: tuple[int, ...] = (100, 10_000)
    """Rows."""
    ten: tuple[int, ...] = (6, 60)
    """Ratios of ten windows in one query."""
    hot: tuple[float, ...] = (0.0, 0.9)
    """What part of the rows one key has, beyond its share."""
    sample: int = 2000
    """Rows on which answers are compared, and the fewest that are timed."""
    seconds: float = 3
    """What one run of a native plan may take; if all rows would take longer, it gets fewer."""
    rounds: int = 3


FULL = Settings()
QUICK = Settings(
    rows=300_000,
    keys=(200, 200, 200),
    ratios=(60, 300),
    trailing=(600,),
    last=(1000,),
    ten=(6,),
    hot=(0.0,),
    sample=1000,
    seconds=1,
    rounds=3,
)
SMOKE = Settings(
    rows=1000, keys=(5, 5, 5), ratios=(60,), trailing=(60,), last=(5,), ten=(6,), hot=(0.9,), sample=1000, rounds=1
)
NATIVE_UP_TO = 300
"""The greatest ratio for F.window: for 3600 Spark writes 300,000 lines of code, and fails to compile them for a minute
before it reads a row."""
OVER_WINDOW = {60: 10, 300: 40}
"""How many times as fast as F.window, by ratio."""
SAME_AS = {"native": "F.window", "frames": "by frames"}
"""The contestants that the planner's plans of Spark's own are."""
OVER_SEGMENT_TREE = 1.2
OVER_TEN = 8


@dataclass(frozen=True)
class Case:
    """One question, and the plans that answer it."""

    name: str
    rows: Rows
    ours: Plan
    native: Sequence[Plan]
    values: Sequence[str]
    """The columns that are compared."""
    identity: Sequence[str] = ("k", "window_start", "window_end")
    within: float = 1e-9
    facts: dict[str, Any] = field(default_factory=dict)
    """What the results are kept with."""

    @property
    def plans(self) -> list[Plan]:
        return [self.ours, *self.native]

    def __str__(self) -> str:
        return f"{self.facts['form']}, {self.name}"


@dataclass
class Measured:
    case: Case
    times: dict[str, Timing]
    parts: dict[str, Part]

    def over(self, name: str) -> float:
        """How many times as long as this plan we take for a row; NaN where it or we gave wrong answers."""
        ours = self.times.get(self.case.ours.name)
        return ours.over(self.times[name]) if ours is not None and name in self.times else float("nan")

    @property
    def best(self) -> str | None:
        """The fastest native plan, by the rows that it does in a second."""
        native = [plan.name for plan in self.case.native if plan.name in self.times]
        return min(native, key=lambda name: self.times[name].median) if native else None


def run(report: Report, settings: Settings) -> None:
    with started(report) as spark, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        report.say(f"rows a second, {settings.rows} rows in Parquet files, one each {STEP / 1000:g} ms, to a sink that")
        report.say("takes everything; ± half the quartile range. @ = on so many rows, of fewer keys or, with a hot")
        report.say(f"key, of less time, as all would take more than {settings.seconds:g} s; what a plan takes to start")
        report.say(f"weighs more on these. Windows slide by {SLIDE} s.")
        data = Data(spark, Path(folder), settings)
        found = sliding(report, settings, data)
        found += trailing(report, settings, data)
        found += last_rows(report, settings, data)
        found += ten_windows(report, settings, data)
        found += aggregates(report, settings, data)
        judge(report, found)


class Data:
    """The tables, each made when it is first asked for."""

    def __init__(self, spark: SparkSession, folder: Path, settings: Settings) -> None:
        self.spark, self.folder, self.settings = spark, folder, settings
        self._made: dict[tuple[int, float], Rows] = {}

    def of(self, keys: int, hot: float = 0.0) -> Rows:
        if (keys, hot) not in self._made:
            folder = self.folder / f"{keys}-{hot}"
            self._made[keys, hot] = Rows(self.spark, folder, self.settings.rows, keys, hot)
        return self._made[keys, hot]


def sliding(report: Report, settings: Settings, data: Data) -> list[Measured]:
    report.say("\nsliding windows: the mean. by slices: slides are aggregated first, then F.window; by frames: the")
    report.say("same, then frames that reach forward from the start of each window, with Spark's segment tree. The")
    report.say("planner is told the number of keys")
    if max(settings.keys) > CROWD:
        faster = max(settings.keys) / CROWD
        report.say(f"Rows of {max(settings.keys)} keys come {faster:g} times as fast.")
    few, many, most = settings.keys
    combinations = [(many, ratio) for ratio in settings.ratios] + [(few, settings.middle), (most, settings.middle)]
    cases = []
    for keys, ratio in dict.fromkeys(combinations):
        query = sw.query(time="ts", keys="k", windows=_window(ratio), aggregates=sw.mean("x"))
        copying = (peers.window, peers.by_slices) if ratio <= NATIVE_UP_TO else ()
        native = [make(ratio) for make in (*copying, peers.by_frames)]
        rows = data.of(keys)
        taken = plan_of(query, rows.sample(settings.sample).df, keys=keys).name
        facts = {"form": "sliding", "keys": keys, "ratio": ratio, "taken": taken}
        name = f"{short(keys)} keys, ratio {ratio}"
        cases.append(Case(name, rows, peers.ours(query, keys), native, ["mean_x"], facts=facts))
    return measure(report, settings, cases)


def trailing(report: Report, settings: Settings, data: Data) -> list[Measured]:
    report.say("\ntrailing windows, one for each row: the mean. frames: over() by range, without and with Spark's")
    report.say(f"segment tree; hot key: one key has {max(settings.hot):.0%} of the rows")
    cases = []
    for hot in settings.hot:
        for seconds in settings.trailing:
            native = partial(peers.frames, seconds)
            cases.append(_per_row(settings, data, hot, f"{seconds} s", sw.trailing(f"{seconds}s"), native))
    return measure(report, settings, cases)


def last_rows(report: Report, settings: Settings, data: Data) -> list[Measured]:
    report.say(
        "\nthe last rows, for each row: the mean; with a hot key, hot_keys=True. frames: over() by rows, without"
    )
    report.say("and with Spark's segment tree")
    cases = []
    for hot in settings.hot:
        for count in settings.last:
            native = partial(peers.last_rows, count)
            cases.append(_per_row(settings, data, hot, f"{short(count)} rows", sw.rows(count), native))
    return measure(report, settings, cases)


def _per_row(settings: Settings, data: Data, hot: float, name: str, window: Any, native: Callable[..., Plan]) -> Case:
    keys = settings.keys[1]
    query = sw.query(time="ts", keys="k", windows=window, aggregates=sw.mean("x"))
    column = f"mean_x_{query.windows[0].name}"
    return Case(
        f"{name}, hot key" if hot else f"{name}, {short(keys)} keys",
        data.of(keys, hot),
        peers.ours(query, hot_keys=hot > 0),
        [native(column, segment_tree=on) for on in (False, True)],
        [column],
        identity=("k", "ts", "x"),
        facts={"form": "per row", "keys": keys, "window": query.windows[0].name, "hot": hot},
    )


def ten_windows(report: Report, settings: Settings, data: Data) -> list[Measured]:
    report.say("\nten windows with five aggregates in one query; natively, the union of ten queries. The i-th window")
    report.say("has i times the slide and the range of the first")
    keys = settings.keys[1]
    cases = []
    for ratio in settings.ten:
        windows = [_window(ratio, times) for times in range(1, 11)]
        query = sw.query(time="ts", keys="k", windows=windows, aggregates=list(peers.FIVE.values()))
        facts = {"form": "ten windows", "keys": keys, "ratio": ratio}
        name = f"{short(keys)} keys, ratio {ratio}"
        cases.append(Case(name, data.of(keys), peers.ours(query), [peers.ten(ratio)], list(peers.FIVE), facts=facts))
    return measure(report, settings, cases)


def aggregates(report: Report, settings: Settings, data: Data) -> list[Measured]:
    """What SQL does not have, or has only at a price."""
    ratio, (few, many, _) = settings.middle, settings.keys
    report.say(f"\na user's own aggregate, the geometric mean, ratio {ratio}. pandas UDAF: over F.window; by key:")
    report.say("applyInPandas finds the windows of each key; SQL: exp(avg(ln(x))) over F.window, as there is a way")
    query = sw.query(time="ts", keys="k", windows=_window(ratio), aggregates=GeoMean("x").alias("geomean"))
    native = [make(ratio) for make in (peers.pandas_udaf, peers.by_key, peers.logarithms)]
    facts = {"form": "user's aggregate", "keys": many, "ratio": ratio}
    own = Case(f"{short(many)} keys", data.of(many), peers.ours(query), native, ["geomean"], facts=facts)
    found = measure(report, settings, [own])
    report.say(f"\nthe median as a sketch, within {peers.ACCURACY:.0%}; natively, percentile_approx over F.window")
    query = sw.query(time="ts", keys="k", windows=_window(ratio), aggregates=peers.MEDIAN.alias("median"))
    facts = {"form": "quantile", "keys": few, "ratio": ratio}
    name, native = f"{short(few)} keys", [peers.percentile(ratio)]
    sketch = Case(name, data.of(few), peers.ours(query), native, ["median"], within=peers.ACCURACY, facts=facts)
    return found + measure(report, settings, [sketch])


def _window(ratio: int, times: int = 1) -> Any:
    return sw.sliding(f"{ratio * times * SLIDE}s", every=f"{times * SLIDE}s")


def measure(report: Report, settings: Settings, cases: Sequence[Case]) -> list[Measured]:
    """The cases of one table: they have plans of the same names."""
    names = [plan.name for plan in cases[0].plans]
    table = report.table([*names, "best native"], label="", first=20, width=16)
    found = []
    for case in cases:
        measured = _measure(report, settings, case)
        found.append(measured)
        best = f"{figure(1 / measured.over(measured.best))}x {measured.best}" if measured.best else "-"
        table.row(case.name, [*(_cell(measured, name) for name in names), best])
    return found


def _cell(measured: Measured, name: str) -> str:
    if name not in measured.times:
        return "-"
    used = measured.parts[name].rows
    return rate(measured.times[name]) + ("" if used == measured.case.rows.rows else f" @{short(used)}")


def _measure(report: Report, settings: Settings, case: Case) -> Measured:
    parts = {plan.name: _part_for(settings, case, plan) for plan in _right(report, settings, case)}
    contestants = [
        # The answers have been compared already, more strictly than a race does; what it runs for them warms up.
        Contestant(plan.name, partial(plan.run, parts[plan.name].df), parts[plan.name].rows, no_answer)
        for plan in case.plans
        if plan.name in parts
    ]
    times = replace(report, rounds=settings.rounds).race({case.name: contestants})[case.name]
    for name, timing in times.items():
        report.keep("ns/row", timing, **case.facts, case=case.name, plan=name, rows=parts[name].rows)
    return Measured(case, times, parts)


def _right(report: Report, settings: Settings, case: Case) -> list[Plan]:
    """The plans that give on the sample what the first native one gives."""
    sample = case.rows.sample(settings.sample).df
    read = partial(numbers, identity=case.identity, values=case.values)
    answers = {plan: plan.answers(sample, read) for plan in case.plans}
    found = []
    for plan, answer in answers.items():
        problem = difference(answer, answers[case.native[0]], len(case.identity), case.within)
        if problem is None:
            found.append(plan)
        else:
            report.wrong(f"{case}: {plan.name}: {problem}")
    return found


def _part_for(settings: Settings, case: Case, plan: Plan) -> Part:
    """All rows for us, and for a native plan as many as it does in its time; it has been run with them for as long."""

    def taken(rows: int) -> float:
        df = case.rows.part(rows).df
        begun = time.perf_counter()
        plan.run(df)
        return time.perf_counter() - begun

    rows = case.rows.rows
    if plan is not case.ours:
        rows = affordable(settings.seconds, min(settings.sample, settings.rows), settings.rows, taken)
    spent = settings.seconds if settings.rounds == 1 else 0.0
    while spent < settings.seconds:  # Spark's JVM becomes faster with every run, and most with the short ones
        spent += taken(rows)
    return case.rows.part(rows)


def no_answer() -> np.ndarray:
    """For what has been compared elsewhere."""
    return np.empty(0)


def judge(report: Report, found: Sequence[Measured]) -> None:
    report.say("\ntargets: our time for a row, over that of a native plan")
    for measured in found:
        case, facts = measured.case, measured.case.facts
        if measured.best is not None:
            own = SAME_AS.get(facts.get("taken", "")) == measured.best
            what = f"the best native plan, {'which it is, ' if own else ''}"
            _target(report, measured, measured.best, 1, what)
        if facts["form"] == "sliding" and facts["ratio"] in OVER_WINDOW:
            _target(report, measured, "F.window", OVER_WINDOW[facts["ratio"]])
        if facts["form"] == "per row":
            _target(report, measured, "frames, tree", OVER_SEGMENT_TREE)
        if facts["form"] == "ten windows":
            _target(report, measured, case.native[0].name, OVER_TEN)


def _target(report: Report, measured: Measured, name: str, times: float, shown: str = "") -> None:
    """That we are so many times as fast."""
    over = measured.over(name)
    if not np.isnan(over):
        report.target(f"{measured.case}: over {shown}{name}", over, 1 / times)
