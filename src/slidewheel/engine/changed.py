"""A state that is taken over by a query with other windows than it was made by.

Windows that the state was not made for are given out from the first one on of which all is known: that is where the
state begins, if it has edges wherever such windows start and end; else behind the newest slice.
"""

import hashlib
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from slidewheel.engine.parts import described
from slidewheel.engine.periodic import Periodic
from slidewheel.errors import InvalidSnapshot
from slidewheel.windows.slicing import MOST_EDGES, pairs
from slidewheel.windows.specs import Sliding

if TYPE_CHECKING:
    from slidewheel.engine.query import Query


def said_of(query: "Query", schema: pa.Schema, tracks: list[Periodic]) -> dict[str, Any]:
    """What a state says of the query that it was made by. Names of outputs may change, and so may lateness."""
    return {
        "time": query.time,
        "keys": list(query.keys),
        "aggregates": _digests(query, by_text=True),
        "code": _digests(query, by_text=False),
        "types": {field.name: str(field.type) for field in schema},
        "slicings": [[track.slicing.period, list(track.slicing.edges)] for track in tracks],
        "windows": [
            [[*_lengths(spec), since] for (_, spec), since in zip(track.specs, track.since, strict=True)]
            for track in tracks
        ],
    }


@lru_cache(maxsize=64)
def _digests(query: "Query", by_text: bool) -> list[str]:
    """What tells each aggregate from others."""
    return [_digest(*described(aggregate, by_text)) for aggregate in query.aggregates]


def _digest(names: list[Any], state: list[Any]) -> str:
    return hashlib.sha256(repr((names[1:], state)).encode()).hexdigest()[:24]


def _lengths(spec: Sliding) -> list[int]:
    return [spec.range, spec.every, spec.offset]


def carry_over(query: "Query", schema: pa.Schema, tracks: list[Periodic], said: dict[str, Any]) -> None:
    """See that the query can go on with this state, and from when on its windows can be given out."""
    now = said_of(query, schema, tracks)
    if "slicings" not in said:
        raise InvalidSnapshot(
            "the state was made by a query that does not keep slices, and can't be taken over: go on with that query, "
            "or start anew with another checkpoint"
        )
    for what in ("time", "keys", "aggregates", "types"):
        same = said[what] == now[what] or (what == "aggregates" and said["code"] == now["code"])
        if not same:
            raise InvalidSnapshot(
                f"the state was made by a query with other {what}, and can't be taken over: go on with that query, or "
                f"start anew with another checkpoint"
            )
    known = {tuple(lengths): since for windows in said["windows"] for *lengths, since in windows}
    if said["slicings"] != now["slicings"] and max(len(said["slicings"]), len(tracks)) > 1:
        raise InvalidSnapshot(
            "the windows do not share slices, and have changed since the state was made: go on with the windows that "
            "it was made for, or start anew with another checkpoint"
        )
    for track, windows, chunks, slicing in zip(tracks, said["windows"], said["tracks"], said["slicings"], strict=True):
        for place, (_, spec) in enumerate(track.specs):
            lengths = tuple(_lengths(spec))
            if lengths in known:
                track.since[place] = known[lengths]
            elif chunks is not None and windows:
                track.since[place] = chunks["held_from"] if _cuts(slicing, spec) else chunks["newest"]


def _cuts(slicing: list[Any], spec: Sliding) -> bool:
    """Whether there is an edge wherever a window of this spec starts or ends."""
    period, edges = slicing[0], set(slicing[1])
    needed = pairs(spec)
    turns = math.lcm(period, needed.period) // needed.period
    if turns * len(needed.edges) > MOST_EDGES:
        return False
    return all((edge + turn * needed.period) % period in edges for edge in needed.edges for turn in range(turns))
