"""query.spark over Structured Streaming against F.window with a watermark, and the targets that it has."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import slidewheel as sw
from bench.harness import Report, Table, Timing, figure
from bench.spark_data import SECOND, affordable, difference, numbers, rate, short, started
from bench.spark_peers import SLIDE, grouped
from bench.stream_data import LATENESS, SKIPPED, Drained, Files, Stream, answers, drain
from bench.stream_giving import giving
from slidewheel.spark.plans import FEW_COPIES, FEW_KEYS


@dataclass(frozen=True)
class Settings:
    keys: tuple[int, ...] = (100, 10_000, 100_000)
    ratios: tuple[int, ...] = (1, 3, 60, 300, 3600)
    crowded: tuple[int, ...] = (3, 60)
    """The ratios that the most keys are measured at."""
    rows: int = 250_000
    """In a micro-batch."""
    batches: int = 6
    event_time: int = 250
    """Seconds in a micro-batch: with 10k keys, each has a row in a slide."""
    dense: int = 60
    """Seconds in a micro-batch of a stream with more rows in a slide."""
    crowd: int = 10_000
    """The keys of that stream; 0 leaves it out."""
    seconds: float = 3
    """What the native plan may take for a micro-batch; if all rows would take longer, it gets fewer, of fewer keys."""
    sample: int = 1000
    """Rows of a micro-batch when answers are compared, and the fewest that are timed."""
    full: tuple[int, ...] = (100, 1000)
    """Keys of the streams that have the longest windows behind them when they are timed."""
    rounds: int = 2


FULL = Settings()
QUICK = Settings(keys=(2000,), ratios=(3, 60), rows=100_000, batches=4, crowd=0, seconds=2, full=(), rounds=3)
SMOKE = Settings(keys=(4,), ratios=(3, 60), rows=400, batches=3, crowd=0, sample=400, full=(4,), rounds=1)

FASTER = {100: {1: 1, 3: 1, 60: 2, 300: 9}, 10_000: {1: 1, 3: 3, 60: 10, 300: 40}}
"""How many times as fast as the native plan we are to be, by keys and ratio."""
FLAT = 1.3
"""The greatest ratio over the smallest but 1."""
CROWDED = 1.5
"""The most keys over the next fewer."""
CHECKPOINT = {60: 0.25}
"""Bytes over the native plan's, by ratio."""
NATIVE_UP_TO = 300
"""The greatest ratio for the native plan: Spark writes code for each window of a row, and gives up after half a minute
with that for 3600, in every micro-batch."""
IDENTITY = ("k", "window_start", "window_end")


@dataclass
class Measured:
    """A stream, what it reads, and how it went in each round."""

    stream: Stream
    files: Files
    runs: list[Drained] = field(default_factory=list)

    def run(self, counts: bool = True) -> None:
        run = drain(self.stream, self.files)
        if counts:
            self.runs.append(run)

    @property
    def timing(self) -> Timing:
        return Timing(tuple(run.ns_per_row for run in self.runs))

    @property
    def checkpoint(self) -> float:
        """Bytes for each row."""
        return median(run.checkpoint for run in self.runs)

    @property
    def state(self) -> float:
        """Bytes for each key."""
        return median(run.state for run in self.runs) / self.files.keys


@dataclass(frozen=True)
class Pair:
    """The same windows by us and by the native plan."""

    ours: Measured
    native: Measured | None

    @property
    def both(self) -> dict[str, Measured]:
        return {"ours": self.ours} | ({} if self.native is None else {"native": self.native})


