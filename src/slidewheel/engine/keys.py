"""Dense codes for values: every distinct value of a column, or of several columns together, has a number from 0 on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.compiler.fixed import compiled
from slidewheel.engine import hashing
from slidewheel.engine.columns import Array
from slidewheel.errors import Unsupported

SMALL = 1024
"""Places for values that lie close together, however few rows have been seen."""
LEAST = -(2**63)
NULL_BITS = 0x5BD1E995_9E3779B9


class Integers:
    """The codes of 64-bit integers: looked up by value while they lie close together, then in a hash table."""

    def __init__(self) -> None:
        self.count = 0
        self._distinct = np.zeros(16, dtype=np.int64)
        self._near: Array | None = np.zeros(0, dtype=np.int32)
        """code + 1 of the values from _least on, or 0."""
        self._least = 0
        self._places = np.zeros(0, dtype=np.int64)

    @property
    def values(self) -> Array:
        return self._distinct[: self.count]

    def encode(self, values: Array, ascending: bool = False) -> Array:
        """New values get the next codes, one after the other or, where that is easy, in ascending order."""
        codes = np.empty(len(values), dtype=np.int64)
        row = 0
        while row < len(values):
            run, known = compiled(hashing), (self._distinct, self.count)
            if self._near is None:
                self.count, row = run.encode(values, row, codes, self._places, *known)
            else:
                ascending = ascending and 4 * len(values) >= len(self._near)
                encode = run.encode_near_in_order if ascending else run.encode_near
                self.count, row = encode(values, row, codes, self._near, self._least, *known)
            if row < len(values):
                self._grow(values[row:])
        return codes

    def _grow(self, values: Array) -> None:
        """Make room for these values."""
        if self._near is not None:
            least, most = int(values.min()), int(values.max())
            if self.count:
                least, most = min(least, int(self.values.min())), max(most, int(self.values.max()))
            size = max(most - least + 1, 2 * len(self._near))
            if size <= 4 * (self.count + len(values)) + SMALL:
                self._reserve(size)
                below = self.count and least < self._least  # then the places to spare are below, too
                self._least = max(most - size + 1, LEAST) if below else least
                self._near = np.zeros(size, dtype=np.int32)
                self._near[self.values - self._least] = np.arange(1, self.count + 1)
                return
        self._near = None
        self._places = np.zeros(max(4 * len(self._places), 1 << (2 * self.count + 31).bit_length()), dtype=np.int64)
        self._reserve(len(self._places) // 2 + 1)
        compiled(hashing).rebuild(self._distinct, self.count, self._places)

    def _reserve(self, count: int) -> None:
        if count > len(self._distinct):
            distinct = np.zeros(max(count, 2 * len(self._distinct)), dtype=np.int64)
            distinct[: self.count] = self.values
            self._distinct = distinct


class Numbers:
    """A column of integers, floats, times or booleans: by its bits."""

    def __init__(self, kind: pa.DataType) -> None:
        self.type = kind
        self._bits = Integers()
        self._with_null: Integers | None = None
        """2 * code of the bits + 1, and 0 for null, once there was a null."""

    def __len__(self) -> int:
        return self._bits.count if self._with_null is None else self._with_null.count

    def encode(self, column: pa.Array) -> Array:
        if column.null_count and self._with_null is None:
            self._with_null = Integers()
            self._with_null.encode(2 * np.arange(self._bits.count) + 1)  # codes given before stay as they are
        if self._with_null is None:
            return self._bits.encode(_to_bits(column), ascending=True)
        valid = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False))
        places = np.zeros(len(column), dtype=np.int64)
        places[valid] = 2 * self._bits.encode(_to_bits(column)[valid]) + 1
        return self._with_null.encode(places)

    def values(self) -> pa.Array:
        if self._with_null is None:
            return _from_bits(self._bits.values, self.type)
        places = self._with_null.values
        bits = np.zeros(len(places), dtype=np.int64)
        bits[places > 0] = self._bits.values[places[places > 0] >> 1]
        return _from_bits(bits, self.type, places == 0)


class Values:
    """A column of texts, bytes, decimals: by hashes of their bytes, each compared with the value that had it first."""

    def __init__(self, kind: pa.DataType) -> None:
        self.type = kind
        self._values = pa.array([], kind)
        self._hashes = Integers()
        self._seed = 0

    def __len__(self) -> int:
        return len(self._values)

    def encode(self, column: pa.Array) -> Array:
        local = column.dictionary_encode(null_encoding="encode")
        return np.asarray(self._codes(local.dictionary)[local.indices.to_numpy()])

    def _codes(self, distinct: pa.Array) -> Array:
        """The codes of values that differ from each other."""
        while True:
            codes = self._hashes.encode(_hashed(distinct, self._seed))
            new = np.flatnonzero(codes >= len(self))
            if len(new) == self._hashes.count - len(self):
                known = pa.concat_arrays([self._values, distinct.take(pa.array(new))])
                if known.take(pa.array(codes)).equals(distinct):
                    self._values = known
                    return codes
            self._hash_again()

    def _hash_again(self) -> None:
        """Two values have one hash: take other hashes, until no two have."""
        while True:
            self._seed += 1
            self._hashes = Integers()
            codes = self._hashes.encode(_hashed(self._values, self._seed))
            if (codes == np.arange(len(codes))).all():
                return

    def values(self) -> pa.Array:
        return self._values


def _hashed(values: pa.Array, seed: int) -> Array:
    """64 bits of each value's bytes, or of its text where it has none; null has a hash of its own."""
    kind = values.type
    plain = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (plain or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        values = values.cast(pa.large_binary() if pa.types.is_fixed_size_binary(kind) else pa.large_string())
    values = values.cast(pa.large_binary())
    _, ends, data = values.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.zeros(1, dtype=np.uint8)
    out = np.empty(len(values), dtype=np.int64)
    compiled(hashing).hash_bytes(text, offsets, seed, out)
    if values.null_count:
        out[np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False))] = -seed
    return out


