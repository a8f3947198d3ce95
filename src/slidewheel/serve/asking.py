"""From the parameters of a request to a question that a store is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import pyarrow as pa

from slidewheel.errors import InvalidArgument
from slidewheel.serve import buckets
from slidewheel.serve.limits import Limits
from slidewheel.serve.stores import Served
from slidewheel.store.choosing import typed
from slidewheel.store.planning import StorePlan
from slidewheel.times import format_duration, format_instant
from slidewheel.wheel.arguments import instant_of

_WHOLE = re.compile(r"-?\d{1,19}", re.ASCII)


def instant_from(text: str | None) -> int | None:
    """ISO text, or a whole number of microseconds since 1970."""
    if text is None:
        return None
    return instant_of(int(text) if _WHOLE.fullmatch(text) else text)


def keys_from(served: Served, pairs: Sequence[str]) -> dict[str, list[Any]] | None:
    """The values that are asked for by column, from texts such as origin=JFK; a column's name alone means null."""
    if not pairs:
        return None
    types, found = served.types(), dict[str, list[Any]]()
    for pair in pairs:
        column, equals, text = pair.partition("=")
        if column not in served.key_columns:
            raise InvalidArgument(
                f"key={pair} names no key column: it is column=value, and the columns are "
                f"{', '.join(served.key_columns) or 'none'}"
            )
        if types:
            found.setdefault(column, []).append(_value(column, text, types[column]) if equals else None)
    return found


def _value(column: str, text: str, kind: pa.DataType) -> Any:
    try:
        return typed(text, kind)
    except (pa.ArrowException, ValueError):
        raise InvalidArgument(f"key={column}={text}: {text!r} is no {kind}") from None


@dataclass(frozen=True)
class Asked:
    """The arguments of `store.answer`."""

    served: Served
    start: int | None = None
    end: int | None = None
    every: str | None = None
    timezone: str | None = None
    keys: dict[str, list[Any]] | None = None
    aggregates: list[str] | None = None

    def answer(self) -> tuple[pa.Table, StorePlan]:
        return self.served.store.answer(
            self.start,
            self.end,
            keys=self.keys,
            every=self.every,
            timezone=self.timezone,
            aggregates=self.aggregates,
        )

    def check(self, limits: Limits) -> None:
        """Raise if the answer may be too large."""
        if self.every is None:
            return limits.check(1, self.expected_keys())
        span = self.served.store.span or (0, 0)
        start = span[0] if self.start is None else self.start
        end = span[1] if self.end is None else self.end
        all_of_it = buckets.count(start, end, self.every)
        inside = buckets.count(max(start, span[0]), min(end, span[1]), self.every)
        limits.check(inside, self.expected_keys(), max(0, all_of_it - inside))

    def expected_keys(self) -> int:
        """How many keys there may be in the answer."""
        columns = self.served.key_columns
        if not columns:
            return 1
        if self.keys is not None and len(self.keys) == len(columns):
            return prod(len(set(values)) for values in self.keys.values())
        return self.served.about_keys()


def asked(
    served: Served,
    *,
    start: str | None,
    end: str | None,
    every: str | None,
    points: int | None,
    timezone: str | None,
    key: Sequence[str],
    aggregate: Sequence[str],
) -> Asked:
    """What a request asks for."""
    first, last = instant_from(start), instant_from(end)
    if points is not None:
        if every is not None or timezone is not None:
            raise InvalidArgument("points chooses the length of buckets: leave every and timezone out")
        span = served.store.span or (0, 0)
        low = span[0] if first is None else first
        high = max(span[1], low) if last is None else last
        lengths = [level.length for level in served.store.levels]
        first, last, length = buckets.for_points(low, high, points, served.store.tick, lengths)
        every = format_duration(length)
    elif timezone is not None and every is None:
        raise InvalidArgument("timezone goes with every")
    return Asked(served, first, last, every, timezone, keys_from(served, key), list(aggregate) or None)


def plan_of(plan: StorePlan) -> dict[str, Any]:
    """A plan as JSON has it."""
    return {
        "text": str(plan),
        "slots": plan.slots,
        "files": plan.files,
        "all_files": plan.all_files,
        "rows": plan.rows,
        "fresh": plan.fresh,
        "combined": plan.combined,
        "answers": plan.answers,
        "milliseconds": round(1000 * plan.seconds, 3),
    }


def time_of(microseconds: int, times: str) -> str | int:
    return microseconds if times == "us" else f"{format_instant(microseconds)}Z"
