"""Queries that give the input rows back, each with the aggregates of its windows."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.engine import finished
from slidewheel.engine.batches import Batch, in_time_order, join
from slidewheel.engine.columns import Array, joined
from slidewheel.engine.components import identity_states
from slidewheel.engine.counted import Counted
from slidewheel.engine.deltas import Deltas
from slidewheel.engine.inputs import Binding, whole
from slidewheel.engine.keys import Keys
from slidewheel.engine.track import Rows, Track
from slidewheel.engine.tracks import Tracks
from slidewheel.engine.trailing import Trailed
from slidewheel.windows.plan import Plan
from slidewheel.windows.specs import Delta, Trailing
from slidewheel.windows.specs import Rows as RowsSpec

Answer = tuple[list[Array], Array]
"""For each component the states of all rows, and whether the window of each row holds any."""


@dataclass
class Answered:
    """Rows to be given out, with the answers of each spec."""

    batch: Batch
    answers: dict[int, Answer]

    @property
    def keys(self) -> Array:
        return self.batch.codes


class PerRow(Tracks):
    """The state of a query whose windows belong to rows. A row comes out when the watermark has passed it."""

    def __init__(self, plan: Plan, binding: Binding, keys: Keys, repairs: bool) -> None:
        trailing = [(place, spec) for place, spec in enumerate(plan.specs) if isinstance(spec, Trailing)]
        tracks: list[Track] = [Trailed(trailing)] if trailing else []
        for place, spec in enumerate(plan.specs):
            if isinstance(spec, RowsSpec):
                tracks.append(Counted(place, spec))
            elif isinstance(spec, Delta):
                tracks.append(Deltas(place, spec))
        super().__init__(plan, binding, keys, tracks)
        self.repairs = repairs

    @property
    def by_trails(self) -> bool:
        """Whether a finished table can be answered by `at_once`: trailing windows, and states that are numbers."""
        parts = self.binding.parts
        numbers = all(part.compiled and part.monoid.absorb is None for part in parts)
        return numbers and all(isinstance(track, Trailed) for track in self.tracks)

    def at_once(self, batch: Batch) -> pa.Table:
        """The rows of a finished table with their aggregates: what `merge` and `close` give, and nothing is kept."""
        batch = batch.take(in_time_order(batch, self.keys.ranks(), self.plan.peers))
        inputs = self.binding.read(batch.table, batch.times)
        rows, places = finished.by_key(Rows(batch.codes, batch.times, inputs), len(self.keys))
        components = [self.binding.component(number) for number in range(self.binding.components)]
        columns = list(batch.table.columns)
        [track] = self.tracks
        for (_, spec), shift in zip(track.specs, track.shifts, strict=True):
            made = self.binding.answers(*finished.answers(rows, spec, shift, components))
            columns += made if places is None else [column.take(pa.array(places)) for column in made]
        return pa.table(columns, names=[*batch.table.column_names, *self.plan.row_outputs])

    def lateness(self, batch: Batch, watermark: int, repair: int) -> tuple[Array, Array, Array]:
        """A row behind the watermark is late for its own window, and counts in those of later rows."""
        every = np.ones(len(batch), dtype=bool)
        late = batch.times < watermark - repair if self.repairs else every
        return late, np.stack([every] * len(self.tracks)), every if self.repairs else ~every

    def merge(self, batch: Batch, late: Batch, counted: Array) -> None:
        self.binding.try_out(batch.table, batch.times)
        self.pending = batch if self.pending is None else join([self.pending, batch])
        self._add(late.take(in_time_order(late, self.keys.ranks(), self.plan.peers)), late=True)

    def _add(self, batch: Batch, late: bool) -> dict[int, Array]:
        """Rows to all tracks; by spec, which of them have been added."""
        added: dict[int, Array] = {}
        for track in self.tracks:
            present = np.ones(len(batch), dtype=bool)
            if isinstance(track, Deltas):
                present = pc.is_valid(whole(batch.table[track.spec.column])).to_numpy(zero_copy_only=False)
                added[track.place] = present
            rows = batch.take(present)
            if len(rows):
                inputs = self.binding.read(rows.table, rows.times)
                self._undo.append((track, track.add(Rows(rows.codes, rows.times, inputs, rows.table), late)))
        return added

    def close(self, before: int | None, watermark: int | None, latest: int | None) -> list[Answered]:
        """The rows that the watermark has passed; without one, all of them."""
        if self.pending is None:
            return []
        ready = self.pending.times < watermark if watermark is not None else np.ones(len(self.pending), dtype=bool)
        rows, self.pending = self.pending.take(ready), self.pending.take(~ready)
        rows = rows.take(in_time_order(rows, self.keys.ranks(), self.plan.peers))
        added = self._add(rows, late=False)
        frontier = watermark if watermark is not None else (latest or 0) + 1
        if self.repairs:
            self.recent = rows if self.recent is None else join([self.recent, rows])
        return [self._answered(rows, frontier, added)]

    def _answered(self, rows: Batch, frontier: int, added: dict[int, Array]) -> Answered:
        found: dict[int, Answer] = {}
        filled = np.ones(len(rows), dtype=bool)
        for track in self.tracks:
            if isinstance(track, Trailed):
                found |= track.answers(rows.codes, rows.times, frontier)
            elif isinstance(track, Counted):
                found[track.place] = track.answers_of_new(), filled
            else:
                present = added[track.place]
                states = track.answers(rows.codes[present]) if present.any() else None
                found[track.place] = self._spread(track, states, present), present
        return Answered(rows, found)

    def _spread(self, track: Deltas, states: list[Array] | None, present: Array) -> list[Array]:
        """States for all rows, from those of the rows that have a window."""
        everywhere = []
        for number, component in enumerate(track.arena.components[1:]):
            full = identity_states(component, len(present))
            if states is not None:
                full[present] = states[number]
            everywhere.append(full)
        return everywhere

    def repaired(self, late: Batch, watermark: int, repair: int) -> list[Answered]:
        """Rows that have come out already and have a late row in their windows; late rows that can still come out."""
        own = late.take(late.times >= watermark - repair)
        known = own if self.recent is None else join([self.recent, own])
        [track] = self.tracks
        touched = track.touched_by(known.codes, known.times, late.codes, late.times)
        touched[len(known) - len(own) :] = True
        self.recent = known
        rows = known.take(touched)
        rows = rows.take(in_time_order(rows, self.keys.ranks(), self.plan.peers))
        return [self._answered(rows, watermark, {})]

    def trim(self, until: int) -> bool:
        """Forget what no window needs any more. Returns whether there may have been such."""
        if self.recent is not None:
            self.recent = self.recent.take(self.recent.times >= until)
        return any([track.trim(until) for track in self.tracks])

    def table(self, answered: list[Answered]) -> pa.Table:
        """The rows with their aggregates."""
        some = [a for a in answered if len(a.batch)] or answered[:1]
        if not some:
            return self._schema_only()
        batch = join([a.batch for a in some])
        order = in_time_order(batch, self.keys.ranks(), self.plan.peers) if len(some) > 1 else None
        columns = list(batch.table.columns)
        for place in range(len(self.plan.specs)):
            parts = [a.answers[place] for a in some]
            states = [joined(column) for column in zip(*(states for states, _ in parts), strict=True)]
            filled = joined([held for _, held in parts])
            columns += self.binding.answers(states, filled)
        whole_table = pa.table(columns, names=[*batch.table.column_names, *self.plan.row_outputs])
        return whole_table if order is None else whole_table.take(pa.array(order))

    def _schema_only(self) -> pa.Table:
        nothing = np.empty(0, dtype=np.int64)
        empty = Batch(self.binding.schema.empty_table(), nothing, nothing)
        states = {
            place: (
                [identity_states(self.binding.component(n), 0) for n in range(self.binding.components)],
                nothing == 0,
            )
            for place in range(len(self.plan.specs))
        }
        return self.table([Answered(empty, states)])
