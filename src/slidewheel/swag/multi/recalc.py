"""Recalculate each range from scratch (Naive in the SlickDeque paper): what all the others are checked against."""

from slidewheel.swag.multi.card import MultiCard
from slidewheel.swag.multi.fronts import later_fronts
from slidewheel.swag.recalc import operations as one_range

CARD = MultiCard(
    name="recalc",
    paper="Panes, the naive way of SlickDeque (EDBT 2018), 2.2",
    amortised="n^2/2 - n/2 combines a slide",
    worst="n^2/2 - n/2 combines a slide",
    space="n states",
    use="a few short ranges, or as a reference",
)


def operations(monoid, ring, jit):
    start, insert, evict, query = one_range(monoid, ring, jit)
    return later_fronts(start, insert, evict, query, jit)
