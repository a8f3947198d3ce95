"""FOA and IOA: the lists F, N and B, and a rotation that is suspended (figures 6 and 7 of the DABA paper)."""

from typing import Any

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Seen, Watch

STEPS = ("insert a b c", "insert d; evict", "insert e", "insert f", "evict", "insert g")
LEGEND = (
    ("front", "F, forced"),
    ("left", "L"),
    ("right", "R, youngest first"),
    ("ready", "A"),
    ("back", "B, youngest first"),
)


def foa() -> Canvas:
    strip = Strip(
        "The Functional Okasaki Aggregator, step by step",
        "The cells of the lists, at the positions of their items, each with its head and its agg. The tail of F may be "
        "a suspended rot(L, R, A), of which N forces one step with each operation.",
        label=40,
        columns=7,
    )
    watch = Watch("foa")
    for script in STEPS:
        seen = watch.step(script)
        front, end, F, N, B = seen.registers
        forced, suspended = _cells(F)
        lists = {"front": forced, "back": _cells(B)[0]}
        if suspended is not None:
            lists |= {fill: _cells(part)[0] for fill, part in zip(("left", "right", "ready"), suspended, strict=True)}
        strip.seen(seen, _note(seen.combines, suspended is not None, N is None))
        found = {ord(cell.head) - ord("a"): (cell, fill) for fill, cells in lists.items() for cell in cells}
        assert sorted(found) == list(range(front, end))
        for name in "head", "agg":
            strip.row(name, [(p, getattr(cell, name), fill, False) for p, (cell, fill) in sorted(found.items())])
        named = (("F", F), ("N", N), ("B", B))
        strip.pointers({name: p for name, first in named for p, (cell, _) in found.items() if cell is first})
    strip.legend(*LEGEND)
    return strip


def _cells(first: Any) -> tuple[list[Any], Any]:
    """The forced cells of a list, and what is suspended behind them."""
    cells = []
    while first is not None:
        cells.append(first)
        if first.suspended is not None:
            return cells, first.suspended
        first = first.rest
    return cells, None


def _note(combines: list[Any], suspended: bool, ended: bool) -> str:
    if suspended:
        return "the tail of F is rot(L, R, A), suspended"
    return "N is at its end: the next insert or evict rotates B onto F" if ended else "no rotation is suspended"


EMPTY, DELAYED = 0, -1


def ioa() -> Canvas:
    strip = Strip(
        "The Imperative Okasaki Aggregator, step by step",
        "An arena of numbered cells with val, agg and tail. A delayed cell holds L, R and A instead, the arguments of "
        "its rot. F, N and B are numbers of cells.",
        first=1,
        label=40,
        columns=8,
    )
    watch = Watch("ioa")
    for script in STEPS:
        seen = watch.step(script)
        _, _, F, N, B, _, top = seen.registers
        lists = _lists(seen.links, F, B)
        delayed = [c for c in lists if lists[c] == "plain"]
        strip.seen(seen, _note(seen.combines, bool(delayed), N == EMPTY))
        for c in range(1, top):
            strip.text(strip.x(c) + strip.cell / 2, strip.y + 10, c, "soft small middle")
        strip.y += 16
        for row, name in enumerate(("val", "agg", "tail")):
            cells = [(c, _field(seen, c, row), lists.get(c, "gone"), c in delayed) for c in range(1, top)]
            strip.row(name, cells, height=24)
        strip.pointers({name: cell for name, cell in (("F", F), ("N", N), ("B", B)) if cell != EMPTY})
    strip.legend(*LEGEND, ("thick", "a delayed cell: rot(L, R, A)"), ("gone", "free"))
    return strip


def _lists(links: list[int], F: int, B: int) -> dict[int, str]:
    """The list that each cell is in, as a colour; "plain" for the delayed cell."""
    found: dict[int, str] = {}

    def walk(cell: int, fill: str) -> None:
        while cell != EMPTY:
            if links[5 * cell] == DELAYED:
                found[cell] = "plain"
                for k, part in enumerate(("left", "right", "ready")):
                    walk(links[5 * cell + 1 + k], part)
                return
            found[cell] = fill
            cell = links[5 * cell]

    walk(F, "front")
    walk(B, "back")
    return found


def _field(seen: Seen, cell: int, row: int) -> str:
    if seen.links[5 * cell] == DELAYED:
        return f"{'LRA'[row]} {_name(seen.links[5 * cell + 1 + row])}"
    return seen.states[2 * cell + row] if row < 2 else _name(seen.links[5 * cell])


def _name(cell: int) -> str:
    return "-" if cell == EMPTY else str(cell)
