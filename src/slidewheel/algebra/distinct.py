"""HyperLogLog: how many different values has the window seen? (Flajolet, Fusy, Gandouet, Meunier 2007)

A value's hash chooses one of m registers, which keeps the longest run of zeros, plus one, that a hash of its has begun
with. The estimate is Ertl's (2017, "New cardinality estimation algorithms for HyperLogLog sketches", algorithm 6):
one formula without bias from one value to 2^64, where the first paper changes from one to another.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.hashing import hash64, hash_column
from slidewheel.algebra.monoid import Monoid, in_place
from slidewheel.errors import InvalidArgument


@cache
def _compiled(precision: int) -> Monoid:
    m, longest = 1 << precision, 64 - precision

    def absorb(state, hashed):
        value = np.uint64(hashed)
        register = value >> np.uint64(longest)
        rest = value << np.uint64(precision)
        rank = 1
        while rank <= longest and rest >> np.uint64(63) == np.uint64(0):
            rest <<= np.uint64(1)
            rank += 1
        if state[register] < rank:
            state[register] = rank

    def merge(into, other):
        for k in range(m):
            into[np.uint64(k)] = max(into[np.uint64(k)], other[np.uint64(k)])

    def lower(s):
        counts = np.bincount(s, minlength=longest + 2)
        # Registers that are full, and those that are empty, stand for more than one value of the rank (tau, sigma).
        z = 0.0
        x, y = 1 - counts[longest + 1] / m, 1.0
        if 0 < x < 1:
            tau, before = 1 - x, 0.0
            while tau != before:
                before, x, y = tau, math.sqrt(x), y / 2
                tau -= (1 - x) * (1 - x) * y
            z = m * tau / 3
        for k in range(longest):
            z = (z + counts[longest - k]) / 2
        x, y = counts[0] / m, 1.0
        sigma, before = x, -1.0
        while sigma != before:
            before, x = sigma, x * x
            sigma, y = sigma + x * y, y + y
        return int(m * m / (2 * math.log(2.0) * (z + m * sigma)) + 0.5)

    return in_place(
        name="distinct",
        lower=lower,
        absorb=absorb,
        merge=merge,
        identity=0,
        state=np.dtype(("u1", (m,))),
        result="i8",
        commutative=True,
    )


# Interpreted: the registers as bytes.


@cache
def _interpreted(precision: int) -> Monoid:
    m, longest = 1 << precision, 64 - precision
    estimate = _compiled(precision).lower

    def lift(value: Any) -> bytes:
        hashed = hash64(value)
        registers = bytearray(m)
        registers[hashed >> longest] = longest + 1 - (hashed & ((1 << longest) - 1)).bit_length()
        return bytes(registers)

    def combine(a: bytes, b: bytes) -> bytes:
        return np.maximum(np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8)).tobytes()

    def lower(s: bytes) -> int:
        return estimate(np.frombuffer(s, np.uint8))  # type: ignore[no-any-return]

    return Monoid(
        name="distinct",
        lift=lift,
        combine=combine,
        lower=lower,
        identity=bytes(m),
        state=None,
        result="i8",
        commutative=True,
    )


def distinct(column: str | None = None, precision: int = 12) -> Aggregate:
    """About how many different values there are, by HyperLogLog, as int64.

    Its relative standard error is 1.04 / sqrt(2 ** precision): 1.6 % at the default, whose states take 4,096 bytes.
    `collect_distinct` is exact, with a state that grows. -0.0 is 0.0, 1 is 1.0, and all NaN are one value.

    >>> import slidewheel as sw
    >>> sw.rolling([7, 7, 8, 9], sw.distinct(), size=3)
    array([1, 1, 2, 3])
    >>> int(sw.rolling(range(1000), sw.distinct(), size=1000)[-1])
    997
    """
    if isinstance(precision, bool) or not isinstance(precision, int) or not 4 <= precision <= 16:
        raise InvalidArgument(f"distinct: precision must be a whole number from 4 to 16, not {precision!r}")

    def variant(kinds: tuple[str, ...], invertible: bool) -> Monoid:
        return _compiled(precision) if kinds == ("hash",) else _interpreted(precision)

    return Aggregate(
        "distinct", (column,), variant, commutative=True, prepare=hash_column, parameters=(("precision", precision),)
    )
