"""What goes into a wheel and what comes out: values of one type, states, and answers as Python or numpy values."""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.compiler.layout import is_array
from slidewheel.compiler.loops import counts, interpreted
from slidewheel.engine.columns import Array, Column, columns_of, read_only
from slidewheel.errors import InvalidArgument, Overflow, Unsupported
from slidewheel.wheel import loops

KINDS = {"i": "integers", "f": "floats", "O": "Python objects", "hash": "any values"}


class Compiled:
    """The loops of a wheel over fixed-width states."""

    def __init__(self, monoid: Any, inputs: tuple[str, ...]) -> None:
        from slidewheel.compiler import kernels

        self.kernel = kernels.kernel(loops, monoid)
        self.types = tuple(read_only(np.ones(1, dtype=dtype)) for dtype in inputs)
        self.dtype = monoid.state
        self.result, self.shape = self._result(monoid.result)
        self._known: dict[str, Callable[..., Any]] = {}

    def _result(self, result: str) -> tuple[Any, tuple[int, ...]]:
        if result == "like0":
            return self.types[0].dtype, ()
        return (np.dtype(result), ()) if result else self.kernel.answer_like(self.types, 0)

    def ingest(self, columns: tuple[Array, ...], *rest: Any) -> int:
        return int(self.kernel.run("ingest", columns, *rest))

    def ingest_trial(self, columns: tuple[Array, ...], *rest: Any) -> None:
        self.kernel.run("lift_all", columns, *rest)

    def run(self, driver: str, *arguments: Any) -> Any:
        return self.kernel.call(driver, self.types, *arguments)

    def function(self, driver: str) -> Callable[..., Any]:
        """A driver that has run before, to be called with the same types and without a look at them."""
        made = list(getattr(self.kernel.module, driver).overloads.values())
        return made[0].entry_point if len(made) == 1 else getattr(self.kernel.module, driver)  # type: ignore[no-any-return]

    def again(self, driver: str, *arguments: Any) -> Any:
        """`run` of a driver that always takes the same types: after the first time without a look at them."""
        known = self._known.get(driver)
        if known is None:
            found = self.run(driver, *arguments)
            self._known[driver] = self.function(driver)
            return found
        try:
            return known(*arguments)
        except OverflowError as error:
            raise Overflow(str(error)) from None

    @property
    def asks_at(self) -> bool:
        """Whether a single range can be asked by `ask_at`: its answer is a number, and one thread runs at a time."""
        one_thread = getattr(sys, "_is_gil_enabled", lambda: True)()
        return bool(one_thread and self.result.kind in "if" and not (self.shape or is_array(self.dtype)))


class Interpreted:
    """The same over Python objects."""

    dtype, result, shape = np.dtype(object), np.dtype(object), ()
    asks_at = False
    types = (np.empty(0, dtype=object),)

    def __init__(self, monoid: Any) -> None:
        self.names = interpreted(loops.FILES, monoid)

    def ingest(self, columns: tuple[Array, ...], *rest: Any) -> int:
        return int(self.run("ingest", columns, *rest))

    def ingest_trial(self, columns: tuple[Array, ...], *rest: Any) -> None:
        self.run("lift_all", columns, *rest)

    def run(self, driver: str, *arguments: Any) -> Any:
        try:
            return self.names[driver](*arguments)
        except OverflowError as error:
            raise Overflow(str(error)) from None

    again = run

    def function(self, driver: str) -> Callable[..., Any]:
        return self.names[driver]  # type: ignore[no-any-return]


def planned(monoid: Any, *arguments: Any) -> tuple[int, int]:
    """The planner, interpreted: to explain one plan is not worth compiling it."""
    kind, cost = _planner(monoid)(*arguments)
    return int(kind), int(cost)


@cache
def _planner(monoid: Any) -> Callable[..., Any]:
    return interpreted(loops.FILES, monoid)["_choose"]  # type: ignore[no-any-return]


class Worked:
    """Loops over the states of a monoid, and what its inverse is good for."""

    def __init__(self, monoid: Any, inputs: tuple[str, ...], compiled: bool) -> None:
        self.work: Any = Compiled(monoid, inputs) if compiled else Interpreted(monoid)
        dtype: Any = self.work.dtype
        fields = [dtype[name] for name in dtype.names or ()] or [dtype.base]
        self.exact = all(field.kind in "iubO" for field in fields)
        """Whether taking away loses nothing."""
        self.counts = counts(monoid)
        """Whether a state tells how many values it holds."""


