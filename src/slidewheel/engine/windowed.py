"""Queries that give a row for each window: the tracks of a plan side by side, their results put together."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.batches import Batch, in_time_order, join
from slidewheel.engine.columns import Array, joined
from slidewheel.engine.components import taken
from slidewheel.engine.counted import Counted
from slidewheel.engine.inputs import Binding
from slidewheel.engine.keys import Keys
from slidewheel.engine.periodic import Periodic
from slidewheel.engine.punctuated import Punctuated
from slidewheel.engine.sessions import Sessions
from slidewheel.engine.threads import each
from slidewheel.engine.track import Closed, Rows, WindowTrack
from slidewheel.engine.tracks import Tracks
from slidewheel.windows.plan import Plan
from slidewheel.windows.specs import Punctuated as PunctuatedSpec
from slidewheel.windows.specs import Rows as RowsSpec
from slidewheel.windows.specs import Session

TRACKS: dict[type, Any] = {Session: Sessions, RowsSpec: Counted, PunctuatedSpec: Punctuated}


class Windowed(Tracks):
    """The state of a query whose windows give a row each."""

    def __init__(self, plan: Plan, binding: Binding, keys: Keys, time_type: pa.DataType) -> None:
        tracks: list[WindowTrack] = [Periodic(group, plan.final != "auto") for group in plan.groups]
        for place, spec in enumerate(plan.specs):
            if type(spec) in TRACKS:
                tracks.append(TRACKS[type(spec)](place, spec))
        super().__init__(plan, binding, keys, tracks)
        self.time_type = time_type
        self.shown = tuple(range(len(binding.aggregates)))
        """The aggregates whose answers are given."""
        self._nothing: pa.Table | None = None
        """What comes out when no window closes; its types are known once."""

    def lateness(self, batch: Batch, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        """For rows behind the watermark: late for a window; counted in one, for each track; in a closed one anew."""
        judged = [track.lateness(batch, watermark, repair) for track in self.tracks]
        late, again = (np.logical_or.reduce([j[k] for j in judged]) for k in (0, 2))
        return late, np.stack([j[1] for j in judged]), again

    def merge(self, batch: Batch, late: Batch, counted: Array) -> None:
        """Rows on time, and late ones with the tracks in which they still count."""
        if self.plan.in_order:
            self.binding.try_out(batch.table, batch.times)
            self.pending = batch if self.pending is None else join([self.pending, batch])
            late, counted = self._late_in_order(late, counted)
        self._add(batch, [track for track in self.tracks if not self._ordered(track)])
        for track, counts in zip(self.tracks, counted, strict=True):
            self._add(late.take(counts), [track], late=True)

    def _ordered(self, track: WindowTrack) -> bool:
        """Whether rows wait for the watermark, to be added in the order of their times."""
        return not self.plan.commutative or track.in_order

    def _late_in_order(self, late: Batch, counted: Array) -> tuple[Batch, Array]:
        order = in_time_order(late, self.keys.ranks(), self.plan.peers)
        return late.take(order), counted[:, order]

    def _add(self, batch: Batch, tracks: list[WindowTrack], late: bool = False) -> None:
        if len(batch) == 0 or not tracks:
            return
        table = batch.table if any(track.reads_columns for track in tracks) else None
        rows = Rows(batch.codes, batch.times, self.binding.read(batch.table, batch.times), table)
        for track in tracks:
            self._undo.append((track, track.add(rows, late)))

    def close(self, before: int | None, watermark: int | None, latest: int | None) -> list[Closed]:
        """The windows that close when the watermark rises; without one, all of them."""
        waiting = np.empty(0, dtype=np.int64)
        if self.pending is not None:
            ready = self.pending.times < watermark if watermark is not None else np.ones(len(self.pending), dtype=bool)
            rows, self.pending = self.pending.take(ready), self.pending.take(~ready)
            rows = rows.take(in_time_order(rows, self.keys.ranks(), self.plan.peers))
            self._add(rows, [track for track in self.tracks if self._ordered(track)])
            waiting = self.pending.codes[self.pending.times == watermark]
        closed = []
        for track in self.tracks:
            if isinstance(track, Sessions) and self._ordered(track):
                track.waiting = waiting
            closed += track.close(before, self._until(track, watermark, latest), self.keys)
        return closed

    def _until(self, track: Any, watermark: int | None, latest: int | None) -> int:
        """The instant up to which windows close."""
        until = watermark if watermark is not None else track.final(latest)
        if isinstance(track, Periodic) and latest is not None:
            until = min(until, track.final(latest))  # later ones are empty, and need not be counted
        return int(until)

    def tables(self, before: int | None, watermark: int, latest: int | None) -> Iterator[pa.Table]:
        """The rows of the windows that close, some at a time where that can be: what makes them is used again."""
        track = self.tracks[0]
        if len(self.tracks) > 1 or not isinstance(track, Periodic) or self.pending is not None:
            yield self.table(self.close(before, watermark, latest))
            return
        for piece in track.closing(before, self._until(track, watermark, latest), self.keys):
            yield self.table([piece()])

    def repaired(self, late: Batch, watermark: int, repair: int) -> list[Closed]:
        ranks = self.keys.ranks()
        return [track.repaired(late.codes, late.times, watermark, repair, ranks) for track in self.tracks]

    def trim(self, watermark: int) -> bool:
        """Forget what no window needs any more. Returns whether there may have been such."""
        return any([track.trim(watermark) for track in self.tracks])

    def table(self, closed: list[Closed]) -> pa.Table:
        """The rows of these windows."""
        some = [c for c in closed if len(c.keys)]
        if not some:
            if self._nothing is None:
                self._nothing = self._table(closed[:1])
            return self._nothing
        if len(self.tracks) == 1 and all(a.ends[-1] < b.ends[0] for a, b in pairwise(some)):
            return pa.concat_tables(each(lambda one: self._table([one]), some))
        return self._table(some)

    def _table(self, some: list[Closed]) -> pa.Table:
        keys, specs, starts, ends = (joined([getattr(c, n) for c in some]) for n in ("keys", "specs", "starts", "ends"))
        states = [joined(column) for column in zip(*(c.states for c in some), strict=True)]
        if len(some) > 1:
            order = np.lexsort((specs, self.keys.ranks()[keys], ends))
            keys, specs, starts, ends = keys[order], specs[order], starts[order], ends[order]
            states = [taken(column, order) for column in states]
        names = self.plan.names
        if len(names) == 1:
            windows: Any = pa.repeat(names[0], len(keys))
        else:
            windows = pa.array(names).take(pa.array(specs))
        instants = [pa.array(times).view(pa.timestamp("us")).cast(self.time_type) for times in (starts, ends)]
        columns = [*self.keys.take(keys), *instants, windows, *self.binding.answers(states, which=self.shown)]
        outputs = [self.binding.aggregates[number].output for number in self.shown]
        return pa.table(columns, names=[*self.keys.names, "window_start", "window_end", "window", *outputs])
