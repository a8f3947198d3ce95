"""Names and texts as they are written in Spark SQL."""

from collections.abc import Mapping


def name(column: str) -> str:
    """
    >>> name("tail `no`")
    '`tail ``no```'
    """
    return "`" + column.replace("`", "``") + "`"


def literal(text: str) -> str:
    """
    >>> print(literal("it's a \\\\"))
    'it\\'s a \\\\'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def options(given: Mapping[str, object]) -> str:
    """Options of a function as a map of texts.

    >>> options({"mode": "PERMISSIVE", "multiLine": False})
    "map('mode', 'PERMISSIVE', 'multiLine', 'false')"
    """
    pairs = ((key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in given.items())
    return f"map({', '.join(f'{literal(key)}, {literal(value)}' for key, value in pairs)})"
