"""What the pages of the papers' experiments share."""

from collections.abc import Callable
from typing import Any

from bench.report.page import Page, Record, Records

ALL_DIFFER = (
    "In all of these experiments, every algorithm is generated and compiled from one text, with flat arrays and the "
    "aggregate's functions inlined, unless *interpreted* is said; values are 64 bits wide. The tables below show what "
    "was measured, with the paper's value beside it where its text gives one; then what the paper reports, what is "
    "measured here, and why they differ, as far as we know."
)


def power(window: int) -> str:
    """
    >>> [power(w) for w in (8, 100, 1 << 20)]
    ['8', '100', '2^20']
    """
    return f"2^{window.bit_length() - 1}" if window >= 128 and window & (window - 1) == 0 else str(window)


def million(record: Record) -> float:
    """Nanoseconds as millions in a second."""
    return 1e3 / float(record["median"])


def micro(record: Record) -> float:
    return float(record["median"]) / 1e3


def grid(
    page: Page,
    records: Records,
    row: str,
    column: str,
    cell: Callable[[Record], Any],
    shown: Callable[[Any], str] = str,
    last: tuple[str, Callable[[Record], Any]] | None = None,
) -> None:
    """A table of the values of two fields; `last` is a column that every record of a row has the same value of."""
    columns = records.values(column)
    rows = []
    for name in records.values(row):
        of = {r[column]: r for r in records.where(**{row: name})}
        known = [last[1](next(iter(of.values())))] if last else []
        rows.append([name, *(cell(of[c]) if c in of else None for c in columns), *known])
    page.table(["", *map(shown, columns), *([last[0]] if last else [])], rows)
