"""The words of PromQL."""

import re
from dataclasses import dataclass

from slidewheel.errors import InvalidArgument

LONGEST = 10_000
"""Characters of a query."""
_WORDS = re.compile(
    r"""
      (?P<space>\s+|\#[^\n]*)
    | (?P<duration>(?:\d+(?:ms|[smhdwy]))+(?![\w.]))
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<name>[A-Za-z_:][A-Za-z0-9_:]*)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
    | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^(){}\[\],=<>@:])
    """,
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"', "'": "'"}
_UNITS = {"ms": 1_000, "s": 1_000_000}
_UNITS |= {"m": 60 * _UNITS["s"], "h": 3_600 * _UNITS["s"], "d": 86_400 * _UNITS["s"]}
_UNITS |= {"w": 7 * _UNITS["d"], "y": 365 * _UNITS["d"]}
FAR = 2**61


class BadQuery(InvalidArgument):
    """What was given is no PromQL; the message says where."""


@dataclass(frozen=True)
class Word:
    kind: str
    """duration, number, name, text, sign or end."""
    text: str
    at: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


def bad(at: int, problem: str) -> BadQuery:
    return BadQuery(f"parse error at character {at + 1}: {problem}")


def words(query: str) -> list[Word]:
    """The words of a query, and one for its end."""
    if len(query) > LONGEST:
        raise BadQuery(f"the query is longer than {LONGEST:,} characters")
    found, at = [], 0
    while at < len(query):
        match = _WORDS.match(query, at)
        if match is None:
            problem = "a text without an end" if query[at] in "\"'`" else f"{query[at]!r} means nothing here"
            raise bad(at, problem)
        if match.lastgroup != "space":
            found.append(Word(str(match.lastgroup), match[0], at))
        at = match.end()
    return [*found, Word("end", "", len(query))]


def text_of(word: Word) -> str:
    """What stands between the quotes."""
    inside = word.text[1:-1]
    return inside if word.text[0] == "`" else _ESCAPE.sub(lambda match: _escaped(match, word), inside)


def _escaped(match: re.Match[str], word: Word) -> str:
    code = match[1]
    if code in _PLAIN:
        return _PLAIN[code]
    try:
        if code[0] in "xuU" and len(code) > 1:
            return chr(int(code[1:], 16))
        if len(code) == 3:
            return chr(int(code, 8))
    except ValueError:
        pass
    raise bad(word.at + 1 + match.start(), f"unknown escape \\{code}")


def duration_of(word: Word) -> int:
    """The microseconds of a duration."""
    total = 0
    for number, unit in re.findall(r"(\d+)(ms|[smhdwy])", word.text):
        # A number of 5,000 digits is more than int() takes.
        total += (int(number) if len(number) < 19 else FAR) * _UNITS[unit]
    if not 0 < total < FAR:
        raise bad(word.at, f"{word.text[:40]} is not a length of time between nothing and 73,000 years")
    return total
