"""What an algorithm says of itself."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Card:
    """An algorithm's needs, costs and origin. Costs count combines; n is the number of items in the window."""

    name: str
    paper: str
    amortised: str
    worst: str
    space: str
    use: str
    needs: tuple[str, ...] = ()
    steady: bool = False
    """Every single operation costs a constant number of combines."""
    compiled: bool = True
    """False where the algorithm lives on Python objects and only runs interpreted."""
    careful: bool = True
    """A combine that fails in an evict leaves the window as it was."""
    shrinks: bool = False
    """Gives memory back when less than a quarter of it is used."""
    states_per_slot: int = 1
    links_per_slot: int = 0
    extra_slots: int = 0
    extra_links: int = 0

    def states(self, slots: int) -> int:
        """The number of states in memory for this many items."""
        return self.states_per_slot * (slots + self.extra_slots)

    def links(self, slots: int) -> int:
        """The number of links in memory for this many items."""
        return self.links_per_slot * (slots + self.extra_slots) + self.extra_links

    def __str__(self) -> str:
        needs = ", ".join(("associative", *self.needs))
        return (
            f"{self.name}\n  needs      {needs}\n  amortised  {self.amortised}\n  worst      {self.worst}\n"
            f"  space      {self.space}\n  use        {self.use}\n  paper      {self.paper}"
        )
