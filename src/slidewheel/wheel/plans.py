"""Plans as users see them."""

from dataclasses import dataclass
from typing import Any

from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument
from slidewheel.times import format_instant
from slidewheel.wheel import names as n
from slidewheel.wheel.levels import Level

KINDS = {
    "auto": n.AUTO,
    "wheel": n.WHEEL,
    "combined": n.COMBINED,
    "landmark": n.LANDMARK,
    "inverse_landmark": n.INVERSE,
    "prefix": n.PREFIXED,
}
NAMES = {number: name for name, number in KINDS.items()}


def plan_number(plan: str) -> int:
    if plan not in KINDS:
        raise InvalidArgument(f"unknown plan {plan!r}: there are {', '.join(KINDS)}")
    return KINDS[plan]


@dataclass(frozen=True)
class Part:
    """A part of a plan: some slots of a level, or the total of its rotation under way."""

    role: str
    """"add", or "take" for what an inverse takes away."""
    level: str
    slots: int
    """How many slots are read; 0 for a total."""

    def __str__(self) -> str:
        what = f"the total of {self.level}" if self.slots == 0 else f"{self.slots} of {self.level}"
        return f"{'-' if self.role == 'take' else '+'} {what}"


@dataclass(frozen=True)
class RangePlan:
    """How a range is answered: the kind of plan, its parts from old to new, and its cost in combines."""

    start: int
    end: int
    kind: str
    parts: list[Part]
    cost: int

    def __str__(self) -> str:
        lines = [f"[{format_instant(self.start)}, {format_instant(self.end)})  {self.kind}, {self.cost} combines"]
        return "\n".join([*lines, *(f"  {part}" for part in self.parts)])


def plan_of(
    start: int, end: int, kind: int, cost: int, room: tuple[Array, ...], levels: tuple[Level, ...]
) -> RangePlan:
    """From what the planner has written."""
    parts, sizes, _ = room
    listed: list[Part] = []
    if kind == n.PREFIXED:
        level = levels[int(parts[0])].name
        roles: list[tuple[Any, ...]] = [("add", 2), ("take", 1)]
        listed = [Part(role, f"{level} (prefix sums)", 1) for role, place in roles if place == 2 or parts[1] > 0]
    else:
        room_of = 2 * len(levels) + 1
        for k, role in enumerate(("add", "take", "take")):
            for at in range(k * room_of, k * room_of + int(sizes[k])):
                number, low, high = (int(x) for x in parts[3 * at : 3 * at + 3])
                listed.append(Part(role, levels[number].name, 0 if low == n.TOTAL else high - low))
    return RangePlan(start, end, NAMES[kind], listed, cost)
