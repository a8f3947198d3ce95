"""What an algorithm's form for many ranges says of itself."""

from dataclasses import dataclass

from slidewheel.swag.card import Card


@dataclass(frozen=True, kw_only=True)
class MultiCard(Card):
    """As Card; n is the longest range, and costs are those of the ranges 1 to n, all answered after each item."""

    states_per_range: int = 0

    def states(self, slots: int, ranges: int = 0) -> int:
        """The number of states in memory for this many items and distinct ranges."""
        return super().states(slots) + self.states_per_range * ranges