Codes = Numbers | Values


def codes_for(kind: pa.DataType) -> Codes:
    """Codes for a column of this type."""
    if pa.types.is_dictionary(kind):
        return codes_for(kind.value_type)
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        raise Unsupported(f"a column of {kind} can't be a key: take one of its fields, or write it as text")
    if pa.types.is_interval(kind):
        raise Unsupported(f"a column of {kind} can't be a key: write it as text")
    fixed = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return Numbers(kind) if fixed or pa.types.is_temporal(kind) else Values(kind)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _to_bits(column: pa.Array) -> Array:
    """64-bit integers that are equal where the values are: -0.0 is 0.0, and there is one NaN."""
    kind = column.type
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return np.asarray(numbers.view(np.int64))
    if pa.types.is_boolean(kind):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_temporal(kind):
        column = column.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    numbers = (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)
    return np.asarray(numbers.view(np.int64) if numbers.dtype == np.uint64 else numbers, dtype=np.int64)


def _bits_or_null(column: pa.Array) -> Array:
    """The bits of each value, and bits that hardly a value has for null."""
    bits = _to_bits(column)
    if column.null_count:
        bits = np.where(pc.is_valid(column).to_numpy(zero_copy_only=False), bits, NULL_BITS)
    return bits


def _from_bits(bits: Array, kind: pa.DataType, null: Array | None = None) -> pa.Array:
    if pa.types.is_floating(kind):
        return pa.array(bits.view(np.float64), mask=null).cast(kind)
    if pa.types.is_boolean(kind):
        return pa.array(bits.astype(bool), mask=null)
    if pa.types.is_temporal(kind):
        storage = np.int64 if kind.bit_width == 64 else np.int32
        return pa.array(bits.astype(storage), mask=null).view(kind)
    if kind == pa.uint64():
        return pa.array(bits.view(np.uint64), mask=null)
    return pa.array(bits, mask=null).cast(kind)


class Keys:
    """The codes of keys that consist of one column, several, or none."""

    def __init__(self, names: Sequence[str], kinds: Sequence[pa.DataType]) -> None:
        self.names = tuple(names)
        self.columns = [codes_for(kind) for kind in kinds]
        self._pairs = [Integers() for _ in self.columns[1:]]
        """Codes of (code of the columns before, code of this column)."""
        self._ranked = 0
        self._ranks = self._in_order = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        if not self.columns:
            return 1
        return self._pairs[-1].count if self._pairs else len(self.columns[0])

    def encode(self, columns: Sequence[pa.Array], rows: int) -> Array:
        """The code of each row's key; keys that are new get the next ones, in any order."""
        if not self.columns:
            return np.zeros(rows, dtype=np.int64)
        codes = self.columns[0].encode(_decoded(columns[0]))
        for pairs, known, column in zip(self._pairs, self.columns[1:], columns[1:], strict=True):
            codes = pairs.encode(codes << 32 | known.encode(_decoded(column)))
        return codes

    def take(self, codes: Array) -> list[pa.Array]:
        """The key columns of these codes."""
        taken = []
        for pairs, known in zip(self._pairs[::-1], self.columns[:0:-1], strict=True):
            both = pairs.values[codes]
            taken.append(known.values().take(pa.array(both & 0xFFFFFFFF)))
            codes = both >> 32
        if self.columns:
            taken.append(self.columns[0].values().take(pa.array(codes)))
        return taken[::-1]

    def hashes(self) -> Array:
        """64 bits for each code, which depend on the key alone: the same in every process."""
        found = np.zeros(len(self), dtype=np.int64)
        for column in self.take(np.arange(len(self))):
            bits = _hashed(column, 0) if isinstance(codes_for(column.type), Values) else _bits_or_null(column)
            compiled(hashing).mix(bits, found)
        return found

    def in_order(self) -> Array:
        """The codes of all keys in the order of the keys."""
        self.ranks()
        return self._in_order

    def ranks(self) -> Array:
        """For each code the place of its key in the order of keys: ascending, nulls first, NaN last."""
        if self._ranked != len(self):
            self._ranked = len(self)
            if not self.columns:
                self._ranks = self._in_order = np.zeros(1, dtype=np.int64)
                return self._ranks
            names = [f"{k}" for k in range(len(self.columns))]
            table = pa.table(self.take(np.arange(len(self))), names=names)
            self._ranks = np.empty(len(self), dtype=np.int64)
            self._in_order = ordered(table, names)
            self._ranks[self._in_order] = np.arange(len(self))
        return self._ranks


def ordered(table: pa.Table, names: Sequence[str]) -> Array:
    """The order of rows by these columns: ascending, nulls first, false before true, NaN last."""
    keys = []
    columns: dict[str, Any] = {}
    for name in names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        # Arrow puts NaN beside the nulls, wherever those go.
        columns[f"{name}.null"] = pc.is_valid(column)
        keys.append((f"{name}.null", "ascending"))
        if pa.types.is_floating(column.type):
            columns[f"{name}.nan"] = pc.fill_null(pc.is_nan(column), False)
            keys.append((f"{name}.nan", "ascending"))
        columns[name] = column
        keys.append((name, "ascending"))
    order = pc.sort_indices(pa.table(columns), sort_keys=keys)
    return np.asarray(order.to_numpy(), dtype=np.int64)
