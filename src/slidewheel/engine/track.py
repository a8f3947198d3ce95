"""A track: what the windows of one kind need, which is an arena and how they are read from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from slidewheel.engine.arena import Arena, Inputs, Undo
from slidewheel.engine.columns import Array
from slidewheel.engine.keys import Keys


@dataclass
class Rows:
    """Rows to be added: the code of each key, the time, and the columns of each component."""

    codes: Array
    times: Array
    inputs: list[Inputs]
    table: Any = None
    """The columns that windows read, where they read any."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, which: Array) -> "Rows":
        found = self.moved(lambda column: column[which])
        found.table = None if self.table is None else self.table.take(pa.array(which))
        return found

    def moved(self, move: Callable[[Array], Array]) -> "Rows":
        """The same without the table, each column moved; one that several components read, once."""
        known: dict[int, Array] = {}

        def moved(column: Array) -> Array:
            if id(column) not in known:
                known[id(column)] = move(column)
                known[id(column)].flags.writeable = False
            return known[id(column)]

        inputs = [
            (tuple(map(moved, columns)), None if valid is None else moved(valid)) for columns, valid in self.inputs
        ]
        return Rows(move(self.codes), move(self.times), inputs)


@dataclass
class Closed:
    """Windows to be given out, with a state of each component for each of them."""

    keys: Array
    specs: Array
    starts: Array
    ends: Array
    states: list[Array]


class Track:
    """What all tracks can do."""

    arena: Arena
    in_order = False
    """Whether rows have to come in the order of their times, whatever the aggregates."""
    reads_columns = False
    """Whether windows read columns of their own."""
    forgets_keys = False
    """Whether a key without entries means nothing to it."""

    def add(self, rows: Rows, late: bool = False) -> Undo:
        raise NotImplementedError

    def trim(self, until: int) -> bool:
        """Forget what no window needs that ends after `until`. Returns whether there may have been such."""
        raise NotImplementedError

    def reserve_keys(self, count: int) -> None:
        """Make room for so many keys."""
        self.arena.reserve_keys(count)

    def saved(self) -> tuple[Array, ...]:
        """What it knows beside its arena, as it is now."""
        return ()

    def restore(self, saved: tuple[Array, ...]) -> None:
        """Go back to that, and forget the rows of a step that has failed."""

    def unfinished(self) -> int:
        """Rows in windows that have not come out when a stream ends."""
        return 0


class WindowTrack(Track):
    """A track whose windows give a row each."""

    def lateness(self, late: Any, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        """For rows behind the watermark: whether each is late for a window, counts in one, and in a closed one anew."""
        raise NotImplementedError

    def close(self, before: int | None, watermark: int, known: Keys) -> list[Closed]:
        """The windows that end after `before`, up to the watermark; in pieces, by end, key and spec."""
        raise NotImplementedError

    def repaired(self, codes: Array, times: Array, watermark: int, repair: int, ranks: Array) -> Closed:
        """The closed windows that these late rows belong to, corrected."""
        raise NotImplementedError

    def final(self, latest: int | None) -> int:
        """The end of the last window that holds a row of this time or earlier."""
        raise NotImplementedError
