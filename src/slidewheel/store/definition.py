"""What a store is, as the metadata of its table: the query, the levels, the types of its input, and a version."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.engine.definition import MADE_IN
from slidewheel.engine.inputs import Binding
from slidewheel.engine.parts import described
from slidewheel.engine.query import Query
from slidewheel.errors import InvalidArgument, InvalidStore, Unsupported
from slidewheel.store.layout import Layout, check_names, stored_type
from slidewheel.times import DurationLike, duration
from slidewheel.wheel.levels import Level, levels_of

FORMAT = 1
PROPERTY, TYPES = "slidewheel.store", "slidewheel.types"
"""Of the table: what is known when a store is made, and the types of its input."""
LEVEL, FOLDED, START = "level", "folded", "start"
"""Columns of every store: the level's name, whether compaction has been there, and where the slot begins."""
UTC = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Definition:
    """A query, and the levels in which its partial states are kept."""

    query: Query
    tick: int
    levels: tuple[Level, ...]
    schema: pa.Schema | None = None
    """The input columns that are read, once their types are known."""

    @property
    def finest(self) -> Level:
        return self.levels[0]

    @property
    def ordered(self) -> bool:
        """Whether an aggregate depends on the order of rows."""
        return not all(aggregate.commutative for aggregate in self.query.aggregates)

    def binding(self) -> Binding:
        assert self.schema is not None
        found = Binding(self.query.aggregates, self.schema)
        found.hold_all()
        return found

    def with_schema(self, schema: pa.Schema) -> "Definition":
        """The same for input of these types: the columns that are read, and only these."""
        self.query.check(schema)
        wanted = [self.query.time, *self.query.keys]
        wanted += [name for a in self.query.aggregates for name in a.columns if name is not None]
        fields = [pa.field(name, _plain(schema.field(name).type)) for name in dict.fromkeys(wanted)]
        return replace(self, schema=pa.schema(fields))

    def table_schema(self) -> pa.Schema:
        """The columns of the table: keys, start and states; before types are known, those that every store has."""
        base = [(LEVEL, pa.string()), (FOLDED, pa.bool_())]
        if self.schema is None:
            return pa.schema([*base, (START, UTC)])
        keys = [(name, stored_type(self.schema, name)) for name in self.query.keys]
        states = [(column.name, column.type) for column in Layout(self.binding()).columns]
        listed = [*base, *keys, (START, UTC), *states]
        check_names([name for name, _ in listed])
        return pa.schema(listed)

    def properties(self) -> dict[str, str]:
        said = {
            "format": FORMAT,
            "query": self.query.to_dict(),
            "tick": self.tick,
            "levels": [[level.name, level.slots, level.keep] for level in self.levels],
            "code": {a.output: fingerprints(a) for a in self.query.aggregates if not a.built_in},
        }
        return {PROPERTY: json.dumps(said), **({} if self.schema is None else self.types())}

    def types(self) -> dict[str, str]:
        assert self.schema is not None
        return {TYPES: base64.b64encode(self.schema.serialize().to_pybytes()).decode()}


def _plain(kind: pa.DataType) -> pa.DataType:
    """Plain values, whether given as a dictionary of them or not, large or not."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(kind, kind)


def definition_of(query: Query, tick: DurationLike, levels: Any, keep: Any) -> Definition:
    """A definition as a user asks for it; the first of a list of lengths is the tick."""
    if not isinstance(query, Query):
        raise InvalidArgument(f"a store is made for a query, sw.query(...), not {query!r}")
    if isinstance(levels, Sequence) and levels and isinstance(levels[0], str):
        tick = levels[0]
    length = duration(tick)
    made = levels_of(levels, length, keep, False, False)
    for level in made:
        if not level.name.replace("_", "").replace("-", "").isalnum() or not level.name.isascii():
            raise InvalidArgument(f"the level {level.name!r} names a folder: take letters, digits, - and _")
    _check(query)
    return Definition(query, length, made)


def _check(query: Query) -> None:
    check_names([LEVEL, FOLDED, START, *query.keys, *(a.output for a in query.aggregates)])
    taken = {"start", "end"} & {*query.keys, *(a.output for a in query.aggregates)}
    if taken:
        raise InvalidArgument(f"answers have columns start and end of their own: rename {sorted(taken)[0]!r}")


def fingerprints(aggregate: Aggregate) -> list[str]:
    """What the code of an aggregate is known by: its text, and its instructions. Either will do."""
    return [hashlib.sha256(repr(described(aggregate, by_text)).encode()).hexdigest() for by_text in (True, False)]


def said_of(properties: Mapping[str, Any], path: str) -> dict[str, Any]:
    """What the metadata of a table says, without a look at the aggregates."""
    if PROPERTY not in properties:
        raise InvalidStore(f"{path} is a Delta table, but not a store: make one with sw.create_store(path, query)")
    said: dict[str, Any] = json.loads(properties[PROPERTY])
    if said["format"] != FORMAT:
        raise InvalidStore(
            f"the store {path} has format {said['format']}, and this reads {FORMAT}: use another release"
        )
    return said


def definition_from(properties: Mapping[str, Any], path: str, own: Sequence[AggregateType]) -> Definition:
    """The definition that is in the metadata of a table; aggregates of the user's own are passed along."""
    said = said_of(properties, path)
    known = {kind.__name__ for kind in own}
    for name in (asked["aggregate"] for asked in said["query"]["aggregates"]):
        if name not in known and name not in MADE_IN:
            raise Unsupported(
                f"the store {path} holds {name}, an aggregate of somebody's own: pass it along, "
                f"sw.open_store(path, aggregates=[{name}])"
            )
    query = Query.from_dict(said["query"], aggregates=list(own))
    for aggregate in query.aggregates:
        if aggregate.output in said["code"] and not set(fingerprints(aggregate)) & set(said["code"][aggregate.output]):
            raise InvalidStore(
                f"the store {path} was made with another {aggregate.name}: its code has changed since, and states of "
                f"both can't be told apart; use the old code, or make a new store"
            )
    schema = None
    if properties.get(TYPES):
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(properties[TYPES])))
    levels = levels_of([Level(*level) for level in said["levels"]], said["tick"], "all", False, False)
    return Definition(query, said["tick"], levels, schema)