def run(report: Report, settings: Settings) -> None:
    with started(report) as spark, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        report.say(
            f"rows a second: the median over micro-batches of {settings.rows} rows after the first {SKIPPED}; ± half"
        )
        report.say(f"the quartile range over rounds. Rows are up to {LATENESS} s behind; windows of the mean slide by")
        report.say(f"{SLIDE} s. @ = micro-batches of so many rows, of fewer keys, as all would take more than")
        report.say(
            f"{settings.seconds:g} s; what one takes without rows weighs more on these. checkpoint: bytes of new"
        )
        report.say("files for each row; state: bytes for each key in RocksDB's memory and files after the last")
        report.say("micro-batch. The planner is told the number of keys")
        few = Files(spark, folder, SKIPPED + 2, settings.sample, 5, settings.dense)
        ratios = [ratio for ratio in settings.ratios if ratio > NATIVE_UP_TO or right(report, few, ratio)]
        found = {}
        for keys in settings.keys:
            fewer = settings.crowded if len(settings.keys) > 2 and keys == max(settings.keys) else ratios
            chosen = [ratio for ratio in ratios if ratio in fewer]
            found[keys] = measure(report, settings, spark, folder / str(keys), keys, chosen)
        judge(report, found)
        if len(settings.keys) > 2:
            many_keys(report, settings, spark, folder / "brief", found)
        if settings.crowd:
            dense = replace(settings, event_time=settings.dense)
            few_copies = [ratio for ratio in ratios if ratio <= 60]
            found = {settings.crowd: measure(report, dense, spark, folder / "dense", settings.crowd, few_copies)}
            judge(report, found, f", {settings.dense} s")
        full_windows(report, settings, spark, folder / "full", [ratio for ratio in ratios if ratio > 1])


def query_of(ratio: int) -> sw.Query:
    window = sw.sliding(f"{ratio * SLIDE}s", every=f"{SLIDE}s")
    return sw.query(time="ts", keys="k", windows=window, aggregates=sw.mean("x"), lateness=f"{LATENESS}s")


def ours(ratio: int, keys: int | None = None) -> Stream:
    return partial(query_of(ratio).spark, expected_keys=keys)


def native(ratio: int) -> Stream:
    mean = F.avg("x").alias("mean_x")
    return lambda df: grouped(df.withWatermark("ts", f"{LATENESS} seconds"), ratio, mean)


def right(report: Report, files: Files, ratio: int) -> bool:
    """Whether both give the same windows."""
    mine, theirs = (numbers(answers(of(ratio), files), IDENTITY, ["mean_x"]) for of in (ours, native))
    problem = difference(mine, theirs, len(IDENTITY))
    if problem is not None:
        report.wrong(f"ratio {ratio}: ours: {problem}")
    return problem is None


def measure(
    report: Report, settings: Settings, spark: SparkSession, folder: Path, keys: int, ratios: Sequence[int]
) -> dict[int, Pair]:
    """Both contestants at all ratios in the same rounds, by ratio."""
    report.say(f"\n{short(keys)} keys, {settings.event_time} s of event time in a micro-batch")
    pairs = {ratio: _pair(settings, spark, folder, keys, ratio) for ratio in ratios}
    warm_up = -1 if settings.rounds > 1 else 0  # a JVM takes about as long to become fast
    for k in range(warm_up, settings.rounds):
        for pair in pairs.values():
            for contestant in list(pair.both.values())[:: -1 if k % 2 else 1]:
                contestant.run(counts=k >= 0)
    columns = ["ours", "native", "faster", "checkpoint", "native's", "state", "native's"]
    table = report.table(columns, label="ratio", first=6, width=12)
    for ratio, pair in pairs.items():
        table.row(str(ratio), _cells(pair, settings))
        for name, measured in pair.both.items():
            known = {"keys": keys, "ratio": ratio, "plan": name, "event_time": settings.event_time}
            known |= {"rows": measured.files.rows, "keys_of_rows": measured.files.keys}
            sizes = {"checkpoint": measured.checkpoint, "state": measured.state}
            sizes["state_rows"] = median(run.state_rows for run in measured.runs)
            report.keep("ns/row", measured.timing.to_dict() | sizes, **known)
    return pairs


