"""sw.Stream: the same definition over rows that keep coming."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from slidewheel.engine import container
from slidewheel.engine import snapshot as snapshots
from slidewheel.engine.batches import Batch, about_sorted, read_table, read_times, rows_behind, with_times_as
from slidewheel.engine.columns import Array
from slidewheel.engine.inputs import Binding, whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.per_row import PerRow
from slidewheel.engine.threads import uninterrupted
from slidewheel.engine.upkeep import forget_idle
from slidewheel.engine.windowed import Windowed
from slidewheel.errors import InvalidArgument, InvalidSnapshot, SlidewheelError
from slidewheel.times import InstantLike, instant
from slidewheel.windows.specs import Trailing

if TYPE_CHECKING:
    from slidewheel.engine.query import Query

AT_ONCE = 1 << 18
"""Rows of a table that `run` takes in one step; twice as many, where they do not come back."""
WITHOUT_A_STATE = 1 << 25
"""Rows of a table up to which trailing windows are answered without a state: that takes some 100 bytes for each."""
MANY = 16
"""A table is sorted first where one in so many rows is earlier than rows of a step before: each would have to make
room for itself among later ones."""
FAR = np.iinfo(np.int64).max // 4
"""Times beyond this would overflow when windows are added to them: 73,000 years from 1970."""


@dataclass(frozen=True)
class Late:
    """What did not count, or not everywhere."""

    rows: int = 0
    """Rows that came too late for at least one of their windows, and could not be repaired there."""
    dropped: int = 0
    """Of these, the rows that count in no window at all."""
    updates: int = 0
    """Windows that were given out again, corrected (late="update")."""
    null_times: int = 0
    """Rows without a time."""
    outside: int = 0
    """Rows in the gaps between windows whose slide is longer than their range."""
    unfinished: int = 0
    """Rows in punctuated windows whose end had not come when the stream was finished."""
    table: pa.Table | None = None
    """With late="keep", the late rows. They are kept until `Stream.take_late` hands them over."""
    without_time: pa.Table | None = None
    """The rows without a time, kept in the same way."""


COUNTS = ("rows", "dropped", "updates", "null_times", "outside", "unfinished")


class Stream:
    """A running query. `push` takes a batch and gives back the windows that it closed.

    >>> import slidewheel as sw
    >>> query = sw.query(time="t", windows=[sw.tumbling("10s")], aggregates=[sw.count()], lateness="5s")
    >>> stream = query.stream()
    >>> stream.push({"t": [1_000_000, 12_000_000]}).num_rows
    0
    >>> stream.push({"t": [9_000_000, 16_000_000]})["count"].to_pylist()
    [2]
    >>> stream.finish()["count"].to_pylist()
    [2]
    """

    def __init__(self, query: "Query", feed: Any = None) -> None:
        """`feed` takes the rows to a store; `query.stream(store=)` makes one."""
        self.query, self._feed = query, feed
        self._watermark: int | None = None
        self._latest: int | None = None
        self._late = Late()
        self._engine: Any = None
        self._schema: pa.Schema | None = None
        self._finished = False

    @property
    def watermark(self) -> int | None:
        """The instant before which all windows are closed, in microseconds; None before the first row."""
        return self._watermark

    @property
    def late(self) -> Late:
        """Counts of what came too late, and with late="keep" the rows themselves."""
        return self._late

    def take_late(self) -> tuple[pa.Table | None, pa.Table | None]:
        """Hand over the late rows (with late="keep") and those without a time, and keep them no longer.

        >>> import slidewheel as sw
        >>> query = sw.query(time="t", windows=[sw.tumbling("10s")], aggregates=[sw.count()], late="keep")
        >>> stream = query.stream()
        >>> _ = stream.push({"t": [12_000_000]}), stream.push({"t": [3_000_000]})
        >>> late, without_time = stream.take_late()
        >>> late["t"].to_pylist(), without_time, stream.late.table, stream.late.rows
        ([3000000], None, None, 1)
        """
        found = self._late.table, self._late.without_time
        self._late = replace(self._late, table=None, without_time=None)
        return found

    def push(self, batch: Any) -> pa.Table:
        """Take in a batch, and give out the windows that are closed by it.

        A batch that can't be taken in raises, and leaves the stream as it was.
        """
        self._still_open()
        fresh = self._engine is None
        try:
            read = self._read(batch)
            lifted = None if self._feed is None or self._engine is None else self._feed.lift(read_table(batch))
            result = self._step(read, lateness=self.query.lateness)
        except BaseException:
            if fresh:  # its types do not bind the next one
                self._engine = self._schema = None
            raise
        if lifted is not None:
            self._feed.take(lifted)
        return result

    def commit(self) -> int:
        """Add what has come to the store, as batches that it takes once; how many of them it did not have.

        Of a stream that takes snapshots, only what the last one holds: put it away first, and after a crash let the
        source go on where that snapshot was taken. Then every row is in the store once.
        """
        if self._feed is None:
            raise InvalidArgument("this stream has no store: make it with query.stream(store=...)")
        return int(self._feed.commit())

    def advance_to(self, time: InstantLike) -> pa.Table:
        """Raise the watermark to this time, as if no earlier row could come; give out the windows that this closes."""
        self._still_open()
        moment = min(max(instant(time), -FAR), FAR)
        if self._engine is None:
            self._watermark = moment if self._watermark is None else max(moment, self._watermark)
            return pa.table({})
        return self._step(self._nothing(), at_least=moment)

    def finish(self) -> pa.Table:
        """Close all windows that are open; nothing can be pushed afterwards."""
        self._still_open()
        result = pa.table({}) if self._engine is None else self._step(self._nothing(), final=True)
        self._end()
        return result

    def _end(self) -> None:
        if self._engine is not None:
            self._count(unfinished=max(track.unfinished() for track in self._engine.tracks))
        self._finished = True

    def snapshot(self) -> bytes:
        """The whole state, compact and checksummed; `Stream.restore` goes on from it.

        >>> import slidewheel as sw
        >>> query = sw.query(time="t", windows=[sw.tumbling("10s")], aggregates=[sw.sum("x")])
        >>> stream = query.stream()
        >>> _ = stream.push({"t": [1_000_000], "x": [5]})
        >>> again = sw.Stream.restore(query, stream.snapshot())
        >>> again.push({"t": [2_000_000, 12_000_000], "x": [1, 7]})["sum_x"].to_pylist()
        [6]
        """
        return container.pack(self.snapshot_parts())

    def snapshot_parts(self, known: Collection[str] = ()) -> dict[str, bytes]:
        """The state as named parts: the one called "manifest", and all others whose names are not known yet.

        A part's name changes with its contents. Keep the parts that the manifest lists, and write only new ones.
        """
        return snapshots.snapshot_parts(self, known)

    @classmethod
    def restore(
        cls, query: "Query", snapshot: bytes | Mapping[str, bytes], *, trusted: bool = False, store: Any = None
    ) -> "Stream":
        """The stream as it was when the snapshot was taken: from its bytes, or from its parts by name.

        store: where the stream has one, that store or its path; what it has of the stream already is not added again.

        A snapshot that is damaged, or of another query, raises sw.InvalidSnapshot. `trusted` allows states that are
        objects of classes of your own, which are unpickled: only for snapshots that nobody else could have written.
        """
        parts = snapshot if isinstance(snapshot, Mapping) else container.unpack(snapshot)
        stream = cls(query)
        if store is not None:
            from slidewheel.store.opening import store_for

            store = store_for(query, store)
        try:
            snapshots.restore_parts(stream, parts, trusted, store)
        except SlidewheelError:
            raise
        except Exception as error:  # whatever a damaged part makes of itself
            raise InvalidSnapshot(f"the snapshot can't be read ({type(error).__name__}: {error})") from error
        return stream

    def run(self, table: Any) -> pa.Table:
        """The answers for a finite table; what `Query.run` calls."""
        given = read_table(table)
        trailing = all(isinstance(spec, Trailing) for spec in self.query.windows)
        if trailing and given.num_rows <= WITHOUT_A_STATE:
            read = self._read(given)
            if self._engine is not None and self._engine.by_trails:
                return self._at_once(*read)
        step = AT_ONCE if self.query.plan.gives_rows else 2 * AT_ONCE
        if given.num_rows <= step:
            result = self._step(self._read(given), final=True)
            self._end()
            return result
        pieces = [self._read(given.slice(first, step)) for first in range(0, given.num_rows, step)]
        if not self.query.plan.in_order and rows_behind([times for _, _, times in pieces]) > given.num_rows // MANY:
            pieces = about_sorted(pieces)
        # What no later piece can reach closes as we go: state stays small where rows are about in order.
        reached, least = [], FAR
        for _, _, times in reversed(pieces):
            reached.append(least - 1)
            least = min(least, int(times.min(initial=FAR)))
        found = [self._step(piece, at_least=until) for piece, until in zip(pieces, reversed(reached), strict=True)]
        return pa.concat_tables([*found, self.finish()])

    def _at_once(self, table: pa.Table, without: pa.Table, times: Array) -> pa.Table:
        """The answers for a finite table of rows that come back."""
        engine, table = self._engine, self._like_before(table)
        self._count(null_times=len(without), without_time=without)
        engine.see_nulls(table)
        codes = engine.keys.encode([whole(table[k]) for k in self.query.keys], len(times))
        self._finished = True
        return engine.at_once(Batch(table, times, codes))

    def _still_open(self) -> None:
        if self._finished:
            raise SlidewheelError("the stream is finished: make another with query.stream()")

    def _read(self, batch: Any) -> tuple[pa.Table, pa.Table, Array]:
        """The rows of a batch, checked: nothing has changed yet."""
        table = read_table(batch)
        self.query.check(table.schema)
        rows, without, times = read_times(table, self.query.time)
        if len(times) and (int(times.min()) < -FAR or int(times.max()) > FAR):
            raise InvalidArgument(f"the column {self.query.time!r} holds times more than 70,000 years away from 1970")
        if self._engine is None and not (
            len(times) == 0 and pa.types.is_null(table.schema.field(self.query.time).type)
        ):
            self._start(table.schema)
        if self._engine is not None:
            self._like_before(table.slice(0, 0))
        return rows, without, times

    def _like_before(self, table: pa.Table) -> pa.Table:
        """The columns of the first batch, in its types."""
        assert self._schema is not None
        for field in self._schema:
            if field.name not in table.column_names:
                raise InvalidArgument(
                    f"no column {field.name!r}, which the first batch had; there are {', '.join(table.column_names)}"
                )
        table = table.select(self._schema.names)
        if table.schema.equals(self._schema):
            return table
        table = with_times_as(table, self.query.time, self._schema.field(self.query.time).type)
        for field in self._schema:
            given = table.schema.field(field.name).type
            if not _alike(given, field.type):
                raise InvalidArgument(
                    f"the columns are not of the types that the first batch had: {field.name!r} is {given}, "
                    f"but was {field.type}"
                )
        try:
            return table.cast(self._schema)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidArgument(f"the columns are not of the types that the first batch had: {error}") from None

    def _start(self, schema: pa.Schema) -> None:
        """Types are known: make room for states."""
        self._engine, self._schema = tracks_for(self.query, schema)

    def _nothing(self) -> tuple[pa.Table, pa.Table, Array]:
        assert self._schema is not None
        empty = self._schema.empty_table()
        return empty, empty, np.empty(0, dtype=np.int64)

    def _step(
        self,
        read: tuple[pa.Table, pa.Table, Array],
        lateness: int | None = None,
        at_least: int | None = None,
        final: bool = False,
    ) -> pa.Table:
        """Merge rows, raise the watermark, close windows; or leave everything as it was.

        The watermark rises to the newest row's time less the lateness, if one is given, and to `at_least`.
        """
        before = self._watermark, self._latest, self._late
        if self._engine is None:  # rows without a time, and of no known type
            self._count(null_times=len(read[1]), without_time=read[1])
            return pa.table({})
        with uninterrupted():
            self._engine.begin()
            try:
                result = self._merge_and_close(*read, lateness, at_least, final)
            except BaseException:
                self._watermark, self._latest, self._late = before
                self._engine.undo()
                raise
            self._engine.commit()
            if self._watermark is not None and self._engine.trim(self._watermark - self.query.repair):
                forget_idle(self._engine)
        return result

    def _merge_and_close(
        self,
        table: pa.Table,
        without: pa.Table,
        times: Array,
        lateness: int | None,
        at_least: int | None,
        final: bool,
    ) -> pa.Table:
        engine, query, watermark = self._engine, self.query, self._watermark
        given, table = table, self._like_before(table)
        batch = Batch(table, times, engine.keys.encode([whole(table[k]) for k in query.keys], len(times)))
        engine.see_nulls(table)
        self._count(null_times=len(without), without_time=without)
        engine.see_keys()
        on_time, late = batch, batch.take(np.zeros(len(batch), dtype=bool))
        counted = np.zeros((len(engine.tracks), 0), dtype=bool)
        again = late
        if watermark is not None and len(times) and int(times.min()) < watermark:
            behind = times < watermark
            on_time, late = batch.take(~behind), batch.take(behind)
            missed, counted, mended = engine.lateness(late, watermark, query.repair)
            again = late.take(mended)
            lost = missed & ~counted.any(axis=0)
            self._count(
                rows=int(missed.sum()),
                dropped=int(lost.sum()),
                table=given.filter(pa.array(behind)).filter(pa.array(missed)),
            )
        engine.merge(on_time, late, counted)
        if query.plan.has_gaps:
            self._count(outside=int(_in_gaps(query.windows, times).sum()))
        if len(times):
            newest = int(times.max())
            self._latest = newest if self._latest is None else max(newest, self._latest)
            if lateness is not None:
                reached = newest - lateness
                self._watermark = reached if watermark is None else max(reached, watermark)
        if at_least is not None:
            self._watermark = at_least if self._watermark is None else max(at_least, self._watermark)
        mended_windows = [] if len(again) == 0 else engine.repaired(again, watermark, query.repair)
        self._count(updates=sum(len(c.keys) for c in mended_windows))
        closed = engine.close(watermark, None if final else self._watermark, self._latest)
        return engine.table([*mended_windows, *closed])

    def _count(self, **more: Any) -> None:
        late = self._late
        numbers = {name: getattr(late, name) + more.pop(name, 0) for name in COUNTS}
        tables = {name: getattr(late, name) for name in ("table", "without_time")}
        for name, table in more.items():
            if table.num_rows and (name == "without_time" or self.query.late == "keep"):
                tables[name] = (
                    table
                    if tables[name] is None
                    else pa.concat_tables([tables[name], table], promote_options="default")
                )
        self._late = Late(**numbers, **tables)


def tracks_for(query: "Query", schema: pa.Schema) -> tuple[Any, pa.Schema]:
    """An empty state for tables of this schema, and the columns that are read of them."""
    if not query.plan.gives_rows:
        schema = pa.schema([schema.field(name) for name in schema.names if name in query.columns])
    binding = Binding(query.aggregates, schema, query.final)
    keys = Keys(query.keys, [schema.field(name).type for name in query.keys])
    if query.plan.gives_rows:
        return PerRow(query.plan, binding, keys, query.late == "update"), schema
    kind = schema.field(query.time).type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    return Windowed(query.plan, binding, keys, pa.timestamp("us", zone)), schema


def _in_gaps(specs: tuple[Any, ...], times: Array) -> Array:
    """Which of these times no window holds."""
    return np.asarray(np.all([(times - spec.offset) % spec.every >= spec.range for spec in specs], axis=0))


def _alike(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type can be taken for those of another without reading texts as numbers."""
    if pa.types.is_dictionary(given):
        return _alike(given.value_type, wanted)
    if pa.types.is_dictionary(wanted):
        return _alike(given, wanted.value_type)
    texts = [pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in (given, wanted)]
    timely = [pa.types.is_timestamp(kind) or pa.types.is_date(kind) for kind in (given, wanted)]
    return bool(pa.types.is_null(given) or (texts[0] == texts[1] and timely[0] == timely[1]))
