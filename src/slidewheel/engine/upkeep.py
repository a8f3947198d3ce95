"""Forgetting keys and values that nothing refers to any more, so that a stream may run for ever."""

from typing import Any

import numpy as np
import pyarrow as pa

from slidewheel.engine.arena import Arena
from slidewheel.engine.columns import Array
from slidewheel.engine.inputs import Binding
from slidewheel.engine.keys import Keys, codes_for

FEW = 4096
"""Up to so many keys or values, there is nothing to gain."""


def forget_idle(engine: Any) -> None:
    """Drop keys without entries, and values that no state holds, once they are more than half of all."""
    if len(engine.keys) > FEW and all(track.forgets_keys for track in engine.tracks):
        used = np.zeros(len(engine.keys), dtype=bool)
        for track in engine.tracks:
            arena = track.arena
            used[: arena.keys] |= (arena.end > arena.front)[: arena.keys]
        for batch in _batches(engine):
            used[batch.codes] = True
        if 2 * int(used.sum()) < len(used):
            _keep_keys(engine, np.flatnonzero(used))
    for name, codes in engine.binding.coded.items():
        if len(codes) > FEW:
            held = [_codes_held(engine.binding, track.arena, name) for track in engine.tracks]
            used_codes = np.unique(np.concatenate(held))
            if 2 * len(used_codes) < len(codes):
                _keep_codes(engine, name, used_codes)


def _batches(engine: Any) -> list[Any]:
    return [batch for batch in (engine.pending, getattr(engine, "recent", None)) if batch is not None]


def _keep_keys(engine: Any, kept: Array) -> None:
    old = engine.keys
    keys = Keys(old.names, [column.type for column in old.columns])
    codes = keys.encode(old.take(kept), len(kept))
    renamed = np.full(len(old), -1, dtype=np.int64)
    renamed[kept] = codes
    for track in engine.tracks:
        track.arena.keep_keys(kept[np.argsort(codes)])
    for batch in _batches(engine):
        batch.codes = renamed[batch.codes]
    engine.keys = keys


def _fields(binding: Binding, name: str) -> list[tuple[int, str]]:
    """The components whose states hold codes of this column, and the field."""
    found = []
    for number, part in enumerate(binding.parts):
        for position, column in enumerate(part.columns):
            if column == name and binding.by_code(part.aggregate, position):
                found.append((number, "arg" if part.aggregate.positional else "value"))
    return found


def _codes_held(binding: Binding, arena: Arena, name: str) -> Array:
    slots = arena.slots_of(*arena.live_entries())
    extra = len(arena.components) - binding.components  # a track may keep components of its own in front
    held = []
    for number, field in _fields(binding, name):
        states = arena.components[extra + number].entries[slots]
        held.append(_of_objects(states, field) if states.dtype == object else states[field])
    return np.concatenate([np.empty(0, dtype=np.int64), *held])


def _of_objects(states: Array, field: str) -> Array:
    place = 1 if field == "arg" else 0
    return np.array([state[place] for state in states if state[-1]], dtype=np.int64)


def _keep_codes(engine: Any, name: str, kept: Array) -> None:
    binding, old = engine.binding, engine.binding.coded[name]
    new = codes_for(old.type)
    renamed = np.zeros(len(old), dtype=np.int64)
    renamed[kept] = new.encode(old.values().take(pa.array(kept)))
    for track in engine.tracks:
        arena = track.arena
        slots = arena.slots_of(*arena.live_entries())
        extra = len(arena.components) - binding.components
        for number, field in _fields(binding, name):
            row = arena.components[extra + number].entries
            if row.dtype == object:
                place = 1 if field == "arg" else 0
                for slot in slots.tolist():
                    state = row[slot]
                    if state[-1]:
                        row[slot] = (*state[:place], int(renamed[state[place]]), *state[place + 1 :])
            else:
                states = row[slots]
                states[field] = renamed[states[field]]
                row[slots] = states
        arena.forget()
    binding.coded[name] = new
