"""Codes of keys against a dict of tuples: every type, nulls that come late, several columns, many values."""

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.engine import keys as keys_module
from slidewheel.engine.keys import Integers, Keys, codes_for
from tests.engine.oracle import rank

NAN = float("nan")
WHOLE = {
    f"{sign}int{bits}": [0, 1, 5, 2**top - 1, *([-1, -(2**top)] if sign == "" else [2**top - 2])]
    for bits in (8, 16, 32, 64)
    for sign, top in (("", bits - 1), ("u", bits))
}
FLOATS = [0.0, -0.0, 1.5, -2.25, NAN, -NAN, float("inf"), float("-inf")]
INSTANTS = [0, 1, -1, 1_700_000_000, -86_400]
TEXTS = ["", "a", "b", "ab", "é", "z\0", "日本", "a" * 40]
BYTES = [text.encode() for text in TEXTS]
DECIMALS = [Decimal("0.00"), Decimal("1.10"), Decimal("-1.10"), Decimal("9999999.99"), Decimal("-0.01")]

POOLS: dict[pa.DataType, list[Any]] = {
    **{getattr(pa, name)(): values for name, values in WHOLE.items()},
    pa.float32(): [*FLOATS, 0.100000001490116],
    pa.float64(): [*FLOATS, 5e-324, 0.1],
    pa.bool_(): [True, False],
    **{pa.timestamp(unit): INSTANTS for unit in ("s", "ms", "us", "ns")},
    pa.timestamp("us", "Europe/Berlin"): INSTANTS,
    pa.date32(): INSTANTS,
    pa.date64(): [86_400_000 * n for n in (0, 1, -1, 20_000)],
    pa.time32("s"): [0, 1, 86_399],
    pa.time64("us"): [0, 1, 86_399_999_999],
    **{pa.duration(unit): INSTANTS for unit in ("s", "ns")},
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.binary(): BYTES,
    pa.large_binary(): BYTES,
    pa.binary(2): [b"ab", b"ba", b"\0\0"],
    pa.decimal128(9, 2): DECIMALS,
    pa.decimal256(50, 2): [*DECIMALS, Decimal(10) ** 45],
    pa.dictionary(pa.int8(), pa.string()): TEXTS,
    pa.dictionary(pa.int32(), pa.int64()): WHOLE["int64"],
    pa.dictionary(pa.int32(), pa.float64()): FLOATS,
}


def drawn(dice: random.Random, kind: pa.DataType, count: int, nulls: float) -> pa.Array:
    """A column of values from the pool, as a slice of a longer one."""
    pool = POOLS[kind][: dice.randint(1, len(POOLS[kind]))]
    values = [None if dice.random() < nulls else dice.choice(pool) for _ in range(count + 2)]
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array(values, plain, from_pandas=False)
    return (column.dictionary_encode().cast(kind) if plain != kind else column).slice(1, count)


