"""FlatFAT's tree and B-Int's intervals."""

from figures.canvas import MARGIN, WIDTH, Canvas
from figures.strip import Strip
from figures.watch import Seen, Watch

NODE = {1: 112, 2: 84, 4: 60, 8: 46}
"""The width of a node, by how many there are of its level."""
GAP = 42


def flatfat() -> Canvas:
    strip = Strip(
        "FlatFAT, step by step",
        "A complete binary tree over eight leaves, which are a ring. Each node is the aggregate of its two children. A "
        "window that wraps around is answered by a suffix and a prefix of the leaves.",
        label=0,
    )
    watch = Watch("flatfat")
    for script, note in (
        ("insert a b c d e f", "each insert writes a leaf and the path above it"),
        ("evict", "a's leaf is empty now, and the path above it is made anew"),
        ("evict; evict; insert g h i", "i goes to leaf 0: the window has wrapped around"),
        ("query", ""),
    ):
        seen = watch.step(script)
        strip.seen(seen, note or f"suffix {seen.combines[-1][0]} combined with prefix {seen.combines[-1][1]}")
        _tree(strip, seen)
    strip.legend(("front", "holds items"), ("empty", "holds nothing"), ("thick", "written, or read by the query"))
    return strip


def _tree(strip: Strip, seen: Seen) -> None:
    leaves, top = seen.mask + 1, strip.y
    thick = seen.read if seen.answer is not None else seen.written
    if seen.script.startswith("insert a"):
        thick = set()  # it would be all

    def place(node: int) -> tuple[float, float]:
        level = node.bit_length() - 1
        count = 1 << level
        return MARGIN + (node - count + 0.5) * (WIDTH - 2 * MARGIN) / count, top + level * GAP

    for node in range(2, 2 * leaves):
        (x, y), (up_x, up_y) = place(node), place(node // 2)
        strip.line([(x, y), (up_x, up_y + 24)])
    for node in range(1, 2 * leaves):
        x, y = place(node)
        width = NODE[1 << node.bit_length() - 1]
        fill = "front" if seen.states[node] else "empty"
        strip.box(x - width / 2, y, width, 24, seen.states[node], fill, thick=node in thick)
    front, end = seen.registers
    strip.y = strip.bottom + 4
    for name, position in ("first", front), ("last", end - 1):
        strip.text(place(leaves + (position & seen.mask))[0], strip.y + 10, name, "ink small bold middle")


def b_int() -> Canvas:
    strip = Strip(
        "Base intervals, step by step",
        "Rings of intervals of 1, 2, 4 and 8 items. An interval is put together when its last item arrives. A query "
        "reads the fewest intervals that make up the window.",
        label=52,
    )
    watch = Watch("b_int")
    for script, note in (
        ("insert a b c d e f g", "every second item completes an interval"),
        ("insert h", "h is the last of three intervals"),
        ("evict; insert i", "evicting is free; i takes the place of a"),
        ("query", ""),
        ("evict; evict; query", ""),
    ):
        seen = watch.step(script)
        front = seen.registers[0]
        strip.seen(seen, note or f"{' + '.join(_parts(seen))} = {seen.answer}")
        for level in range(4):
            count = (seen.mask + 1) >> level
            strip.text(strip.left - 8, strip.y + 16, f"{1 << level} item{'s' if level else ''}", "soft small end")
            for slot in range(count):
                state = seen.states[count + slot]
                stale = bool(state) and ord(state[0]) - ord("a") < front
                touched = seen.read if seen.answer is not None else seen.written
                thick = count + slot in touched and not script.startswith("insert a")
                width = strip.cell * (1 << level)
                fill = "empty" if not state else "gone" if stale else "front"
                strip.box(strip.left + slot * width + 2, strip.y, width - 4, 22, state, fill, thick=thick)
            strip.y += 26
    strip.legend(
        ("front", "inside the window"),
        ("gone", "holds an item that has left, or nothing"),
        ("thick", "written, or read by the query"),
    )
    return strip


def _parts(seen: Seen) -> list[str]:
    """What the query has put together, from old to new."""
    return sorted(seen.states[node] for node in seen.read)
