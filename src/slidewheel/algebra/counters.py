"""States that are many counters, added up one by one, so that taking away is exact.

Compiled, a state is an array of 32-bit counters, the last of which counts all inputs: as long as that one has room,
so have the others. Interpreted, it is a dict from the places of the counters that are not zero.
"""

from typing import Any

import numpy as np

from slidewheel.errors import Overflow

Counters = dict[int, int]

MOST = 2**32 - 1


def merge(into, other):
    """Compiled: add all counters of a state in place."""
    total = len(into) - 1
    if np.uint64(into[total]) + np.uint64(other[total]) > np.uint64(MOST):
        raise OverflowError("a sketch counts 4,294,967,295 values at most; use shorter windows")
    for k in range(len(into)):
        into[np.uint64(k)] += other[np.uint64(k)]


def without(a, b):
    """Compiled: the inverse."""
    state = np.empty_like(a)
    for k in range(len(a)):
        state[np.uint64(k)] = a[np.uint64(k)] - b[np.uint64(k)]
    return state


def added(a: Counters, b: Counters) -> Counters:
    """Interpreted: combine."""
    if len(a) < len(b):
        a, b = b, a
    made = a.copy()
    for place, n in b.items():
        made[place] = made.get(place, 0) + n
    return made


def subtracted(a: Counters, b: Counters) -> Counters:
    """Interpreted: the inverse."""
    made = a.copy()
    for place, n in b.items():
        made[place] -= n
        if made[place] == 0:
            del made[place]
    return made


def dense(s: Counters, places: int) -> Any:
    """The array that the dict stands for; its last counter is the total."""
    if s.get(places - 1, 0) > MOST:
        raise Overflow("a sketch counts 4,294,967,295 values at most; use shorter windows")
    state = np.zeros(places, np.uint32)
    state[list(s)] = list(s.values())
    return state
