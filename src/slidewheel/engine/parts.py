"""What snapshots of all kinds are written with: parts, columns of integers, states, and what an aggregate is."""

import ast
import io
import pickle
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.compiler import source
from slidewheel.compiler.kernels import own_functions
from slidewheel.engine.columns import Array
from slidewheel.engine.container import full_name, squeezed, unsqueezed
from slidewheel.errors import InvalidSnapshot


def described(aggregate: Aggregate, by_text: bool = True) -> list[Any]:
    """An aggregate as a snapshot knows it: its names, its functions and its states.

    Functions are known by their text, and by their code: the text lasts when Python changes, and the code when the file
    has changed or is not here. Either will do.
    """
    monoid = aggregate.monoid()
    functions = map(_text if by_text else _code, own_functions(monoid).values())
    return [
        [aggregate.output, aggregate.columns, aggregate.name, *functions],
        [str(monoid.state), repr(monoid.identity), aggregate.parameters],
    ]


def _text(function: Any) -> str:
    try:
        text = source.text_of(function, "f")
        return ast.unparse(text.definition) + repr(sorted(text.constants.items()))
    except (source.NoText, OSError, TypeError):
        return _code(function)


def _code(function: Any) -> str:
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = [function.__globals__.get(name) for name in code.co_names]
    return repr((_instructions(code), [repr(v) for v in cells + known if isinstance(v, (bool, int, float, str))]))


def _instructions(code: Any) -> tuple[Any, ...]:
    constants = [_instructions(c) if hasattr(c, "co_code") else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, constants


class Writer:
    """Collects parts; those that the reader has already are named, but not made."""

    def __init__(self, known: Collection[str]) -> None:
        self.known, self.names = known, list[str]()
        self.parts: dict[str, bytes] = {}

    def add(self, name: str, data: bytes) -> str:
        full = full_name(name, data)
        self.names.append(full)
        if full not in self.known:
            self.parts[full] = data
        return full


def in_one(pieces: Iterable[bytes]) -> bytes:
    """Several pieces as one, each with its length in front."""
    return b"".join(part for piece in pieces for part in (len(piece).to_bytes(8, "little"), piece))


def pieces_of(data: bytes | memoryview) -> list[Any]:
    """What `in_one` has put together."""
    pieces, place = [], 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 8], "little")
        pieces.append(data[place + 8 : place + 8 + length])
        place += 8 + length
    return pieces


def steps(values: Array) -> Array:
    """Differences are small, and small numbers are squeezed well."""
    return np.diff(values, prepend=np.int64(0))


def columns_bytes(*arrays: Array) -> bytes:
    """Integers, byte by byte: all the lowest bytes first."""
    stacked = np.stack([np.asarray(a, dtype=np.int64) for a in arrays]) if arrays else np.empty((0, 0), np.int64)
    planes = stacked.view(np.uint8).reshape(len(arrays), -1, 8).transpose(0, 2, 1)
    return squeezed(np.ascontiguousarray(planes).tobytes())


def read_columns(data: bytes, count: int) -> list[Array]:
    found = np.frombuffer(unsqueezed(data), dtype=np.uint8).reshape(count, 8, -1).transpose(0, 2, 1)
    return [part.copy(order="C").view(np.int64).reshape(-1) for part in found]


def states_bytes(states: Array) -> bytes:
    if states.dtype == object:
        return squeezed(pickle.dumps(states.tolist(), protocol=5))
    return squeezed(np.ascontiguousarray(states).tobytes())


def read_states(data: bytes, dtype: Any, trusted: bool) -> Array:
    raw = unsqueezed(data)
    if not dtype.hasobject:
        return np.frombuffer(raw, dtype=dtype.base).reshape(-1, *dtype.shape).copy()
    found = unpickled(raw, trusted)
    states = np.empty(len(found), dtype=object)
    states[:] = found
    return states


def unpickled(data: bytes, trusted: bool) -> Any:
    """An object from its bytes; unless trusted, plain values only."""
    return pickle.loads(data) if trusted else _Careful(io.BytesIO(data)).load()


PLAIN = {
    "builtins": {"set", "frozenset", "complex", "bytearray", "range", "slice"},
    "datetime": {"datetime", "date", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "uuid": {"UUID"},
}


class _Careful(pickle.Unpickler):
    """Reads plain values only: a snapshot must not be able to run code."""

    def find_class(self, module: str, name: str) -> Any:
        if name in PLAIN.get(module, ()):
            return super().find_class(module, name)
        raise InvalidSnapshot(
            f"the snapshot holds an object of {module}.{name}; if you trust its origin, restore it with trusted=True"
        )
