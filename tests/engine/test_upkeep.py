"""A stream that runs for ever: keys and values are forgotten, memory is used again, and answers stay the same."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.engine import arena as arena_module
from slidewheel.engine import upkeep
from tests.engine.cases import random_case
from tests.engine.harness import compare, drive
from tests.engine.oracle import expected_columns, expected_stream

FEW = 32
SEEDS = 32


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever nothing refers to is forgotten at once."""
    monkeypatch.setattr(upkeep, "FEW", 1)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often keys and codes were forgotten."""
    calls = {"_keep_keys": 0, "_keep_codes": 0}

    def counting(name: str) -> Any:
        real = getattr(upkeep, name)

        def call(*arguments: Any) -> None:
            calls[name] += 1
            real(*arguments)

        return call

    for name in calls:
        monkeypatch.setattr(upkeep, name, counting(name))
    return calls


# Answers


def judge(kind: str, seed: int, restore: bool = False) -> None:
    case = random_case(seed, kinds=(kind,))
    results, _ = drive(case, restore)
    for step, (got, wanted) in enumerate(zip(results, expected_stream(case).steps, strict=True)):
        compare(got, wanted, expected_columns(case), f"{kind}, seed {seed}, step {step}: ")


@pytest.mark.parametrize("kind", ["sliding", "tumbling", "session", "trailing"])
def test_answers_are_the_oracles(forgetful, kind):
    for seed in range(SEEDS):
        judge(kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sliding", "tumbling", "session", "trailing"])
def test_answers_are_the_oracles_at_length(forgetful, kind):
    for seed in range(SEEDS, 400):
        judge(kind, seed)


@pytest.mark.parametrize("kind", ["rows_every", "punctuated", "rows", "delta"])
def test_answers_of_windows_that_keep_their_keys(forgetful, kind):
    for seed in range(15):
        judge(kind, seed)


@pytest.mark.parametrize("kind", ["sliding", "tumbling", "session", "trailing"])
def test_answers_of_restored_streams(forgetful, kind):
    for seed in range(8):
        judge(kind, seed, restore=True)


LONG: dict[str, list[Any]] = {
    "sliding": [sw.sliding(40, every=10), sw.sliding(25, every=5)],
    "tumbling": [sw.tumbling(20)],
    "session": [sw.session(4)],
    "trailing": [sw.trailing(30), sw.trailing(9, "both")],
    "together": [sw.sliding(40, every=10), sw.session(4)],
}
AGGREGATES = [
    sw.count(),
    sw.sum("i"),
    sw.argmax("i", "s"),
    sw.argmin("d", "s").alias("by_date"),
    sw.argmax("s", "n").alias("by_text"),
    sw.last("s"),
]
"""States hold codes of s and n; compiled ones, and those of `by_text`, which are Python objects."""


def walk(steps: int, seed: int = 0, per_step: int = 12) -> pa.Table:
    """Rows in order whose keys, texts and numbers move on: old ones do not come back, but for a few."""
    dice = random.Random(seed)
    rows = range(steps * per_step)
    moment = [n // 3 for n in rows]
    ago = [dice.choice([0, 0, 1, 2, 5, n if dice.random() < 0.02 else 0]) for n in rows]
    return pa.table(
        {
            "t": moment,
            "k": [f"key {max(0, n - 8 * a) // 8}" for n, a in zip(rows, ago, strict=True)],
            "g": [None if n % 7 == 0 else n // 40 for n in rows],
            "i": [None if dice.random() < 0.1 else dice.randint(0, 9) for _ in rows],
            "s": [None if dice.random() < 0.1 else f"text {n // 2}" for n in rows],
            "n": [n // 3 for n in rows],
            "d": pa.array([n % 11 for n in rows], pa.date32()),
        }
    )


def pushed(query: sw.Query, table: pa.Table, size: int, look: Any = None, restore: int = 0) -> list[pa.Table]:
    """What a stream gives for pieces of a table; `look` is called after each, and every `restore`-th is restored."""
    stream, results = query.stream(), []
    for number, first in enumerate(range(0, table.num_rows, size)):
        results.append(stream.push(table.slice(first, size)))
        if restore and number % restore == 0:
            stream = sw.Stream.restore(query, stream.snapshot())
        if look is not None:
            look(stream._engine)
    return [*results, stream.finish()]


@pytest.mark.parametrize("keys", [[], ["k", "g"]], ids=len)
@pytest.mark.parametrize("kind", LONG)
def test_forgetting_changes_no_answer(monkeypatch, counted, kind, keys):
    query = sw.query(time="t", keys=keys, windows=LONG[kind], aggregates=AGGREGATES, lateness=6)
    table = walk(30)
    wanted = pushed(query, table, 12)
    assert counted == {"_keep_keys": 0, "_keep_codes": 0}
    monkeypatch.setattr(upkeep, "FEW", 1)
    for restore in (0, 5):
        for mine, other in zip(pushed(query, table, 12, restore=restore), wanted, strict=True):
            assert mine.equals(other)
    assert counted["_keep_keys"] > 0 or not keys
    assert counted["_keep_codes"] > 0


@pytest.mark.parametrize("kind", ["sliding", "trailing"])
def test_forgetting_while_closed_windows_are_repaired(monkeypatch, counted, kind):
    """Rows that can still be corrected keep their keys and values."""
    query = sw.query(
        time="t", keys="k", windows=LONG[kind], aggregates=AGGREGATES[:2], late="update", repair=25, lateness=2
    )
    dice = random.Random(4)
    table = walk(60)
    shuffled = sorted(range(table.num_rows), key=lambda r: table["t"][r].as_py() + dice.randint(0, 25))
    table = table.take(pa.array(shuffled))
    wanted = pushed(query, table, 12)
    monkeypatch.setattr(upkeep, "FEW", 1)
    got = pushed(query, table, 12, restore=7)
    assert counted["_keep_keys"] > 0
    for mine, other in zip(got, wanted, strict=True):
        assert mine.equals(other)


@sw.aggregate(state=object, commutative=True)
class Picky:
    identity = 0

    def lift(x):
        if x < 0:
            raise ValueError("no")
        return x

    def combine(a, b):
        return a + b


def test_a_batch_that_fails_after_keys_were_forgotten(forgetful):
    query = sw.query(time="t", keys="k", windows=[sw.sliding(40, every=10)], aggregates=[Picky("n"), sw.count()])
    table = walk(40)
    wanted = pushed(query, table, 12)
    stream, got = query.stream(), []
    for first in range(0, table.num_rows, 12):
        piece = table.slice(first, 12)
        bad = piece.set_column(5, "n", pa.array([*range(11), -1]))
        with pytest.raises(ValueError, match="no"):
            stream.push(bad.set_column(1, "k", pa.array([f"other {n}" for n in range(12)])))
        got.append(stream.push(piece))
    got.append(stream.finish())
    for mine, other in zip(got, wanted, strict=True):
        assert mine.equals(other)


# Bounds


@pytest.mark.parametrize("kind", LONG)
def test_keys_and_values_are_forgotten(monkeypatch, kind):
    """With rows of ever new keys and texts, what is known stays as much as the windows hold."""
    monkeypatch.setattr(upkeep, "FEW", FEW)
    query = sw.query(time="t", keys=["k", "g"], windows=LONG[kind], aggregates=AGGREGATES)
    most = {"keys": 0, "s": 0, "n": 0}

    def look(engine: Any) -> None:
        most["keys"] = max(most["keys"], len(engine.keys))
        for name in ("s", "n"):
            most[name] = max(most[name], len(engine.binding.coded[name]))

    table = walk(120)
    pushed(query, table, 24, look)
    # Some 120 rows are in the longest window, and as many again may wait to be forgotten.
    assert len(set(zip(table["k"].to_pylist(), table["g"].to_pylist(), strict=True))) > 300
    assert max(most.values()) <= 2 * 120 + 24


@pytest.mark.parametrize("kind", ["rows_every", "rows"])
def test_values_are_forgotten_where_keys_are_not(monkeypatch, kind):
    monkeypatch.setattr(upkeep, "FEW", FEW)
    windows = [sw.rows(20, every=3)] if kind == "rows_every" else [sw.rows(20)]
    query = sw.query(time="t", windows=windows, aggregates=AGGREGATES)
    table = walk(100)
    known = []
    wanted = query.run(table)
    got = pushed(query, table, 24, lambda engine: known.append(len(engine.binding.coded["s"])))
    assert max(known) <= 4 * 24 + 20, known
    assert pa.concat_tables(got).equals(wanted)


def test_few_are_not_forgotten(counted):
    query = sw.query(time="t", keys="k", windows=[sw.tumbling(20)], aggregates=AGGREGATES)
    pushed(query, walk(100), 24)
    assert counted == {"_keep_keys": 0, "_keep_codes": 0}


def test_not_while_most_are_in_use(monkeypatch, counted):
    """Forgetting takes as long as there are keys, so it waits until it is worth that."""
    monkeypatch.setattr(upkeep, "FEW", FEW)
    query = sw.query(time="t", keys="k", windows=[sw.tumbling(1000)], aggregates=[sw.count()])
    stream = query.stream()
    for step in range(50):
        stream.push({"t": [step] * 10, "k": list(range(10 * step, 10 * step + 10))})
    assert counted["_keep_keys"] == 0
    stream.push({"t": [1000] * 100, "k": list(range(100))})
    assert counted["_keep_keys"] == 1
    assert len(stream._engine.keys) == 100


def memory(engine: Any) -> list[tuple[int, int]]:
    """The slots that were ever taken, and those there is room for."""
    return [(track.arena.top, track.arena.capacity) for track in engine.tracks]


def steady(seen: list[list[tuple[int, int]]]) -> bool:
    """Whether four times as many steps took little more; rings of random lengths have their luck."""
    early, late = seen[len(seen) // 4], seen[-1]
    return all(after[0] <= 1.3 * before[0] for before, after in zip(early, late, strict=True))


@pytest.mark.parametrize("kind", LONG)
def test_memory_does_not_grow_with_a_fixed_number_of_keys(kind):
    """After a while, nothing is taken any more that was not free."""
    rng = np.random.default_rng(1)
    stream = sw.query(time="t", keys="k", windows=LONG[kind], aggregates=[sw.count(), sw.sum("x")]).stream()
    seen = []
    for step in range(200):
        times = np.sort(rng.integers(5 * step, 5 * step + 5, 40))
        stream.push({"t": times, "k": rng.integers(0, 20, 40), "x": rng.random(40)})
        seen.append(memory(stream._engine))
    assert steady(seen)
    for track in stream._engine.tracks:
        assert track.arena.top <= track.arena.capacity <= 2 * track.arena.top + 2 * 40 * 64
        assert all(len(component.entries) == track.arena.capacity for component in track.arena.components)


@pytest.mark.parametrize("kind", LONG)
def test_memory_does_not_grow_with_keys_that_come_and_go(monkeypatch, kind):
    """Rings of keys that have no entry left go to those that come."""
    monkeypatch.setattr(upkeep, "FEW", FEW)
    stream = sw.query(time="t", keys="k", windows=LONG[kind], aggregates=[sw.count(), sw.sum("x")]).stream()
    seen = []
    for step in range(200):
        keys = [10 * step + n % 10 for n in range(40)]
        stream.push({"t": [5 * step + n // 8 for n in range(40)], "k": keys, "x": [1.0] * 40})
        seen.append(memory(stream._engine))
    assert steady(seen)


def test_a_ring_that_was_left_is_used_again():
    """A key that grows leaves its ring to the next key of that size."""
    windows = [sw.sliding(64, every=1)]
    stream = sw.query(time="t", keys="k", windows=windows, aggregates=[sw.sum("x")], lateness=100).stream()
    for t in range(64):
        stream.push({"t": [t], "k": ["a"], "x": [1]})
    top = 4 + 8 + 16 + 32 + 64
    assert stream._engine.tracks[0].arena.top == top
    for k, size in enumerate([4, 8, 16, 32]):
        stream.push({"t": list(range(64 - size, 64)), "k": [f"{k}"] * size, "x": [1] * size})
    assert stream._engine.tracks[0].arena.top == top
    stream.push({"t": [63], "k": ["b"], "x": [1]})
    assert stream._engine.tracks[0].arena.top == top + 4


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failed_batch_leaves_states_alone_that_it_did_not_reach(threads, monkeypatch):
    """One aggregate fails; the others, of every layout of states, have been changed or not."""
    monkeypatch.setattr(arena_module, "ENOUGH_FOR_TWO", 0 if threads == 2 else 1 << 60)
    others = [sw.distinct("x"), sw.mean("x"), sw.max("x")]
    for place in range(len(others) + 1):
        aggregates = [*others[:place], Picky("x"), *others[place:]]
        query = sw.query(time="t", keys="k", windows=[sw.sliding(64, every=8)], aggregates=aggregates, lateness=64)
        good = [{"t": [0, 9, 20], "k": [0, 0, 1], "x": [1, 2, 3]}, {"t": [4, 12, 90], "k": [0, 1, 1], "x": [4, 5, 6]}]
        stream, plain = query.stream(), query.stream()
        for batch in good:
            stream.push(batch), plain.push(batch)
            with pytest.raises(ValueError, match="no"):
                stream.push({"t": [30, 31, 100, 40], "k": [0, 1, 1, 2], "x": [7, 8, 9, -1]})
        assert stream.finish().equals(plain.finish())


def test_a_failed_batch_gives_its_rings_back():
    stream = sw.query(time="t", keys="k", windows=[sw.sliding(64, every=1)], aggregates=[Picky("x")]).stream()
    stream.push({"t": [0], "k": [0], "x": [1]})
    seen = []
    for _ in range(50):
        with pytest.raises(ValueError, match="no"):
            stream.push({"t": [0, 1, 2, 1], "k": [0, 0, 0, 1], "x": [1, 2, -1, 3]})
        seen.append(memory(stream._engine))
    assert seen[0] == seen[-1]
    assert stream.finish()["Picky_x"].to_pylist() == [1] * 64
