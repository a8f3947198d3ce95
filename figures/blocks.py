"""Blocks over a finished array: suffixes of one block, prefixes of the next, and two blocks in step."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from figures.canvas import Canvas
from figures.strip import Strip
from slidewheel.swag import blocks as algorithm
from slidewheel.windows.bounds import ByCount

ROWS, WIDTH = "abcdefghijkl", 4


@dataclass
class Run:
    """A run of the operations of `slidewheel.swag.blocks`, with letters, and its memory after each answer."""

    answers: list[str] = field(default_factory=lambda: [""] * len(ROWS))
    memory: list[list[str]] = field(default_factory=lambda: [[""] * WIDTH for _ in range(4)])
    joins: list[tuple[str, str]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)

    def join(self, a: str, b: str, *sizes: Any) -> str:
        self.joins.append((a, b))
        return a + b

    def put(self, out: list[str], row: int, answer: str) -> None:
        out[row] = answer
        self.after.append(
            {
                "row": row,
                "answers": list(out),
                "memory": [list(m) for m in self.memory],
                "parts": next(pair for pair in reversed(self.joins) if "".join(pair) == answer),
                "combines": len(self.joins),
            }
        )


def run() -> Run:
    made = Run()
    monoid = SimpleNamespace(join=made.join, identity=lambda: "", lower=lambda state, n: state)
    ring = SimpleNamespace(
        load=list.__getitem__,
        store=list.__setitem__,
        item=lambda columns, valid, i: columns[0][i],
        put=made.put,
    )
    slide, _ = algorithm.operations(monoid, ring, ByCount, lambda function: function)
    count = len(ROWS)
    slide([ROWS], None, WIDTH, 0, count, 1, np.zeros(WIDTH + 1), made.answers, None, *made.memory)
    return made


def blocks() -> Canvas:
    made = run()
    strip = Strip(
        "Blocks, step by step",
        "An array of twelve rows in blocks of four, which is the window. Each window is a suffix of one block and a "
        "prefix of the next. Two blocks go in step.",
        columns=12,
        label=64,
    )
    done = 0
    for first, last, title in (
        (0, 3, "rows a to d"),
        (4, 5, "rows e and i, in step"),
        (6, 7, "rows f and j"),
        (8, 11, "rows g and k, h and l"),
    ):
        state = made.after[last]
        rows = [made.after[k]["row"] for k in range(first, last + 1)]
        told = [" + ".join(p for p in made.after[k]["parts"] if p) for k in range(first, last + 1)]
        count = state["combines"] - done
        done = state["combines"]
        note = "the first block: its prefixes are the answers" if first == 0 else "; ".join(told[:2])
        strip.step(title, note, right=f"{count} combines")
        strip.row("array", [(k, letter, ("front", "back")[k // WIDTH % 2], False) for k, letter in enumerate(ROWS)])
        _suffixes(strip, state["memory"])
        _answers(strip, state["answers"], rows)
    strip.legend(
        ("front", "a block"),
        ("back", "the next"),
        ("plain", "a suffix, as the items that it covers"),
        ("thick", "an answer of this step, at its row"),
    )
    return strip


def _suffixes(strip: Strip, memory: list[list[str]]) -> None:
    """Each at its first row; the array that holds it may be one of four."""
    found = {ROWS.index(state[0]): state for part in memory for state in part if state}
    strip.row("suffixes", [(row, state, "plain", False) for row, state in sorted(found.items())], height=24)


def _answers(strip: Strip, answers: list[str], rows: list[int]) -> None:
    """Windows are longer than their cells, so that those of neighbours take turns between two lines."""
    strip.text(strip.left - 8, strip.y + 16, "answers", "soft small end")
    for row, answer in enumerate(answers):
        if answer:
            y = strip.y + (row % 2) * 26
            right = strip.x(row) + strip.cell
            width = max(30, 10 + 8.5 * len(answer))
            strip.box(max(right - width, strip.left), y, width - 2, 22, answer, "front", thick=row in rows)
    strip.y += 52
    strip.bottom = max(strip.bottom, strip.y - 4)
