"""Every aggregate comes back from a store as it went in: appended in pieces, folded, rolled up, opened anew."""

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from tests.store.events import LEVELS, SECOND, START, events, micros, recalculated, same


@sw.aggregate(state={"n": "i8", "total": "f8", "any": "b1", "small": "u2", "big": "u8"}, commutative=True)
class Odd:
    """Fields of all kinds."""

    identity = (0, 0.0, False, 0, 0)

    def lift(x):
        return 1, x, x > 0.0, 1, 2**63 + 1

    def combine(a, b):
        return a[0] + b[0], a[1] + b[1], a[2] or b[2], max(a[3], b[3]), max(a[4], b[4])

    def lower(s):
        return s[1] / s[0] + s[4] / 2.0**63


@sw.aggregate(state=object, commutative=True)
class Letters:
    """Sets of Python."""

    identity = frozenset()

    def lift(x):
        return frozenset([x])

    def combine(a, b):
        return a | b

    def lower(s) -> str:
        return "".join(sorted(s))


COMMUTATIVE = [
    [sw.count(), sw.count("i"), sw.sum("i"), sw.mean("i"), sw.sum("x"), sw.mean("x"), sw.min("x"), sw.max("i")],
    [sw.min("s"), sw.max("t"), sw.span("i"), sw.min_count("x"), sw.max_count("i"), sw.distinct("s")],
    [sw.std("x"), sw.var("i"), sw.geomean("n"), sw.product("n")],
    [sw.quantile("x", 0.5), sw.top_k("n", 2), sw.bloom("s", bits=256, hashes=2), sw.count_min("i", width=64, depth=2)],
    [Odd("x"), Letters("s")],
]
ORDERED = [
    [sw.first("x"), sw.last("i"), sw.first("s"), sw.argmax("x", "s"), sw.argmin("i", "x"), sw.argmin("s", "i")],
    [sw.concat("s"), sw.collect("i"), sw.collect_distinct("s")],
]
CLOSE = ("std_x", "var_i", "geomean_n", "product_n", "Odd_x")


def made(path, aggregates, table):
    query = sw.query(time="t", keys=["k", "n"], windows=sw.tumbling("1h"), aggregates=aggregates)
    store = sw.create_store(path, query, levels=LEVELS)
    for first in range(0, table.num_rows, 200):
        assert store.append(table.slice(first, 200)).committed
    return store, query


@pytest.mark.parametrize("aggregates", COMMUTATIVE, ids=lambda some: some[0].output)
def test_every_aggregate(tmp_path, aggregates):
    table = events(600, seed=1)
    store, query = made(tmp_path / "s", aggregates, table)
    for _ in range(2):
        for low, high in ((0, 3), (-7200, 20_000), (3601, 9_001)):
            edges = [START + low * SECOND, START + high * SECOND]
            expected = recalculated(table, query, edges).drop_columns(["start", "end"])
            same(store.query(*edges), expected, CLOSE)
        store.compact()
        assert store.check().problems == []
        store = sw.open_store(store.path, aggregates=[Odd, Letters])


@pytest.mark.parametrize("aggregates", ORDERED, ids=lambda some: some[0].output)
def test_order(tmp_path, aggregates):
    """By ticks, however late they came; what is of one tick as it was committed, and inside of a commit by time."""
    table = events(400, seed=2)
    store, query = made(tmp_path / "s", aggregates, table)
    seconds = micros(table) // SECOND * SECOND
    later = seconds + np.arange(400) // 200 * (SECOND // 2) + micros(table) % SECOND // 2
    by_commit = table.set_column(0, "t", pa.array(later).cast(pa.timestamp("us", "UTC")))
    edges = [START - 7200 * SECOND, START + 9000 * SECOND]
    expected = recalculated(by_commit, query, edges).drop_columns(["start", "end"])
    for _ in range(2):
        same(store.query(*edges), expected)
        store.compact()
        assert store.check().problems == []
