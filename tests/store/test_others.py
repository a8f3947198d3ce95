"""What others read in the table: DuckDB, Polars and Arrow, with nothing of ours."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import slidewheel as sw
from tests.store.events import LEVELS, SECOND, START, events

QUERY = sw.query(
    time="t",
    keys="k",
    windows=sw.tumbling("1h"),
    aggregates=[sw.count(), sw.sum("i"), sw.mean("x"), sw.min("x"), sw.max("i")],
)
PLAIN = """
    SELECT time_bucket(INTERVAL '10 minutes', start, TIMESTAMPTZ '1970-01-01 00:00:00+00') AS start,
           time_bucket(INTERVAL '10 minutes', start, TIMESTAMPTZ '1970-01-01 00:00:00+00')
             + INTERVAL '10 minutes' AS end,
           k, sum(count)::BIGINT AS count, sum(sum_i)::BIGINT AS sum_i,
           sum(mean_x__sum) / nullif(sum(mean_x__n), 0) AS mean_x, min(min_x) AS min_x, max(max_i) AS max_i
    FROM slots
    WHERE level = '1s'
      AND start >= TIMESTAMPTZ '2023-11-14 21:00:00+00' AND start < TIMESTAMPTZ '2023-11-15 01:00:00+00'
    GROUP BY ALL ORDER BY start, k NULLS FIRST
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = sw.create_store(tmp_path_factory.mktemp("others") / "s", QUERY, levels=LEVELS)
    table = events(3000, seed=1)
    made.append(table.slice(0, 1500))
    made.compact()
    made.append(table.slice(1500))
    return made


def test_the_same_bytes_from_plain_sql(store):
    """The finest level holds everything once, folded or not, so a GROUP BY over it is a question."""
    found = store.query("2023-11-14T21:00", "2023-11-15T01:00", every="10m")
    files = DeltaTable(store.path).file_uris()
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE VIEW slots AS SELECT * FROM read_parquet({files!r}, hive_partitioning = true)")
        plain = connection.sql(PLAIN).to_arrow_table()
    assert _bytes(plain.cast(found.schema)) == _bytes(found)


def test_polars(store):
    slots = pl.scan_delta(str(store.path)).filter(pl.col("level") == "1s")
    counted = slots.group_by("k").agg(pl.col("count").sum(), pl.col("sum_i").sum(), pl.col("max_i").max()).collect()
    expected = store.query(aggregates=["count", "sum_i", "max_i"])
    assert counted.sort("k", nulls_last=False).rows() == [tuple(row.values()) for row in expected.to_pylist()]


def test_every_level_holds_what_is_folded(store):
    folded = pl.scan_delta(str(store.path)).filter(pl.col("folded"))
    totals = folded.group_by("level").agg(pl.col("count").sum()).collect()
    assert dict(totals.rows()) == dict.fromkeys(LEVELS, 1500)


def test_nulls_and_wide_sums(tmp_path):
    """A slot without a value is null; the carry of a sum is 0 until it needs more than 64 bits."""
    store = sw.create_store(tmp_path / "s", QUERY)
    store.append({"t": [START, START], "k": ["a", "b"], "i": [None, -5], "x": pa.array([None, None], pa.float64())})
    store.append({"t": [START + SECOND] * 2, "k": ["a", "a"], "i": [2**63 - 1] * 2, "x": [1.0, 2.0]})
    rows = pl.read_delta(str(store.path)).sort("start", "k").to_dicts()
    assert [row["sum_i"] for row in rows] == [None, -5, -2]
    assert [row["sum_i__carry"] for row in rows] == [None, 0, 1]
    assert [row["min_x"] for row in rows] == [None, None, 1.0]
    assert [row["mean_x__n"] for row in rows] == [None, None, 2]


def _bytes(table: pa.Table) -> bytes:
    """Made anew of its values, so that bits which mean nothing are the same."""
    table = pa.table([pa.array(c.to_pylist(), c.type) for c in table.columns], names=table.column_names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
