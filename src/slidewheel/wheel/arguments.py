"""What users pass to wheels, read and checked."""

from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.columns import Array
from slidewheel.errors import InvalidArgument, InvalidTime, Unsupported
from slidewheel.times import InstantLike, format_duration, format_instant, instant, instants
from slidewheel.wheel import names as n

FARTHEST = 2**61


def aggregate_of(aggregate: Any) -> Aggregate:
    if isinstance(aggregate, AggregateType):
        aggregate = aggregate()
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(f"a wheel needs an aggregate such as sw.sum(), not {aggregate!r}")
    return aggregate


def positive(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidArgument(f"{name} must be a whole number of 1 or more, not {value!r}")
    return int(value)


def instant_of(time: InstantLike) -> int:
    at = instant(time)
    if abs(at) > FARTHEST:
        raise InvalidTime(f"{time!r} is too far from 1970: 73,000 years at most")
    return at


def times_of(times: Any) -> Array:
    return np.ascontiguousarray(instants(times))


def column_of_values(aggregate: Aggregate, values: Any) -> Any:
    """Values as columns: a list of pairs is a pair of columns."""
    if aggregate.arity == 2 and isinstance(values, list) and values and isinstance(values[0], tuple):
        return tuple(list(column) for column in zip(*values, strict=True))
    return values


def refusal(wheel: Any, view: Any, watermark: int, start: int, end: int, plan: str, code: int) -> Exception:
    """Why a range has no answer; the watermark is in ticks."""
    text, tick = f"[{format_instant(start)}, {format_instant(end)})", wheel.tick
    now = format_instant(watermark * tick)
    if end < start:
        return InvalidArgument(f"the range {text} ends before it starts")
    if start % tick or end % tick:
        return InvalidArgument(f"the range {text} is not one of whole ticks of {format_duration(tick)}: round its ends")
    if start < wheel.start:
        return InvalidArgument(f"the range {text} starts before the wheel began, at {format_instant(wheel.start)}")
    if end > watermark * tick:
        return InvalidArgument(f"the range {text} ends after the watermark, {now}: advance_to it, or ask for less")
    if code == n.NOT_KEPT:
        kept = []
        for level, line in zip(wheel.levels, view[4], strict=True):
            since = format_instant(max(int(line[n.KEPT]) * level.length, wheel.start))
            kept.append(f"{level.name} ({format_duration(level.length)}) since {since}")
        return InvalidArgument(f"the range {text} is older than what is kept: there are {', '.join(kept)}")
    return Unsupported(f"the plan {plan!r} does not fit the range {text}: {_reason(plan)}; use plan='auto'")


def _reason(plan: str) -> str:
    return {
        "wheel": "no level has slots for both of its ends that are kept",
        "landmark": "a landmark is all time from the wheel's start to its watermark",
        "inverse_landmark": "it needs an inverse, and slots for all that is not in the range",
        "prefix": "no level with prefix sums has slots for both of its ends that are kept",
    }.get(plan, "its slots are not kept")
