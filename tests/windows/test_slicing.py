"""Slices against brute force: every edge of every window is an edge of the slicing, and no other edge is needed."""

import math
import random

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.engine.periodic import slice_starts
from slidewheel.windows.slicing import MOST_EDGES, Slicing, cutty, edges_of_union, pairs, panes, shared, union
from slidewheel.windows.specs import Sliding

LONG = range(-300, 300)


def random_window(dice: random.Random) -> Sliding:
    every = dice.randint(1, 12)
    return sw.sliding(dice.randint(1, 40), every=every, offset=dice.randint(-20, 20))


def edges_in(slicing: Slicing, times: range = LONG) -> set[int]:
    return {t for t in times if t % slicing.period in slicing.edges}


def starts_and_ends(windows: list[Sliding], times: range = LONG) -> set[int]:
    indices = range(min(times) - 100, max(times) + 100)
    return {edge for w in windows for i in indices for edge in (w.start(i), w.end(i)) if edge in times}


def well_formed(slicing: Slicing) -> bool:
    return list(slicing.edges) == sorted(set(slicing.edges)) and all(0 <= e < slicing.period for e in slicing.edges)


@pytest.mark.parametrize("seed", range(60))
class TestOneWindow:
    def test_panes(self, seed):
        window = random_window(random.Random(seed))
        slicing = panes(window)
        assert well_formed(slicing) and slicing.regular
        assert slicing.period == math.gcd(window.range, window.every)
        assert starts_and_ends([window]) <= edges_in(slicing)

    def test_pairs_have_the_edges_of_windows_and_no_others(self, seed):
        window = random_window(random.Random(seed))
        slicing = pairs(window)
        assert well_formed(slicing)
        assert edges_in(slicing) == starts_and_ends([window])
        assert len(slicing.edges) * window.every // slicing.period <= 2

    def test_cutty_has_the_starts_alone(self, seed):
        window = random_window(random.Random(seed))
        slicing = cutty(window)
        assert well_formed(slicing) and slicing.regular
        assert edges_in(slicing) == {window.start(i) for i in range(-400, 400)} & set(LONG)


@pytest.mark.parametrize("seed", range(60))
class TestUnion:
    def windows(self, seed: int) -> list[Sliding]:
        dice = random.Random(seed)
        return [random_window(dice) for _ in range(dice.randint(1, 4))]

    def test_edges(self, seed):
        windows = self.windows(seed)
        slicing = union(windows)
        assert well_formed(slicing)
        assert edges_in(slicing) == starts_and_ends(windows)
        assert len(slicing.edges) <= edges_of_union(windows)

    def test_the_period_is_the_shortest(self, seed):
        slicing = union(self.windows(seed))
        edges = {e + k * slicing.period for e in slicing.edges for k in range(-2, 3)}
        for shorter in range(1, slicing.period):
            moved = {e + shorter for e in slicing.edges}
            assert not (moved <= edges and slicing.period % shorter == 0), shorter

    def test_starts_of_times(self, seed):
        slicing = union(self.windows(seed))
        times = np.array([*LONG, 10**15, -(10**15), 10**15 + 7])
        got = slice_starts(slicing, times)
        for t, start in zip(times.tolist(), got.tolist(), strict=True):
            assert start == next(e for e in range(t, t - slicing.period - 1, -1) if e % slicing.period in slicing.edges)

    def test_slices_between(self, seed):
        slicing = union(self.windows(seed))
        edges = sorted(edges_in(slicing))
        dice = random.Random(seed)
        for _ in range(20):
            a, b = sorted(dice.choices(range(len(edges)), k=2))
            assert slicing.most_between(edges[a], edges[b]) >= b - a + 1


class TestShared:
    @pytest.mark.parametrize("seed", range(30))
    @pytest.mark.parametrize("most", [1, 5, 20, 1_000_000])
    def test_groups_within_a_cap(self, seed, most):
        dice = random.Random(seed)
        windows = [random_window(dice) for _ in range(6)]
        groups = shared(windows, most)
        assert sorted(k for group in groups for k in group) == list(range(6)), "each window is in one group"
        for group in groups:
            assert group == sorted(group)
            members = [windows[k] for k in group]
            assert len(group) == 1 or edges_of_union(members) <= most
            assert edges_in(union(members)) == starts_and_ends(members)
        if most == 1_000_000:
            assert len(groups) == 1

    def test_windows_that_share_too_little(self):
        """Slides of one second and of a prime number of microseconds: their edges meet in no period worth keeping."""
        windows = [sw.tumbling("1s"), sw.sliding("10s", every="5s"), sw.tumbling(999_983)]
        assert edges_of_union(windows) > MOST_EDGES
        assert shared(windows) == [[2], [0, 1]]

    def test_a_query_with_such_windows(self):
        windows = [sw.tumbling("1s"), sw.sliding("10s", every="5s"), sw.tumbling(999_983)]
        table = {"t": list(range(0, 30_000_000, 333_333)), "x": list(range(91))}
        query = sw.query(time="t", windows=windows, aggregates=[sw.sum("x"), sw.count()])
        assert len(query.plan.groups) == 2
        got = query.run(table).to_pylist()
        alone = [sw.query(time="t", windows=[w], aggregates=[sw.sum("x"), sw.count()]).run(table) for w in windows]
        wanted = [row for part in alone for row in part.to_pylist()]
        order = {w.name: k for k, w in enumerate(windows)}
        assert got == sorted(wanted, key=lambda row: (row["window_end"], order[row["window"]]))

    def test_one_window_is_never_refused(self):
        assert shared([sw.sliding(10**9 + 7, every=10**9)], most=1) == [[0]]
