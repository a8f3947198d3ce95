"""The `[query]` table of a pipeline file becomes a query, and is held against the columns of the source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slidewheel.algebra.define import AggregateType
from slidewheel.engine.query import LATE, Query, query
from slidewheel.errors import SlidewheelError
from slidewheel.pipeline.aggregates import aggregate, own_aggregates
from slidewheel.pipeline.ddl import TIMES, WHOLE
from slidewheel.pipeline.table import Table, meant, shown
from slidewheel.pipeline.windows import window


@dataclass(frozen=True)
class Asked:
    """What the table says."""

    query: Query
    module: Path | None
    """The file of the user's own aggregates."""
    null_keys: bool
    """Whether a null is a key like any other."""


def read_query(table: Table, folder: Path) -> Asked | None:
    """The query of the table; None if something is wrong with it, which is noted."""
    before = len(table.mistakes.found)
    time = table.text("time", required=True)
    keys = table.texts("keys")
    lateness = table.span("lateness", "0s", allow_zero=True)
    late = table.choice("late", LATE, "drop")
    repair = table.span("repair", "0s") if "repair" in table else table.get("repair")
    null_keys = table.flag("null_keys")
    windows = _each(table, "windows", window)
    own, module = _own(table, folder)
    # Without the module, nobody knows which of the aggregates are mistakes.
    aggregates = table.get("aggregates") if own is None else _each(table, "aggregates", lambda a: aggregate(a, own))
    table.refuse_others()
    if len(table.mistakes.found) > before:
        return None
    try:
        made = query(
            time=time, keys=keys, windows=windows, aggregates=aggregates, lateness=lateness, late=late, repair=repair
        )
    except SlidewheelError as error:
        table.wrong(None, str(error))
        return None
    return Asked(made, module, null_keys)


def check_columns(asked: Query, table: Table, columns: Mapping[str, str], *, stream: bool) -> None:
    """Note what the query reads and the source does not have."""
    for name, purpose in asked.columns.items():
        if name not in columns:
            text = f"the source has no column {name!r}, which {purpose} reads{meant(name, list(columns))}"
            table.mistakes.add(_place(asked, table, name), text)
    kind = columns.get(asked.time)
    whole = ("BIGINT", "LONG") if stream else WHOLE
    if kind is not None and kind not in (*TIMES, *whole):
        text = f"the time column {asked.time!r} is {kind}, but times are {', '.join((*TIMES, 'BIGINT'))}"
        table.wrong("time", text)


def _place(asked: Query, table: Table, column: str) -> tuple[str | int, ...]:
    """Where in the table a column is named."""
    if column == asked.time:
        return (*table.place, "time")
    if column in asked.keys:
        return (*table.place, "keys")
    readers: dict[str, Sequence[Any]] = {"windows": asked.windows, "aggregates": asked.aggregates}
    for key, items in readers.items():
        for index, item in enumerate(items):
            if column in item.columns:
                return (*table.place, key, index)
    return table.place


def _own(table: Table, folder: Path) -> tuple[dict[str, AggregateType] | None, Path | None]:
    name = table.text("module")
    if not name:
        return {}, None
    try:
        return own_aggregates(name, folder)
    except SlidewheelError as error:
        table.wrong("module", str(error))
        return None, None


def _each(table: Table, key: str, make: Callable[[Any], Any]) -> list[Any]:
    """One or a list of them, each made; mistakes are noted where they stand."""
    said = table.get(key)
    if said is None:
        table.missing(key)
        return []
    if isinstance(said, list) and not said:
        table.wrong(key, f"{key} is empty: it needs at least one of them, not {shown(said)}")
    made = []
    for index, item in enumerate(said if isinstance(said, list) else [said]):
        place = (*table.place, key, index) if isinstance(said, list) else (*table.place, key)
        try:
            made.append(make(item))
        except (SlidewheelError, TypeError, ValueError) as error:
            table.mistakes.add(place, str(error))
    return made
