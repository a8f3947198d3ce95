"""Steps below each other, and rows of boxes in which an item never moves sideways."""

from collections.abc import Iterable, Mapping

from figures.canvas import MARGIN, WIDTH, Canvas
from figures.watch import Seen

HEIGHT = 28


class Strip(Canvas):
    """A canvas whose steps are numbered and stand below each other."""

    def __init__(self, title: str, description: str, *, first: int = 0, columns: int = 8, label: int = 44) -> None:
        super().__init__(title, description)
        self.first, self.left = first, MARGIN + label
        self.cell = (WIDTH - MARGIN - self.left) / columns
        self.steps = 0
        self.y = float(MARGIN)

    def step(self, what: str, note: str = "", *, right: str = "") -> None:
        """Begin a step: what is done, what comes of it, and at the right what it costs."""
        if self.steps:
            self.y = self.bottom + 14
            self.rule(self.y)
            self.y += 8
        self.steps += 1
        self.y += 14
        self.text(MARGIN, self.y, what, "ink bold")
        if right:
            self.text(WIDTH - MARGIN, self.y, right, "soft small end")
        if note:
            self.y += 19
            self.text(MARGIN, self.y, note, "soft small")
        self.y += 10

    def seen(self, seen: Seen, note: str = "") -> None:
        """Begin a step that a window has done."""
        self.step(seen.script, note, right=seen.cost)

    def x(self, position: int) -> float:
        return self.left + (position - self.first) * self.cell

    def row(self, name: str, boxes: Iterable[tuple[int, object, str, bool]], *, height: int = HEIGHT) -> None:
        """Boxes at their positions: (position, words, fill, thick)."""
        self.text(self.left - 8, self.y + height / 2 + 5, name, "soft small end")
        for position, words, fill, thick in boxes:
            self.box(self.x(position) + 2, self.y, self.cell - 4, height, words, fill, thick=thick)
        self.y += height + 4
        self.bottom = max(self.bottom, self.y)

    def pointers(self, places: Mapping[str, int]) -> None:
        """Names under the left edges of the positions that they point to; equal ones side by side."""
        names: dict[int, list[str]] = {}
        for name, position in places.items():
            names.setdefault(position, []).append(name)
        for position, found in names.items():
            x = self.x(position) + 1
            self.line([(x, self.y - 2), (x, self.y + 5)])
            self.text(x - 3, self.y + 18, " ".join(found), "ink small bold")
        self.y += 22
        self.bottom = max(self.bottom, self.y)

    def register(self, position: float, name: str, words: object, *, thick: bool = False, width: float = 1) -> None:
        """A box of its own beside the row above, with its name over it."""
        x = self.left + (position - self.first) * self.cell
        self.box(x + 2, self.y - HEIGHT - 4, self.cell * width - 4, HEIGHT, words, "plain", thick=thick)
        self.text(x - 4, self.y - HEIGHT / 2 + 1, name, "soft small end")
