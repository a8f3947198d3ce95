"""Which aggregates share their states: equal ones, and those whose state is a part of another's."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid
from slidewheel.swag.multi.registry import form

INSIDE: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("sum", "mean"): {"f": ("sum",), "i": ("low", "high")},
    ("count", "mean"): {"f": ("n",), "i": ("n",)},
    ("count", "geomean"): {"f": ("n",), "i": ("n",)},
    ("count", "var"): {"f": ("n",), "i": ("n",)},
    ("count", "std"): {"f": ("n",), "i": ("n",)},
    ("min", "span"): {"f": ("low",), "i": ("low",)},
    ("max", "span"): {"f": ("high",), "i": ("high",)},
}
"""(this, that): the fields of that one's state which are this one's state, by the kind of the column."""


@dataclass(frozen=True)
class Part:
    """A state that is kept, and the input that it is made of."""

    aggregate: Aggregate
    monoid: Monoid
    kinds: tuple[str, ...]
    form: ModuleType | None = None
    """The algorithm that was asked for to put windows together."""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(c for c in self.aggregate.columns if c is not None)

    @property
    def compiled(self) -> bool:
        return self.monoid.state is not None and "O" not in self.kinds


@dataclass(frozen=True)
class Use:
    """How an aggregate reads its state: from part number `part`, all of it or these fields."""

    part: int
    monoid: Monoid
    fields: tuple[str, ...] = ()

    def of(self, states: Any) -> Any:
        """The aggregate's own states, from those of the part."""
        if not self.fields:
            return states
        assert self.monoid.state is not None
        if self.monoid.state.names is None:
            return states[self.fields[0]].astype(self.monoid.state)
        own = np.empty(len(states), dtype=self.monoid.state)
        for mine, theirs in zip(self.monoid.state.names, self.fields, strict=True):
            own[mine] = states[theirs]
        return own


def parts_of(
    aggregates: Sequence[Aggregate], kinds: Sequence[tuple[str, ...]], final: str = "auto"
) -> tuple[list[Part], list[Use]]:
    """The states to keep for these aggregates of columns of these kinds, and how each aggregate reads them."""
    own = [part_of(aggregate, k, final) for aggregate, k in zip(aggregates, kinds, strict=True)]
    holders = [_holder(part, own) for part in own]
    kept: list[Part] = []
    places: dict[Any, int] = {}
    uses = []
    for part, (holder, fields) in zip(own, holders, strict=True):
        if _identity(holder) not in places:
            places[_identity(holder)] = len(kept)
            kept.append(holder)
        uses.append(Use(places[_identity(holder)], part.monoid, fields))
    return kept, uses


def part_of(aggregate: Aggregate, kinds: tuple[str, ...], final: str) -> Part:
    """The state of one aggregate, with an inverse where the algorithm needs one."""
    if final == "auto":
        return Part(aggregate, aggregate.monoid(*kinds), kinds)
    chosen = form(final, aggregate)
    return Part(aggregate, aggregate.monoid(*kinds, invertible="inverse" in chosen.CARD.needs), kinds, chosen)


def _holder(part: Part, others: list[Part]) -> tuple[Part, tuple[str, ...]]:
    """The part that this one's state is inside of, or itself."""
    for other in others:
        fields = INSIDE.get((part.monoid.name, other.monoid.name), {}).get(other.kinds[0] if other.kinds else "")
        inside = fields and part.columns == other.columns and part.kinds == other.kinds and part.form is other.form
        state = other.monoid.state
        names = set(state.names or ()) if state is not None else set()
        inside = inside and set(fields or ()) <= names and "odd" not in names  # which its n does not count
        if inside and _built_in(part) and _built_in(other) and other.compiled:
            return other, fields or ()
    return part, ()


def _built_in(part: Part) -> bool:
    return part.monoid.combine.__module__.startswith("slidewheel.")


def _identity(part: Part) -> Any:
    monoid = part.monoid
    return monoid.lift, monoid.combine, monoid.state, part.columns, part.kinds, part.form
