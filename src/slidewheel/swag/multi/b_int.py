"""B-Int for many ranges (SlickDeque paper, 2.2, figure 5): each range is cut into the fewest dyadic intervals."""

from slidewheel.swag.b_int import operations as one_range
from slidewheel.swag.multi.card import MultiCard
from slidewheel.swag.multi.fronts import later_fronts

CARD = MultiCard(
    name="b_int",
    paper="Arasu, Widom (VLDB 2004), as told in SlickDeque (EDBT 2018), 2.2",
    amortised="n log2 n combines a slide at most",
    worst="insert log2 n, and 2 log2 n for a range",
    space="2n states",
    use="comparison",
    careful=False,
    states_per_slot=2,
)


def operations(monoid, ring, jit):
    start, insert, evict, query = one_range(monoid, ring, jit)
    return later_fronts(start, insert, evict, query, jit)
