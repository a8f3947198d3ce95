"""A key in pieces: its time is cut, so that one key with most of the rows can be on several cores.

The rows before a cut that windows behind it hold are sent to the piece behind it, too, as context.
"""

from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType

from slidewheel.engine.columns import Array
from slidewheel.engine.query import Query
from slidewheel.engine.slices import homes, joinable
from slidewheel.errors import InvalidArgument, Unsupported
from slidewheel.windows.specs import Rows, Spec, Trailing, gives_rows

CONTEXT = "slidewheel_context"
"""A column that marks rows which are answered elsewhere."""
PIECE = "slidewheel_piece"
"""A column with the piece that a row belongs to, where pieces are answered apart."""
FIRST, LENGTH = "slidewheel_first", "slidewheel_length"
"""Columns of rows of hot keys: where the first piece starts, and how long each is."""
STRETCH = 16
"""Pieces of trailing windows are so many times as long as the longest of them."""
HOT = 1 << 18
"""So many rows, and a key is hot."""
SHARE = 4
"""Pieces that each partition gets of a hot key."""
THIN = 1 << 16
"""Rows that a sender may add as context for one key: with long windows, there are fewer pieces."""


@dataclass(frozen=True)
class Spread:
    """Where rows go, and which of them go to a second place, as context."""

    homes: Array
    """The bucket of each row, then of each copy."""
    copies: Array
    """The rows that are copied."""
    pieces: Array | None = None
    """The piece of each row, then of each copy; None where pieces need not be told apart."""


