"""Random lives of a store: what is done to it, and what it must know at every moment."""

from pathlib import Path

import numpy as np
import pyarrow as pa

import slidewheel as sw
from tests.store.events import SECOND, events, micros, recalculated, same

AGGREGATES = [sw.count(), sw.sum("i"), sw.mean("x"), sw.max("x"), sw.min("i"), sw.distinct("s", precision=4)]
LADDERS = (["1s", "10s", "1m", "1h"], ["1s", "7s", "70s"], ["5s", "1m"], ["1s"])


class Life:
    """A store and the rows that it was given, side by side."""

    def __init__(self, path: Path, seed: int, aggregates=AGGREGATES) -> None:
        self.dice = np.random.default_rng(seed)
        self.query = sw.query(time="t", keys=["k", "n"], windows=sw.sliding("1m", "30s"), aggregates=aggregates)
        self.levels = LADDERS[seed % len(LADDERS)]
        self.path = path
        sw.create_store(path, self.query, levels=self.levels)
        self.store = sw.open_store(path)
        self.all = events(int(self.dice.integers(50, 900)), seed)
        self.all = self.all.filter(micros(self.all) % (5 * SECOND) < SECOND) if seed % 5 == 4 else self.all
        self.given = self.all.slice(0, 0)
        self.at, self.number = 0, {"a": 0, "b": 10, "stream": 0}
        self.stream = None

    def step(self) -> None:
        """Something that may happen to a store."""
        what = self.dice.choice(["append", "batch", "again", "stream", "compact", "open", "vacuum", "ask"])
        getattr(self, f"do_{what}")()

    def _next(self) -> pa.Table:
        count = int(self.dice.integers(0, 120))
        rows = self.all.slice(self.at, count)
        self.at += rows.num_rows
        self.given = pa.concat_tables([self.given, rows])
        return rows

    def do_append(self) -> None:
        assert self.store.append(self._next()).committed

    def do_batch(self) -> None:
        name = str(self.dice.choice(["a", "b"]))
        self.number[name] += int(self.dice.integers(1, 3))
        assert self.store.append(self._next(), batch=(name, self.number[name])).committed

    def do_again(self) -> None:
        """A batch that the store has already, with whatever rows."""
        for name in ("a", "b"):
            if self.store.last_batch(name) is not None:
                rows = self.all.slice(0, 10)
                assert not self.store.append(rows, batch=(name, self.number[name])).committed

    def do_stream(self) -> None:
        """A stream that is broken off after some step, and goes on from its snapshot."""
        if self.stream is None:
            self.stream = self.query.stream(store=self.store, application="stream")
        rows = self._next()
        self.stream.push(rows)
        snapshot = self.stream.snapshot()
        if self.dice.random() < 0.5:
            self.stream.commit()
        self.stream = sw.Stream.restore(self.query, snapshot, store=self.path)
        self.stream.commit()

    def do_compact(self) -> None:
        self.store.compact(target=int(self.dice.choice([20, 200, 100_000])))

    def do_open(self) -> None:
        self.store = sw.open_store(self.path)

    def do_vacuum(self) -> None:
        self.store.vacuum(keep=0)

    def do_ask(self) -> None:
        if self.store.definition.schema is not None:
            self.ask()

    def ask(self) -> None:
        """Questions of all kinds, against the rows."""
        dice, tick = self.dice, self.store.tick
        times = micros(self.all)
        low, high = np.sort(dice.integers(times.min() - 100 * SECOND, times.max() + 100 * SECOND, 2)) // tick * tick
        keys = None
        if dice.random() < 0.5:
            keys = {"k": [None if v == 0 else f"key {v}" for v in dice.integers(0, 8, 2).tolist()]}
            if dice.random() < 0.5:
                keys["n"] = [int(dice.integers(0, 4))]
        edges, every = [int(low), int(high)], None
        if dice.random() < 0.5:
            every = int(dice.choice([1, 3, 12, 60, 3600])) * tick
            count = -(-(high - low) // every)
            if count > 50:
                high, count = low + 50 * every, 50
            edges = [*(int(low + k * every) for k in range(count)), int(high)]
        some = [a for a in self.query.aggregates if dice.random() < 0.5] or list(self.query.aggregates)
        names = [aggregate.output for aggregate in some]
        found = self.store.query(int(low), int(high), keys=keys, every=every, aggregates=names)
        expected = recalculated(self.given, self.query, edges, keys).select(["start", "end", "k", "n", *names])
        same(found, expected.drop_columns(["start", "end"]) if every is None else expected)

    def final(self) -> None:
        """Everything that was given is there once, before and after a compaction."""
        for _ in range(2):
            self.do_ask()
            assert self.store.check().problems == []
            self.store.compact()
        total = sum(self.store.query(aggregates="count")["count"].to_pylist()) if self.given.num_rows else 0
        assert total == self.given.num_rows
