"""The kinds of windows, from the answers of the examples on docs/windows-explained.md."""

from datetime import UTC, datetime
from typing import Any

from figures.canvas import Canvas
from figures.examples import results
from figures.timeline import BAR, Timeline, clock, lanes, minute

PAGE = "windows-explained.md"
FIRST, LAST = 9 * 60 + 50, 10 * 60 + 50


def tumbling() -> Canvas:
    return _by_time("Tumbling windows", "tumbling", 'tumbling("10m")', "[start, end)")


def sliding() -> Canvas:
    return _by_time("Sliding windows", "sliding", 'sliding("20m", every="10m")', "[start, end)")


def session() -> Canvas:
    return _by_time("Sessions", "session", 'session("7m")', "dashed: the gap of 7 minutes", after=7)


def rows_every() -> Canvas:
    return _by_time("Windows of a number of rows", "counted", "rows(3, every=2)", "from row to row", by_row=True)


def punctuated() -> Canvas:
    found = results(PAGE)["rows"].to_pylist()
    ends = [row["row"] for row in found if row["is_end"]]
    return _by_time(
        "Punctuated windows", "punctuated", 'punctuated("is_end")', "the marked rows end one", by_row=True, thick=ends
    )


def _by_time(
    title: str, name: str, heading: str, right: str, *, by_row: bool = False, thick: Any = (), after: int = 0
) -> Canvas:
    found = results(PAGE)
    windows = found[name].to_pylist()
    told = ", ".join(f"{row['window_start']:%H:%M} to {row['window_end']:%H:%M}: {row['holds']}" for row in windows)
    picture = Timeline(title, f"Rows on a line of time, and the windows that hold them. {told}.", FIRST, LAST)
    picture.heading(heading, right)
    top = picture.y
    picture.rows(_rows(), thick=thick)
    pad = 1.2 if by_row else 0  # such a window ends with its last row, not before it
    bars = [(minute(row["window_start"]) - pad, minute(row["window_end"]) + pad) for row in windows]
    placed = lanes(bars)
    for lane in range(max(placed) + 1):
        for row, (start, end), where in zip(windows, bars, placed, strict=True):
            if where == lane:
                if after:  # what the gap adds
                    picture.bar(start, end, "", "empty")
                    picture.bar(start, end - after, row["holds"])
                else:
                    picture.bar(start, end, row["holds"])
        picture.down()
    if not by_row and not after:
        picture.uprights(sorted({edge for bar in bars for edge in bar}), top, 0)
    _axis(picture)
    return picture


def trailing() -> Canvas:
    """The window of the row d, closed in four ways."""
    found = results(PAGE)
    row = next(row for row in found["trailing"].to_pylist() if row["row"] == "d")
    told = ", ".join(f"{name}: {row['holds_' + name]}" for name in ("right", "left", "both", "neither"))
    picture = Timeline(
        "Trailing windows, closed in four ways",
        f"The window of the row d, 10 minutes up to 10:15, and the rows in it: {told}.",
        10 * 60,
        10 * 60 + 20,
        label=64,
    )
    picture.heading('trailing("10m", closed=...)', "the window of d, at 10:15")
    top = picture.y
    end = minute(row["t"])
    shown = [(name, at) for name, at in _rows() if at <= 10 * 60 + 20]
    picture.rows(shown, thick=["d"])
    for name, brackets in (("right", "(]"), ("left", "[)"), ("both", "[]"), ("neither", "()")):
        picture.label(name)
        picture.bar(end - 10, end, f"{brackets[0]}   {row['holds_' + name]}   {brackets[1]}")
        for at, belongs in ((end - 10, brackets[0] == "["), (end, brackets[1] == "]")):
            x = picture.x(at)
            picture.box(x - 5, picture.y + BAR / 2 - 5, 10, 10, "", "left" if belongs else "empty", thick=belongs)
        picture.down()
    picture.uprights((end - 10, end), top, 0)
    _axis(picture, 5)
    picture.legend(("thick", "this end belongs to the window"), ("empty", "this end does not"))
    return picture


