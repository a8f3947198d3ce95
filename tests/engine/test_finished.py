"""Trailing windows over a finished table: against plain recalculation, and to the last bit what a stream gives."""

import random
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.compiler import drivers
from slidewheel.engine import finished, stream
from slidewheel.engine.per_row import PerRow
from slidewheel.windows.plan import trailing_shifts

CLOSED = ("right", "left", "both", "neither")


def random_rows(dice: random.Random, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and times of rows by key and time, many of them equal."""
    count = dice.randint(1, most)
    step = dice.choice([1, 2, 10, 1000])
    rows = sorted((dice.randrange(4), dice.randint(-step * 20, step * 20)) for _ in range(count))
    return np.array([k for k, _ in rows]), np.array([t for _, t in rows])


class Interpreted:
    """The driver with texts as states."""

    def __init__(self) -> None:
        self.combines = 0
        names = {
            "np": np,
            "identity": lambda: "",
            "item": lambda columns, valid, i: f"<{i}>",
            "combine": self.combined,
            "load": lambda states, i: states[i],
            "store": self.stored,
        }
        self.call = FunctionType(drivers.trail_all.__code__, names)

    def combined(self, a: str, b: str) -> str:
        self.combines += 1
        return a + b

    @staticmethod
    def stored(states: Any, i: int, state: str) -> None:
        states[i] = state

    def answers(self, codes: np.ndarray, times: np.ndarray, spec: Any, shift: int) -> list[str]:
        out = [""] * len(times)
        for first, lo, hi in finished._parts(codes, times, spec.reach[0], shift):
            ids, states = np.zeros(hi - first, dtype=np.int64), [""] * (hi - first)
            self.call((), None, codes, times, first, lo, hi, shift, *spec.reach, ids, states, out)
        return out


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("part", [1, 5, 1 << 16])
def test_every_window_holds_its_rows_in_order(monkeypatch, closed, part):
    monkeypatch.setattr(finished, "PART", part)
    monkeypatch.setattr(finished, "CATCH_UP", 1000)
    for seed in range(60):
        dice = random.Random(seed)
        codes, times = random_rows(dice, 60)
        spec = sw.trailing(f"{dice.choice([1, 2, 3, 7, 10, 64, 100, 5000])}us", closed=closed)
        [shift] = trailing_shifts([spec])
        shift -= dice.randint(0, min(shift, 1))  # as where windows share the blocks of shorter ones
        before, after = spec.reach
        wanted = [
            "".join(f"<{j}>" for j in range(len(times)) if codes[j] == k and t - before <= times[j] < t + after)
            for k, t in zip(codes, times, strict=True)
        ]
        assert Interpreted().answers(codes, times, spec, shift) == wanted, seed


def test_combines():
    """For each entry one for its prefix and one for its suffix; for an answer one, or two with a block between."""
    times = np.arange(0, 40_000, 4)
    codes = np.zeros(len(times), dtype=np.int64)
    for length, for_an_answer in ((256, 1), (400, 2)):
        made = Interpreted()
        spec = sw.trailing(f"{length}us")
        made.answers(codes, times, spec, *trailing_shifts([spec]))
        assert made.combines <= (2 + for_an_answer) * len(times)
        assert made.combines > (1 + for_an_answer) * len(times) * 0.9  # it is the work that is counted


def queries(dice: random.Random) -> sw.Query:
    lengths = dice.sample([1, 2, 3, 7, 10, 33, 64, 100, 1000, 5000], dice.randint(1, 3))
    specs = [sw.trailing(f"{length}us", closed=dice.choice(CLOSED), name=f"w{length}") for length in lengths]
    aggregates = [sw.sum("v"), sw.mean("v"), sw.std("v"), sw.max("v"), sw.count(), sw.first("v"), sw.last("v")]
    aggregates = dice.sample(aggregates, dice.randint(1, len(aggregates)))
    return sw.query(time="t", keys=dice.choice([["k"], []]), windows=specs, aggregates=aggregates, lateness="1d")


@pytest.mark.parametrize(("part", "most"), [(3, 1 << 25), (1 << 16, 1 << 25), (1 << 16, 0)])
def test_the_answers_of_a_stream_to_the_last_bit(monkeypatch, part, most):
    monkeypatch.setattr(finished, "PART", part)
    monkeypatch.setattr(stream, "WITHOUT_A_STATE", most)
    for seed in range(60):
        dice = random.Random(seed)
        codes, times = random_rows(dice, 200)
        order = np.array(dice.sample(range(len(times)), len(times)))
        values = np.array([dice.gauss(100, 15) * 10 ** dice.randint(-9, 9) for _ in times])
        nulls = np.array([dice.random() < 0.2 for _ in times]) if dice.random() < 0.5 else None
        columns = {"t": times[order], "k": codes[order], "v": pa.array(values, mask=nulls)}
        table, query = pa.table(columns), queries(dice)
        fed = query.stream()
        cut = dice.randint(0, len(times))
        # Where they meet, rows of one time and key have been put in order by their values.
        pushed = [fed.push(table.slice(0, cut)), fed.push(table.slice(cut)), fed.finish()]
        wanted = pa.concat_tables([found for found in pushed if found.num_columns])
        assert query.run(table).equals(wanted), seed


def test_who_takes_the_short_way():
    schema = pa.schema([("t", pa.int64()), ("v", pa.float64())])

    def taken(*aggregates: Any, beside: tuple[Any, ...] = ()) -> bool:
        made = sw.query(time="t", windows=[sw.trailing("10us"), *beside], aggregates=list(aggregates)).stream()
        made._start(schema)
        return made._engine.by_trails

    assert taken(sw.sum("v"), sw.std("v"), sw.argmax("v", "t"), sw.count())
    assert not taken(sw.sum("v"), sw.collect("v"))
    assert not taken(sw.bloom("v", bits=128, hashes=2))
    assert not taken(sw.sum("v"), beside=(sw.rows(3),))


def test_no_rows_and_one(monkeypatch):
    query = sw.query(time="t", keys=["k"], windows=sw.trailing("10us"), aggregates=[sw.sum("v")])
    monkeypatch.setattr(PerRow, "close", None)  # the long way
    none = pa.table({"t": pa.array([], pa.int64()), "k": pa.array([], pa.string()), "v": pa.array([], pa.int64())})
    assert query.run(none).schema.names == ["t", "k", "v", "sum_v_10us"]
    assert query.run(none)["sum_v_10us"].type == pa.int64()
    one = {"t": [5], "k": ["a"], "v": [7]}
    assert query.run(one).to_pylist() == [{"t": 5, "k": "a", "v": 7, "sum_v_10us": 7}]
    without = {"t": pa.array([None, 5], pa.int64()), "k": ["a", None], "v": [1, 2]}
    assert query.run(without).to_pylist() == [{"t": 5, "k": None, "v": 2, "sum_v_10us": 2}]


def test_an_overflow_has_a_name():
    query = sw.query(time="t", windows=sw.trailing("10us"), aggregates=[sw.sum("v")])
    with pytest.raises(sw.Overflow):
        query.run({"t": [1, 2], "v": [2**62, 2**62]})
