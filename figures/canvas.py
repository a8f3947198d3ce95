"""A canvas that is as small as the pictures allow: text, boxes, lines and arrows, written as SVG."""

from html import escape

from figures import palette

WIDTH = 480
"""In units of which a phone has about 340 and a page 480: text of 13 units can be read on both."""
MARGIN = 16


class Canvas:
    """A card with a title. It grows downwards, as far as something is drawn."""

    def __init__(self, title: str, description: str, width: int = WIDTH) -> None:
        self.title, self.description, self.width = title, description, width
        self.bottom = 0.0
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: object, look: str = "ink") -> None:
        """`look` is made of a colour and small, bold, middle, end."""
        self.bottom = max(self.bottom, y + 4)
        own = " ".join(word for word in look.split() if word != "ink")  # which all text is, unless it says otherwise
        kind = f' class="{own}"' if own else ""
        self.parts.append(f'<text x="{_number(x)}" y="{_number(y)}"{kind}>{escape(str(words), False)}</text>')

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: object = "",
        fill: str = "plain",
        *,
        thick: bool = False,
        look: str = "",
    ) -> None:
        """A box around its words. "gone" is for what is still in memory and no longer used, "empty" for nothing."""
        self.bottom = max(self.bottom, y + height)
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        self.parts.append(f'<rect {place} class="{fill}{" thick" if thick else ""}"/>')
        if str(words):
            colour = look or ("soft" if fill == "gone" else "ink")
            tight = " small" if 9 * len(str(words)) > width else ""
            self.text(x + width / 2, y + height / 2 + 5, words, f"{colour} middle{tight}")

    def line(self, points: list[tuple[float, float]], *, thick: bool = False, dashed: bool = False) -> None:
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self._path(path, max(y for _, y in points), thick, dashed)

    def rule(self, y: float) -> None:
        """A faint line from side to side."""
        self.parts.append(f'<path d="M{MARGIN} {_number(y)}H{self.width - MARGIN}" class="path rule"/>')

    def curve(self, x: float, to: float, y: float, height: float, *, thick: bool = False) -> None:
        """From x to another x at the same y, over a bow that is so high, with a head at its end."""
        self._path(
            f"M{_number(x)} {_number(y)}C{_number(x)} {_number(y - height)} {_number(to)} {_number(y - height)} "
            f"{_number(to)} {_number(y - 3)}",
            y,
            thick,
        )
        self._head(to, y, 0, 1, thick)

    def arrow(self, x: float, y: float, to_x: float, to_y: float, *, thick: bool = False) -> None:
        """A straight line with a head at its end; level or upright."""
        self.line([(x, y), (to_x, to_y)], thick=thick)
        self._head(to_x, to_y, (to_x > x) - (to_x < x), (to_y > y) - (to_y < y), thick)

    def sink(self, since: int, below: int) -> None:
        """Move what was drawn since a number of parts below what was drawn since an earlier one."""
        moved = self.parts[since:]
        del self.parts[since:]
        self.parts[below:below] = moved

    def legend(self, *entries: tuple[str, str]) -> None:
        """Below all else, what the fills mean, as (fill, words); "thick" is a thick border, "line" a dashed line."""
        x, y = float(MARGIN), self.bottom + 12
        self.rule(y)
        y += 10
        for fill, words in entries:
            width = 38 + 7.2 * len(words)  # a guess: fonts differ, so it is a wide one
            if x > MARGIN and x + width > self.width:
                x, y = float(MARGIN), y + 22
            if fill == "line":
                self.line([(x + 10, y - 2), (x + 10, y + 16)], thick=True, dashed=True)
            else:
                self.box(x + 1, y, 18, 14, "", "plain" if fill == "thick" else fill, thick=fill == "thick")
            self.text(x + 26, y + 12, words, "soft small")
            x += width

    def _path(self, path: str, bottom: float, thick: bool, dashed: bool = False) -> None:
        self.bottom = max(self.bottom, bottom)
        look = f"path{' thick' if thick else ''}{' dashed' if dashed else ''}"
        self.parts.append(f'<path d="{path}" class="{look}"/>')

    def _head(self, x: float, y: float, right: int, down: int, thick: bool) -> None:
        corners = [(x, y), (x - 7 * right - 3.5 * down, y - 7 * down - 3.5 * right)]
        corners.append((x - 7 * right + 3.5 * down, y - 7 * down + 3.5 * right))
        points = " ".join(f"{_number(a)},{_number(b)}" for a, b in corners)
        self.parts.append(f'<polygon points="{points}" class="{"tip" if thick else "head"}"/>')

    def svg(self) -> str:
        """The picture as a text. It has no size but its own, so that a page may shrink it."""
        height = _number(self.bottom + MARGIN)
        card = f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{_number(self.bottom + MARGIN - 1)}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(self.title, False)}</title>',
            f'<desc id="desc">{escape(self.description, False)}</desc>',
            f"<style>{palette.style()}</style>",
            f'{card} rx="10" class="card"/>',
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """At most one digit behind the point, and none that says nothing."""
    return f"{round(value, 1):g}" if abs(value) < 1e5 else str(round(value))