def last_rows() -> Canvas:
    found = results(PAGE)["last"].to_pylist()
    times = dict(_rows())
    windows = [(row["row"], [times[name] for name in row["holds_3rows"]], row["holds_3rows"]) for row in found]
    return _per_row("The last three rows", "rows(3)", windows, dict(_rows()), FIRST + 10, LAST - 10, 10, clock)


def delta() -> Canvas:
    found = results(PAGE)["delta"].to_pylist()
    km = {row["row"]: float(row["km"]) for row in found}
    windows = [(row["row"], [km[row["row"]] - 10, km[row["row"]]], row["holds_km_10"]) for row in found]
    return _per_row("Delta windows", 'delta("km", 10)', windows, km, -12, 38, 10, lambda at: f"{at:g} km", pad=0)


def _per_row(
    title: str,
    heading: str,
    windows: list[tuple[str, list[float], str]],
    places: dict[str, float],
    low: float,
    high: float,
    every: int,
    words: Any,
    pad: float = 1.2,
) -> Canvas:
    told = ", ".join(f"{name}: {holds}" for name, _, holds in windows)
    picture = Timeline(
        title, f"For each row, the window that ends with it, and the rows in it. {told}.", low, high, label=34
    )
    picture.heading(heading, "a window for each row")
    top = picture.y
    picture.rows(list(places.items()))
    for name, span, holds in windows:
        start, end = min(span) - pad, max(span) + pad
        picture.label(f"of {name}", 20)
        picture.bar(start, end, holds, height=20)
        picture.down(24)
    picture.uprights(sorted(set(places.values())), top + 20, 0)
    picture.y += 4
    picture.axis(range(int(low) + (-int(low) % every), int(high) + 1, every), words)
    return picture


def watermark() -> Canvas:
    """Rows in the order in which they come, the watermark after each, and the windows that it closes."""
    found = results(PAGE)
    steps = found["steps"]
    picture = Timeline(
        "The watermark and a late row",
        "Rows in the order in which they come, from the top down, each at its time. After each row the watermark is "
        "the greatest time so far minus 5 minutes; windows that end at it or before are closed and come out.",
        FIRST,
        10 * 60 + 25,
    )
    picture.heading('sliding("10m", every="5m"), lateness="5m"')
    picture.note("rows come from the top down")
    below, path, late, previous = len(picture.parts), list[tuple[float, float]](), 0, None
    gone: list[tuple[float, float]] = []
    for row, at, mark, closed, rows_late, _ in steps:
        top = picture.y
        now = _minute_of(mark)
        is_late = rows_late > late
        picture.box(picture.x(600 + at) - 9, picture.y, 18, 22, row, "ready" if is_late else "back", thick=is_late)
        if is_late:
            missed = next((start, end) for start, end in gone if start <= 600 + at < end)
            words = f"late for {clock(missed[0])} to {clock(missed[1])}"
            picture.text(picture.x(now) + 10, picture.y + 16, words, "mark small")
        late = rows_late
        picture.y += 27
        for window in closed:
            start, end = minute(window["window_start"]), minute(window["window_end"])
            picture.bar(start, end, window["holds"])
            picture.text(picture.x(now) + 10, picture.y + 17, f"closed by {row}", "soft small")
            gone.append((start, end))
            picture.down()
        if previous is not None:
            path.append((picture.x(previous), top))
        path += [(picture.x(now), top), (picture.x(now), picture.y - 2)]
        previous = now
    since = len(picture.parts)
    picture.line(path, thick=True, dashed=True)
    picture.sink(since, below)
    _axis(picture, 5)
    picture.legend(
        ("back", "a row"), ("ready", "a late row"), ("front", "a window that closes"), ("line", "the watermark")
    )
    return picture


def _rows() -> list[tuple[str, float]]:
    return [(row["row"], minute(row["t"])) for row in results(PAGE)["rows"].to_pylist()]


def _minute_of(microseconds: int) -> float:
    return minute(datetime.fromtimestamp(microseconds / 1_000_000, UTC))


def _axis(picture: Timeline, every: int = 10) -> None:
    picture.y += 6
    picture.axis(range(int(picture.low), int(picture.high) + 1, every), clock)
