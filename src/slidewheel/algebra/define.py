"""@sw.aggregate: a class with lift, combine, lower, an identity and perhaps an inverse becomes an aggregate."""

import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid, itself
from slidewheel.errors import InvalidAggregate

StateSpec = Mapping[str, str] | str | type | tuple[Any, ...]


class AggregateType:
    """What `@sw.aggregate` leaves in place of the class: call it with column names to get an Aggregate."""

    def __init__(self, monoid: Monoid, doc: str | None) -> None:
        self.monoid = monoid
        self.__name__ = monoid.name
        self.__doc__ = doc

    def __call__(self, *columns: str) -> Aggregate:
        monoid = self.monoid
        if len(columns) > monoid.arity:
            raise InvalidAggregate(f"{monoid.name} takes {monoid.arity} column(s), not {len(columns)}")
        missing = (None,) * (monoid.arity - len(columns))
        return Aggregate(
            monoid.name,
            (*columns, *missing),
            lambda kinds, invertible: monoid,
            commutative=monoid.commutative,
            selective=monoid.selective,
            invertible=monoid.inverse is not None,
        )

    def __repr__(self) -> str:
        return f"<aggregate {self.__name__}>"


def aggregate(
    *misplaced: Any, state: StateSpec | None = None, commutative: bool = False, selective: bool = False
) -> Callable[[type], AggregateType]:
    """Make an aggregate of a class.

    `state` names the fields of a state and their types (`{"n": "i8", "logs": "f8"}`; states are then tuples), or is one
    type (`"f8"`; states are then numbers), or is `object`: any Python value, interpreted.

    >>> import math
    >>> import slidewheel as sw
    >>> @sw.aggregate(state={"n": "i8", "logs": "f8"}, commutative=True)
    ... class GeoMean:
    ...     identity = (0, 0.0)
    ...     def lift(x):        return 1, math.log(x)
    ...     def combine(a, b):  return a[0] + b[0], a[1] + b[1]
    ...     def lower(s):       return math.exp(s[1] / s[0])
    >>> sw.rolling([1.0, 4.0, 16.0], GeoMean(), size=2).round(6)
    array([1., 2., 8.])
    """

    if misplaced or state is None:
        raise InvalidAggregate(
            'say what a state is: @sw.aggregate(state={"n": "i8", "total": "f8"}), or @sw.aggregate(state=object)'
        )

    def decorate(cls: type) -> AggregateType:
        name = cls.__name__
        members = {key: _plain(value) for key, value in vars(cls).items()}
        for needed in ("lift", "combine"):
            if not callable(members.get(needed)):
                raise InvalidAggregate(f"{name} needs a function {needed}: def {needed}({_ARGUMENTS[needed]}): ...")
        if "identity" not in members:
            raise InvalidAggregate(f"{name} needs an identity: the state that changes nothing when combined")
        for key, count in (("combine", 2), ("lower", 1), ("inverse", 2)):
            if key in members:
                _check_arguments(name, key, members[key], count)
        dtype = _dtype(name, state)
        identity = members["identity"]
        if dtype is not None:
            _check_identity(name, dtype, identity)
        monoid = Monoid(
            name=name,
            lift=members["lift"],
            combine=members["combine"],
            lower=members.get("lower", itself),
            inverse=members.get("inverse"),
            identity=identity,
            state=dtype,
            result="object" if dtype is None else "",
            commutative=commutative,
            selective=selective,
            arity=_arity(name, members["lift"]),
        )
        return AggregateType(monoid, cls.__doc__)

    return decorate


_ARGUMENTS = {"lift": "x", "combine": "a, b"}


def _plain(value: Any) -> Any:
    return value.__func__ if isinstance(value, staticmethod) else value


def _arity(name: str, lift: Any) -> int:
    count = _required(lift)
    if count not in (1, 2):
        raise InvalidAggregate(f"{name}.lift takes the values of one or two columns, not {count} arguments (no self)")
    return count


def _required(function: Any) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:
        raise InvalidAggregate(f"{function!r} does not say what it takes; write it as a def statement") from error
    return sum(parameter.default is inspect.Parameter.empty for parameter in parameters)


def _check_arguments(name: str, key: str, function: Any, count: int) -> None:
    if not callable(function):
        raise InvalidAggregate(f"{name}.{key} must be a function")
    found = _required(function)
    if found != count:
        raise InvalidAggregate(f"{name}.{key} takes {count} argument(s), not {found}; functions here have no self")


def _dtype(name: str, state: StateSpec) -> np.dtype[Any] | None:
    if state is object:
        return None
    dtype: np.dtype[Any]
    try:
        if isinstance(state, Mapping):
            for field in state:
                if not field.isidentifier() or keyword.iskeyword(field):
                    raise InvalidAggregate(f"{name}: the state's field {field!r} must be a Python name")
            dtype = np.dtype([(field, kind) for field, kind in state.items()])
        else:
            dtype = np.dtype(cast(Any, state))
    except TypeError as error:
        raise InvalidAggregate(f"{name}: {state!r} is not a state: {error}; use numpy types or state=object") from error
    kinds = [dtype[field] for field in dtype.names] if dtype.names else [dtype.base]
    if not kinds or any(kind.kind not in "biuf" or kind.itemsize > 8 or kind == np.float16 for kind in kinds):
        raise InvalidAggregate(f"{name}: a state holds numbers of at most 64 bits; for anything else use state=object")
    if len(dtype.shape) > 1:
        raise InvalidAggregate(f"{name}: a state that is an array has one dimension, not {len(dtype.shape)}")
    return dtype.newbyteorder("=")


def _check_identity(name: str, dtype: np.dtype[Any], identity: Any) -> None:
    if dtype.shape:
        if np.shape(identity) not in ((), dtype.shape):
            raise InvalidAggregate(f"{name}: identity has the shape {np.shape(identity)}, but the state {dtype.shape}")
        values = [("the state", dtype.base, value) for value in np.ravel(identity).tolist()]
    elif dtype.names is None:
        values = [("the state", dtype, identity)]
    else:
        fields = dtype.names
        if not isinstance(identity, tuple) or len(identity) != len(fields):
            raise InvalidAggregate(
                f"{name}: the state has the fields {', '.join(fields)}, so identity must be a tuple of {len(fields)}, "
                f"not {identity!r}"
            )
        values = [(field, dtype[field], value) for field, value in zip(fields, identity, strict=True)]
    for field, kind, value in values:
        if not _fits(kind, value):
            raise InvalidAggregate(
                f"{name}: identity gives {value!r} for {field}, which is declared {kind.str[1:]}; "
                f"change one of the two so that they agree"
            )


def _fits(kind: np.dtype[Any], value: Any) -> bool:
    if kind.kind == "b":
        return isinstance(value, (bool, np.bool_))
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return whole and limits.min <= value <= limits.max
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
