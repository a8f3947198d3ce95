"""The most frequent values, by Misra and Gries (1982), merged as by Agarwal et al. (Mergeable Summaries, PODS 2012).

A state counts at most `capacity` different values. Where a merge has more, the largest count that finds no room is
taken from all counts, and those that reach 0 go. So counts are never too high, and each time that a count loses 1, so
do `capacity` others: of n values, a count is at most n / (capacity + 1) too low, however the parts were merged.

Until there are more than `capacity` different values, counts are exact and combine is associative. Beyond that, the
order of the merges may change an answer within its error.
"""

from functools import cache
from numbers import Number
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.counters import added
from slidewheel.algebra.monoid import Monoid, in_place, itself
from slidewheel.errors import InvalidArgument

_NAN = float("nan")


# Compiled, for numbers: first the values in ascending order, then their counts; 0 where there is no value.


@cache
def _compiled(capacity: int, kind: str) -> Monoid:
    def absorb(state, x):
        x = x + 0  # no -0.0
        held = place = 0
        while held < capacity and state[capacity + held] > 0:
            if state[held] < x or (x != x and state[held] == state[held]):
                place += 1
            held += 1
        if place < held and (state[place] == x or (x != x and state[place] != state[place])):
            state[capacity + place] += 1
        elif held < capacity:
            for k in range(held, place, -1):
                state[k], state[capacity + k] = state[k - 1], state[capacity + k - 1]
            state[place], state[capacity + place] = x, 1
        else:
            held = 0
            for k in range(capacity):
                value, count = state[k], state[capacity + k] - 1
                state[k], state[capacity + k] = 0, 0
                if count > 0:
                    state[held], state[capacity + held] = value, count
                    held += 1

    def merge(into, other):
        values, counts = np.empty(2 * capacity, into.dtype), np.empty(2 * capacity, into.dtype)
        i = j = n = 0
        while True:
            left, right = i < capacity and into[capacity + i] > 0, j < capacity and other[capacity + j] > 0
            if not left and not right:
                break
            if left and right:
                a, b = into[i], other[j]
                right = b <= a or a != a
                left = a <= b or b != b
            counts[n] = 0
            if left:
                values[n] = into[i]
                counts[n] += into[capacity + i]
                i += 1
            if right:
                values[n] = other[j]
                counts[n] += other[capacity + j]
                j += 1
            n += 1
        cut = high = 0  # the least cut that leaves no more than there is room for
        for k in range(n):
            high = max(high, counts[k])
        while cut < high:
            middle, above = (cut + high) // 2, 0
            for k in range(n):
                above += counts[k] > middle
            if above > capacity:
                cut = middle + 1
            else:
                high = middle
        held = 0
        for k in range(n):
            if counts[k] > cut:
                into[held], into[capacity + held] = values[k], counts[k] - cut
                held += 1
        for k in range(held, capacity):
            into[k], into[capacity + k] = 0, 0

    return in_place(
        name="top_k",
        lower=itself,
        absorb=absorb,
        merge=merge,
        identity=0,
        state=np.dtype((f"{kind}8", (2 * capacity,))),
        commutative=True,
    )


# Interpreted, for all other values: a dict of counts.


@cache
def _interpreted(k: int, capacity: int) -> Monoid:
    def lift(x: Any) -> dict[Any, int]:
        return {_key(x): 1}

    def combine(a: dict[Any, int], b: dict[Any, int]) -> dict[Any, int]:
        both = added(a, b)
        if len(both) <= capacity:
            return both
        cut = sorted(both.values())[-capacity - 1]
        return {value: count - cut for value, count in both.items() if count > cut}

    def lower(s: dict[Any, int]) -> list[dict[str, Any]]:
        return _most_frequent(s.items(), k)

    return Monoid(
        name="top_k",
        lift=lift,
        combine=combine,
        lower=lower,
        identity={},
        state=None,
        result="object",
        commutative=True,
    )


def _key(x: Any) -> Any:
    """One NaN and one zero for all."""
    if not isinstance(x, float):
        return x
    return x + 0.0 if x == x else _NAN


def _most_frequent(counts: Any, k: int) -> list[dict[str, Any]]:
    """The most frequent first; of those that occur equally often the smallest, numbers before others."""
    ordered = sorted(counts, key=lambda pair: (-pair[1], *_rank(pair[0])))
    return [{"value": value, "count": int(count)} for value, count in ordered[:k]]


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, Number) and not isinstance(value, complex):
        return (0, value) if value == value else (1, 0)
    return 2, value if isinstance(value, str) else repr(value)


def top_k(column: str | None = None, k: int = 10, capacity: int = 128) -> Aggregate:
    """The k most frequent values and how often each occurs: a list of {"value": ..., "count": ...}.

    Counts are never too high. Of n values, a count is at most n / (capacity + 1) too low, 0.8 % of n at the default; a
    value that is missing has a count of 0. With up to `capacity` different values, all is exact. The most frequent come
    first, of equal counts the smaller value. Numbers are compiled; all other values run interpreted.

    >>> import slidewheel as sw
    >>> sw.rolling([4, 4, 7, 9, 9], sw.top_k(k=1), size=3).tolist()
    [[{'value': 4, 'count': 1}], [{'value': 4, 'count': 2}], [{'value': 4, 'count': 2}],
     [{'value': 4, 'count': 1}], [{'value': 9, 'count': 2}]]
    """
    if column is not None and not isinstance(column, str):
        raise InvalidArgument(f'top_k: the column comes first: top_k("tail", 5) or top_k(k=5), not {column!r}')
    for name, given in (("k", k), ("capacity", capacity)):
        if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 1 << 16:
            raise InvalidArgument(f"top_k: {name} must be a whole number from 1 to 65536, not {given!r}")
    if k > capacity:
        raise InvalidArgument(f"top_k: k={k} values need a capacity of at least {k}, not {capacity}")

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        return _compiled(capacity, kinds[0]) if kinds[0] in ("i", "f") else _interpreted(k, capacity)

    def finish(states: Any) -> Any:
        answers = np.empty(len(states), dtype=object)
        for row, state in enumerate(states):
            held = int(np.count_nonzero(state[capacity:]))
            pairs = zip(state[:held].tolist(), state[capacity:].tolist(), strict=False)
            answers[row] = _most_frequent(pairs, k)
        return answers

    parameters = (("k", k), ("capacity", capacity))
    return Aggregate("top_k", (column,), variant, commutative=True, verbatim=True, finish=finish, parameters=parameters)