def plain(column: pa.Array) -> list[Any]:
    """Python values that are equal where keys are: times as integers, one zero and one NaN."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int64() if column.type.bit_width == 64 else pa.int32())
    return [NAN if v != v else v + 0.0 if isinstance(v, float) else v for v in column.to_pylist()]


def tuples(columns: list[pa.Array]) -> list[tuple[Any, ...]]:
    return list(zip(*map(plain, columns), strict=True))


class Known:
    """Keys beside a dict that does the same."""

    def __init__(self, kinds: list[pa.DataType]) -> None:
        self.keys = Keys([f"k{n}" for n in range(len(kinds))], kinds)
        self.codes: dict[tuple[Any, ...], int] = {}
        """By the ranks of the values, for which NaN is equal to NaN."""
        self.met: list[tuple[Any, ...]] = []

    def encode(self, columns: list[pa.Array]) -> None:
        codes = self.keys.encode(columns, len(columns[0])).tolist()
        fresh: dict[int, tuple[Any, ...]] = {}
        for row, code in zip(tuples(columns), codes, strict=True):
            name = tuple(map(rank, row))
            if name not in self.codes:
                assert code not in fresh, "two keys have one code"
                self.codes[name], fresh[code] = code, row
            assert self.codes[name] == code
        before = len(self.met)
        assert sorted(fresh) == list(range(before, before + len(fresh))), "new keys have the next codes, in any order"
        self.met += [fresh[code] for code in sorted(fresh)]
        assert len(self.keys) == len(self.met)

    def check(self, dice: random.Random) -> None:
        """That keys come back from their codes, and in order."""
        count = len(self.met)
        codes = np.array([dice.randrange(count) for _ in range(2 * count)], dtype=np.int64)
        for chosen in (codes, np.arange(count), codes[:0]):
            taken = self.keys.take(chosen)
            assert same(tuples(taken), [self.met[code] for code in chosen.tolist()])
        in_order = sorted(range(count), key=lambda code: tuple(map(rank, self.met[code])))
        assert self.keys.in_order().tolist() == in_order
        assert self.keys.ranks()[self.keys.in_order()].tolist() == list(range(count))
        assert sorted(self.keys.ranks().tolist()) == list(range(count))


def same(got: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> bool:
    return [tuple(map(rank, row)) for row in got] == [tuple(map(rank, row)) for row in wanted]


@pytest.mark.parametrize("kind", POOLS, ids=str)
@pytest.mark.parametrize("nulls", ["never", "late", "always"])
def test_one_column(kind, nulls):
    for seed in range(4):
        dice = random.Random(seed)
        known = Known([kind])
        for step in range(6):
            share = 0.3 if nulls == "always" or (nulls == "late" and step >= 3) else 0.0
            known.encode([drawn(dice, kind, dice.choice([0, 1, 3, 40]), share)])
            known.check(dice)
        if nulls == "late":
            known.encode([drawn(dice, kind, 5, 1.0)])
            known.check(dice)
        [taken] = known.keys.take(np.arange(len(known.keys)))
        assert taken.type == (kind.value_type if pa.types.is_dictionary(kind) else kind)


@pytest.mark.parametrize("seed", range(60))
def test_several_columns(seed):
    dice = random.Random(seed)
    kinds = dice.choices(list(POOLS), k=dice.randint(2, 5))
    known = Known(kinds)
    for _ in range(5):
        count = dice.choice([0, 1, 3, 60])
        known.encode([drawn(dice, kind, count, dice.choice([0, 0, 0.3, 1])) for kind in kinds])
        known.check(dice)


def test_no_column():
    keys = Keys([], [])
    assert len(keys) == 1
    assert keys.encode([], 3).tolist() == [0, 0, 0]
    assert keys.take(np.array([0, 0])) == []
    assert keys.ranks().tolist() == keys.in_order().tolist() == [0]


def test_before_the_first_key():
    for kinds in ([pa.int64()], [pa.string(), pa.int8()]):
        keys = Keys(["a", "b"][: len(kinds)], kinds)
        assert len(keys) == len(keys.ranks()) == len(keys.in_order()) == 0
        assert [column.to_pylist() for column in keys.take(np.empty(0, dtype=np.int64))] == [[]] * len(kinds)


def test_the_order_of_keys():
    columns = [pa.array([2.0, NAN, None, -0.0, 2.0, 0.0]), pa.array(["b", "a", "a", None, None, ""])]
    keys = Keys(["x", "s"], [pa.float64(), pa.string()])
    keys.encode(columns, 6)
    taken = [column.to_pylist() for column in keys.take(keys.in_order())]
    assert [str(x) for x in taken[0]] == ["None", "0.0", "0.0", "2.0", "2.0", "nan"]
    assert taken[1] == ["a", None, "", None, "b", "a"]


def test_ranks_follow_new_keys():
    keys = Keys(["k"], [pa.int64()])

    def ranks(*values: int | None) -> list[int]:
        codes = keys.encode([pa.array(values, pa.int64())], len(values))
        return keys.ranks()[codes].tolist()

    assert ranks(5, 3) == [1, 0]
    assert ranks(4, 3, 5) == [1, 0, 2]
    assert ranks(None, 3, 4, 5) == [0, 1, 2, 3]


class TestIntegers:
    """By value while values lie close together, by hash afterwards: always the same codes as a dict gives."""

    @pytest.mark.parametrize("seed", range(40))
    def test_batches(self, seed):
        dice = random.Random(seed)
        ascending = dice.random() < 0.5
        integers, known = Integers(), {}
        middle, width = dice.choice([0, -(2**63) + 60, 2**63 - 61, 10**6]), 50
        for _ in range(dice.randint(1, 12)):
            if dice.random() < 0.4:
                width = min(width * dice.choice([2, 10, 1000]), 2**62)
            low, high = max(middle - width, -(2**63)), min(middle + width, 2**63 - 1)
            values = [dice.randint(low, high) for _ in range(dice.choice([0, 1, 5, 2000]))]
            codes = integers.encode(np.array(values, dtype=np.int64), ascending).tolist()
            for value, code in zip(values, codes, strict=True):
                assert known.setdefault(value, code) == code
            assert sorted(known.values()) == list(range(len(known)))
            assert integers.count == len(known)
            assert [known[value] for value in integers.values.tolist()] == list(range(len(known)))

    def test_one_after_the_other(self):
        """What a snapshot holds gets the codes that it had."""
        for values in ([5, 3, 9, 4], [10**15, 5, -3], list(range(5000, 0, -1))):
            assert Integers().encode(np.array(values)).tolist() == list(range(len(values)))

    def test_in_ascending_order_where_they_lie_close_together(self):
        assert Integers().encode(np.array([7, 3, 7, 5]), ascending=True).tolist() == [2, 0, 2, 1]

    def test_values_far_apart_take_no_more_memory_than_others(self):
        integers = Integers()
        integers.encode(np.arange(1000))
        integers.encode(np.array([10**12]))
        assert integers._near is None
        assert integers._places.nbytes + integers._distinct.nbytes < 100_000


def test_unsigned_keys_above_the_middle():
    top = 2**64 - 1
    keys = Keys(["k"], [pa.uint64()])
    assert keys.encode([pa.array([top, 0, 2**63, None, top], pa.uint64())], 5).tolist()[4] == 0
    assert keys.take(keys.in_order())[0].to_pylist() == [None, 0, 2**63, top]


def test_codes_stay_when_nulls_come():
    for values in ([7, 8], [0.5, NAN], ["", "a"], [True, False]):
        column = pa.array(values, from_pandas=False)
        codes = codes_for(column.type)
        before = codes.encode(column)
        assert codes.encode(pa.array([None], column.type)).tolist() == [2]
        assert codes.encode(column).tolist() == before.tolist()
        assert len(codes) == len(codes.values()) == 3
        assert codes.values().null_count == 1


def test_a_few_texts_of_many():
    """Past 16 times as many known values, other ways of finding them are taken: all give the same codes."""
    known = codes_for(pa.string())
    texts = [f"{n}" for n in range(1000)]
    assert known.encode(pa.array(texts)).tolist() == list(range(1000))
    dice = random.Random(1)
    for step in range(20):
        some = [dice.choice(texts) for _ in range(dice.choice([1, 5, 30, 200]))] + [f"new {step}"]
        codes = known.encode(pa.array([*some, None]))
        assert codes[:-2].tolist() == [int(text) for text in some[:-1]]
        assert known.values().take(pa.array(codes)).to_pylist() == [*some, None]
    assert len(known) == 1000 + 20 + 1


MANY = 100_000


@pytest.mark.parametrize("step", [1, 2**32, -(2**20) - 1])
def test_many_integers(step):
    """Tables grow again and again, in the middle of a batch and between batches."""
    values = np.arange(MANY, dtype=np.int64) * step
    integers = Integers()
    assert integers.encode(values[:10]).tolist() == list(range(10))
    assert (integers.encode(values[: MANY // 3]) == np.arange(MANY // 3)).all()
    assert (integers.encode(values) == np.arange(MANY)).all()
    assert (integers.encode(values[::-1]) == np.arange(MANY)[::-1]).all()
    assert integers.count == MANY
    assert (integers.values == values).all()


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string()], ids=str)
def test_many_keys(kind, pieces):
    numbers = np.random.default_rng(1).permutation(MANY)
    column = pa.array(numbers).cast(kind)
    keys = Keys(["k"], [kind])
    size = -(-MANY // pieces)
    codes = np.empty(MANY, dtype=np.int64)
    for first in range(0, MANY, size):
        piece = column.slice(first, size)
        codes[first : first + size] = keys.encode([piece], len(piece))
        assert (np.sort(codes[first : first + size]) == np.arange(first, first + len(piece))).all()
    assert len(keys) == MANY
    back = np.random.default_rng(2).permutation(MANY)
    assert (keys.encode([column.take(pa.array(back))], MANY) == codes[back]).all()
    assert keys.take(codes[back])[0].equals(column.take(pa.array(back)))
    ordered = keys.take(keys.in_order())[0].to_pylist()
    assert ordered == sorted(ordered)


def test_many_pairs():
    left, right = np.divmod(np.random.default_rng(3).permutation(MANY), 317)
    columns = [pa.array(left), pa.array(right).cast(pa.string())]
    keys = Keys(["a", "b"], [pa.int64(), pa.string()])
    assert (keys.encode(columns, MANY) == np.arange(MANY)).all()
    assert (keys.encode([c.slice(5) for c in columns], MANY - 5) == np.arange(5, MANY)).all()
    some = np.arange(0, MANY, 7)
    assert all(got.equals(c.take(pa.array(some))) for got, c in zip(keys.take(some), columns, strict=True))


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64()),
        pa.struct({"a": pa.int64()}),
        pa.map_(pa.string(), pa.int64()),
        pa.list_(pa.int64(), 2),
        pa.null(),
        pa.month_day_nano_interval(),
    ],
    ids=str,
)
def test_types_that_are_no_keys(kind):
    with pytest.raises(sw.Unsupported, match="can't be a key"):
        Keys(["k"], [kind])
    query = sw.query(time="t", keys="k", windows=[sw.tumbling(10)], aggregates=[sw.count()])
    with pytest.raises(sw.Unsupported, match="can't be a key"):
        query.run(pa.table({"t": [1], "k": pa.array([None], kind)}))


RARE: dict[Any, list[Any]] = {
    pa.float16(): [np.float16(1.5), np.float16(-2.0)],
    pa.dictionary(pa.int32(), pa.string_view()): ["b", "a"],
}
if hasattr(pa, "decimal32"):  # pyarrow 18 and later
    RARE |= {kind: [Decimal("1.50"), Decimal("-2.00")] for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2))}


@pytest.mark.parametrize("kind", RARE, ids=str)
def test_rare_types(kind):
    values = RARE[kind]
    plain_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array(values, plain_type)
    if pa.types.is_dictionary(kind):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), column)
    query = sw.query(time="t", keys="k", windows=[sw.tumbling(10)], aggregates=[sw.count()])
    try:
        got = query.run(pa.table({"t": [1, 2], "k": column}))
    except sw.Unsupported:
        return
    assert got["k"].to_pylist() == [values[1], values[0]]


@pytest.mark.parametrize("until", [1, 3])
def test_values_that_share_a_hash(monkeypatch, until):
    """Values are compared, not only their hashes; where two share one, others are taken."""
    real = keys_module._hashed
    asked = []

    def crowded(values: pa.Array, seed: int) -> Any:
        asked.append(seed)
        return real(values, seed) if seed >= until else real(values, seed) & 3

    monkeypatch.setattr(keys_module, "_hashed", crowded)
    codes = keys_module.Values(pa.string())
    words = [f"word {n}" for n in range(40)]
    first = codes.encode(pa.array(words[:3]))
    again = codes.encode(pa.array([*words, None, *words[::-1]]))
    assert max(asked) == until
    assert len(set(again.tolist())) == 41
    assert codes.values().take(pa.array(again)).to_pylist() == [*words, None, *words[::-1]]
    assert (again[:3] == first).all()
