"""The plan of a query: which slices its windows share, which states its aggregates share, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.errors import InvalidArgument, PlanTooLarge, Unsupported
from slidewheel.swag.multi.registry import form
from slidewheel.windows.slicing import Slicing, panes_of, shared, union
from slidewheel.windows.specs import Sliding, Spec, Trailing, gives_rows

FEW_ANSWERS = 2
"""Answers for each slice up to which windows share shorter blocks."""
MOST_WINDOWS = 1_000_000
"""The most windows that one row may be in."""


@dataclass(frozen=True)
class Group:
    """Windows that share slices, with their places in the query."""

    specs: list[tuple[int, Sliding]]
    slicing: Slicing

    def single(self, spec: Sliding) -> bool:
        """Whether each window of this spec is one slice."""
        return self.slicing.regular and self.slicing.period >= spec.range

    def shift(self, spec: Sliding) -> int:
        """The windows of this spec are put together from blocks of 2**shift microseconds."""
        return self._shifts[spec]

    @cached_property
    def _shifts(self) -> dict[Sliding, int]:
        several = [spec for _, spec in self.specs if not self.single(spec)]
        slice_length = self.slicing.period / len(self.slicing.edges)
        shifts = block_shifts([spec.range for spec in several], [slice_length / spec.every for spec in several])
        return dict(zip(several, shifts, strict=True))


def block_shifts(lengths: Sequence[int], answers: Sequence[float]) -> list[int]:
    """Lengths of blocks, as powers of two, for windows of these lengths that give so many answers for each slice.

    A block is no longer than its windows, and longer than half of them: then an answer takes 1 or 2 combines. But each
    length of blocks costs 2 combines and 2 states for every slice. So windows that give few answers use the next
    shorter blocks, if others have these anyway; with longer than a quarter of a window, that takes 1 to 4.
    """
    best = [length.bit_length() - 1 for length in lengths]
    chosen: dict[int, int] = {}
    for shift in sorted(set(best)):
        asked = sum(number for own, number in zip(best, answers, strict=True) if own == shift)
        shared = chosen.get(shift - 1) == shift - 1 and asked <= FEW_ANSWERS
        chosen[shift] = shift - 1 if shared else shift
    return [chosen[shift] for shift in best]


def trailing_shifts(specs: Sequence[Trailing]) -> list[int]:
    """The same for windows that give an answer for each row."""
    return block_shifts([max(sum(spec.reach), 1) for spec in specs], [1.0] * len(specs))


class Plan:
    """What is the same for every engine."""

    def __init__(self, specs: Sequence[Spec], aggregates: Sequence[Aggregate], final: str = "auto") -> None:
        self.specs, self.aggregates, self.final = tuple(specs), tuple(aggregates), final
        self.names = [spec.name for spec in specs]
        self.gives_rows = gives_rows(specs[0])
        if any(gives_rows(spec) != self.gives_rows for spec in specs):
            give, do_not = (", ".join(s.name for s in specs if gives_rows(s) == form) for form in (True, False))
            raise InvalidArgument(
                f"{give} give the input rows back, and {do_not} a row for each window: put them into two queries"
            )
        self.commutative = all(aggregate.commutative for aggregate in aggregates)
        self.in_order = not self.commutative or any(spec.in_order for spec in specs)
        named = [name for spec in specs for name in spec.columns]
        named += [name for aggregate in aggregates for name in aggregate.columns if name is not None]
        self.peers = list(dict.fromkeys(named))
        self.row_outputs = [f"{aggregate.output}_{spec.name}" for spec in specs for aggregate in aggregates]
        """The names of the answers, where rows come back."""
        self.groups = self._groups()
        self.has_gaps = all(isinstance(spec, Sliding) and spec.every > spec.range for spec in specs)
        """Whether there are times that no window holds."""

    def _groups(self) -> list[Group]:
        periodic = [(place, spec) for place, spec in enumerate(self.specs) if isinstance(spec, Sliding)]
        for _, spec in periodic:
            if spec.range // spec.every > MOST_WINDOWS:
                raise PlanTooLarge(
                    f"every row would be in {spec.range // spec.every:,} windows of {spec.name}, more than "
                    f"{MOST_WINDOWS:,}: make every= longer, or use sw.trailing for one window per row"
                )
        if self.final != "auto":
            return self._in_panes(periodic)
        groups = []
        for places in shared([spec for _, spec in periodic]) if periodic else []:
            members = [periodic[place] for place in places]
            groups.append(Group(members, union([spec for _, spec in members])))
        return groups

    def _in_panes(self, periodic: list[tuple[int, Sliding]]) -> list[Group]:
        """One group with slices of equal length, which algorithms for a number of items need."""
        if len(periodic) < len(self.specs):
            raise Unsupported(
                f"final={self.final!r} is for sliding and tumbling windows: use final='auto' for the others"
            )
        for aggregate in self.aggregates:
            form(self.final, aggregate)
        slicing = panes_of([spec for _, spec in periodic])
        longest = max(spec.range for _, spec in periodic)
        if longest // slicing.period > MOST_WINDOWS:
            raise PlanTooLarge(
                f"final={self.final!r} needs slices of equal length, and the longest window would have "
                f"{longest // slicing.period:,} of them, more than {MOST_WINDOWS:,}: use final='auto'"
            )
        return [Group(periodic, slicing)]
