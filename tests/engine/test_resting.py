"""Slices that travel and slices that rest: a stream taken apart gives what a stream in one piece gives."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import slidewheel as sw
from slidewheel.engine import chunks, periodic, resting, shelf, slices
from slidewheel.engine.resting import Resting
from slidewheel.engine.slices import Slices, joinable
from slidewheel.engine.whole import Whole
from tests.engine.cases import random_case
from tests.engine.harness import alike, build, listed

FAR = 10**17


class Memory(dict[str, bytes]):
    """A store that notices when a part is deleted that is not there."""

    def put(self, name: str, data: bytes) -> None:
        self[name] = data

    def delete(self, name: str) -> None:
        del self[name]


def same(got: pa.Table, wanted: pa.Table, where: Any) -> None:
    assert got.schema.equals(wanted.schema), where
    assert got.num_rows == wanted.num_rows, (where, got.num_rows, wanted.num_rows)
    for mine, theirs in zip(listed(got), listed(wanted), strict=True):
        assert all(alike(mine[name], theirs[name]) for name in theirs), (where, mine, theirs)


def packets(query: sw.Query, table: pa.Table, dice: random.Random) -> list[Any]:
    """The rows as they are, or as slices of one or two senders."""
    if dice.random() < 0.3:
        return [table]
    half = dice.randint(0, table.num_rows)
    found = []
    for part in (table.slice(0, half), table.slice(half)):
        sent = Slices(query, table.schema)
        sent.add(part)
        found += [data for _, data in sent.pack(dice.choice([1, 3]))]
    return found


def counted(query: sw.Query) -> sw.Query:
    data = query.to_dict() | {"late": "drop", "repair": 0}
    data["aggregates"] = [*data["aggregates"], {"aggregate": "count", "columns": [], "alias": "rows behind all"}]
    return sw.Query.from_dict(data)


def shown(answers: pa.Table) -> pa.Table:
    """The answers without the last column, which counts rows."""
    return answers.drop_columns(answers.column_names[-1:])


def judge(seed: int) -> None:
    case = random_case(seed, kinds=("sliding", "tumbling"), commutative=True, on_time=False)
    made, table = build(case)
    query, dice = counted(made), random.Random(seed)
    stream, store = query.stream(), Memory()
    for number, rows in enumerate(case.batches):
        batch = table.take(pa.array(rows, pa.int64()))
        wanted = stream.push(batch)
        if stream.watermark is None:
            continue
        state = Resting(query, table.schema, store)
        same(state.step(packets(query, batch, dice), stream.watermark), shown(wanted), (seed, number))
        if len(state.shelves) == 1:
            late = stream.late
            assert (state.counts.rows, state.counts.dropped) == (late.rows, late.dropped), (seed, number)
    if stream.watermark is not None:
        last = Resting(query, table.schema, store)
        same(last.step([], FAR), shown(stream.advance_to(FAR)), (seed, "end"))
        assert not last.open
        assert all(name.startswith(("keys", "manifest")) for name in store), (seed, sorted(store))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_a_state_at_rest_gives_what_a_stream_gives(first):
    for seed in range(first, first + 20):
        judge(seed)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_with_late_slices_folded_in_and_idle_keys_forgotten_at_once(first, monkeypatch):
    monkeypatch.setattr(shelf, "FOLD", 1)
    monkeypatch.setattr(resting, "FEW", 1)
    monkeypatch.setattr(chunks, "WORTH_TOTALS", 1)
    for seed in range(first, first + 20):
        judge(10_000 + seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 30_000, 100))
def test_a_state_at_rest_at_length(first, monkeypatch):
    monkeypatch.setattr(shelf, "FOLD", first % 7)
    monkeypatch.setattr(chunks, "WORTH_TOTALS", first % 9)
    for seed in range(first, first + 100):
        judge(seed)


def long_window(keys: int, seconds: int, ratio: int = 600) -> tuple[sw.Query, pa.Table]:
    """A row of every key in every second, and windows of many slices."""
    query = sw.query(
        time="t",
        keys="k",
        windows=sw.sliding(f"{ratio}s", every="1s"),
        aggregates=[sw.sum("x"), sw.count()],
    )
    times = np.repeat(np.arange(seconds) * 1_000_000, keys)
    table = pa.table({"t": times, "k": np.tile(np.arange(keys), seconds), "x": np.arange(len(times))})
    return query, table


class Watched(Memory):
    """A store that counts the bytes that are read and written."""

    read = written = 0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> bytes | None:
        found = super().get(name, default)
        if found is not None:
            self.read += len(found)
            self.names.add(name)
        return found

    def put(self, name: str, data: bytes) -> None:
        self.written += len(data)
        super().put(name, data)


def test_a_step_of_a_long_window_reads_and_writes_little_of_it():
    query, table = long_window(keys=50, seconds=1500)
    stream, store, step = query.stream(), Watched(), 50 * 5
    for first in range(0, table.num_rows, step):
        rows = table.slice(first, step)
        wanted = stream.push(rows)
        store.read = store.written = 0
        assert Resting(query, table.schema, store).step([rows], stream.watermark or 0).equals(shown(wanted))
    held = sum(map(len, store.values()))
    assert store.read < held / 5, (store.read, held)
    assert store.written < held / 10, (store.written, held)


def test_windows_that_come_out_some_at_a_time(monkeypatch):
    monkeypatch.setattr(periodic, "AT_ONCE", 100)
    query, table = long_window(keys=50, seconds=60, ratio=20)
    stream, store = query.stream(), Memory()
    for first in range(0, table.num_rows, 1000):
        rows = table.slice(first, 1000)
        wanted = stream.push(rows)
        pieces = list(Resting(query, table.schema, store).steps([rows], stream.watermark or 0))
        assert len(pieces) >= wanted.num_rows // 100
        assert pa.concat_tables(pieces).equals(shown(wanted))


def test_keys_that_are_gone_leave_the_state():
    query = sw.query(time="t", keys="k", windows=sw.tumbling("10s"), aggregates=[sw.count()])
    store, schema = Memory(), pa.schema([("t", pa.int64()), ("k", pa.string())])
    sizes = []
    for number in range(60):
        table = pa.table({"t": [number * 10_000_000] * 1000, "k": [f"{number}/{k}" for k in range(1000)]}, schema)
        state = Resting(query, schema, store)
        state.step([table], number * 10_000_000)
        sizes.append(sum(map(len, store.values())))
    assert len(Resting(query, schema, store).slices.tracks.keys) < 20_000
    assert max(sizes[30:]) < 1.5 * max(sizes[:30])


def test_a_damaged_part_is_told():
    query, table = long_window(keys=2, seconds=50, ratio=20)
    store = Watched()
    Resting(query, table.schema, store).step([table], 30_000_000)
    asked = Watched(store)
    Resting(query, table.schema, asked).step([], 10**12)
    assert {name.split("/")[0] for name in asked.names} == {"manifest", "keys", "0"}
    for name in asked.names & set(store):
        damaged = Memory(store)
        damaged[name] = damaged[name][:-3] + b"abc"
        with pytest.raises(sw.InvalidSnapshot):
            Resting(query, table.schema, damaged).step([], 10**12)
    del store[next(name for name in asked.names & set(store) if "slices" in name)]
    with pytest.raises(sw.InvalidSnapshot, match="missing"):
        Resting(query, table.schema, store).step([], 10**12)


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_a_state_that_is_loaded_as_a_whole(first):
    for seed in range(first, first + 20):
        case = random_case(40_000 + seed)
        query, table = build(case)
        stream, store = query.stream(), Memory()
        for number, rows in enumerate(case.batches):
            batch = table.take(pa.array(rows, pa.int64()))
            wanted = stream.push(batch)
            if stream.watermark is None:
                continue
            state = Whole(query, table.schema, store)
            same(state.step([batch], stream.watermark), wanted, (seed, number))
            late = stream.late
            assert (state.counts.rows, state.counts.dropped) == (late.rows, late.dropped), (seed, number)


@pytest.mark.parametrize("at_once", [1, 500, 1 << 16])
@pytest.mark.parametrize("buckets", [1, 2, 7])
def test_slices_of_many_senders(buckets, at_once, monkeypatch):
    monkeypatch.setattr(slices, "OF_SOME_KEYS", at_once)
    query, table = long_window(keys=40, seconds=100, ratio=30)
    receivers = [Slices(query, table.schema) for _ in range(buckets)]
    for first in range(0, table.num_rows, 700):
        sent = Slices(query, table.schema)
        sent.add(table.slice(first, 700))
        for bucket, data in sent.pack(buckets):
            receivers[bucket].join(data)
    answers = [list(receiver.windows()) for receiver in receivers]
    found = pa.concat_tables([some for given in answers for some in given])
    wanted = query.run(table)
    order = [("window_end", "ascending"), ("k", "ascending")]
    assert found.sort_by(order).equals(wanted.sort_by(order).combine_chunks())
    assert all(some.num_rows for given in answers for some in given)
    assert (max(map(len, answers)) == 1) == (at_once == 1 << 16)
    assert all(answers)


def test_slices_of_two_windows_of_which_one_has_gaps():
    """Of one of its rows, a key has no slice of the second window, and another key has none at all."""
    windows = [sw.tumbling("10s"), sw.sliding("3s", every="7s", name="gaps")]
    query = sw.query(time="t", keys="k", windows=windows, aggregates=sw.sum("x"))
    table = pa.table({"t": pa.array([1, 5, 8, 13, 5], pa.int64()), "k": [*"aaaab"], "x": [1, 2, 3, 4, 5]})
    table = table.set_column(0, "t", pc.multiply(table["t"], 1_000_000))
    for part in [table, table.filter(pc.equal(table["k"], "b")), table.slice(0, 0)]:
        made = Slices(query, table.schema)
        made.add(part)
        found = list(made.windows())
        assert (pa.concat_tables(found) if found else part).num_rows == query.run(part).num_rows
        assert not found or pa.concat_tables(found).equals(query.run(part))


def test_nulls_that_only_one_sender_has_seen():
    query = sw.query(time="t", windows=sw.tumbling("10s"), aggregates=[sw.sum("x"), sw.max("x")])
    tables = [
        pa.table({"t": [t * 1_000_000], "x": pa.array([x], pa.int64())}) for t, x in [(1, 5), (2, None), (11, None)]
    ]
    whole = Slices(query, tables[0].schema)
    for table in tables:
        sent = Slices(query, table.schema)
        sent.add(table)
        for _, data in sent.pack(2):
            whole.join(data)
    assert pa.concat_tables(whole.windows()).equals(query.run(pa.concat_tables(tables)))


def test_what_can_be_joined():
    periodic, ordered = [sw.sliding("1h", every="5m")], [sw.first("x")]
    assert joinable(sw.query(time="t", windows=periodic, aggregates=[sw.sum("x")]))
    assert not joinable(sw.query(time="t", windows=periodic, aggregates=ordered))
    assert not joinable(sw.query(time="t", windows=[sw.session("5m")], aggregates=[sw.sum("x")]))


def rows_every(seconds: int, until: int, first: int = 0) -> pa.Table:
    times = np.arange(first, until, seconds) * 1_000_000
    return pa.table({"t": times, "k": np.zeros(len(times), dtype=np.int64), "x": times // 1_000_000})


def taken_over(before: list[Any], after: list[Any]) -> tuple[pa.Table, pa.Table]:
    """What comes out once the windows have changed after 1000 s, and the answers for all of the rows."""
    made = [
        sw.query(time="t", keys="k", windows=windows, aggregates=[sw.sum("x"), sw.count(), sw.count().alias("rows")])
        for windows in (before, after)
    ]
    table, store = rows_every(1, 3000), Memory()
    for number in range(10):
        Resting(made[0], table.schema, store).step([table.slice(number * 100, 100)], number * 100_000_000)
    results = [
        Resting(made[1], table.schema, store).step([table.slice(number * 100, 100)], number * 100_000_000)
        for number in range(10, 30)
    ]
    return pa.concat_tables(results), made[1].run(table)


def windows_of(result: pa.Table, name: str) -> dict[int, tuple[int, int]]:
    mine = result.filter(pc.equal(result["window"], name))
    starts = mine["window_start"].cast(pa.int64()).to_pylist()
    return {
        start // 1_000_000: (total, count)
        for start, total, count in zip(starts, mine["sum_x"].to_pylist(), mine["count"].to_pylist(), strict=True)
    }


@pytest.mark.parametrize(
    ("before", "after", "new", "first"),
    [
        # Windows that the state has all edges of: from where it begins.
        ([(100, 10)], [(100, 10), (200, 20)], "3m20s/20s", 820),
        ([(300, 10)], [(300, 10), (100, 50)], "1m40s/50s", 850),
        ([(300, 10)], [(500, 10)], "8m20s/10s", 610),
        # Windows with edges of their own: from behind the newest slice.
        ([(100, 10)], [(100, 10), (70, 7)], "1m10s/7s", 1001),
    ],
)
def test_windows_that_are_added_to_a_state(before, after, new, first):
    made = [[sw.sliding(f"{r}s", every=f"{e}s") for r, e in windows] for windows in (before, after)]
    got, wanted = taken_over(*made)
    for name in got["window"].unique().to_pylist():
        mine, whole = windows_of(got, name), windows_of(wanted, name)
        assert mine == {start: whole[start] for start in mine}, name
        assert len(mine) > 10
    assert min(windows_of(got, new)) == first
    for kept in {s.name for s in made[0]} & {s.name for s in made[1]}:
        mine = windows_of(got, kept)
        assert sorted(mine) == list(range(min(mine), max(mine) + 1, 10)), "none is missing"


def test_aggregates_that_change_are_refused():
    query, table = long_window(keys=2, seconds=5)
    other = sw.query(time="t", keys="k", windows=query.windows, aggregates=[sw.max("x"), sw.count()])
    store = Memory()
    Resting(query, table.schema, store).step([table], 0)
    kept = dict(store)
    with pytest.raises(sw.InvalidSnapshot, match="other aggregates"):
        Resting(other, table.schema, store).step([table], 1)
    assert store == kept


def seconds(*times: int) -> pa.Table:
    return pa.table(
        {"t": pa.array([t * 1_000_000 for t in times], pa.int64()), "k": pa.array([t % 2 for t in times], pa.int64())}
    )


def test_windows_that_are_open():
    windows = [sw.sliding("10s", every="3s", offset="1s"), sw.tumbling("5s")]
    query = sw.query(time="t", keys="k", windows=windows, aggregates=sw.count())
    store, newest = Memory(), -100
    for watermark, times in [(0, []), (4, [3, 17, 21]), (13, [16]), (25, []), (40, [33])]:
        state = Resting(query, seconds().schema, store)
        state.step([seconds(*times)] if times else [], watermark * 1_000_000)
        newest = max([newest, *times])
        wanted = [
            start
            for length, every, first in ((10, 3, 1), (5, 5, 0))
            for start in range(first - 12 * every, 60, every)
            if start + length > watermark and start <= newest
        ]
        assert state.open_windows() == (len(wanted), 0), watermark


def test_sessions_that_are_open():
    query = sw.query(time="t", keys="k", windows=[sw.session("5s"), sw.tumbling("10s")], aggregates=sw.count())
    store = Memory()
    for watermark, times, wanted in [
        (1, [], (0, 0)),
        (2, [3, 4, 6], (1, 2)),
        (9, [20, 31, 33], (4, 3)),
        (26, [], (2, 1)),
        (50, [], (0, 0)),
    ]:
        state = Whole(query, seconds().schema, store)
        state.step([seconds(*times)] if times else [], watermark * 1_000_000)
        assert state.open_windows() == wanted, watermark
