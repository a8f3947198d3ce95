"""FlatFIT for many ranges (SlickDeque paper, 2.2 and 4.1).

All ranges share the skip pointers: what one query has combined, the others skip. With every range from 1 to n asked
at every slide, each item's partial reaches up to the newcomer, and every answer but the shortest takes one combine.
With a few ranges, an answer takes three or more, at most about log2 n on average: they cut each other's paths.
"""

from slidewheel.swag.flatfit import operations as one_range
from slidewheel.swag.multi.card import MultiCard
from slidewheel.swag.multi.fronts import later_fronts

CARD = MultiCard(
    name="flatfit",
    paper="Shein, Chrysanthis, Labrinidis: FlatFIT (SSDBM 2017), as told in SlickDeque (EDBT 2018), 2.2",
    amortised="n - 1 combines a slide",
    worst="n - 1 combines a slide, for all ranges together",
    space="n states, and two links each",
    use="any aggregate: the fewest combines where there is neither an inverse nor a selective combine",
    links_per_slot=2,
)


def operations(monoid, ring, jit):
    start, insert, evict, query = one_range(monoid, ring, jit)
    return later_fronts(start, insert, evict, query, jit)
