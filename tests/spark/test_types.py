"""Types at the border: what goes in as Spark types it comes out as Spark would type it."""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import slidewheel as sw
from tests.spark.support import same_answers

MINUTE = 60_000_000


@pytest.fixture
def zone(spark):
    """A session in a zone with summer time."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


def counted(spark, times: str, rows: int = 400):
    """Rows around a change of clocks, whose times are made by this expression of `id` minutes."""
    first = int(datetime.fromisoformat("2024-03-10T04:00:00+00:00").timestamp()) * 1_000_000
    return (
        spark.range(rows)
        .selectExpr(f"timestamp_micros({first} + id * {MINUTE}) as instant", "id")
        .selectExpr(f"{times} as t", "id")
    )


@pytest.mark.parametrize("times", ["instant", "cast(instant as timestamp_ntz)", "cast(instant as date)"])
@pytest.mark.parametrize("plan", ["slices", "native"])
def test_times_are_sparks_in_any_zone(spark, zone, times, plan):
    df = counted(spark, times)
    query = sw.query(time="t", windows=sw.sliding("1h", every="20m"), aggregates=[sw.count(), sw.sum("id")])
    mine = query.spark(df, plan=plan)
    native = df.groupBy(F.window("t", "1 hour", "20 minutes").alias("w")).agg(
        F.count("*").alias("count"), F.sum("id").alias("sum_id")
    )
    native = native.selectExpr("w.start as window_start", "w.end as window_end", f"'{query.windows[0].name}' as window",
                               "count", "sum_id")  # fmt: skip
    assert [(f.name, f.dataType) for f in mine.schema] == [(f.name, f.dataType) for f in native.schema]
    same_answers(mine.toArrow(), native.toArrow())


WIDTHS = [
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(5,2)",
    "decimal(38,10)",
    "date",
    "boolean",
]
WIDTHS += ["timestamp", "timestamp_ntz", "string", "binary"]
NUMBERS = {"sum": "sum", "mean": "avg"}
ANY = {"count": "count", "min": "min", "max": "max"}
CASTS = {"date": "date_add(date'1969-12-20', cast(id as int))", "binary": "cast(cast(id as string) as binary)"}
CASTS |= {"timestamp": "timestamp_micros(id - 20)", "timestamp_ntz": "cast(timestamp_micros(id - 20) as timestamp_ntz)"}


def test_answers_are_typed_as_spark_types_its_own(spark):
    """All kinds of columns side by side."""
    columns, pairs = [], []
    for n, kind in enumerate(WIDTHS):
        made = CASTS.get(kind, f"cast(id as {kind})" if kind != "boolean" else "id % 2 = 0")
        columns.append(f"if(id % 7 = 0, null, {made}) as x{n}")
        number = kind.startswith(("tiny", "small", "int", "big", "float", "double", "decimal"))
        pairs += [(ours, theirs, f"x{n}") for ours, theirs in (ANY | (NUMBERS if number else {})).items()]
    df = spark.range(50).selectExpr("timestamp_micros(id * 1000000) as t", *columns)
    aggregates = [getattr(sw, ours)(x) for ours, _, x in pairs]
    query = sw.query(time="t", windows=sw.sliding("30s", every="10s"), aggregates=aggregates)
    mine = query.spark(df, plan="slices").drop("window")
    native = df.groupBy(F.window("t", "30 seconds", "10 seconds").alias("w")).agg(
        *(F.expr(f"{theirs}({x})").alias(f"{ours}_{x}") for ours, theirs, x in pairs)
    )
    native = native.selectExpr("w.start as window_start", "w.end as window_end", *(a.output for a in aggregates))
    assert [(f.name, f.dataType) for f in mine.schema] == [(f.name, f.dataType) for f in native.schema]
    same_answers(mine.toArrow(), native.toArrow())


def test_nanoseconds_are_cut_off_as_spark_reads_them(spark, tmp_path):
    times = np.array([999, 1_000_000_999, 59_999_999_999], dtype="datetime64[ns]")
    pq.write_table(pa.table({"t": times}), tmp_path / "nanos.parquet", version="2.6")
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    try:
        df = spark.read.parquet(str(tmp_path / "nanos.parquet"))
        if df.schema["t"].dataType.typeName() == "long":
            df = df.selectExpr("timestamp_micros(t div 1000) as t")
        query = sw.query(time="t", windows=sw.tumbling("1s"), aggregates=[sw.count()])
        starts = sorted(row.window_start.timestamp() for row in query.spark(df).collect())
    finally:
        spark.conf.unset("spark.sql.legacy.parquet.nanosAsLong")
    assert starts == [0, 1, 59]


def test_keys_of_every_kind(spark):
    kinds = [*WIDTHS[:9], "string", "binary", "timestamp"]
    made = [
        f"if(id % 5 = 0, null, {CASTS.get(kind, f'cast(id % 3 as {kind})')}) as k{n}" for n, kind in enumerate(kinds)
    ]
    df = spark.range(40).selectExpr("timestamp_micros(id * 1000000) as t", *made)
    keys = [f"k{n}" for n in range(len(kinds))]
    query = sw.query(time="t", keys=keys, windows=sw.sliding("1m", every="10s"), aggregates=[sw.count()])
    native = df.groupBy(*keys, F.window("t", "1 minute", "10 seconds").alias("w")).agg(F.count("*").alias("count"))
    native = native.selectExpr(*keys, "w.start as window_start", "w.end as window_end", "count")
    same_answers(query.spark(df, plan="slices").drop("window").toArrow(), native.toArrow())
