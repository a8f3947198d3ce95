"""Packets: what they hold together is what was sent, and none of them is too large."""

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.engine.slices import Slices
from slidewheel.spark.buckets import bucket_ids
from slidewheel.spark.sending import LIMIT, ROWS, SLICES, Sender, read_packet
from tests.spark.support import same_answers

AGGREGATES = [sw.count(), sw.sum("i"), sw.mean("x"), sw.max("x")]


def rows(count, keys, seed=0):
    dice = np.random.default_rng(seed)
    times = np.sort(dice.integers(0, 4000 * 1_000_000, count))
    return pa.table(
        {
            "t": pa.array(times).cast(pa.timestamp("us")),
            "k": pa.array([f"key {k}" for k in dice.integers(0, keys, count)]),
            "x": dice.normal(size=count),
            "i": dice.integers(0, 100, count),
        }
    )


def packets_of(query, table, combines, buckets=2):
    sender = Sender(query, table.schema, bucket_ids(buckets), combines=combines)
    sent = [*sender.add(table), *sender.flush()]
    return [(piece["bucket"][0].as_py(), piece["packet"][0].as_py()) for piece in sent]


@pytest.mark.parametrize("keys", [3, 2000])
def test_no_packet_of_rows_is_large(keys):
    query = sw.query(time="t", keys="k", windows=sw.session("1s"), aggregates=AGGREGATES)
    table = rows(60_000, keys)
    packets = packets_of(query, table, combines=False)
    assert len(packets) > 10
    assert max(len(data) for _, data in packets) < 1.2 * LIMIT
    whose = {bucket: set() for bucket, _ in packets}
    for bucket, data in packets:
        kind, held = read_packet(data)
        assert kind == ROWS
        whose[bucket] |= set(held["k"].to_pylist())
    assert len(whose) == 2 and not set.intersection(*whose.values()), "a key is in one bucket"
    everything = pa.concat_tables(read_packet(data)[1] for _, data in packets)
    assert everything.sort_by([("t", "ascending")]).select(["t", "i"]) == table.select(["t", "i"])


@pytest.mark.parametrize(("keys", "count"), [(1, 100), (2000, 100), (2000, 60_000), (30_000, 60_000)])
def test_no_packet_of_slices_is_large(keys, count):
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1s"), aggregates=AGGREGATES)
    table = rows(count, keys)
    packets = packets_of(query, table, combines=True, buckets=3)
    assert max(len(data) for _, data in packets) < 2 * LIMIT
    assert len(packets) > 10 if count > 1000 else len(packets) <= 3
    received, whose = Slices(query, table.schema), {}
    for bucket, data in packets:
        kind, held = read_packet(data)
        assert kind == SLICES
        received.join(held)
        own = Slices(query, table.schema)
        own.join(held)
        whose.setdefault(bucket, []).extend(pa.concat_tables(own.windows())["k"].unique().to_pylist())
    seen = [key for held in whose.values() for key in held]
    assert sorted(seen) == sorted(set(table["k"].to_pylist())), "each key is in one packet, of one bucket"
    same_answers(pa.concat_tables(received.windows()), query.run(table))


def test_one_key_stays_together_however_much_it_has():
    query = sw.query(time="t", keys="k", windows=sw.sliding("30ms", every="10ms"), aggregates=AGGREGATES)
    table = rows(60_000, 1)
    [(_, data)] = packets_of(query, table, combines=True)
    assert len(data) > LIMIT and data[:1] == SLICES
    received = Slices(query, table.schema)
    received.join(read_packet(data)[1])
    same_answers(pa.concat_tables(received.windows()), query.run(table))
