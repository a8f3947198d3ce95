"""Entries of several parts as those of one."""

import numpy as np
import pytest

from slidewheel.engine.entries import Entries, concatenated


def part(random: np.random.Generator, keys: int, reach: int, number: int) -> Entries:
    """In order by key and slice; the state says which part an entry is of."""
    size = int(random.integers(0, 40))
    codes, ids = random.integers(0, keys, size), random.integers(-reach, reach, size)
    order = np.lexsort((ids, codes))
    return Entries(codes[order], ids[order], [np.full(size, number)])


@pytest.mark.parametrize("keys", [1, 5, 2**40])
@pytest.mark.parametrize("reach", [1, 30, 2**40])
def test_they_are_by_key_and_slice_and_those_of_the_first_part_come_first(keys, reach):
    random = np.random.default_rng(keys + reach)
    for _ in range(30):
        parts = [part(random, keys, reach, number) for number in range(3)]
        found = concatenated(parts)
        listed = list(zip(found.codes.tolist(), found.ids.tolist(), found.states[0].tolist(), strict=True))
        assert listed == sorted(listed)
        assert len(listed) == sum(map(len, parts))
