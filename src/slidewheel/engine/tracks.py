"""What the two forms of queries have in common: tracks that are changed together, or not at all."""

from typing import Any

import pyarrow as pa

from slidewheel.engine.arena import Undo
from slidewheel.engine.batches import Batch
from slidewheel.engine.inputs import Binding
from slidewheel.engine.keys import Keys
from slidewheel.windows.plan import Plan


class Tracks:
    """The state of a query. A track is what windows of one kind need: an arena, and how they are read from it.

    One step of a stream is: begin; then see what is new, merge, close; then commit, or undo.
    """

    def __init__(self, plan: Plan, binding: Binding, keys: Keys, tracks: list[Any]) -> None:
        self.plan, self.binding, self.keys, self.tracks = plan, binding, keys, tracks
        for track in tracks:
            for number in range(binding.components):
                track.arena.add_component(binding.component(number))
        self.pending: Batch | None = None
        """Rows that wait for the watermark."""
        self.recent: Batch | None = None
        """Rows that came out and can still be corrected."""
        self._undo: list[tuple[Any, Undo]] = []

    def begin(self) -> None:
        self._undo, self._before = [], (self.pending, self.recent, [track.saved() for track in self.tracks])

    def commit(self) -> None:
        for track, undo in self._undo:
            track.arena.commit(undo)
        self._undo = []

    def undo(self) -> None:
        for track, undo in reversed(self._undo):
            track.arena.undo(undo)
        self.pending, self.recent, saved = self._before
        for track, before in zip(self.tracks, saved, strict=True):
            track.arena.forget()
            track.restore(before)
        self._undo = []

    def see_keys(self) -> None:
        """Make room for keys that have just been met."""
        for track in self.tracks:
            track.reserve_keys(len(self.keys))

    def see_nulls(self, table: pa.Table) -> None:
        """Count values from now on in columns that have nulls; up to now, every row had one."""
        known = self.binding.components
        if self.binding.note_nulls(table):
            self.count_more(known)

    def count_more(self, known: int) -> None:
        """Components behind the first `known` ones have come up, which count values."""
        for track in self.tracks:
            for number in range(known, self.binding.components):
                component = self.binding.component(number)
                track.arena.add_component(component)
                component.entries[:] = 1
            track.arena.forget()
