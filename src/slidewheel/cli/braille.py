"""Lines in a terminal, drawn with the dots of braille: eight to a character."""

from collections.abc import Mapping

import numpy as np
from rich.text import Text

from slidewheel.engine.columns import Array
from slidewheel.times import format_instant

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot in a character, by row and column."""
COLORS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_white", "bright_black")


def line_chart(lines: Mapping[str, tuple[Array, Array]], width: int, height: int, title: str) -> Text:
    """Times and values of each line, in one frame. Values that are not finite are left out.

    >>> line = np.array([0, 1_000_000]), np.array([0.0, 1.0])
    >>> print(line_chart({"a": line}, width=24, height=2, title="x").plain)
    x
             1 ┤     ⣀⡠⠤⠔⠒⠉⠉
             0 ┤⡤⠔⠒⠉⠉
                1970-01-01T00:00:00 to 1970-01-01T00:00:01
                a
    """
    some = {name: (t[ok], v[ok]) for name, (t, v) in lines.items() if (ok := np.isfinite(v)).any()}
    if not some:
        return Text(f"{title}\nno value in this range that can be drawn")
    times = np.concatenate([t for t, _ in some.values()])
    values = np.concatenate([v for _, v in some.values()])
    begin, end, low, high = int(times.min()), int(times.max()), float(values.min()), float(values.max())
    columns = max(width - 12, 8)
    cells, owner = np.zeros((height, columns), dtype=np.int64), np.zeros((height, columns), dtype=np.int64)
    for number, (at, value) in enumerate(some.values()):
        x = (at - begin) / max(end - begin, 1) * (2 * columns - 1)
        y = (high - value) / ((high - low) or 1.0) * (4 * height - 1)
        for column, row in _dots(x, y):
            cells[row // 4, column // 2] |= DOTS[row % 4, column % 2]
            owner[row // 4, column // 2] = number
    text = Text(f"{title}\n")
    for row in range(height):
        mark = {0: f"{high:.6g}", height - 1: f"{low:.6g}"}.get(row, "")
        text.append(f"{mark:>10} {'┤' if mark else '│'}")
        for dots, number in zip(cells[row].tolist(), owner[row].tolist(), strict=True):
            text.append(chr(0x2800 + dots) if dots else " ", style=COLORS[number % len(COLORS)])
        text.rstrip()
        text.append("\n")
    text.append(f"{'':>12}{format_instant(begin)} to {format_instant(end)}\n{'':>12}")
    for number, name in enumerate(some):
        text.append(f"{name or title}  ", style=COLORS[number % len(COLORS)])
    text.rstrip()
    return text


def _dots(x: Array, y: Array) -> set[tuple[int, int]]:
    """The dots of a line through these points."""
    found = {(int(x[0]), int(y[0]))}
    for k in range(len(x) - 1):
        steps = int(max(abs(x[k + 1] - x[k]), abs(y[k + 1] - y[k]))) + 1
        xs, ys = (np.linspace(side[k], side[k + 1], steps + 1).astype(int).tolist() for side in (x, y))
        found.update(zip(xs, ys, strict=True))
    return found
