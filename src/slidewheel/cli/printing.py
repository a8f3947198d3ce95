"""Answers in a terminal: as a table, as a file, as a drawing."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as Grid

from slidewheel.cli.braille import line_chart
from slidewheel.errors import InvalidArgument

FORMATS = ("table", "csv", "parquet")
MOST_ROWS = 1000
"""Rows that are printed; all go to a file."""
MOST_LINES = 8
"""Keys that one drawing can show."""


def printed(table: pa.Table, form: str, output: Path | None) -> None:
    """The answers in a form of one's choice."""
    if form not in FORMATS:
        raise InvalidArgument(f"--format is one of {', '.join(FORMATS)}, not {form!r}")
    if form == "table" and output is None:
        return _grid(table)
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise InvalidArgument("Parquet is not for a terminal: add --output FILE")
    try:
        sink: Any = sys.stdout.buffer if output is None else str(output)
        if form == "parquet" or (output is not None and form == "table" and output.suffix == ".parquet"):
            pq.write_table(table, sink)
        else:
            pyarrow.csv.write_csv(_plain(table), sink)
    except (OSError, pa.ArrowException) as error:
        raise InvalidArgument(f"the answers can't be written to {output or 'standard output'}: {error}") from None


def _plain(table: pa.Table) -> pa.Table:
    """What CSV has no form for, as text."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            texts = pa.array([None if v is None else str(v) for v in table.column(place).to_pylist()], pa.string())
            table = table.set_column(place, field.name, texts)
    return table


def _grid(table: pa.Table) -> None:
    console, grid = Console(), Grid(box=None, pad_edge=False, header_style="bold")
    for field in table.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        grid.add_column(field.name, justify="right" if number else "left", overflow="fold")
    for row in zip(*(column.to_pylist() for column in table.slice(0, MOST_ROWS).columns), strict=True):
        grid.add_row(*map(_cell, row))
    console.print(grid)
    if table.num_rows > MOST_ROWS:
        console.print(f"{table.num_rows - MOST_ROWS:,} rows more: use --format csv, or --output FILE", style="dim")
    if table.num_rows == 0:
        console.print("no rows in this range", style="dim")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.6g}"
    return value.isoformat(sep=" ").removesuffix("+00:00") if hasattr(value, "isoformat") else str(value)


def drawn(table: pa.Table, keys: list[str], name: str) -> None:
    """A line for each key, over time."""
    kind = table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise InvalidArgument(f"{name} is {kind}, which can't be drawn: choose another with --aggregate")
    console = Console()
    if table.num_rows == 0:
        return console.print("no rows in this range", style="dim")
    times = table["start"].cast(pa.int64()).to_numpy()
    values = table[name].cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    texts = [" ".join(map(str, row)) for row in zip(*(table[key].to_pylist() for key in keys), strict=True)]
    labels = np.array(texts or [""] * table.num_rows)
    shown = list(dict.fromkeys(labels.tolist()))
    lines = {one: (times[labels == one], values[labels == one]) for one in shown[:MOST_LINES]}
    chart = line_chart(lines, width=max(min(console.width, 160), 40), height=16, title=name)
    console.print(chart, highlight=False, markup=False)
    if len(shown) > MOST_LINES:
        console.print(f"{len(shown) - MOST_LINES} keys more: choose some with --key", style="dim")
