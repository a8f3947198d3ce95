"""From a case to the query that is judged, and from its answers to a verdict that says what differs."""

import math
from typing import Any

import pyarrow as pa

import slidewheel as sw
from tests.engine.oracle import Aggregate, Case, Output, Window, columns_of, rank

TIME_TYPES = {
    "us": pa.timestamp("us"),
    "utc": pa.timestamp("us", tz="UTC"),
    "ns": pa.timestamp("ns"),
    "int64": pa.int64(),
}
SHOWN = 8


def build(case: Case) -> tuple[Any, pa.Table]:
    """The query of a case, and its table."""
    query = sw.query(
        time=case.time,
        keys=case.keys,
        windows=[_window(w) for w in case.windows],
        aggregates=[_aggregate(a) for a in case.aggregates],
        lateness=case.lateness,
        late=case.late,
        repair=case.repair,
    )
    return query, table(case)


def table(case: Case) -> pa.Table:
    arrays = {}
    for name, values in case.columns.items():
        if name == case.time:
            micros = pa.array(values, pa.int64())
            unit = TIME_TYPES[case.time_type]
            whole = micros if unit == pa.int64() else micros.cast(pa.timestamp("us", tz=getattr(unit, "tz", None)))
            arrays[name] = whole.cast(unit)
        else:
            arrays[name] = pa.array(values, case.types.get(name), from_pandas=False)
    return pa.table(arrays)


def drive(case: Case, restore: bool = False) -> tuple[list[pa.Table], Any]:
    """What a stream gives at each of `case.steps()`, and the stream; `restore` moves it through bytes at each step."""
    query, whole = build(case)
    stream = query.stream()
    results = []
    for step, what in case.steps():
        if restore:
            stream = sw.Stream.restore(query, stream.snapshot())
        if step == "push":
            results.append(stream.push(whole.take(pa.array(what, pa.int64()))))
        elif step == "advance":
            results.append(stream.advance_to(what))
        else:
            results.append(stream.finish())
    return results, stream


def compare(got: pa.Table, expected: list[Output], columns: list[str] | None = None, where: str = "") -> None:
    """Row for row. Floats up to 1e-9, NaN equal to NaN, instants as microseconds, all others exactly."""
    got = pa.table(got)
    names = columns or (list(expected[0]) if expected else got.column_names)
    gives_windows = "window_start" in names
    if gives_windows:
        assert got.column_names == names, f"{where}columns {got.column_names}, not {names}"
    else:
        # The order of the aggregates' columns is not told.
        assert sorted(got.column_names) == sorted(names), f"{where}columns {got.column_names}, not {names}"
    rows = listed(got)
    for k, (g, w) in enumerate(zip(rows, expected, strict=False)):
        wrong = [name for name in w if not alike(g[name], w[name])]
        assert not wrong, f"{where}row {k} of {len(expected)} differs in {wrong}:{_around(rows, expected, k)}"
    first_missing = min(len(rows), len(expected))
    assert len(rows) == len(expected), (
        f"{where}{len(rows)} rows, not {len(expected)}:{_around(rows, expected, first_missing)}"
    )


def same_rows(got: pa.Table, whole: pa.Table, rows: list[int]) -> None:
    """These rows of a table and no others, in any order: late rows that are handed back."""

    def in_order(part: pa.Table) -> list[Output]:
        return sorted(listed(part), key=lambda row: [rank(row[name]) for name in whole.column_names])

    got, wanted = pa.table(got).select(whole.column_names), whole.take(pa.array(rows, pa.int64()))
    assert got.num_rows == len(rows), f"{got.num_rows} rows, not {len(rows)}:\n{got.to_pylist()}"
    for g, w in zip(in_order(got), in_order(wanted), strict=True):
        assert all(alike(g[name], w[name]) for name in w), f"{g}, not {w}"


def listed(got: pa.Table) -> list[Output]:
    """The rows as dicts, with instants as microseconds."""
    columns = {}
    for name in got.column_names:
        column = got[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        columns[name] = column.to_pylist()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def alike(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(alike, got, wanted))
    if isinstance(wanted, float):
        if not isinstance(got, float):
            return False
        both_nan = got != got and wanted != wanted
        return both_nan or got == wanted or math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return type(got) is type(wanted) and got == wanted


def _window(window: Window) -> Any:
    options = dict(window[1])
    needed = {
        "sliding": ["range"],
        "tumbling": ["every"],
        "session": ["gap"],
        "rows": ["n"],
        "punctuated": ["column"],
        "trailing": ["range"],
        "delta": ["column", "distance"],
    }
    positional = [options.pop(name) for name in needed[window[0]]]
    return getattr(sw, window[0])(*positional, **options)


def _aggregate(aggregate: Aggregate) -> Any:
    options = dict(aggregate[2])
    alias = options.pop("alias", None)
    made = getattr(sw, aggregate[0])(*columns_of(aggregate), **options)
    return made.alias(alias) if alias else made


def _around(got: list[Output], wanted: list[Output], k: int) -> str:
    """The rows from shortly before the first difference on."""
    start = max(0, k - 2)
    lines = ["", "got:"]
    lines += [f"  {i}: {row}" for i, row in list(enumerate(got))[start : start + SHOWN]] or ["  nothing"]
    lines += ["wanted:"]
    lines += [f"  {i}: {row}" for i, row in list(enumerate(wanted))[start : start + SHOWN]] or ["  nothing"]
    return "\n".join(lines)
