"""The oracle's cases with a stream that goes through bytes before every step, and twins that go on side by side."""

from typing import Any

import pyarrow as pa
import pytest

import slidewheel as sw
from tests.engine.cases import KINDS, random_case
from tests.engine.harness import build
from tests.engine.oracle import Case
from tests.engine.test_query import CASES, GROUPS, judge

CHUNK = 16
MANY = 1000


def chunks(first: int, count: int) -> list[tuple[str, int]]:
    return [(group, seed) for group in GROUPS for seed in range(first, first + count, CHUNK)]


@pytest.mark.parametrize(("group", "first"), chunks(0, CHUNK))
def test_restored_before_every_step(group, first):
    for seed in range(first, first + CHUNK):
        try:
            judge(random_case(seed, kinds=GROUPS[group]), restore=True)
        except Exception as error:
            raise AssertionError(f"{group}, seed {seed}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize(("group", "first"), chunks(CASES, MANY))
def test_restored_before_every_step_at_length(group, first):
    test_restored_before_every_step(group, first)


def told(value: Any) -> str:
    """All that there is to a table or a number; NaN is like NaN."""
    return f"{value.schema} {value.to_pylist()}" if isinstance(value, pa.Table) else repr(value)


def twins(case: Case) -> None:
    """A copy that was made at any step goes on as the stream does, to the last bit, and leaves it alone."""
    query, whole = build(case)
    stream = query.stream()
    copies: list[sw.Stream] = []
    for step, what in case.steps():
        if len(copies) < 4:
            copies.append(sw.Stream.restore(query, stream.snapshot()))
        results = []
        for each in (stream, *copies):
            if step == "push":
                results.append(each.push(whole.take(what) if what else whole.slice(0, 0)))
            else:
                results.append(each.advance_to(what) if step == "advance" else each.finish())
        assert len({told(result) for result in results}) == 1
        assert len({(each.watermark, *map(told, vars(each.late).values())) for each in (stream, *copies)}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_copies_go_on_alike(kind):
    for seed in range(1000, 1005):
        twins(random_case(seed, kinds=[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_copies_go_on_alike(kind):
    for seed in range(1005, 1100):
        twins(random_case(seed, kinds=[kind]))
