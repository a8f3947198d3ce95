"""Count-Min: how often has the window seen a value? Never too few; too many with a known probability.

Every value has one counter in each of `depth` rows, and the least of them is its count (Cormode, Muthukrishnan 2005).
"""

import math
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.counters import MOST, Counters, added, dense, merge, subtracted, without
from slidewheel.algebra.hashing import FIRST, GOLDEN, SECOND, hash64, hash_column, mix
from slidewheel.algebra.monoid import Monoid, in_place, itself
from slidewheel.errors import InvalidArgument


def places(hashed: int, width: int, depth: int) -> list[int]:
    """The counters of one value: a hash of its own for each row."""
    return [row * width + mix(hashed + row) % width for row in range(depth)]


class CountMin:
    """The answer of `sw.count_min`: ask it with `.count(value)`.

    >>> import slidewheel as sw
    >>> window = sw.swag.window(sw.count_min())
    >>> for tail in "N123", "N456", "N123":
    ...     window.insert(tail)
    >>> seen = window.query()
    >>> seen.count("N123"), seen.count("N456"), seen.count("N789"), seen.total
    (2, 1, 0, 3)
    """

    __slots__ = ("counters", "depth", "width")

    def __init__(self, counters: Any, width: int, depth: int) -> None:
        self.counters, self.width, self.depth = counters, width, depth

    def count(self, value: Any) -> int:
        """At least how often the value has occurred, and at most `error` more with a probability of 1 - exp(-depth)."""
        return int(self.counters[places(hash64(value), self.width, self.depth)].min())

    @property
    def total(self) -> int:
        """The number of all values."""
        return int(self.counters[-1])

    @property
    def error(self) -> float:
        """By how much a count may be too high: e / width of the total."""
        return math.e / self.width * self.total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountMin) and self.width == other.width and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash((self.width, self.to_bytes()))

    def __repr__(self) -> str:
        return f"CountMin({self.total} values, counts at most {self.error:.2g} too high)"

    def to_bytes(self) -> bytes:
        """The counters row by row and the total, each in four bytes, little-endian."""
        return bytes(self.counters.astype("<u4").tobytes())

    @classmethod
    def from_bytes(cls, data: bytes, width: int = 1024) -> "CountMin":
        """The sketch that `to_bytes` wrote; `width` as it was given to `sw.count_min`."""
        counters = np.frombuffer(data, dtype="<u4").astype(np.uint32)
        return cls(counters, width, (len(counters) - 1) // width)


# Compiled: the input is a column of hashes, the state all counters and the total.


@cache
def _compiled(width: int, depth: int) -> Monoid:
    total = width * depth
    most, golden, first, second = MOST, GOLDEN, FIRST, SECOND

    def absorb(state, hashed):
        if state[total] == most:
            raise OverflowError("a sketch counts 4,294,967,295 values at most; use shorter windows")
        for row in range(depth):
            x = np.uint64(hashed) + np.uint64(row) + np.uint64(golden)
            x = (x ^ (x >> np.uint64(30))) * np.uint64(first)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(second)
            x = (x ^ (x >> np.uint64(31))) % np.uint64(width)
            state[np.uint64(row * width) + x] += np.uint32(1)
        state[total] += np.uint32(1)

    return in_place(
        name="count_min",
        lower=itself,
        absorb=absorb,
        merge=merge,
        inverse=without,
        identity=0,
        state=np.dtype(("u4", (total + 1,))),
        commutative=True,
    )


@cache
def _interpreted(width: int, depth: int) -> Monoid:
    total = width * depth

    def lift(value: Any) -> Counters:
        return dict.fromkeys([*places(hash64(value), width, depth), total], 1)

    def lower(s: Counters) -> CountMin:
        return CountMin(dense(s, total + 1), width, depth)

    return Monoid(
        name="count_min",
        lift=lift,
        combine=added,
        lower=lower,
        inverse=subtracted,
        identity={},
        state=None,
        result="object",
        commutative=True,
    )


def count_min(column: str | None = None, width: int = 1024, depth: int = 4) -> Aggregate:
    """A `sw.CountMin` of the values, which tells how often each of them has occurred.

    A count is never too low. Of n values, it is more than e / width * n too high with a probability of exp(-depth) at
    most: 0.27 % of n and 1.8 % at the defaults, with a state of 16 kB.

    >>> import slidewheel as sw
    >>> seen = sw.rolling([5, 5, 7, 5], sw.count_min(width=64), size=3)
    >>> [int(s.count(5)) for s in seen]
    [1, 2, 2, 2]
    """
    for name, given, least in (("width", width, 2), ("depth", depth, 1)):
        if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= 1 << 20:
            raise InvalidArgument(f"count_min: {name} must be a whole number from {least} to 2**20, not {given!r}")
    if width * depth > 1 << 24:
        raise InvalidArgument(f"count_min: width * depth must be at most 2**24, not {width * depth}")

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        return _compiled(width, depth) if kinds == ("hash",) else _interpreted(width, depth)

    def finish(states: Any) -> Any:
        sketches = np.empty(len(states), dtype=object)
        sketches[:] = [CountMin(row, width, depth) for row in states]
        return sketches

    return Aggregate(
        "count_min",
        (column,),
        variant,
        commutative=True,
        invertible=True,
        exact_inverse=True,
        prepare=hash_column,
        finish=finish,
        parameters=(("width", width), ("depth", depth)),
    )
