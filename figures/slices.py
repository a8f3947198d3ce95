"""Slices: three ways to cut time for one window, and the cut that two windows share."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import slidewheel as sw
from figures.canvas import Canvas
from figures.examples import results
from figures.timeline import Timeline, lanes, minute
from slidewheel.windows.slicing import cutty, pairs, panes

MINUTE = 60_000_000


def slicing() -> Canvas:
    """Panes, pairs and Cutty for a range of 1 hour every 25 minutes."""
    window = sw.sliding("1h", every="25m")
    picture = Timeline(
        "Panes, pairs and Cutty",
        "Three ways to cut time for windows of 1 hour every 25 minutes, and the windows themselves. Panes have five "
        "slices in a slide, pairs two, Cutty one.",
        0,
        135,
        label=62,
    )
    picture.heading("1 hour, every 25 minutes")
    bars = [(window.start(k) // MINUTE, window.end(k) // MINUTE) for k in range(4)]
    placed = lanes(bars)
    top = picture.y
    for lane in range(max(placed) + 1):
        if lane == 0:
            picture.label("windows")
        for (start, end), where in zip(bars, placed, strict=True):
            if where == lane:
                picture.bar(start, end, f"{start} to {end}", "front")
        picture.down()
    picture.y += 4
    for way in panes, pairs, cutty:
        cut = way(window)
        picture.label(way.__name__.capitalize())
        start = 0
        while start < 135 * MINUTE:
            end = cut.end(start)
            picture.bar(start / MINUTE, end / MINUTE, "", "back")
            start = end
        picture.down()
    picture.uprights([start for start, _ in bars], top, 0)
    picture.y += 4
    picture.axis(range(0, 136, 25), lambda at: f"{at:g} min")
    return picture


def shared_slices() -> Canvas:
    """Two windows of one query, and the slices that both are made of."""
    found = results("algorithms/shared-slices.md")
    slices, answers = found["slices"].to_pylist(), found["answers"].to_pylist()
    picture = Timeline(
        "Slices that two windows share",
        "Rows on a line of time, the slices between all edges of both windows with the rows that they hold, and the "
        "windows with theirs. Every window is made of whole slices.",
        -15,
        60,
        label=70,
    )
    picture.heading("rows, each added once")
    rows = [(name, minute(time)) for name, time in zip(found["rows"]["row"], found["rows"]["t"], strict=True)]
    picture.rows([(str(name), at) for name, at in rows])
    picture.label("slices")
    for row in slices:
        picture.bar(*_ends(row), row["holds"], "back")
    picture.down()
    for name in dict.fromkeys(row["window"] for row in answers):
        picture.y += 6
        own = [row for row in answers if row["window"] == name]
        _windows(picture, name, own)
    edges = sorted({edge for row in slices for edge in _ends(row)})
    top = picture.y
    for edge in edges:
        picture.line([(picture.x(edge), top - 1), (picture.x(edge), top + 5)])
    picture.y += 8
    picture.axis(range(-15, 61, 15), lambda at: f"{'-' if at < 0 else ''}0:{abs(int(at)):02}" if at < 60 else "1:00")
    for row in answers:  # the picture may only say what the answers say
        start, end = _ends(row)
        inside = [s["holds"] for s in slices if start <= _ends(s)[0] and _ends(s)[1] <= end]
        assert "".join(inside) == row["holds"]
    return picture


def _ends(row: dict[str, Any]) -> tuple[float, float]:
    zero = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    start, end = ((row[name] - zero).total_seconds() / 60 for name in ("window_start", "window_end"))
    return start, end


def _windows(picture: Timeline, name: str, rows: Sequence[dict[str, Any]]) -> None:
    bars = [_ends(row) for row in rows]
    placed = lanes(bars)
    for lane in range(max(placed) + 1):
        if lane == 0:
            picture.label(name)
        for row, (start, end), where in zip(rows, bars, placed, strict=True):
            if where == lane:
                picture.bar(start, end, row["holds"])
        picture.down()
