"""Whatever happens to a store, it answers as plain recalculation over all rows that it was given does."""

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from tests.store.events import SECOND, START, events, micros, recalculated, same
from tests.store.scripts import Life


def live(path, seed, steps=14):
    life = Life(path, seed)
    for _ in range(steps):
        life.step()
    life.final()


@pytest.mark.parametrize("seed", range(16))
def test_random_lives(tmp_path, seed):
    live(tmp_path / "s", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16, 400))
def test_more_random_lives(tmp_path, seed):
    live(tmp_path / "s", seed, steps=30)


def test_history_and_stream(tmp_path):
    """A batch over what was, and a stream from then on: no gap, no row twice, and the windows that `run` gives."""
    table = events(3000, seed=5)
    query = sw.query(
        time="t",
        keys="k",
        windows=[sw.sliding("10m", every="2m30s"), sw.tumbling("1h")],
        aggregates=[sw.count(), sw.mean("x"), sw.max("i")],
        lateness="1h",
    )
    store = sw.create_store(tmp_path / "s", query)
    for _ in range(2):
        query.run(table.slice(0, 1000), store=store, batch=("history", 2023))
    stream = query.stream(store=store, application="live")
    for first in range(1000, 3000, 250):
        stream.push(table.slice(first, 250))
        stream.commit()
        if first == 1500:
            store.compact()
    low, high = START - 7200 * SECOND, START + 20_000 * SECOND
    same(store.query(low, high), recalculated(table, query, [low, high]).drop_columns(["start", "end"]))
    same(store.windows(), query.run(table))
    store.compact()
    same(store.windows(), query.run(table))
    inside = query.run(table)
    starts, ends = (inside[name].cast(pa.int64()).to_numpy() for name in ("window_start", "window_end"))
    low, high = START, START + 7200 * SECOND
    same(store.windows(low, high), inside.filter(pa.array((starts >= low) & (ends <= high))))
    one = inside.filter(
        pa.compute.and_(pa.compute.equal(inside["window"], "1h"), pa.compute.equal(inside["k"], "key 1"))
    )
    same(store.windows(window="1h", keys="key 1"), one)


@pytest.mark.parametrize("keep", [{"1s": 600}, {"1s": 60, "10s": 100, "1m": 50}, {"1s": "drop", "10s": "drop"}])
def test_retention(tmp_path, keep):
    """What is not kept is not answered; what is kept is, also for rows that came later than all fine slots."""
    table = events(2000, seed=6, days=0.3)
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.sum("i"), sw.min("x")])
    store = sw.create_store(tmp_path / "s", query, levels=["1s", "10s", "1m", "1h"], keep=keep)
    dice = np.random.default_rng(1)
    for first in range(0, 2000, 400):
        store.append(table.slice(first, 400))
        store.compact(target=100)
        assert store.check().problems == []
        seen = table.slice(0, first + 400)
        newest = micros(seen).max()
        for _ in range(10):
            low, high = (int(v) * SECOND for v in np.sort(dice.integers(START // SECOND - 7200, newest // SECOND, 2)))
            kept = store.snapshot().kept
            if low >= kept["1s"]:
                same(store.query(low, high), recalculated(seen, query, [low, high]).drop_columns(["start", "end"]))
            else:
                hours = [low // (3600 * SECOND) * 3600 * SECOND, -(-high // (3600 * SECOND)) * 3600 * SECOND]
                same(store.query(*hours), recalculated(seen, query, hours).drop_columns(["start", "end"]))
                if low % (10 * SECOND) and low + 10 * SECOND < kept["1s"] and high > low:
                    with pytest.raises(sw.InvalidArgument, match="older than what is kept"):
                        store.query(low, high)
    seconds = store.info().levels[0]
    assert seconds.rows < 2000 and seconds.since is not None


def test_rows_that_nothing_keeps_are_counted(tmp_path):
    query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=[sw.count()])
    store = sw.create_store(tmp_path / "s", query, levels=["1s", "1m"], keep={"1s": 60, "1m": 60})
    store.append({"t": [0, 10**6 * 86400]})
    assert store.compact().too_old == 1
    assert store.query()["count"].to_pylist() == [1]
