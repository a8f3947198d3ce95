"""Aggregates for which the order of the items is the point: first, last, concat, collect, collect_distinct."""

from functools import cache

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.monoid import Monoid, itself
from slidewheel.algebra.sums import record

_NAN = float("nan")


# (value, whether there is one)


def _present(x):
    return x, True


def _first(a, b):
    return a if a[1] else b


def _last(a, b):
    return b if b[1] else a


def _value(s):
    return s[0]


@cache
def _end(name: str, kind: str) -> Monoid:
    return Monoid(
        name=name,
        lift=_present,
        combine=_first if name == "first" else _last,
        lower=_value,
        identity=({"i": 0, "f": 0.0, "O": None}[kind], False),
        state=None if kind == "O" else record(value=f"{kind}8", present="b1"),
        result="like0",
        selective=True,
    )


def first(column: str | None = None) -> Aggregate:
    """The oldest value that is not null.

    >>> import slidewheel as sw
    >>> sw.rolling([3, 1, 2], sw.first(), size=2)
    array([3, 3, 1])
    """
    return Aggregate("first", (column,), lambda kinds, _: _end("first", kinds[0]), selective=True)


def last(column: str | None = None) -> Aggregate:
    """The youngest value that is not null.

    >>> import slidewheel as sw
    >>> sw.rolling([3.0, 1.0, 2.0], sw.last(), size=2, mask=[False, True, False])
    array([3., 3., 2.])
    """
    return Aggregate("last", (column,), lambda kinds, _: _end("last", kinds[0]), selective=True)


@cache
def _concat(sep: str) -> Monoid:
    def combine(a, b):
        return b if a is None else a if b is None else a + sep + b

    return Monoid(name="concat", lift=_text, combine=combine, lower=itself, identity=None, state=None, result="object")


def _text(x):
    return x if isinstance(x, str) else str(x)


def concat(column: str | None = None, sep: str = "") -> Aggregate:
    """The values as one text, oldest first.

    >>> import slidewheel as sw
    >>> sw.rolling(["a", "b", "c"], sw.concat(sep="-"), size=2).tolist()
    ['a', 'a-b', 'b-c']
    """
    return Aggregate("concat", (column,), lambda kinds, _: _concat(sep), parameters=(("sep", sep),))


def _single(x):
    return (x,)


def _join(a, b):
    return a + b


@cache
def _collect(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    return Monoid(name="collect", lift=_single, combine=_join, lower=list, identity=(), state=None, result="object")


def collect(column: str | None = None) -> Aggregate:
    """All the values as a list, oldest first.

    >>> import slidewheel as sw
    >>> sw.rolling([1, 2, 3], sw.collect(), size=2).tolist()
    [[1], [1, 2], [2, 3]]
    """
    return Aggregate("collect", (column,), _collect)


def _key(x):
    return {x if x == x else _NAN: None}  # one NaN for all


def _union(a, b):
    return a | b


@cache
def _distinct(kinds: tuple[str, ...], invertible: bool) -> Monoid:
    return Monoid(
        name="collect_distinct",
        lift=_key,
        combine=_union,
        lower=list,
        identity={},
        state=None,
        result="object",
    )


def collect_distinct(column: str | None = None) -> Aggregate:
    """The different values as a list, in the order in which they first occur.

    >>> import slidewheel as sw
    >>> sw.rolling([1, 2, 1, 1], sw.collect_distinct(), size=3).tolist()
    [[1], [1, 2], [1, 2], [2, 1]]
    """
    return Aggregate("collect_distinct", (column,), _distinct)