class Values(Worked):
    """An aggregate over values of one type."""

    keyed = False

    def __init__(self, aggregate: Aggregate, kinds: tuple[str, ...], invertible: bool, narrow: bool = False) -> None:
        """narrow: whether to begin with narrow states, if the aggregate has any."""
        self.aggregate, self.kinds, self._invertible = aggregate, kinds, invertible
        self.coded = aggregate.positional and kinds[-1] == "code"
        """Whether the second column is kept as codes, which `arguments` lists."""
        self.codes: dict[Any, int] = {}
        self.arguments: list[Any] = []
        own = tuple("i" if kind == "code" else kind for kind in kinds)
        self.monoid = aggregate.monoid(*own, invertible=invertible)
        self.full = self.monoid
        """The form with wide states."""
        self.widen = self.monoid.widen if narrow else None
        """What makes wide states of narrow ones, if these are narrow."""
        if self.widen is not None:
            assert self.monoid.narrow is not None
            self.monoid = self.monoid.narrow
        compiled = self.monoid.state is not None and "O" not in own
        inputs = tuple("f8" if kind == "f" else "i8" for kind in own)
        super().__init__(self.monoid, inputs, compiled)

    def wide(self) -> "Values":
        """The same with wide states."""
        return Values(self.aggregate, self.kinds, self._invertible)

    def columns(self, values: Any, mask: Any, times: Array) -> tuple[tuple[Array, ...], Array | None]:
        """The columns that go into the loops, and which of their rows are not null."""
        given = self._given(values, mask, times)
        needed = given[:1] if self.aggregate.positional else given
        valid = _all_valid(needed) if self.aggregate.skips_nulls else None
        if self.aggregate.name == "count" and self.aggregate.built_in:
            return (read_only(times),), valid
        if self.aggregate.prepare is not None:
            return (read_only(self.aggregate.prepare(given[0].as_given())),), valid
        found = []
        for column, kind in zip(given, self.kinds, strict=True):
            if kind == "code":
                codes = self._encoded(column)
                found.append(read_only(codes if "O" not in self.kinds else codes.astype(object)))
            elif kind == "O":
                found.append(_objects(column.values()))
            elif "O" in self.kinds:
                found.append(_objects(self._numbers(column, kind).tolist()))
            else:
                found.append(self._numbers(column, kind))
        return tuple(found), valid

    def _given(self, values: Any, mask: Any, times: Array) -> list[Column]:
        given = list(columns_of(values, self.aggregate, mask))
        if len(given[0]) != len(times):
            raise InvalidArgument(f"there are {len(times)} times but {len(given[0])} values")
        if self.aggregate.positional and len(given) == 1:
            given.append(Column(read_only(times), None, np.dtype("i8")))
        return given

    def _numbers(self, column: Column, kind: str) -> Array:
        if column.kind == kind or (kind == "f" and column.kind == "i"):
            return read_only(column.data.astype(np.float64, copy=False)) if kind == "f" else column.data
        if column.valid is not None and not column.valid.any():
            return read_only(np.zeros(len(column), dtype=f"{kind}8"))
        wanted = "dtype=object" if column.kind == "O" else 'dtype="f8"'
        raise Unsupported(
            f"this wheel holds {KINDS[kind]}, as its first values or dtype= said, and these are "
            f"{KINDS.get(column.kind, column.kind)}: make the wheel with {wanted}"
        )

    def _encoded(self, column: Column) -> Array:
        """Codes for arguments of any type."""
        found = np.empty(len(column), dtype=np.int64)
        for row, value in enumerate(column.values()):
            if value not in self.codes:
                self.codes[value] = len(self.arguments)
                self.arguments.append(value)
            found[row] = self.codes[value]
        return found

    def room(self, count: int) -> Array:
        """Where so many answers go."""
        shape = self.work.shape
        return np.empty((count, *shape) if shape else count, dtype=self.work.result)

    def value(self, out: Array) -> Any:
        """The first answer as a Python value."""
        if self.aggregate.finish is not None and out.dtype != object:
            return self.aggregate.finish(out)[0]
        if self.coded:
            return self.arguments[int(out[0])]
        return out[0] if out.ndim > 1 or out.dtype == object else out.item()

    def listed(self, out: Array, ok: Array | None) -> list[Any]:
        """All answers as Python values, None where there is none; `ok` says where there is one, None: everywhere."""
        if self.aggregate.finish is not None and out.dtype != object:
            out = self.aggregate.finish(out)
        values = out.tolist() if out.ndim == 1 else list(out)
        there = [True] * len(values) if ok is None else ok.tolist()
        if self.coded:
            return [self.arguments[v] if holds else None for v, holds in zip(values, there, strict=True)]
        return values if all(there) else [v if holds else None for v, holds in zip(values, there, strict=True)]

    def array(self, out: Array, ok: Array | None) -> Array:
        """All answers as a numpy array: null is NaN, None, or masked."""
        if (self.aggregate.finish is not None and out.dtype != object) or self.coded or out.dtype == object:
            found = np.empty(len(out), dtype=object)
            found[:] = self.listed(out, ok)
            return found
        if ok is None or ok.all():
            return out
        if out.dtype.kind == "f" and out.ndim == 1:
            out[~ok] = np.nan
            return out
        hidden = (~ok).reshape(-1, *[1] * (out.ndim - 1))
        return np.ma.MaskedArray(out, mask=np.broadcast_to(hidden, out.shape))

    def empty(self) -> Any:
        """The answer of no rows."""
        return self.monoid.lower(self.monoid.identity) if self.monoid.least == 0 else None


def values_for(aggregate: Aggregate, dtype: Any, sample: Any, invertible: bool, narrow: bool) -> Values:
    """The form of an aggregate for a type, or for the type of some values."""
    if aggregate.prepare is not None and dtype is not object:
        return Values(aggregate, ("hash",), invertible)
    if dtype is not None:
        try:
            kind = "O" if dtype is object else np.dtype(dtype).kind
        except TypeError:
            kind = "?"
        if kind not in "ifO":
            raise InvalidArgument(f'dtype is "i8", "f8" or object, not {dtype!r}')
        kinds = [kind] * (1 if aggregate.positional else aggregate.arity)
        if aggregate.positional:
            kinds.append("code")
        return Values(aggregate, tuple(kinds), invertible, narrow)
    columns = list(columns_of(sample, aggregate, None))
    kinds = [_kind(column) for column in columns]
    if aggregate.positional:
        kinds = [kinds[0], "i" if len(columns) == 1 else "code"]
    if aggregate.name == "count" and aggregate.built_in:
        kinds = ["i"]
    return Values(aggregate, tuple(kinds), invertible, narrow)


def _kind(column: Column) -> str:
    return "O" if column.dtype.kind in "mMb" else column.kind


def _all_valid(columns: list[Column]) -> Array | None:
    masks = [column.valid for column in columns if column.valid is not None]
    return None if not masks else read_only(np.logical_and.reduce(masks))


def _objects(values: list[Any]) -> Array:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
