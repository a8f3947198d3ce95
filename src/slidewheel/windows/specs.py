"""Window specs: what a user says about windows. Bounds and slices are derived from them elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from slidewheel.errors import InvalidArgument, InvalidTime
from slidewheel.times import DurationLike, duration, format_duration

Closed = Literal["right", "left", "both", "neither"]
CLOSED = ("right", "left", "both", "neither")
LONGEST = 2**60


@dataclass(frozen=True)
class Spec:
    """A kind of window. Made by `sw.sliding(...)` and its like."""

    name: str
    per_row: ClassVar[bool] = False
    """Gives the input rows back, each with its aggregates, instead of a row for each window."""
    in_order: ClassVar[bool] = False
    """Needs the rows of a key in the order of their times."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The input columns that decide which rows a window holds."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data; `from_dict` reads it."""
        return {"kind": type(self).__name__.lower(), **self.__dict__}


@dataclass(frozen=True)
class Sliding(Spec):
    """[start, start + range) for starts at offset + i * every."""

    range: int
    every: int
    offset: int = 0

    def first_end_after(self, time: int) -> int:
        """The index of the first window that ends after this time."""
        return (time - self.offset - self.range) // self.every + 1

    def last_end_until(self, time: int) -> int:
        """The index of the last window that ends at this time or before."""
        return (time - self.offset - self.range) // self.every

    def open_between(self, watermark: int, until: int) -> int:
        """How many windows end after the watermark and start before `until`."""
        return max(0, (until - 1 - self.offset) // self.every - self.first_end_after(watermark) + 1)

    def start(self, index: int) -> int:
        return self.offset + index * self.every

    def end(self, index: int) -> int:
        return self.start(index) + self.range


@dataclass(frozen=True)
class Session(Spec):
    """Rows that are at most `gap` apart."""

    gap: int


@dataclass(frozen=True)
class Rows(Spec):
    """The last `count` rows of a key, at every `every`-th row."""

    count: int
    every: int = 1
    in_order = True


@dataclass(frozen=True)
class Punctuated(Spec):
    """The rows up to each one whose column is true."""

    column: str
    in_order = True

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)


@dataclass(frozen=True)
class Trailing(Spec):
    """For each row the rows of the last `range`."""

    range: int
    closed: str = "right"
    per_row = True

    @property
    def reach(self) -> tuple[int, int]:
        """The window of a row at time t is [t - reach[0], t + reach[1])."""
        return self.range - (self.closed in ("right", "neither")), int(self.closed in ("right", "both"))


@dataclass(frozen=True)
class Delta(Spec):
    """For each row the rows whose column differs by at most `size` from it."""

    column: str
    size: float
    per_row = True
    in_order = True

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)


def gives_rows(spec: Spec) -> bool:
    """Whether the input rows come back, each with its aggregates."""
    return spec.per_row or (isinstance(spec, Rows) and spec.every == 1)


def sliding(range: DurationLike, every: DurationLike, *, offset: DurationLike = 0, name: str | None = None) -> Sliding:
    """Windows [start, start + range) that start at multiples of `every` since 1970 UTC, shifted by `offset`.

    The range need not be a multiple of `every`. A range that is shorter leaves gaps: rows in them are in no window, and
    `explain()` says so.

    >>> import slidewheel as sw
    >>> sw.sliding("1h", every="5m").name
    '1h/5m'
    """
    length, slide = _length(range), _length(every)
    shift = _offset(offset) % slide
    return Sliding(_name(name, f"{format_duration(length)}/{format_duration(slide)}"), length, slide, shift)


def tumbling(range: DurationLike, *, offset: DurationLike = 0, name: str | None = None) -> Sliding:
    """Windows that follow each other: sliding with `every` equal to the range.

    >>> import slidewheel as sw
    >>> sw.tumbling("1d").name
    '1d'
    """
    length = _length(range)
    return Sliding(_name(name, format_duration(length)), length, length, _offset(offset) % length)


def trailing(range: DurationLike, closed: Closed = "right", *, name: str | None = None) -> Trailing:
    """One window for each row: the rows of the last `range`; rows with equal times see each other.

    closed: "right" is (t - range, t], "left" [t - range, t), "both" and "neither" as they say.

    >>> import slidewheel as sw
    >>> sw.trailing("7d").name
    '7d'
    """
    if closed not in CLOSED:
        raise InvalidArgument(f"closed must be one of {', '.join(CLOSED)}, not {closed!r}")
    length = _length(range)
    return Trailing(_name(name, format_duration(length)), length, closed)


def session(gap: DurationLike, *, name: str | None = None) -> Session:
    """Rows that follow each other within `gap`; the window ends `gap` after its last row.

    >>> import slidewheel as sw
    >>> sw.session("30m").name
    'session_30m'
    """
    length = _length(gap)
    return Session(_name(name, f"session_{format_duration(length)}"), length)


def rows(count: int, every: int = 1, *, name: str | None = None) -> Rows:
    """The last `count` rows of a key, in event-time order, at each of its rows or at every `every`-th.

    >>> import slidewheel as sw
    >>> sw.rows(1000).name, sw.rows(1000, every=10).name
    ('1000rows', '1000rows/10')
    """
    for what, number in (("count", count), ("every", every)):
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number < 2**40:
            raise InvalidArgument(f"rows: {what} must be a whole number of rows, 1 or more, not {number!r}")
    return Rows(_name(name, f"{count}rows" + (f"/{every}" if every > 1 else "")), count, every)


def delta(column: str, size: float, *, name: str | None = None) -> Delta:
    """One window for each row: the rows before it whose column is within `size` of its own.

    >>> import slidewheel as sw
    >>> sw.delta("odometer", 10.0).name
    'odometer_10'
    """
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 <= size < float("inf"):
        raise InvalidArgument(f"delta: size must be a number, 0 or more, not {size!r}")
    return Delta(_name(name, f"{_column(column)}_{size:g}"), _column(column), float(size))


def punctuated(column: str, *, name: str | None = None) -> Punctuated:
    """A window ends with each row whose column is true, and the next one begins.

    >>> import slidewheel as sw
    >>> sw.punctuated("is_end").name
    'is_end'
    """
    return Punctuated(_name(name, _column(column)), _column(column))


KINDS: dict[str, Callable[..., Spec]] = {
    "sliding": sliding,
    "session": session,
    "rows": rows,
    "punctuated": punctuated,
    "trailing": trailing,
    "delta": delta,
}


def from_dict(data: Any) -> Spec:
    """The spec that `to_dict` wrote."""
    if not isinstance(data, Mapping) or data.get("kind") not in KINDS:
        kind = data.get("kind") if isinstance(data, Mapping) else data
        raise InvalidArgument(f"unknown kind of window {kind!r}: there are {', '.join(KINDS)}")
    fields = {name: value for name, value in data.items() if name != "kind"}
    for name in ("range", "every", "offset", "gap", "count"):
        if name in fields and (isinstance(fields[name], bool) or not isinstance(fields[name], int)):
            raise InvalidArgument(f"{name} of a window as plain data is a whole number, not {fields[name]!r}")
    try:
        return KINDS[data["kind"]](**fields)
    except TypeError as error:
        raise InvalidArgument(f"a window of kind {data['kind']!r} can't be read: {error}") from None


def _length(given: DurationLike) -> int:
    """A duration that can be added to any time without leaving 64 bits."""
    length = duration(given)
    if length > LONGEST:
        raise InvalidTime(f"{given!r} is longer than any window can be: 36,000 years")
    return length


def _name(given: str | None, derived: str) -> str:
    if given is None:
        return derived
    if not isinstance(given, str) or not given:
        raise InvalidArgument(f"name must be a non-empty text, not {given!r}")
    return given


def _column(column: Any) -> str:
    if not isinstance(column, str) or not column:
        raise InvalidArgument(f"a window's column is given by its name, not {column!r}")
    return column


def _offset(offset: DurationLike) -> int:
    """Offsets may be negative, as text with a minus too."""
    if isinstance(offset, str) and offset.strip().startswith("-"):
        return -duration(offset.strip()[1:], allow_zero=True)
    if isinstance(offset, int) and not isinstance(offset, bool):
        return int(offset)
    if not isinstance(offset, str) and hasattr(offset, "days") and offset.days < 0:
        return -duration(-offset, allow_zero=True)
    return duration(offset, allow_zero=True)
