"""DABA and DABA Lite: figure 11 of the paper, from a run."""

from collections.abc import Iterator

from figures.canvas import Canvas
from figures.strip import Strip
from figures.watch import Seen, Watch, combines

BEFORE = "insert a b c d e f g; evict; evict"
STEPS = ("evict", "insert h", "evict", "insert i", "evict", "insert j")
HIDDEN = 2
"""A step that is done and not drawn: one more shift."""
CASES = {
    "singleton": "singleton: all pointers move to E",
    "flip": "flip: l_F becomes l_L, l_B becomes l_R; then a shrink",
    "shift": "shift: L, R and A move up, no aggregate changes",
    "shrink": "shrink: L moves up and A down, two are written",
}
LEGEND = (
    ("front", "F to L: ready to leave"),
    ("left", "l_L"),
    ("right", "l_R"),
    ("ready", "l_A"),
    ("back", "l_B: where items arrive"),
    ("thick", "written in this step"),
)


def case(seen: Seen) -> str:
    """Which case of fixup (figure 12) an operation meets, by the registers from before it."""
    F, E, L, R, _, B = seen.before[:6]
    F, E = (F + 1, E) if seen.script == "evict" else (F, E + 1)
    return "singleton" if F == B else "flip" if L == B else "shift" if L == R else "shrink"


def daba() -> Canvas:
    strip = Strip(
        "DABA, step by step",
        "The queues vals and aggs with the pointers F, L, R, A, B and E. An agg is written as the items that it "
        "covers. Every operation ends with one small step of the reversal: a shrink, shifts, a flip.",
        first=2,
        columns=9,
        label=40,
    )
    watch = Watch("daba", capacity=16)
    for seen in _steps(strip, watch):
        F, E, L, R, A, B = seen.registers
        for name, odd in ("vals", 0), ("aggs", 1):
            places = [(p, 2 * (p & seen.mask) + odd) for p in range(F, E)]
            thick = seen.written if odd and seen.script != BEFORE else set()
            strip.row(name, [(p, seen.states[k], part(p, L, R, A, B), k in thick) for p, k in places])
        strip.pointers({"F": F, "L": L, "R": R, "A": A, "B": B, "E": E})
    strip.legend(*LEGEND)
    return strip


def daba_lite() -> Canvas:
    strip = Strip(
        "DABA Lite, step by step",
        "One queue and two numbers, with the pointers of DABA. The queue holds aggregates where DABA's front needs "
        "them and plain items in l_R and l_B.",
        first=2,
        columns=9,
        label=46,
    )
    watch = Watch("daba_lite", capacity=16)
    for seen in _steps(strip, watch):
        F, E, L, R, A, B, agg_ra, agg_b = seen.registers
        places = [(p, p & seen.mask) for p in range(F, E)]
        thick = set() if seen.script == BEFORE else seen.written
        strip.row("queue", [(p, seen.states[k], part(p, L, R, A, B), k in thick) for p, k in places])
        strip.pointers({"F": F, "L": L, "R": R, "A": A, "B": B, "E": E})
        strip.row("agg_b", [(2, agg_b, "plain", False)])
        strip.register(5, "agg_ra", agg_ra)
    strip.legend(*LEGEND)
    return strip


def _steps(strip: Strip, watch: Watch) -> Iterator[Seen]:
    """The steps one by one, each with its heading."""
    seen = watch.step(BEFORE)
    strip.step(BEFORE, "two have left already")
    yield seen
    skipped, cost = "", 0
    for number, script in enumerate(STEPS):
        seen = watch.step(script)
        cost += len(seen.combines)
        if number == HIDDEN:
            skipped = f"{script} ({case(seen)}); "
            continue
        strip.step(skipped + script, CASES[case(seen)], right=combines(cost))
        skipped, cost = "", 0
        yield seen


def part(position: int, L: int, R: int, A: int, B: int) -> str:
    """The list that a position belongs to, as a colour."""
    if position < L:
        return "front"
    return "left" if position < R else "right" if position < A else "ready" if position < B else "back"