def _pair(settings: Settings, spark: SparkSession, folder: Path, keys: int, ratio: int) -> Pair:
    """Both have been run, and the native one gets as many rows as it can do."""

    def files(rows: int, batches: int) -> Files:
        return Files(spark, folder, batches, rows, max(1, keys * rows // settings.rows), settings.event_time)

    def taken(rows: int) -> float:
        # Spark's JVM becomes faster with every run: both have as many behind them when they are timed.
        if settings.sample < settings.rows:
            drain(ours(ratio, keys), files(rows, SKIPPED + 1))
        return rows / 1e9 * drain(native(ratio), files(rows, SKIPPED + 1)).ns_per_row

    mine = Measured(ours(ratio, keys), files(settings.rows, settings.batches))
    if ratio > NATIVE_UP_TO:
        if settings.sample < settings.rows:
            drain(mine.stream, files(settings.rows, SKIPPED + 1))
        return Pair(mine, None)
    rows = affordable(settings.seconds, min(settings.sample, settings.rows), settings.rows, taken)
    return Pair(mine, Measured(native(ratio), files(rows, settings.batches)))


def _cells(pair: Pair, settings: Settings) -> list[str]:
    mine, theirs = pair.ours, pair.native
    if theirs is None:
        return [rate(mine.timing), "-", "-", figure(mine.checkpoint), "-", figure(mine.state), "-"]
    fewer = f" @{short(theirs.files.rows)}" if theirs.files.rows < settings.rows else ""
    faster = f"{figure(theirs.timing.over(mine.timing))}x"
    sizes = [mine.checkpoint, theirs.checkpoint, mine.state, theirs.state]
    return [rate(mine.timing), rate(theirs.timing) + fewer, faster, *map(figure, sizes)]


def judge(report: Report, found: dict[int, dict[int, Pair]], stream: str = "") -> None:
    report.say("\ntargets: ours over native, for a row; and streams of ours over each other")
    for keys, pairs in found.items():
        for ratio, pair in pairs.items():
            if pair.native is None:
                continue
            what, times = f"{short(keys)} keys{stream}, ratio {ratio}", FASTER.get(keys, {}).get(ratio)
            if times is not None:
                own = keys <= FEW_KEYS and ratio <= FEW_COPIES
                over = pair.ours.timing.over(pair.native.timing)
                said = f"{what}: time over native{', which it is' if own else ''}"
                report.target(said, over, 1 / times)
            if ratio in CHECKPOINT:
                bytes_over = pair.ours.checkpoint / pair.native.checkpoint
                report.target(f"{what}: checkpoints over native", bytes_over, CHECKPOINT[ratio])
        # Where the planner is told of few keys, windows that overlap little are Spark's own.
        sliding = [ratio for ratio in pairs if ratio > (1 if keys > FEW_KEYS else FEW_COPIES)]
        if len(sliding) > 1:
            _flat(report, f"{short(keys)} keys{stream}", {ratio: pairs[ratio].ours for ratio in sliding})


def many_keys(
    report: Report, settings: Settings, spark: SparkSession, folder: Path, found: dict[int, dict[int, Pair]]
) -> None:
    """The most keys against the next fewer, in as much time, and in so much less that a key has as many rows in it."""
    fewer, most = sorted(settings.keys)[-2:]
    report.say(
        f"\n{short(most)} keys against {short(fewer)}, in the same rounds: milliseconds of a micro-batch; and those of"
    )
    report.say("a stream that only gives out as many answers, which its workers have already")
    table = report.table(["answers", "ours", "giving"], label="keys, ratio", first=14, width=12)
    for ratio in found[most]:
        in_same_rounds(report, settings, table, ratio, {keys: found[keys][ratio].ours for keys in (fewer, most)})
    report.say(f"\nwith rows of a key as dense as those of {short(fewer)} keys:")
    brief = replace(settings, event_time=max(1, settings.event_time * fewer // most))
    as_dense = measure(report, brief, spark, folder, most, list(found[most]))
    what = f"{short(most)} keys, {brief.event_time} s, over {short(fewer)} keys, {settings.event_time} s"
    over_fewer(report, what, as_dense, found[fewer])


def in_same_rounds(report: Report, settings: Settings, table: Table, ratio: int, known: Mapping[int, Measured]) -> None:
    """How ours do with fewer and with more keys, and what only giving out their answers takes."""
    windows = max(1, settings.event_time // SLIDE)
    closed = {keys: answers_of(ratio, mine.files, settings.event_time) for keys, mine in known.items()}
    mine = {keys: Measured(measured.stream, measured.files) for keys, measured in known.items()}
    given = {
        keys: Measured(giving(query_of(ratio), closed[keys], windows), measured.files)
        for keys, measured in known.items()
    }
    for k in range(-1, settings.rounds):
        for measured in [*mine.values(), *given.values()][:: -1 if k % 2 else 1]:
            measured.run(counts=k >= 0)
    for keys in known:
        taken = [millis(measured[keys]) for measured in (mine, given)]
        table.row(f"{short(keys)}, {ratio}", [short(closed[keys]), *(f"{one:.0f}" for one in taken)])
        for plan, measured in (("ours", mine), ("giving", given)):
            facts = {"keys": keys, "ratio": ratio, "plan": plan, "answers": closed[keys], "rows": settings.rows}
            report.keep("ns/row", measured[keys].timing, **facts)
    fewer, most = known
    over = mine[most].timing.over(mine[fewer].timing)
    left, least = (CROWDED - 1) * millis(mine[fewer]), millis(given[most]) - millis(given[fewer])
    report.target(f"ratio {ratio}: {short(most)} keys over {short(fewer)} keys", over, CROWDED)
    more = short(closed[most] - closed[fewer])
    report.say(f"the aim leaves {left:.0f} ms for {more} answers more; only to give them out takes {least:.0f} ms")


def answers_of(ratio: int, files: Files, seconds: int) -> int:
    """The windows that end in the so many seconds of the last micro-batch."""
    rows = pq.read_table(files.folder)
    ends = query_of(ratio).run(rows)["window_end"].cast("int64").to_numpy()
    last = pc.max(rows["ts"]).cast("int64").as_py()
    return int(((ends > last - seconds * SECOND) & (ends <= last)).sum())


def millis(measured: Measured) -> float:
    return measured.timing.median * measured.files.rows / 1e6


def over_fewer(report: Report, what: str, most: dict[int, Pair], fewer: dict[int, Pair]) -> None:
    """That many keys cost little more than fewer do."""
    for ratio, pair in most.items():
        # Not of the same rounds, so that only their medians can be compared.
        over = pair.ours.timing.median / fewer[ratio].ours.timing.median
        report.target(f"ratio {ratio}: {what}", over, CROWDED)


def full_windows(report: Report, settings: Settings, spark: SparkSession, folder: Path, ratios: Sequence[int]) -> None:
    """The longest windows hold more slides than all the micro-batches above have: here, the first one brings them."""
    if len(ratios) < 2:
        return
    long, brief = max(ratios), min(ratios)
    report.say(f"\nours, with a row or so of each key in each of the {long} slides before")
    table = report.table([f"ratio {brief}", f"ratio {long}", "over"], label="keys", first=6, width=12)
    for keys in settings.full:
        files = Files(spark, folder, settings.batches, settings.rows, keys, settings.event_time, history=long)
        found = {ratio: Measured(ours(ratio), files) for ratio in (brief, long)}
        for _ in range(settings.rounds):
            for measured in found.values():
                measured.run()
        over = found[long].timing.over(found[brief].timing)
        table.row(short(keys), [*(rate(measured.timing) for measured in found.values()), figure(over)])
        for ratio, measured in found.items():
            report.keep("ns/row", measured.timing, keys=keys, ratio=ratio, plan="ours", history=long)
        _flat(report, f"{short(keys)} keys, {long} slides before", found)


def _flat(report: Report, what: str, found: Mapping[int, Measured]) -> None:
    """That long windows cost little more than short ones."""
    long, brief = max(found), min(found)
    over = found[long].timing.over(found[brief].timing)
    report.target(f"{what}: ratio {long} over ratio {brief}", over, FLAT)
