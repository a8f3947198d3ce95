"""Aggregates as users write them, made of the functions that a test is about."""

from typing import Any

import slidewheel as sw

VALUES = [1.0, 2.0, 4.0, 8.0]
# The algorithm that compiles fastest.
QUICK: dict[str, Any] = {"size": 2, "algorithm": "recalc"}


def add(a, b):
    return a + b


def same(x):
    return x


def first_of(s):
    return s[0]


def made(state="f8", identity=0.0, lift=same, combine=add, **more):
    """Unless said otherwise, the sum."""
    members = {"identity": identity, "lift": lift, "combine": combine, **more}
    return sw.aggregate(state=state)(type("Made", (), members))()
