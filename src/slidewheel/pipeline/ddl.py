"""The columns of a schema in Spark's words, `departed TIMESTAMP, delay DOUBLE`, read before there is a Spark to ask."""

import re
from collections.abc import Iterator

from slidewheel.errors import InvalidArgument
from slidewheel.pipeline.table import meant

TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "DATE")
WHOLE = ("BYTE", "TINYINT", "SHORT", "SMALLINT", "INT", "INTEGER", "LONG", "BIGINT")
PLAIN = (*TIMES, *WHOLE, "BOOLEAN", "FLOAT", "REAL", "DOUBLE", "STRING", "BINARY", "VARIANT")
SIZED = ("DECIMAL", "DEC", "NUMERIC", "CHAR", "CHARACTER", "VARCHAR")
NESTED = ("ARRAY", "MAP", "STRUCT")

_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|('(?:[^'\\]|\\.)*')|([^\W\d]\w*|\d+)|(.))", re.DOTALL)


def columns_of(ddl: str) -> dict[str, str]:
    """Names and types of the columns, in order.

    >>> columns_of("departed TIMESTAMP NOT NULL, `tail no` string, legs ARRAY<STRUCT<from: STRING, miles: INT>>")
    {'departed': 'TIMESTAMP', 'tail no': 'STRING', 'legs': 'ARRAY'}
    >>> columns_of("delay DUBLE")
    Traceback (most recent call last):
    slidewheel.errors.InvalidArgument: the column 'delay' has the unknown type 'DUBLE': did you mean 'DOUBLE'?
    """
    tokens = _Tokens(ddl)
    columns: dict[str, str] = {}
    lower = set()
    while True:
        name, kind = _column(tokens)
        if name.lower() in lower:
            raise InvalidArgument(f"two columns are called {name!r}: Spark does not tell upper and lower case apart")
        lower.add(name.lower())
        columns[name] = kind
        if tokens.next == "":
            return columns
        tokens.take(",", f"after the column {name!r}")


class _Tokens:
    def __init__(self, text: str) -> None:
        self.rest: Iterator[str] = (found.group().strip() for found in _TOKEN.finditer(text.rstrip()))
        self.next = next(self.rest, "")

    def pop(self) -> str:
        token, self.next = self.next, next(self.rest, "")
        return token

    def take(self, wanted: str, where: str) -> None:
        if self.next != wanted:
            found = f"not {self.next!r}" if self.next else "but the schema ends"
            raise InvalidArgument(f"{wanted!r} is expected {where}, {found}")
        self.pop()


def _column(tokens: _Tokens) -> tuple[str, str]:
    name = tokens.pop()
    if name.startswith("`"):
        name = name[1:-1].replace("``", "`")
    elif not re.fullmatch(r"\w+", name):
        found = f"not {name!r}" if name else "but the schema ends"
        raise InvalidArgument(f'a column is a name and a type, as in "departed TIMESTAMP", {found}')
    if tokens.next == ":":
        tokens.pop()
    kind = _type(tokens, name)
    if tokens.next.upper() == "NOT":
        tokens.pop()
        if tokens.pop().upper() != "NULL":
            raise InvalidArgument(f"NOT is followed by NULL at the column {name!r}")
    if tokens.next.upper() == "COMMENT":
        tokens.pop()
        if not tokens.pop().startswith("'"):
            raise InvalidArgument(f"the comment of the column {name!r} stands in single quotes")
    return name, kind


def _type(tokens: _Tokens, column: str) -> str:
    kind = tokens.pop()
    upper = kind.upper()
    if not kind or kind == ",":
        raise InvalidArgument(f'the column {column!r} has no type, as in "{column} DOUBLE"')
    if upper in SIZED and tokens.next == "(":
        while tokens.pop() != ")":
            if not tokens.next:
                raise InvalidArgument(f"')' is missing in the type of the column {column!r}")
    elif upper in NESTED:
        _inner(tokens, upper, column)
    elif upper not in (*PLAIN, *SIZED):
        raise InvalidArgument(
            f"the column {column!r} has the unknown type {kind!r}{meant(upper, (*PLAIN, *SIZED, *NESTED))}"
        )
    return upper


def _inner(tokens: _Tokens, kind: str, column: str) -> None:
    where = f"in the type of the column {column!r}"
    tokens.take("<", where)
    if kind == "STRUCT":
        while tokens.next not in (">", ""):
            _column(tokens)
            if tokens.next == ",":
                tokens.pop()
    else:
        _type(tokens, column)
        if kind == "MAP":
            tokens.take(",", where)
            _type(tokens, column)
    tokens.take(">", where)
