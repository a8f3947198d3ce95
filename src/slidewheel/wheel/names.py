"""What the loops of a wheel share: the columns of its book, and names that generated modules give a meaning.

A wheel's table holds the states of all levels: each level has a region of rows, and a row has `width` states, one for
each key (a Wheel has one). Slots of a level are numbered from 1970 on; a row belongs to each slot that was reached,
except that empty stretches of SHORTEST_GAP slots or more have no rows: `gaps` lists where they end. Slots behind the
last row are empty. So time that passes without rows costs nothing, and what has a row never changes.
"""

from typing import Any

# The columns of a level's line in the book.
LENGTH = 0  # ticks in a slot
SLOTS = 1  # slots in a rotation, which is one slot of the level above
BASE = 2  # the first row of its region
ROWS = 3  # rows in use
ORIGIN = 4  # the slot of row 0, if there were no gaps
NEXT = 5  # the slot after the last row's
KEPT = 6  # the first slot that may be asked for
GAPS_AT = 7  # where its gaps begin
GAPS = 8  # how many they are
OPEN = 9  # the slot of the level above to which its total belongs, or NONE
PREFIX = 10  # the first row of its prefix sums, or NONE
PACKED = 11  # rows that lie in compressed blocks, in front of those in the table
BLOCKS_AT = 12  # where the list of these blocks begins
WORDS_AT = 13  # and where their words do
MARKS = 14  # the place of its first row among the bits that say which states hold something
HOLES = 15  # how many of its rows hold no value for any key
FIELDS = 16

NONE = -(2**62)
SHORTEST_GAP = 64
MOST_TICKS = 1 << 50  # farther numbers have no exact products with 1 / length

# The clock of a writer.
WATERMARK = 0  # in ticks
HEAD = 1  # the place of the watermark's slot in the ring
USED = 2  # slots of the ring that hold something
LATE = 3
GREATEST = 4  # the greatest time seen, in microseconds
SEEN = 5  # rows since the last watermark
WAITING = 6  # entries in the overflow wheel
FREE = 7  # the first free entry there, or -1
START = 8  # the first tick
DENSE = 9  # whether neighbours were mostly of one slot
FRESH = 10  # entries of the overflow wheel from here on were never used
WEIGHT = 11  # what the magnitudes of all inputs add up to at most, as long as states are narrow
AHEAD = 12  # so many slots from the watermark on take rows; the ring may have more
CLOCK = 13

# Narrow states hold numbers below 2**40, up to this weight, or floats that are finite and weigh nothing.
HEAVIEST = 2**62
LARGEST = 2**40

# The parts of a plan: level, first row, row after the last; or this in place of the first row.
TOTAL = -1

# Plans, and why a range may have none.
AUTO, WHEEL, COMBINED, LANDMARK, INVERSE, PREFIXED = 0, 1, 2, 3, 4, 5
NOT_KEPT, NO_PLAN, NOT_A_RANGE = 0, 1, 2

# A view is what readers see: table, bits, packed, gaps, book, rates, totals, held, spare, words.
# Rates are 1 / length of each level; `held` says which totals hold a value; `spare` is one state, `words` its bits.
# A feed is what the writer has besides: clock, ring, filled, used, heads, tails, follows, when, whose, waiting, spare,
# and `near`, numbers to work with.

combine: Any = None
identity = load = store = item = lower = put = inverse = enough = absorb = gather = gather_run = fold = weigh = combine
take_runs = gather_or_pass = array_at = fetch = STATE = Refused = combine
