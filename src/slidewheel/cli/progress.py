"""How far a pipeline has come, shown while it runs: a table in a terminal, else a line every few seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table

if TYPE_CHECKING:
    # The pipeline brings Numba along, which `--help` need not wait for.
    from slidewheel.pipeline.summary import Summary, Watch

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(console: Console) -> "Iterator[Watch]":
    """What is to be told of progress, as long as this lasts."""
    if console.is_terminal:
        with Live(console=console, refresh_per_second=4) as live:
            yield Board(live)
    else:
        yield Lines(console)


class Lines:
    def __init__(self, console: Console) -> None:
        self.console, self.printed = console, float("-inf")

    def update(self, summary: "Summary") -> None:
        now = time.monotonic()
        if now - self.printed >= SECONDS_BETWEEN_LINES:
            self.printed = now
            self.console.print(summary.line(), markup=False, highlight=False, soft_wrap=True)


class Board:
    def __init__(self, live: Live) -> None:
        self.live = live

    def update(self, summary: "Summary") -> None:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        for name, figure in summary.figures().items():
            table.add_row(name, figure)
        self.live.update(table)
