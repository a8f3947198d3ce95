"""An axis with rows on it, and windows as bars from their starts to their ends."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from figures.canvas import MARGIN, WIDTH, Canvas

BAR = 24
SIDE = 8
"""Room for half of the words at the ends of the axis."""


class Timeline(Canvas):
    """Times, or other numbers, from left to right. It grows downwards line by line."""

    def __init__(self, title: str, description: str, low: float, high: float, *, label: int = 0) -> None:
        super().__init__(title, description)
        self.low, self.high, self.left = low, high, MARGIN + max(label, SIDE)
        self.y = float(MARGIN)

    def x(self, at: float) -> float:
        return self.left + (at - self.low) / (self.high - self.low) * (WIDTH - MARGIN - SIDE - self.left)

    def heading(self, words: str, right: str = "") -> None:
        self.y += 14
        self.text(MARGIN, self.y, words, "ink bold")
        if right:
            self.text(WIDTH - MARGIN, self.y, right, "soft small end")
        self.y += 10

    def note(self, words: str) -> None:
        self.y += 9
        self.text(MARGIN, self.y, words, "soft small")
        self.y += 10

    def separate(self) -> None:
        self.y = self.bottom + 12
        self.rule(self.y)
        self.y += 8

    def axis(self, ticks: Iterable[float], words: Callable[[float], str]) -> None:
        self.line([(self.x(self.low), self.y), (self.x(self.high), self.y)])
        for tick in ticks:
            self.line([(self.x(tick), self.y - 4), (self.x(tick), self.y)])
            self.text(self.x(tick), self.y + 16, words(tick), "soft small middle")
        self.y += 20
        self.bottom = max(self.bottom, self.y)

    def rows(self, named: Sequence[tuple[str, float]], *, thick: Iterable[str] = (), fill: str = "back") -> None:
        """A box for each row, over its time; those that would overlap stand on each other."""
        marked, columns = set(thick), list[list[tuple[str, float]]]()
        for name, at in sorted(named, key=lambda row: row[1]):
            if columns and self.x(at) - self.x(columns[-1][0][1]) < 17:
                columns[-1].append((name, at))
            else:
                columns.append([(name, at)])
        height = max(len(column) for column in columns)
        for column in columns:
            for k, (name, at) in enumerate(column):
                y = self.y + (height - 1 - k) * 22
                self.box(self.x(at) - 8, y, 16, 20, name, fill, thick=name in marked)
        self.y += height * 22 + 6
        self.bottom = max(self.bottom, self.y)

    def bar(
        self, start: float, end: float, words: object, fill: str = "front", *, thick: bool = False, height: int = BAR
    ) -> None:
        """One window, on the present line."""
        left, right = self.x(max(start, self.low)), self.x(min(end, self.high))
        self.box(left, self.y, right - left, height, words, fill, thick=thick)

    def label(self, words: str, height: int = BAR) -> None:
        """At the left of the present line."""
        self.text(self.left - 8, self.y + height / 2 + 5, words, "soft small end")

    def uprights(self, places: Iterable[float], top: float, below: int, *, thick: bool = False) -> None:
        """Dashed lines from a height down to the present line, below what was drawn since a number of parts."""
        since = len(self.parts)
        for at in places:
            self.line([(self.x(at), top), (self.x(at), self.y)], thick=thick, dashed=True)
        self.sink(since, below)

    def down(self, by: float = BAR + 5) -> None:
        self.y += by
        self.bottom = max(self.bottom, self.y - 5)


def lanes(bars: Sequence[tuple[float, float]]) -> list[int]:
    """A lane for each bar, so that no two in a lane overlap."""
    free: list[float] = []
    found = []
    for start, end in bars:
        lane = next((k for k, until in enumerate(free) if until <= start), len(free))
        free[lane : lane + 1] = [end]
        found.append(lane)
    return found


def minute(time: datetime) -> float:
    """Minutes since midnight."""
    return time.hour * 60 + time.minute + time.second / 60


def clock(minutes: float) -> str:
    return f"{int(minutes) // 60 % 24:02}:{int(minutes) % 60:02}"
