"""Two wheels as one: slots are combined level by level, so order must not matter."""

from collections.abc import Callable
from typing import Any

import numpy as np

from slidewheel.algebra.forms import converted
from slidewheel.algebra.monoid import Monoid
from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.wheel import names as n
from slidewheel.wheel.core import Core

Conversion = Callable[[Array], Array]
"""Of states of one wheel, to those of another."""


def require_fit(mine: Any, other: Any) -> None:
    """Refuse wheels that can't be merged."""
    if type(other) is not type(mine):
        raise InvalidArgument(f"a {type(mine).__name__} can be merged with another one, not with {other!r}")
    if other is mine:
        raise InvalidArgument("a wheel can't be merged with itself")
    for aggregate in mine.aggregates:
        if not aggregate.commutative:
            raise Unsupported(
                f"{aggregate.name} depends on the order of rows, and merging can't know it: merge wheels of "
                f"commutative aggregates, or feed one wheel with both streams"
            )
    same = [(level.name, level.slots, level.length) for level in mine.levels]
    if same != [(level.name, level.slots, level.length) for level in other.levels]:
        raise InvalidArgument("these wheels have other ticks or levels: make them with the same tick= and levels=")


def same_form(one: Monoid, other: Monoid) -> bool:
    return (one.state, one.combine, one.lift) == (other.state, other.combine, other.lift)


def conversion(theirs: Monoid, mine: Monoid) -> Conversion | None:
    """What makes states as `mine` has them of theirs, where one of them has prefix sums; None if nothing does."""
    if same_form(theirs, mine):
        return as_they_are
    function = mine.of_plain or theirs.to_plain
    if function is None or (mine.of_plain and theirs.of_plain):
        return None
    fields = len(theirs.identity) if isinstance(theirs.identity, tuple) else 1
    return lambda states: converted(states, function, fields, mine.state if states.dtype != object else states.dtype)


def as_they_are(states: Array) -> Array:
    return states


def all_finite(core: Core) -> bool:
    """Whether plain sums of floats hold nothing but finite values."""
    rows = [core.rows(level, _first(core, level))[1] for level in range(len(core.levels))]
    return all(bool(np.isfinite(states).all()) for states in (*rows, core.totals, core.pending()[2]))


def merged(a: Core, b: Core, codes: Array, width: int, as_mine: Conversion = as_they_are) -> Core:
    """Both as a new core with the settings of `a`, at the later watermark; key k of b is codes[k] there, and states of
    b are taken through `as_mine`."""
    watermark, first = max(a.watermark, b.watermark), min(a.first, b.first)
    made = Core(a.values, a.levels, a.tick, first, int(a.clock[n.AHEAD]), width)
    made.threshold, made.wanted = a.threshold, a.wanted
    made.clock[n.WATERMARK] = watermark
    made.clock[n.WEIGHT] = min(a.weight + b.weight, n.HEAVIEST)
    made.clock[[n.GREATEST, n.SEEN]] = max(a.clock[n.GREATEST], b.clock[n.GREATEST]), a.clock[n.SEEN]
    own = np.arange(a.width)
    ahead = [advanced(core, watermark) for core in (a, b)]
    both = list(zip(ahead, (own, codes), (as_they_are, as_mine), strict=True))
    for level in range(len(a.levels)):
        parts = [(core.rows(level, _first(core, level)), keys, form) for core, keys, form in both]
        made.put_rows(level, *_union(made, parts))
        made.book[level, n.KEPT] = max(int(made.book[level, n.KEPT]), *(_kept(core, level) for core in ahead))
    made.totals[:], made.held[:] = _identities(made, len(made.totals)), 0
    made.book[:, n.OPEN] = np.maximum(*(core.book[:, n.OPEN] for core in ahead))
    for core, keys, form in both:
        for level in np.flatnonzero(core.book[:, n.OPEN] != n.NONE).tolist():
            part = slice(level * core.width, (level + 1) * core.width)
            known = level * width + keys, form(core.totals[part]), core.held[part]
            made.values.work.run("add_states", made.totals, made.held, *known)
        ticks, of, states = core.pending()
        made.put_pending(ticks, keys[of], form(states))
    return made


def _first(core: Core, level: int) -> int:
    return int(core.book[level, n.ORIGIN])


def _kept(core: Core, level: int) -> int:
    """The first slot that this core can answer for; nothing came before it began."""
    first, kept = core.first // core.lengths[level], int(core.book[level, n.KEPT])
    return n.NONE if kept <= first else kept


def advanced(core: Core, watermark: int) -> Core:
    """The same at a later watermark; a copy, if it is not there already."""
    if core.watermark == watermark:
        return core
    twin = core.copy()
    twin.advance(watermark)
    return twin


def _identities(core: Core, count: int) -> Array:
    states = np.empty(count, dtype=core.dtype)
    core.values.work.run("empty_states", states)
    return states


def _union(made: Core, parts: list[Any]) -> tuple[Array, Array, Array]:
    """The rows of several cores as those of one."""
    width = made.width
    slots = np.unique(np.concatenate([rows[0] for rows, _, _ in parts]))
    states, filled = _identities(made, len(slots) * width), np.zeros(len(slots) * width, dtype=np.uint8)
    for (own, given, holds), keys, form in parts:
        places = (np.searchsorted(slots, own)[:, None] * width + keys).reshape(-1)
        made.values.work.run("add_states", states, filled, places, form(given), holds)
    return slots, states, filled
