"""The compiled form of every algorithm gives what the interpreted one does: same source, other machine."""

import random

import numpy as np
import pytest

import slidewheel as sw
from slidewheel.algebra.bloom import hash_column
from slidewheel.compiler import kernels, layout
from slidewheel.swag.registry import ALGORITHMS, lacking
from tests.support import AGGREGATES, GeoMean, agree, recalculated

INSERT, EVICT, QUERY = 0, 1, 2
COMPILED = [name for name, module in ALGORITHMS.items() if module.CARD.compiled]
# One for each shape of state: two words, a flag among numbers. Arrays take long to compile: only a few of them here.
SHAPES = [("sum", "i"), ("argmax", "fi")]
ARRAYS = ["two_stacks_lite", "daba_lite", "flatfit", "ioa"]
# What is compiled only in the long runs.
REST = [
    ("bloom", "i"),
    ("count", "i"),
    ("sum", "f"),
    ("product", "f"),
    ("mean", "f"),
    ("geomean", "f"),
    ("var", "f"),
    ("std", "f"),
    ("min", "i"),
    ("min", "f"),
    ("max", "f"),
    ("span", "i"),
    ("span", "f"),
    ("max_count", "f"),
    ("argmin", "if"),
    ("first", "f"),
    ("last", "i"),
]


def replayed(algorithm, aggregate, kinds, columns, steps):
    """The answers of a list of steps, by the compiled algorithm."""
    module = ALGORITHMS[algorithm]
    if aggregate.prepare is not None:
        columns, kinds = (hash_column(columns[0]),), ("hash",)
    monoid = aggregate.monoid(*kinds, invertible="inverse" in module.CARD.needs)
    steps = np.asarray(steps, dtype=np.int8)
    most = int(np.cumsum(np.select([steps == INSERT, steps == EVICT], [1, -1], 0)).max(initial=1))
    slots, card = 1 << max(most - 1, 0).bit_length(), module.CARD
    states = layout.allocate(monoid.state, card.states(slots), monoid.identity)
    links = np.zeros(card.links(slots), dtype=np.int64)
    queries = int((steps == QUERY).sum())
    if monoid.state.shape:
        out = np.zeros((queries, *monoid.state.shape), dtype=monoid.state.base)
    else:
        kind = monoid.result if monoid.result not in ("like0", "") else columns[0].dtype
        out = np.zeros(queries, dtype=kind)
    kernels.kernel(module, monoid).run("replay", columns, steps, out, states, links, slots - 1)
    return out if aggregate.finish is None else aggregate.finish(out)


def traced(algorithm, name, kinds, seed, aggregate=None):
    """Random operations, compiled, against a plain fold of what the window holds."""
    aggregate = aggregate or AGGREGATES[name]
    chance = random.Random(f"{seed} {algorithm} {name}")
    floats = [0.0, -0.0, 0.5, 2.0, -4.0, 8.0, float("nan"), float("inf"), -float("inf")]
    integers = [0, 1, 2, -3, 5] if aggregate.arithmetic else [0, 1, -1, 2**63 - 1, -(2**63), 7]
    if aggregate is GeoMean():
        floats = [0.5, 1.0, 2.0]
    values, items, steps, wanted = [], [], [], []
    for growing in (0.8, 0.1, 0.55, 0.95, 0.0, 0.5):
        for _ in range(60):
            if chance.random() < growing:
                value = chance.choice(floats if kinds[0] == "f" else integers)
                items.append((value, len(values)) if aggregate.arity == 2 else value)
                values.append(value)
                steps.append(INSERT)
            elif items:
                items.pop(0)
                steps.append(EVICT)
            enough = aggregate.monoid().least
            if len(items) >= max(enough, 1):
                steps.append(QUERY)
                wanted.append(recalculated(aggregate, items))
    columns = [np.array(values, dtype="f8" if kinds[0] == "f" else "i8")]
    if aggregate.arity == 2:
        columns.append(np.arange(len(values), dtype="f8" if kinds[1] == "f" else "i8"))
    got = replayed(algorithm, aggregate, tuple(kinds), tuple(columns), steps)
    loose = 1e-5 if algorithm == "subtract_on_evict" else 1e-9
    for k, (g, w) in enumerate(zip(got.tolist(), wanted, strict=True)):
        assert agree(g, w, loose), (k, g, w)


def able(algorithm, name):
    return not any(lacking(ALGORITHMS[algorithm].CARD, AGGREGATES[name]))


@pytest.mark.parametrize(
    ("algorithm", "name", "kinds"),
    [(a, n, k) for a in COMPILED for n, k in SHAPES if able(a, n)] + [(a, "bloom", "i") for a in ARRAYS],
)
def test_compiled_is_recalculation(algorithm, name, kinds):
    for seed in range(3):
        traced(algorithm, name, kinds, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "name", "kinds"), [(a, n, k) for a in COMPILED for n, k in REST if able(a, n)])
def test_compiled_is_recalculation_for_all(algorithm, name, kinds):
    for seed in range(20):
        traced(algorithm, name, kinds, seed)


@pytest.mark.parametrize(
    ("algorithm", "aggregate", "values"),
    [
        ("two_stacks_lite", sw.span(), [2**63 - 1, -(2**63)]),
        ("two_stacks_lite", sw.sum(), [2**62, 2**62]),
        ("subtract_on_evict", sw.sum(), [-(2**63), -1]),
    ],
)
def test_overflow_is_an_error(algorithm, aggregate, values):
    with pytest.raises(sw.Overflow):
        replayed(algorithm, aggregate, ("i",), (np.array(values),), [INSERT, INSERT, QUERY])
    window = sw.swag.window(aggregate, algorithm)
    for value in values:
        window.insert(value)
    with pytest.raises(sw.Overflow):
        window.query()
