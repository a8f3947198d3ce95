"""Random scripts for a wheel and its model, the same for the same seed."""

import math
import random
from typing import Any
from unittest.mock import patch

import slidewheel as sw
from slidewheel.wheel import wheel as wheels
from tests.support import AGGREGATES
from tests.wheel.harness import Twins, fields, ladder
from tests.wheel.model import SECOND, Model

DAY = 86_400 * SECOND
CLOCK = {"seconds": 60, "minutes": 60, "hours": 24, "days": 7, "weeks": 52, "years": 10}
LADDERS: dict[int, dict[str, int]] = {
    1: {"microseconds": 1000, "milliseconds": 1000, **CLOCK},
    1_000: {"milliseconds": 1000, **CLOCK},
    100_000: {"100ms": 10, **CLOCK},
    SECOND: CLOCK,
    60 * SECOND: {name: slots for name, slots in CLOCK.items() if name != "seconds"},
}
SMALL: list[dict[str, int]] = [
    {"a": 4, "b": 3, "c": 5},
    {"a": 2, "b": 2, "c": 2, "d": 2, "e": 2},
    {"a": 7, "b": 4},
    {"a": 1, "b": 6, "c": 1, "d": 3},
]
ORIGINS = (
    0,
    1_699_524_923 * SECOND + 123_456,  # 10:15:23 on a Thursday, and a bit
    -86_399 * SECOND,  # before 1970
    -1_234_567_890_123_457,
    1_711_845_000 * SECOND,
)
INTEGERS = [*range(-9, 10), 1_000_000, -(2**40)]
FLOATS = [k / 8 for k in range(-20, 21)]
SPECIAL = [math.nan, math.inf, -math.inf, 1e17, -1e17, -0.0]
TEXTS = ["", "a", "b", "ab", "zz", "é"]
COMPILED = {
    ("count", "i8"),
    ("sum", "i8"),
    ("sum", "f8"),
    ("max", "f8"),
    ("last", "i8"),
}
ONLY_TEXT = ("concat", "collect", "collect_distinct", "Words")


def forms() -> list[tuple[str, str]]:
    """Every aggregate with each kind of value that it takes."""
    found = []
    for name, aggregate in AGGREGATES.items():
        kinds = ["i8"] if name in ("count", "bloom") else ["O"] if name in ONLY_TEXT else ["i8", "f8", "O"]
        found += [(name, kind) for kind in kinds if not (aggregate.name == "product" and kind == "O")]
    return found


def few_forms() -> list[tuple[str, str]]:
    """Every aggregate interpreted, and few compiled, since each takes its time to compile."""
    return [form for form in forms() if form[1] == "O" or form in COMPILED]


def pool(name: str, kind: str, dice: random.Random) -> list[Any]:
    if name == "product":
        return [1, 2, -1, 0] if kind == "i8" else [0.5, 1.0, 2.0, -1.0]
    if kind == "i8":
        return INTEGERS if name not in ("var", "std", "geomean") else INTEGERS[:19]
    if kind == "f8":
        return FLOATS + (SPECIAL if dice.random() < 0.5 else [])
    return INTEGERS[:19] if AGGREGATES[name].arithmetic else TEXTS


