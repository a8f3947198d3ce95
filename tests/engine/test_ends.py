"""The order in which windows come out, and the pieces: against a plain list of all ends."""

import random

import numpy as np
import pytest

from slidewheel.engine.ends import Ends


def made(seed: int) -> tuple[Ends, np.ndarray, dict[tuple[int, int], tuple[int, int]]]:
    """Ends of some specs; the changes of a random number of windows at each; and by (spec, index) end and number."""
    dice = random.Random(seed)
    specs = dice.randint(1, 4)
    unit = dice.choice([1, 60, 997])
    zeros = np.array([dice.randint(-50, 50) * unit for _ in range(specs)])
    everys = np.array([dice.choice([1, 2, 3, 7, 1000, 99_991]) * unit for _ in range(specs)])
    firsts = np.array([dice.randint(-20, 20) for _ in range(specs)])
    lasts = firsts + [dice.randint(-2, 40) for _ in range(specs)]
    ends = Ends(zeros, everys, firsts, lasts)
    changes = np.zeros(ends.count + specs, dtype=np.int64)
    known = {}
    for w in range(specs):
        for i in range(firsts[w], lasts[w] + 1):
            number = dice.choice([0, 0, 1, 2, 50])
            changes[ends.begins[w] + i - firsts[w]] += number
            changes[ends.begins[w] + i - firsts[w] + 1] -= number
            known[w, i] = int(zeros[w] + i * everys[w]), number
    return ends, changes, known


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
def test_windows_come_out_by_their_ends(size):
    several = 0
    for seed in range(200):
        ends, changes, known = made(seed)
        total = sum(number for _, number in known.values())
        if not total:
            continue
        given, sizes = [], []
        for part, number, buckets, places in ends.pieces(changes, size):
            piece: dict[int, int] = {}
            for w, (first, last) in enumerate(zip(part.firsts.tolist(), part.lasts.tolist(), strict=True)):
                for i in range(first, last + 1):
                    end, windows = known.pop((w, i))
                    for _ in range(windows):
                        bucket = buckets[part.begins[w] + i - first]
                        assert places[bucket] not in piece
                        piece[int(places[bucket])] = end
                        places[bucket] += 1
            assert sorted(piece) == list(range(number))
            given += [piece[place] for place in range(number)]
            sizes.append((number, len({piece[place] for place in piece})))
        assert not any(number for _, number in known.values()), "windows that never came out"
        assert given == sorted(given)
        assert len(given) == total
        assert all(number <= size or distinct == 1 for number, distinct in sizes)
        several += len(sizes) > 1
    assert several > 100 or size >= 10**6
