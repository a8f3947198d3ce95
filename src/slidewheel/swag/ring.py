"""The memory under a window: states and links in rings that are addressed by ever rising positions.

Position p lies in slot p & mask, so a pointer compares by value and never has to be wrapped. A ring that doubles
copies its items once; `reserve` on a window avoids that where no operation may be slow.
"""


def move(source, source_mask, target, target_mask, first, last, width):
    """Copy the positions first .. last - 1, each of `width` neighbouring slots, from one ring to another."""
    for position in range(first, last):
        old, new = width * (position & source_mask), width * (position & target_mask)
        target[new : new + width] = source[old : old + width]


def resize(old, new, registers, monoid):
    """Move a window whose states and links all lie at the positions of their items."""
    front, end = registers[0], registers[1]
    for source, target in ((old.states, new.states), (old.links, new.links)):
        move(source, old.mask, target, new.mask, front, end, len(source) // (old.mask + 1))
    return registers