class Script:
    """A wheel of random settings, and steps of chance."""

    def __init__(self, name: str, kind: str, seed: int) -> None:
        self.dice = dice = random.Random(f"{name} {kind} {seed}")
        self.name, self.kind = name, kind
        self.aggregate = AGGREGATES[name]
        self.tick = dice.choice(list(LADDERS))
        self.small = dice.random() < 0.7
        levels = dice.choice(SMALL) if self.small else LADDERS[self.tick]
        self.settings = self.chosen(levels)
        start = dice.choice(ORIGINS) + dice.choice([0, 0, dice.randrange(100) * self.tick])
        model = Model(self.aggregate, start=start, tick=self.tick)
        self.settings["start"] = start
        rungs = ladder(self.tick, levels, self.settings.get("keep", "all"), self.settings.get("prefix", False))
        self.twins = Twins(self.made(), model, rungs, kind)
        self.values = pool(name, kind, dice)
        self.longest = (200 if self.small else 8_000) * self.tick
        """How far time may go in one step: windows that slide by a tick would be too many."""
        self.replica = Twins(self.made(), model.copy(), rungs, kind) if dice.random() < 0.5 else None
        self.synced = model.start
        if self.replica is not None and dice.random() < 0.5:
            self.replica.window(sw.sliding(7 * self.tick, every=3 * self.tick) if self.small else sw.tumbling("1h"))

    def chosen(self, levels: dict[str, int]) -> dict[str, Any]:
        dice = self.dice
        settings: dict[str, Any] = {"tick": self.tick, "write_ahead": dice.choice([1, 3, 64, 96, 512])}
        if self.small:
            settings["levels"] = dice.choice([levels, list(levels.items())])
        each = {name: dice.choice(["all", "drop", 1, 2, dice.randint(1, 30)]) for name in levels}
        some = {name: keep for name, keep in each.items() if dice.random() < 0.5}
        settings["keep"] = dice.choice(["all", "all", "all", "drop", dice.randint(1, 30), each, some])
        if self.aggregate.invertible and dice.random() < 0.6:
            settings["prefix"] = dice.choice([True, [n for n in levels if dice.random() < 0.5]])
        if self.compressible() and settings.get("prefix") is not True and dice.random() < 0.4:
            taken = settings.get("prefix") or []
            settings["compress"] = [n for n in levels if n not in taken and dice.random() < 0.6]
        if dice.random() < 0.3 or self.kind == "O":
            settings["dtype"] = object if self.kind == "O" else self.kind
        return settings

    def compressible(self) -> bool:
        """States of numbers of 64 bits are; not those with a flag, nor objects."""
        return self.kind != "O" and self.name not in ("first", "last", "argmin", "argmax", "bloom")

    def made(self) -> Any:
        return sw.Wheel(self.aggregate, **self.settings)

    # Chance

    def value(self) -> Any:
        head = self.dice.choice(self.values)
        return (head, self.dice.randrange(1000)) if self.aggregate.arity == 2 else head

    def time(self) -> int:
        """Around the watermark: late, soon, a little too far ahead, or very far."""
        dice, tick = self.dice, self.tick
        ahead = dice.choice(
            [0, 0, 1, 2, 5, 20, dice.randrange(100), self.settings["write_ahead"] + dice.randint(-2, 3)]
        )
        if dice.random() < 0.1:
            ahead = dice.choice([500, 3_600, 5_000, 100_000])
        if dice.random() < 0.1:
            ahead = -dice.randrange(1, 50)
        return self.twins.model.watermark + ahead * tick + dice.choice([0, 0, dice.randrange(tick), tick - 1])

    def moment(self) -> int:
        """Finished time: near rows, edges of slots and the ends."""
        dice, model = self.dice, self.twins.model
        near = [model.start, model.watermark, dice.randrange(model.start, model.watermark + 1)]
        near += [row.tick for row in dice.sample(model.rows, min(2, len(model.rows)))]
        length = dice.choice(self.twins.rungs).length
        place = dice.choice(near)
        place = dice.choice([place, place + self.tick, place // length * length, -(-place // length) * length])
        return min(max(model.floor(place), model.start), model.watermark)

    def range(self) -> tuple[int, int]:
        return tuple(sorted((self.moment(), self.moment())))  # type: ignore[return-value]

    # Steps

    def insert(self) -> None:
        self.twins.insert(self.time(), self.value())

    def insert_many(self) -> None:
        count = self.dice.choice([0, 1, 5, 30])
        self.twins.insert_many([self.time() for _ in range(count)], self.some(count), self.dtype())

    def some(self, count: int) -> list[Any]:
        nulls = self.dice.choice([0.0, 0.0, 0.3])
        return [None if self.dice.random() < nulls else self.value() for _ in range(count)]

    def dtype(self) -> Any:
        return object if self.kind == "O" else self.kind

    def ingest(self) -> None:
        count = self.dice.choice([1, 10, 25])
        times, base = [], self.twins.model.watermark
        for _ in range(count):
            base += self.dice.choice([0, 0, 1, 2]) * self.tick
            times.append(base + self.dice.randrange(-3, 4) * self.tick)
        delay = self.dice.choice([0, 2, 7]) * self.tick
        hopeful = {"MANY": self.dice.choice([0, wheels.MANY]), "LAST": 1}
        with patch.multiple(wheels, **hopeful):
            self.twins.ingest(times, self.some(count), self.dice.choice([1, 3, 10]), delay, self.dtype())

    def advance(self) -> None:
        dice = self.dice
        ticks = dice.choice([0, 1, 1, 2, 5, 13, 40, 64, 100])
        step = ticks * self.tick + dice.randrange(self.tick)
        if dice.random() < 0.15:
            step = dice.randrange(self.longest)
        windows = [*self.twins.model.registered, *(self.replica.model.registered if self.replica else [])]
        if dice.random() < 0.1 and not windows:
            step = dice.choice([3600 * SECOND, DAY, 400 * DAY])
            step = min(step, 1_000 * self.twins.rungs[-1].length)
        self.twins.advance_to(self.twins.model.watermark + step - dice.choice([0, 0, 0, 5 * self.tick]))

    def window(self) -> None:
        if len(self.twins.model.registered) < 3:
            self.twins.window(self.spec())

    def spec(self) -> Any:
        dice, tick = self.dice, self.tick
        slide = dice.choice([1, 2, 3, 5, 12, 60]) if self.small else dice.choice([60, 100, 3600])
        name = f"w{len(self.twins.model.registered)}"
        kind = dice.choice(["sliding", "sliding", "tumbling", "session"])
        fresh = self.twins.model.watermark == self.twins.model.start
        if kind == "session" and (fresh or self.twins.rungs[0].kept is None):
            return sw.session(dice.choice([tick, 2 * tick, 7 * tick, 100 * tick, 3 * tick + tick // 2]), name=name)
        offset = dice.choice([0, 0, 1, slide - 1]) * tick
        if kind == "tumbling":
            return sw.tumbling(slide * tick, offset=offset, name=name)
        length = dice.choice([slide * 3, slide * 2 + 1, max(1, slide // 2), slide * 7 - 1])
        return sw.sliding(length * tick, every=slide * tick, offset=offset, name=name)

    def restore(self) -> None:
        self.twins.restore()

    def sync(self) -> None:
        """The replica gets what was finished since it last did, or since a time that it has already."""
        if self.replica is None:
            return
        mine, its = self.twins, self.replica
        since = self.dice.choice([self.synced, mine.model.start])
        try:
            delta = mine.wheel.deltas(since)
        except sw.SlidewheelError:
            assert since < mine.rungs[0].oldest(mine.model)
            return
        its.compare_windows([fields(w) for w in its.wheel.apply(delta)], self.known_to_replica())
        assert its.wheel.watermark == mine.model.watermark
        self.synced = mine.model.watermark
        its.check_landmark()
        for _ in range(3):
            its.check_range(*self.range())

    def known_to_replica(self) -> list[Any]:
        its = self.replica
        assert its is not None
        its.model.rows = self.twins.model.finished().rows
        return its.model.advance_to(self.twins.model.watermark)

    def check(self) -> None:
        twins = self.twins
        twins.check_landmark()
        twins.check_range(twins.model.start, twins.model.watermark)
        for _ in range(6):
            twins.check_range(*self.range())
        if all(rung.kept is None for rung in twins.rungs):
            twins.check_many([self.range() for _ in range(5)])
            start, end = self.range()
            wide = max((end - start) // 5 // self.tick, 1)
            if self.name != "bloom":
                twins.check_groups(start, end, wide * self.tick)
        if self.name != "bloom":
            twins.check_slots(shortest=(twins.model.watermark - twins.model.start) // 300)

    def run(self, steps: int = 25) -> None:
        weights = {
            self.insert: 3,
            self.insert_many: 4,
            self.ingest: 1,
            self.advance: 5,
            self.window: 1,
            self.restore: 1,
            self.sync: 2,
            self.check: 2,
        }
        self.check()
        for step in self.dice.choices(list(weights), list(weights.values()), k=steps):
            step()
        self.check()
