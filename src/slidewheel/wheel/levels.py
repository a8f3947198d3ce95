"""Levels of time are data: how long the slots of each are, how many make a rotation, and what is kept of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slidewheel.errors import InvalidArgument
from slidewheel.times import duration, format_duration

LAYOUTS = ("plain", "prefix", "compressed")
DAY = 86_400_000_000
LADDER = (("seconds", 1_000_000), ("minutes", 60_000_000), ("hours", 3_600_000_000), ("days", DAY), ("weeks", 7 * DAY))
YEAR = 364 * DAY
"""52 weeks, so that weeks nest in it."""
YEARS = 10
FINE = (("microseconds", 1), ("milliseconds", 1_000))
LONGEST = 2**60


@dataclass(frozen=True)
class Level:
    """One level of a wheel.

    slots: how many make a rotation, which is one slot of the level above.
    keep: "all", "drop" (the last rotation only) or how many of the last slots.
    layout: "plain", "prefix" (sums up to each slot, for aggregates with an inverse) or "compressed".

    >>> import slidewheel as sw
    >>> wheel = sw.Wheel(sw.sum(), start=0, levels=[sw.Level("seconds", 60, keep=3600), sw.Level("minutes", 60)])
    >>> [level.name for level in wheel.levels]
    ['seconds', 'minutes']
    """

    name: str
    slots: int
    keep: str | int = "all"
    layout: str = "plain"
    length: int = 0
    """The microseconds of a slot; a wheel fills it in."""

    @property
    def kept(self) -> int | None:
        """How many slots are kept; None for all."""
        return None if self.keep == "all" else self.slots if self.keep == "drop" else int(self.keep)


def levels_of(levels: Any, tick: int, keep: Any, prefix: Any, compress: Any) -> tuple[Level, ...]:
    """The levels that a user asks for, with their lengths."""
    listed = _ladder(tick) if levels is None else _listed(levels, tick)
    names = [level.name for level in listed]
    if not listed or len(set(names)) < len(names):
        raise InvalidArgument(f"a wheel needs levels with different names, finest first, not {names}")
    kept = _by_level("keep", keep, names)
    summed, packed = _chosen("prefix", prefix, names), _chosen("compress", compress, names)
    made, length = [], tick
    for level in listed:
        level = replace(level, length=length, keep=kept.get(level.name, level.keep))
        if level.name in summed and level.name in packed:
            raise InvalidArgument(f"{level.name}: a level has prefix sums or is compressed, not both")
        if level.name in summed or level.name in packed:
            level = replace(level, layout="prefix" if level.name in summed else "compressed")
        _check(level)
        made.append(level)
        length *= level.slots
        if length > LONGEST:
            raise InvalidArgument(f"a rotation of {level.name} is longer than 36,000 years: take fewer levels or slots")
    return tuple(made)


def _check(level: Level) -> None:
    if not isinstance(level.name, str) or not level.name:
        raise InvalidArgument(f"a level's name is a text, not {level.name!r}")
    if not _whole(level.slots) or level.slots < 1:
        raise InvalidArgument(f"{level.name}: slots must be a whole number of 1 or more, not {level.slots!r}")
    if level.keep not in ("all", "drop") and (not _whole(level.keep) or int(level.keep) < 1):
        raise InvalidArgument(f'{level.name}: keep is "all", "drop" or a number of slots, not {level.keep!r}')
    if level.layout not in LAYOUTS:
        raise InvalidArgument(f"{level.name}: layout is one of {', '.join(LAYOUTS)}, not {level.layout!r}")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ladder(tick: int) -> list[Level]:
    """From the tick by the units of the clock up to years of 52 weeks."""
    steps = [(name, length) for name, length in (*FINE, *LADDER) if length > tick]
    own = dict((length, name) for name, length in (*FINE, *LADDER)).get(tick, f"{format_duration(tick)}")
    made, name, length = [], own, tick
    for above, longer in [*steps, ("years", YEAR)]:
        if longer % length:
            raise InvalidArgument(
                f"a tick of {format_duration(tick)} does not divide {format_duration(longer)}, the level above it: "
                f"take one that does, or give levels= of your own"
            )
        if longer > length:
            made.append(Level(name, longer // length))
        name, length = above, longer
    return [*made, Level(name, YEARS)]


def _listed(levels: Any, tick: int) -> list[Level]:
    if isinstance(levels, Mapping):
        return [Level(name, slots) for name, slots in levels.items()]
    if isinstance(levels, str) or not isinstance(levels, Sequence):
        raise InvalidArgument(f"levels is a list, or a mapping from names to numbers of slots, not {levels!r}")
    if all(isinstance(level, Level) for level in levels):
        return list(levels)
    if all(isinstance(level, (tuple, list)) and len(level) == 2 for level in levels):
        return [Level(name, slots) for name, slots in levels]
    lengths = [duration(level) for level in levels]
    if lengths[0] != tick:
        raise InvalidArgument(
            f"the slots of the first level are as long as a tick, {format_duration(tick)}, not "
            f"{format_duration(lengths[0])}: set tick= or the first length"
        )
    made = []
    for length, longer in zip(lengths, [*lengths[1:], lengths[-1] * YEARS], strict=True):
        if longer % length or longer == length:
            raise InvalidArgument(
                f"slots of {format_duration(length)} do not divide those of the level above, {format_duration(longer)}"
            )
        made.append(Level(format_duration(length), longer // length))
    return made


def _by_level(what: str, given: Any, names: list[str]) -> dict[str, Any]:
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InvalidArgument(f"{what}: there is no level {unknown[0]!r}; there are {', '.join(names)}")
        return dict(given)
    return {} if given == "all" else dict.fromkeys(names, given)


def _chosen(what: str, given: Any, names: list[str]) -> Collection[str]:
    if isinstance(given, bool):
        return names if given else ()
    chosen = [given] if isinstance(given, str) else list(given)
    for name in chosen:
        if name not in names:
            raise InvalidArgument(f"{what}: there is no level {name!r}; there are {', '.join(names)}")
    return chosen
