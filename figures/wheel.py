"""The wheel: its levels while time goes on, and the slots that answer a range."""

from typing import Any

import slidewheel as sw
from figures.canvas import Canvas
from figures.timeline import Timeline, clock
from figures.watch import COMBINES, Letters
from slidewheel.wheel import names

MINUTE, TICK = 60_000_000, 20
ROWS = "abcdefghijklmnopqrstuvwxyz"
LAST = 25
"""Ticks in the pictures."""


class Watched:
    """A wheel of letters, one in each tick of 20 minutes."""

    def __init__(self) -> None:
        levels = {"20m": 3, "hours": 3, "3 hours": 8}
        self.wheel = sw.Wheel(Letters(), start="2024-05-01", tick="20m", levels=levels, write_ahead=4)
        self.inserted = 0

    def advance(self, ticks: int, ahead: int = 3) -> None:
        """Rows up to some ticks ahead, in a mixed order, then the watermark."""
        new = list(range(self.inserted, ticks + ahead))
        mixed = new[1::2] + new[::2]
        self.inserted = ticks + ahead
        self.wheel.insert_many([self.time(k) + MINUTE for k in mixed], [ROWS[k] for k in mixed])
        self.wheel.advance_to(self.time(ticks))

    def time(self, ticks: int) -> int:
        return self.wheel.start + ticks * TICK * MINUTE

    def ticks(self, time: int) -> int:
        return (time - self.wheel.start) // (TICK * MINUTE)

    def slots(self, level: int) -> list[tuple[int, int, str]]:
        """The finished slots of a level: first tick, tick behind it, and state."""
        table = self.wheel.to_arrow(self.wheel.levels[level].name)
        found = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return [(self.tick_of(start), self.tick_of(end), state) for start, end, state in found]

    def tick_of(self, time: Any) -> int:
        return self.ticks(int(time.timestamp() * 1_000_000))

    def totals(self) -> list[tuple[int, int, str]]:
        """The totals of the rotations under way, from the coarsest level on: they tile all of finished time."""
        core, found, at = self.wheel._core, [], 0
        for level in reversed(range(len(self.wheel.levels))):
            if core.book[level, names.OPEN] != names.NONE:
                state = str(core.totals[level])
                found.append((at, at + len(state), state))
                at += len(state)
        return found

    def ring(self) -> list[tuple[int, str]]:
        """What is ahead of the watermark."""
        ticks, _, states = self.wheel._core.pending()
        return sorted((int(t) - self.wheel._core.first, str(s)) for t, s in zip(ticks, states, strict=True))


def wheel() -> Canvas:
    picture = _picture(
        "A wheel while time goes on",
        "Three levels of slots: 20 minutes, hours, and 3 hours. Each slot is written as the rows that it covers. When "
        "a rotation of a level is complete, its total becomes a slot of the level above.",
    )
    watched = Watched()
    for ticks, note in (
        (2, "two ticks are finished; later ones wait in the ring"),
        (9, "three hours are complete, so that they are a slot of 3 hours"),
        (22, "all totals together cover all finished time: the landmark"),
    ):
        if ticks > 2:
            picture.separate()
        watched.advance(ticks)
        picture.heading(f"advance_to {clock(ticks * TICK)}")
        picture.note(note)
        top, below = picture.y, len(picture.parts)
        picture.label("ring")
        for tick, state in watched.ring():
            picture.bar(tick, tick + 1, state, "back")
        picture.down()
        _levels(picture, watched, set())
        picture.label("totals")
        for start, end, state in watched.totals():
            picture.bar(start, end, _short(state, end - start), "ready")
        picture.down()
        picture.uprights([watched.ticks(watched.wheel.watermark)], top - 4, below, thick=True)
    _axis(picture)
    picture.legend(
        ("front", "finished"),
        ("ready", "the total of a rotation under way"),
        ("back", "not finished"),
        ("line", "the watermark"),
    )
    return picture


def wheel_plan() -> Canvas:
    picture = _picture(
        "The slots that answer a range",
        "A wheel at 07:20 and three ranges of time. For each range the slots and totals that the plan reads are "
        "marked; their states together are the answer.",
    )
    watched = Watched()
    watched.advance(22)
    for number, (low, high) in enumerate(((2, 20), (2, 22), (0, 22))):
        if number:
            picture.separate()
        start, end = watched.time(low), watched.time(high)
        plan = watched.wheel.explain(start, end)
        COMBINES.clear()
        answer = watched.wheel.query(start, end)
        assert answer == ROWS[low:high] and len(COMBINES) == plan.cost
        picture.heading(f"query {clock(low * TICK)} to {clock(high * TICK)}", f"{plan.kind}, {plan.cost} combines")
        read: set[tuple[int, int]] = set()
        totals: set[int] = set()
        states, at = [], low
        for part in plan.parts:
            level = next(k for k, found in enumerate(watched.wheel.levels) if found.name == part.level)
            if part.slots == 0:
                total = next(found for found in watched.totals() if found[0] == at)
                totals.add(total[0])
                states.append(_short(total[2], len(total[2])))
                at = total[1]
            for _ in range(part.slots):
                read.add((level, at))
                states.append(next(state for start, _, state in watched.slots(level) if start == at))
                at += watched.wheel.levels[level].length // (TICK * MINUTE)
        assert at == high
        picture.note(" + ".join(states))
        top, below = picture.y, len(picture.parts)
        _levels(picture, watched, read)
        picture.label("totals")
        for begin, until, state in watched.totals():
            picture.bar(begin, until, _short(state, until - begin), "ready", thick=begin in totals)
        picture.down()
        picture.uprights((low, high), top - 2, below)
    _axis(picture)
    picture.legend(("front", "a slot"), ("ready", "a total"), ("thick", "read by the query"))
    return picture


def _picture(title: str, description: str) -> Timeline:
    return Timeline(title, description, 0, LAST, label=58)


def _levels(picture: Timeline, watched: Watched, read: set[tuple[int, int]]) -> None:
    for level, found in enumerate(watched.wheel.levels):
        picture.label(found.name)
        for start, end, state in watched.slots(level):
            picture.bar(start, end, state, "front", thick=(level, start) in read)
        picture.down()


def _short(state: str, ticks: int) -> str:
    return state if ticks < 12 else f"{state[:3]} ... {state[-3:]}"


def _axis(picture: Timeline) -> None:
    picture.y += 6
    picture.axis(range(0, LAST, 3), lambda tick: clock(tick * TICK))
