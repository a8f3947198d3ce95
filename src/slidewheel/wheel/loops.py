"""All loops of a wheel, as one unit for the compiler."""

from slidewheel.swag.card import Card
from slidewheel.wheel import (
    desk,
    gather,
    names,
    overflow,
    packing,
    planner,
    reader,
    rows,
    sessions,
    slots,
    taking,
    together,
    writer,
)

FILES = (names, overflow, slots, gather, taking, writer, packing, planner, reader, desk, together, rows, sessions)

CARD = Card(
    name="wheel",
    paper="Meldrum, Carbone: uWheel (DEBS 2024)",
    amortised="1 combine a row and 1 for each finished slot and level",
    worst="O(slots of all levels) for a range, 1 with prefix sums",
    space="a state for each kept slot",
    use="any range of finished time, at the precision of its ticks",
)
