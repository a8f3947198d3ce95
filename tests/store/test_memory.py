"""Stores in memory: wheels that are loaded, and wheels that follow."""

import time

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.store.reading import Reading
from tests.store.events import LEVELS, SECOND, events, micros, same

AGGREGATES = [sw.count(), sw.sum("i"), sw.mean("x"), sw.max("x"), sw.argmax("i", "s")]
COMMUTATIVE = AGGREGATES[:4]


def made(path, aggregates, lateness=0):
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=aggregates, lateness=lateness)
    return sw.create_store(path, query, levels=LEVELS)


def agree(store, wheel, dice, times=10):
    """Ranges of the wheel's time, at its precision."""
    for _ in range(times):
        low, high = np.sort(dice.integers(wheel.start // wheel.tick, wheel.watermark // wheel.tick + 1, 2)) * wheel.tick
        found, expected = wheel.query(int(low), int(high)), store.query(int(low), int(high))
        same(found.filter(found["count"].to_numpy() > 0), expected)


def test_loaded(tmp_path):
    store, dice = made(tmp_path / "s", AGGREGATES), np.random.default_rng(1)
    table = events(900, seed=1)
    for first in (0, 300, 600):
        store.append(table.slice(first, 300))
        store.compact()
    agree(store, store.load(), dice)
    agree(store, store.load(level="1m"), dice)
    low, high = store.span
    some = store.load(low + 3600 * SECOND, high - 60 * SECOND, keys=["key 1", "key 2"])
    found = some.query(low + 3600 * SECOND, high - 60 * SECOND)
    same(found, store.query(low + 3600 * SECOND, high - 60 * SECOND, keys=["key 1", "key 2"]))


def test_too_large_to_load(tmp_path, monkeypatch):
    from slidewheel.store import loading

    store = made(tmp_path / "s", COMMUTATIVE)
    store.append(events(500, seed=1))
    monkeypatch.setattr(loading, "LARGEST", 1000)
    with pytest.raises(sw.InvalidArgument, match="coarser level="):
        store.load()


@pytest.mark.parametrize("aggregates", [AGGREGATES, COMMUTATIVE], ids=["ordered", "commutative"])
@pytest.mark.parametrize("lateness", [0, "1h"])
def test_following(tmp_path, aggregates, lateness):
    store, dice = made(tmp_path / "s", aggregates, lateness), np.random.default_rng(2)
    table = events(1500, seed=2)
    store.append(table.slice(0, 300))
    following = store.follow(level="10s")
    watermarks = [following.wheel.watermark]
    assert not following.refresh()
    for first in range(300, 1500, 150):
        store.append(table.slice(first, 150))
        if first == 900:
            store.compact()
        assert following.refresh() and not following.refresh()
        agree(store, following.wheel, dice, times=4)
        watermarks.append(following.wheel.watermark)
    assert watermarks == sorted(watermarks) and watermarks[-1] > watermarks[0]
    newest = int(micros(table).max())
    late = 0 if lateness == 0 else 3600 * SECOND
    assert newest - following.wheel.watermark - late < 20 * SECOND


def test_following_some_keys_in_a_thread(tmp_path):
    store = made(tmp_path / "s", COMMUTATIVE)
    table = events(600, seed=3)
    store.append(table.slice(0, 300))
    following = store.follow(keys=["key 1", "key 3"])
    with following.start(every=0.05):
        store.append(table.slice(300, 300))
        until = time.monotonic() + 20
        while following.version != store.version and time.monotonic() < until:
            time.sleep(0.02)
    wheel = following.wheel
    assert following.failure is None and following.version == store.version
    found = wheel.query(wheel.start, wheel.watermark)
    same(found, store.query(wheel.start, wheel.watermark, keys=["key 1", "key 3"]))
    store.append(table.slice(0, 10))
    time.sleep(0.15)
    assert following.version == store.version - 1  # it has ended


def test_a_thread_that_fails_says_why(tmp_path, monkeypatch):
    store = made(tmp_path / "s", COMMUTATIVE)
    store.append(events(100, seed=1))
    following = store.follow()

    def damaged(self, file):
        raise sw.InvalidStore(f"{file.path} is damaged")

    monkeypatch.setattr(Reading, "whole", damaged)
    with following.start(every=0.01):
        store.append(events(100, seed=2))
        until = time.monotonic() + 20
        while following.failure is None and time.monotonic() < until:
            time.sleep(0.01)
    assert "is damaged" in str(following.failure) and following.version < store.version


def test_snapshot_without_its_store(tmp_path):
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=COMMUTATIVE)
    stream = query.stream(store=tmp_path / "s", application="a")
    stream.push(events(50, seed=1))
    snapshot = stream.snapshot()
    with pytest.raises(sw.InvalidSnapshot, match="feeds a store"):
        sw.Stream.restore(query, snapshot)
    with pytest.raises(sw.InvalidSnapshot, match="without a store"):
        sw.Stream.restore(query, query.stream().snapshot(), store=tmp_path / "s")
    with pytest.raises(sw.InvalidArgument, match="no store"):
        query.stream().commit()
    with pytest.raises(sw.InvalidArgument, match="application="):
        query.stream(store=tmp_path / "s", application="")


def test_a_batch_that_fails_is_not_stored(tmp_path):
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=COMMUTATIVE)
    stream = query.stream(store=tmp_path / "s")
    stream.push(events(50, seed=1))
    with pytest.raises(sw.InvalidArgument):
        stream.push(events(50, seed=2).drop_columns(["x"]))
    stream.push(pa.concat_tables([events(20, seed=3)]))
    assert stream.commit() == 1 and stream.commit() == 0
    store = sw.open_store(tmp_path / "s")
    assert sum(store.query(aggregates="count")["count"].to_pylist()) == 70
