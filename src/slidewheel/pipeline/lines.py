"""The line of every key and item of a TOML text, which `tomllib` does not tell.

The text is known to be right, since `tomllib` has read it. So only what moves the position counts: strings, comments,
brackets. A place is a tuple of keys and indexes: `("output", 0, "path")` is the path of the first `[[output]]`.
"""

import re
import tomllib

Place = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_STRINGS = {
    '"""': re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL),
    "'''": re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]|\\.)*"'),
    "'": re.compile(r"'[^']*'"),
}


def lines_of(text: str) -> dict[Place, int]:
    """The line on which each key, table and item of an array begins.

    >>> lines_of('[a]\\nb = [\\n  "x",\\n  {c = 1},\\n]')
    {('a',): 1, ('a', 'b'): 2, ('a', 'b', 0): 3, ('a', 'b', 1): 4, ('a', 'b', 1, 'c'): 4}
    """
    return _Scan(text).document()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Place, int] = {}
        self.tables: dict[Place, int] = {}
        """How many tables each array of tables has so far."""

    def document(self) -> dict[Place, int]:
        table: Place = ()
        while self.blank():
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.lines

    def header(self) -> Place:
        several = self.text.startswith("[[", self.at)
        begin = self.at
        self.at += 1 + several
        keys = self.keys()
        self.at += 1 + several
        within: Place = ()
        for key in keys[:-1]:
            self.note((*within, key), begin)
            within = self.newest((*within, key))
        place = (*within, keys[-1])
        if several:
            self.tables[place] = self.tables.get(place, 0) + 1
            self.note(place, begin)
        place = self.newest(place)
        self.note(place, begin)
        return place

    def newest(self, place: Place) -> Place:
        """Where a header that names this place continues: in the last table of it, if it is an array of them."""
        return (*place, self.tables[place] - 1) if place in self.tables else place

    def pair(self, table: Place) -> None:
        begin = self.at
        place = table
        for key in self.keys():
            place = (*place, key)
            self.note(place, begin)
        self.at += 1  # the equals sign
        self.value(place)

    def keys(self) -> list[str]:
        """A key, or several with dots between them."""
        found = []
        while True:
            part = _KEY_PART.match(self.text, self.at)
            assert part is not None
            quoted, literal, bare = part.groups()
            found.append(_unescaped(quoted) if quoted is not None else literal if literal is not None else bare)
            self.at = part.end()
            if self.text[self.at] != ".":
                return found
            self.at += 1

    def value(self, place: Place) -> None:
        self.blank()
        opening = self.text[self.at]
        if opening == "[":
            self.items(place, "]")
        elif opening == "{":
            self.items(place, "}")
        else:
            quotes = (quote for quote in _STRINGS if self.text.startswith(quote, self.at))
            found = _STRINGS.get(next(quotes, ""), _SCALAR).match(self.text, self.at)
            assert found is not None
            self.at = found.end()

    def items(self, place: Place, closing: str) -> None:
        self.at += 1
        index = 0
        while self.blank() and self.text[self.at] != closing:
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "}":
                self.pair(place)
            else:
                self.note((*place, index), self.at)
                self.value((*place, index))
                index += 1
        self.at += 1

    def blank(self) -> bool:
        """Go past blanks, line ends and comments; False at the end of the text."""
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.at < len(self.text)

    def note(self, place: Place, position: int) -> None:
        self.lines.setdefault(place, self.text.count("\n", 0, position) + 1)


def _unescaped(quoted: str) -> str:
    return str(tomllib.loads(f'key = "{quoted}"')["key"])