@dataclass(frozen=True)
class Uncut:
    """A key is in one place."""

    def spread(self, table: pa.Table, codes: Array, hashes: Array, times: Array, count: int) -> Spread:
        return Spread(homes(hashes, count), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class ByTime:
    """Every key is cut at the same instants, far apart for its trailing windows: context comes from one piece only."""

    longest: int
    """The longest window."""

    @property
    def length(self) -> int:
        return STRETCH * self.longest

    def spread(self, table: pa.Table, codes: Array, hashes: Array, times: Array, count: int) -> Spread:
        piece = times // self.length
        own, following = (homes(_stirred(hashes, piece + k), count) for k in (0, 1))
        near = (piece + 1) * self.length - times <= self.longest
        copies = np.flatnonzero(near & (own != following))
        return Spread(np.concatenate([own, following[copies]]), copies)


@dataclass(frozen=True)
class HotKeys:
    """Keys with many rows are cut, where Spark says that these are: see `with_cuts`.

    The n - 1 rows before a cut may be anywhere before it, and with any sender. So every sender adds those of its own
    that may be among them.
    """

    before: int
    """The most rows before a row that its window holds."""
    longest: int
    """The longest trailing window beside; 0 if there is none."""
    pieces: int

    def spread(self, table: pa.Table, codes: Array, hashes: Array, times: Array, count: int) -> Spread:
        cut = table[LENGTH].is_valid().to_numpy()
        first, length = (table[name].combine_chunks().fill_null(fill).to_numpy() for name, fill in FILL.items())
        piece = np.where(cut, np.clip((times - first) // length, 0, self.pieces - 1), -1)
        rows = np.flatnonzero(cut)
        rows = rows[np.lexsort((times[rows], codes[rows]))]
        copies, of = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for key in np.split(rows, np.flatnonzero(np.diff(codes[rows])) + 1) if len(rows) else []:
            numbers = np.arange(1, self.pieces)
            ends = np.searchsorted(piece[key], numbers)
            near = np.searchsorted(times[key], first[key[0]] + numbers * length[key[0]] - self.longest)
            begins = np.maximum(0, np.minimum(ends - self.before, near))
            for number, begin, end in zip(numbers, begins, ends, strict=True):
                copied = key[begin:end]
                copies.append(copied)
                of.append(np.full(len(copied), number))
        chosen, pieces = np.concatenate(copies), np.concatenate([piece, *of])
        home = homes(np.concatenate([hashes, hashes[chosen]]), count)
        return Spread((home + np.maximum(pieces, 0)) % count, chosen, pieces)


FILL = {FIRST: 0, LENGTH: 1}
Cutting = Uncut | ByTime | HotKeys
UNCUT = Uncut()


def with_context(table: pa.Table, spread: Spread) -> pa.Table:
    """The rows, then those that are copied, marked as such."""
    count = table.num_rows
    table = pa.concat_tables([table, table.take(pa.array(spread.copies))])
    if spread.pieces is not None:
        table = table.drop_columns(list(FILL)).append_column(PIECE, pa.array(spread.pieces))
    return table.append_column(CONTEXT, pa.array(np.arange(table.num_rows) >= count))


def answered(query: Query, table: pa.Table) -> pa.Table:
    """The answers for rows with context, without those for the context."""
    if PIECE in table.column_names:
        query = replace(query, keys=(*query.keys, PIECE))
    made = query.run(table)
    if CONTEXT in made.column_names:
        made = made.filter(pc.invert(made[CONTEXT]))
    return made.drop_columns([name for name in (CONTEXT, PIECE) if name in made.column_names])


def _stirred(hashes: Array, numbers: Array) -> Array:
    mixed = hashes.view(np.uint64) ^ (numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed ^ (mixed >> np.uint64(27))).view(np.int64))


def by_time(query: Query) -> ByTime | None:
    """How time is cut where the windows of a row hold nothing that is older than some stretch of time."""
    reaches = _reaches(query)
    return ByTime(max(reaches)) if len(reaches) == len(query.windows) else None


def _reaches(query: Query) -> list[int]:
    """How long the trailing windows are."""
    return [sum(spec.reach) for spec in query.windows if isinstance(spec, Trailing)]


def _last_rows(spec: Spec) -> TypeGuard[Rows]:
    """Whether there is a window of the last rows for each row."""
    return isinstance(spec, Rows) and gives_rows(spec)


def hot_keys(query: Query, partitions: int) -> HotKeys | None:
    """How hot keys are cut where windows are of the last rows; None if other windows are among them.

    With very long windows there is but one piece: then it is not worth asking Spark where the cuts are.
    """
    counts = [spec.count for spec in query.windows if _last_rows(spec)]
    reaches = _reaches(query)
    if not counts or len(counts) + len(reaches) < len(query.windows):
        return None
    before = max(counts) - 1
    return HotKeys(before, max(reaches, default=0), max(1, min(SHARE * partitions, THIN // max(1, before))))


def check_hot_keys(query: Query, df: DataFrame) -> None:
    """Raise where a key can't be cut, and would be on one core in spite of hot_keys=True."""
    if df.isStreaming:
        raise InvalidArgument("hot_keys= is for a finite DataFrame: in a stream, a key is in one place")
    if not joinable(query) and by_time(query) is None and hot_keys(query, 1) is None:
        others = [spec.name for spec in query.windows if not isinstance(spec, Trailing) and not _last_rows(spec)]
        raise Unsupported(f"hot_keys= can't cut the time of a key where there are windows like {', '.join(others)}")


def with_cuts(query: Query, df: DataFrame, pieces: int) -> DataFrame:
    """The DataFrame, with where the pieces of its key are for each row of a hot key. Spark reads it once more for that.

    What is said there decides only how even the pieces are: answers are the same for any cuts.
    """
    names = [f"slidewheel_key_{number}" for number in range(len(query.keys))]
    keys = [F.col(f"`{key}`") for key in query.keys]
    time = F.col(f"`{query.time}`")
    numeric = isinstance(df.schema[query.time].dataType, NumericType)
    micros = time.cast("long") if numeric else F.unix_micros(time.cast("timestamp"))
    seen = df.select(*(key.alias(name) for key, name in zip(keys, names, strict=True)), micros.alias(FIRST))
    length = (F.max(FIRST) / pieces - F.min(FIRST) / pieces).cast("long") + 1
    known = seen.groupBy(*names).agg(F.count(FIRST).alias("rows"), length.alias(LENGTH), F.min(FIRST).alias(FIRST))
    hot = F.broadcast(known.where(F.col("rows") >= HOT).drop("rows"))
    same = reduce(and_, (key.eqNullSafe(F.col(name)) for key, name in zip(keys, names, strict=True)), F.lit(True))
    return df.join(hot, same, "left").drop(*names)
