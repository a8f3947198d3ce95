"""Events to be stored, and what plain recalculation says about them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import slidewheel as sw

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
EVER = 300 * 365 * 86400 * SECOND
"""A window that holds all events."""
LEVELS = ["1s", "10s", "1m", "1h"]


def events(rows: int, seed: int, days: float = 0.2) -> pa.Table:
    """About in order, some far behind; sums of x are exact whatever their order."""
    dice = np.random.default_rng(seed)
    behind = np.where(dice.random(rows) < 0.1, dice.integers(0, 7200, rows), dice.integers(0, 20, rows))
    seconds = np.linspace(0, days * 86400, rows).astype(np.int64) - behind
    return pa.table(
        {
            "t": pa.array(START + seconds * SECOND + dice.integers(0, SECOND, rows)).cast(pa.timestamp("us", "UTC")),
            "k": pa.array(
                [None if key == 0 else f"key {key}" for key in dice.integers(0, 6, rows).tolist()], pa.string()
            ),
            "n": pa.array(dice.integers(0, 3, rows), pa.int32()),
            "i": pa.array(dice.integers(-1000, 1000, rows), mask=dice.random(rows) < 0.2),
            "x": pa.array(dice.integers(-1000, 1000, rows) / 8, mask=dice.random(rows) < 0.1),
            "s": pa.array([None if c == 0 else chr(96 + c) for c in dice.integers(0, 9, rows).tolist()], pa.string()),
        }
    )


def micros(table: pa.Table) -> np.ndarray:
    return table["t"].cast(pa.int64()).to_numpy()


def recalculated(table: pa.Table, query: sw.Query, edges: list[int], keys: Any = None) -> pa.Table:
    """The answer of a store to a question, from the events: each bucket's by itself."""
    found = []
    if keys is not None:
        for name, values in keys.items():
            table = table.filter(pc.is_in(table[name], value_set=pa.array(values, table[name].type)))
    times = micros(table)
    whole = sw.query(
        time=query.time, keys=query.keys, aggregates=query.aggregates, windows=[sw.tumbling(EVER, offset=-EVER // 2)]
    )
    for low, high in pairwise(edges):
        answers = whole.run(table.filter(pa.array((times >= low) & (times < high))))
        count = answers.num_rows
        bounds = [pa.array([edge] * count, pa.int64()).cast(pa.timestamp("us", "UTC")) for edge in (low, high)]
        columns = {name: answers[name] for name in (*query.keys, *(a.output for a in query.aggregates))}
        found.append(pa.table({"start": bounds[0], "end": bounds[1], **columns}))
    return pa.concat_tables(found)


def same(one: pa.Table, other: pa.Table, close: tuple[str, ...] = ()) -> None:
    """Row for row; columns named `close` up to rounding."""
    assert one.column_names == other.column_names
    assert one.num_rows == other.num_rows
    for name in one.column_names:
        mine, theirs = one[name].to_pylist(), other[name].to_pylist()
        if name in close:
            assert [v is None for v in mine] == [v is None for v in theirs], name
            pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if a is not None]
            np.testing.assert_allclose([a for a, _ in pairs], [b for _, b in pairs], rtol=1e-9, err_msg=name)
        else:
            assert repr(mine) == repr(theirs), name
