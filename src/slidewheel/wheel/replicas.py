"""What `deltas` and `apply` refuse, for wheels of one key and of many."""

from typing import Any

from slidewheel.errors import InvalidArgument, InvalidSnapshot
from slidewheel.times import format_instant


def shape(wheel: Any) -> list[list[Any]]:
    """The levels that a wheel and its replica have in common; each may keep what it likes of them."""
    return [[level.name, level.slots] for level in wheel.levels]


def refuse_since(wheel: Any, since: int, watermark: int, kept: int) -> None:
    """A delta begins at a watermark, and with ticks that are still kept; all in microseconds."""
    if since % wheel.tick or not wheel.start <= since <= watermark:
        raise InvalidArgument(
            f"since={format_instant(since)} is not a watermark of this wheel, which reaches from "
            f"{format_instant(wheel.start)} to {format_instant(watermark)}"
        )
    if since < kept:
        raise InvalidArgument(
            f"ticks are kept since {format_instant(kept)}: for a replica that is older, take a snapshot"
        )


def refuse_delta(wheel: Any, facts: dict[str, Any], watermark: int, edition: int, inserted: bool) -> None:
    """A delta goes on where this wheel ends, and is of the same wheel as all before it."""
    if facts["tick"] != wheel.tick or facts["levels"] != shape(wheel):
        raise InvalidSnapshot("the delta is of a wheel with other ticks or levels")
    if inserted:
        raise InvalidArgument("rows were inserted into this wheel: a replica only takes deltas")
    if watermark > wheel.start and facts["edition"] != edition:
        raise InvalidSnapshot("the other wheel was merged with a third one since: restore a new snapshot of it")
    if facts["since"] > watermark:
        raise InvalidSnapshot(
            f"the delta begins at {format_instant(facts['since'])}, and this wheel ends at "
            f"{format_instant(watermark)}: ask for deltas since then"
        )
