"""Every key and item of a TOML text has a line, and it is the right one."""

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from slidewheel.pipeline.lines import lines_of


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All that `tomllib` has found, by its place."""
    if place:
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*place, key))


TEXTS = {
    "comments": ('# a = 1\n\na = 1 # b = 2\n# [c]\nb = "x # y" # z\n', {("a",): 3, ("b",): 5}),
    "dotted keys": ("a.b.c = 1\na.d = 2", {("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 1, ("a", "d"): 2}),
    "quoted keys": ('\'a.b\' = 1\n"c \\" d" = 2\n"" = 3', {("a.b",): 1, ('c " d',): 2, ("",): 3}),
    "spaces": ("[ a . b ]\n c  =  1", {("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 2}),
    "long strings": ('a = """x\n[b]\nc = 1\n"""\nd = \'\'\'\n"""\n\'\'\'\ne = 1', {("a",): 1, ("d",): 5, ("e",): 8}),
    "quotes at the end": ('a = """x\\""" ""y"""""\nb = \'\'\'it\'s\'\'\'\'\nc = 1', {("a",): 1, ("b",): 2, ("c",): 3}),
    "escapes": ('a = "\\\\"\nb = "\\""\nc = \'\\\'\nd = 1', {("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4}),
    "arrays": (
        'a = [ # one\n  "]", # two\n\n  [1,\n   2],\n]\nb = []',
        {("a",): 1, ("a", 0): 2, ("a", 1): 4, ("a", 1, 0): 4, ("a", 1, 1): 5, ("b",): 7},
    ),
    "inline tables": (
        "a = [\n  {b = 1, c = {d = '}'}},\n  {},\n]",
        {("a",): 1, ("a", 0): 2, ("a", 0, "b"): 2, ("a", 0, "c"): 2, ("a", 0, "c", "d"): 2, ("a", 1): 3},
    ),
    "arrays of tables": (
        "[[a]]\nb = 1\n[[a.c]]\nd = 1\n[[a.c]]\n[a.e]\nf = 1\n[[a]]\n[[a.c]]\nd = 2",
        {
            ("a",): 1,
            ("a", 0): 1,
            ("a", 0, "b"): 2,
            ("a", 0, "c"): 3,
            ("a", 0, "c", 0): 3,
            ("a", 0, "c", 0, "d"): 4,
            ("a", 0, "c", 1): 5,
            ("a", 0, "e"): 6,
            ("a", 0, "e", "f"): 7,
            ("a", 1): 8,
            ("a", 1, "c"): 9,
            ("a", 1, "c", 0): 9,
            ("a", 1, "c", 0, "d"): 10,
        },
    ),
    "other scalars": (
        "a = 1979-05-27 07:32:00\nb = -inf\nc = true\nd = 1_000",
        {("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4},
    ),
    "line ends of Windows": (
        'a = 1\r\n[b]\r\nc = [\r\n  "x",\r\n]\r\n',
        {("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 0): 4},
    ),
    "nothing": ("# only this", {}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_lines(name):
    text, expected = TEXTS[name]
    assert set(places(tomllib.loads(text))) == set(expected), "the test itself is wrong"
    assert lines_of(text) == expected


def random_value(chance: random.Random, depth: int) -> list[str]:
    """A value as the lines that it is written on."""
    kinds = ["number", "text", "long text", "literal"] + (["array", "table"] if depth < 3 else [])
    kind = chance.choice(kinds)
    if kind == "number":
        return [str(chance.randrange(100))]
    if kind == "text":
        return [chance.choice(['"a ] # b"', '"\\" = ["', '"}"', '""'])]
    if kind == "literal":
        return [chance.choice(["'# \"'", "'''[x] = '''", "'\\'"])]
    if kind == "long text":
        return ['"""one', "[two]", 'x = "y" \\"""', '"""']
    if kind == "table":
        pairs = [f"k{i} = {random_value(chance, 3)[0]}" for i in range(chance.randrange(3))]
        return ["{" + ", ".join(pair for pair in pairs if '"""' not in pair) + "}"]
    lines = ["["]
    for _ in range(chance.randrange(4)):
        first, *rest = random_value(chance, depth + 1)
        lines += [f"  {first}", *rest]
        lines[-1] += ", # ] and more"
    return [*lines, "]"]


def test_random_texts_have_their_keys_on_their_lines():
    for seed in range(300):
        chance = random.Random(seed)
        lines: list[str] = []
        for table in range(4):
            lines += [chance.choice([f"[t{table}]", "[[many]]", f"[t{table}.'x y']", f"# comment\n[[m.n{table}]]"])]
            for key in range(chance.randrange(4)):
                first, *rest = random_value(chance, 0)
                lines += [f"key{key} = {first}", *rest]
        text = "\n".join(lines)
        found = lines_of(text)
        assert set(found) == set(places(tomllib.loads(text))), text
        written = text.split("\n")
        for place, line in found.items():
            if isinstance(place[-1], str):
                assert place[-1] in written[line - 1], (text, place, line)
