"""Snapshots: what they hold, how large they are, and that a damaged or foreign one is refused."""

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.engine import container

AGGREGATES = [sw.count(), sw.sum("x"), sw.max("x")]


def rows(count: int, keys: int, seconds: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, seconds * 1_000_000, count))
    return pa.table({"t": times, "k": rng.integers(0, keys, count), "x": rng.random(count)})


def query(**options) -> sw.Query:
    given = {"windows": [sw.sliding("10m", every="10s")], "aggregates": AGGREGATES, "keys": ["k"]} | options
    return sw.query(time="t", **given)


def later(stream: sw.Stream, seconds: int) -> list[pa.Table]:
    """What a stream gives for more rows, some of them late."""
    more = rows(500, 40, seconds + 400, seed=1)
    return [stream.push(more.slice(0, 250)), stream.push(more.slice(250)), stream.finish()]


@pytest.mark.parametrize(("keys", "seconds"), [(1, 3600), (40, 900), (2000, 300)])
def test_it_is_compact(keys, seconds):
    stream = query().stream()
    stream.push(rows(20_000, keys, seconds))
    arena = stream._engine.tracks[0].arena
    held = arena.entries * sum(component.dtype.itemsize for component in arena.components)
    assert held > 1000
    assert len(stream.snapshot()) <= 1.5 * held


def test_a_restored_stream_goes_on_to_the_last_bit():
    stream = query(late="keep").stream()
    stream.push(rows(5000, 40, 900))
    again = sw.Stream.restore(stream.query, stream.snapshot())
    assert again.watermark == stream.watermark
    assert again.late == stream.late
    for mine, other in zip(later(stream, 900), later(again, 900), strict=True):
        assert mine.equals(other)
    assert stream.late.rows == again.late.rows > 0
    assert stream.late.table.equals(again.late.table)


def test_before_the_first_row_and_after_the_last():
    stream = query().stream()
    stream.advance_to(5_000_000)
    again = sw.Stream.restore(stream.query, stream.snapshot())
    assert again.watermark == 5_000_000
    again.push(rows(10, 2, 60))
    again.finish()
    finished = sw.Stream.restore(stream.query, again.snapshot())
    with pytest.raises(sw.SlidewheelError, match="finished"):
        finished.push(rows(1, 1, 10))


def test_parts_that_did_not_change_are_not_written_again():
    stream = query(lateness="30s").stream()
    stream.push(rows(20_000, 40, 900))
    store = stream.snapshot_parts()
    late = pa.table({"t": [899_000_000], "k": [3], "x": [0.5]})
    stream.push(late)
    more = stream.snapshot_parts(known=store)
    size = {name: len(data) for name, data in more.items()}
    assert "manifest" in more
    assert 2 <= len(more) <= 4 < len(store) / 3  # the manifest, and the chunk of the last seconds
    assert sum(size.values()) < 0.25 * sum(map(len, store.values()))
    store |= more
    again = sw.Stream.restore(stream.query, store)
    for mine, other in zip(later(stream, 900), later(again, 900), strict=True):
        assert mine.equals(other)


def test_nothing_changed_means_nothing_but_the_manifest():
    stream = query().stream()
    stream.push(rows(3000, 40, 900))
    store = stream.snapshot_parts()
    assert set(stream.snapshot_parts(known=store)) == {"manifest"}


@pytest.fixture(scope="module")
def taken() -> tuple[sw.Query, bytes]:
    stream = query().stream()
    stream.push(rows(300, 5, 900))
    return stream.query, stream.snapshot()


def test_any_byte_that_is_changed_is_noticed(taken):
    made_by, data = taken
    for place in range(0, len(data), max(1, len(data) // 400)):
        damaged = bytearray(data)
        damaged[place] ^= 0x40
        with pytest.raises(sw.InvalidSnapshot):
            sw.Stream.restore(made_by, bytes(damaged))


@pytest.mark.parametrize("cut", [0, 5, 36, 37, 100, -1])
def test_a_snapshot_that_is_cut_off(taken, cut):
    with pytest.raises(sw.InvalidSnapshot):
        sw.Stream.restore(taken[0], taken[1][:cut])


def test_more_behind_its_end(taken):
    with pytest.raises(sw.InvalidSnapshot):
        sw.Stream.restore(taken[0], taken[1] + b"x")


@pytest.mark.parametrize(
    "other",
    [
        {"windows": [sw.sliding("10m", every="20s")]},
        {"aggregates": [sw.count(), sw.sum("x"), sw.min("x")]},
        {"aggregates": [sw.count(), sw.sum("x"), sw.max("x").alias("top")]},
        {"keys": []},
        {"lateness": "1s"},
        {"late": "keep"},
        {"final": "flatfat"},
    ],
)
def test_of_another_query(taken, other):
    with pytest.raises(sw.InvalidSnapshot, match="another query"):
        sw.Stream.restore(query(**other), taken[1])


def test_of_another_version(taken):
    made_by, data = taken
    newer = data[: len(container.MAGIC)] + (99).to_bytes(2, "little") + data[len(container.MAGIC) + 2 :]
    with pytest.raises(sw.InvalidSnapshot, match="version 99"):
        sw.Stream.restore(made_by, newer)


def test_a_part_that_is_missing_or_swapped():
    stream = query().stream()
    stream.push(rows(300, 5, 900))
    parts = stream.snapshot_parts()
    names = [name for name in parts if name != "manifest"]
    for name in names:
        with pytest.raises(sw.InvalidSnapshot, match="missing"):
            sw.Stream.restore(stream.query, {k: v for k, v in parts.items() if k != name})
        with pytest.raises(sw.InvalidSnapshot, match="damaged"):
            sw.Stream.restore(stream.query, parts | {name: parts[names[names.index(name) - 1]] + b"."})


class Own:
    def __init__(self, total: float) -> None:
        self.total = total


@sw.aggregate(state=object, commutative=True)
class Summed:
    identity = None

    def lift(x):
        return Own(x)

    def combine(a, b):
        return b if a is None else a if b is None else Own(a.total + b.total)

    def lower(s):
        return s.total


def test_objects_of_own_classes_need_trust():
    stream = query(aggregates=[Summed("x")], keys=[]).stream()
    stream.push({"t": [1_000_000, 2_000_000], "x": [1.0, 2.0]})
    data = stream.snapshot()
    with pytest.raises(sw.InvalidSnapshot, match="trusted=True"):
        sw.Stream.restore(stream.query, data)
    again = sw.Stream.restore(stream.query, data, trusted=True)
    assert again.finish()["Summed_x"].to_pylist() == stream.finish()["Summed_x"].to_pylist()


def test_plain_objects_do_not():
    stream = query(aggregates=[sw.collect("x"), sw.collect_distinct("k")], keys=[]).stream()
    stream.push(rows(50, 5, 900))
    again = sw.Stream.restore(stream.query, stream.snapshot())
    assert again.finish().equals(stream.finish())
