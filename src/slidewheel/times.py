"""Instants and durations as int64 microseconds, the only form of time inside slidewheel.

An instant counts from 1970-01-01T00:00 UTC and may be negative. Time zones are dealt with here, at the edge:
what has one is converted to UTC, what has none is UTC already. No arithmetic is done in floats.
"""

import re
from collections.abc import Iterable, Sized
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from slidewheel.errors import InvalidTime

__all__ = ["DurationLike", "InstantLike", "duration", "format_duration", "format_instant", "instant", "instants"]

DurationLike: TypeAlias = str | timedelta | np.timedelta64 | int
InstantLike: TypeAlias = str | datetime | date | np.datetime64 | int

_SECOND = 1_000_000
_MICROSECONDS = {
    "w": 7 * 86_400 * _SECOND,
    "d": 86_400 * _SECOND,
    "h": 3_600 * _SECOND,
    "m": 60 * _SECOND,
    "s": _SECOND,
    "ms": 1_000,
    "us": 1,
}
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_INT64 = np.iinfo(np.int64)
_MICROS = np.dtype(np.int64)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

_PART = re.compile(r"\s*(\d{1,19})(us|ms|s|m|h|d|w)(?![a-z])", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)

_DURATIONS_ACCEPTED = (
    'give text such as "250ms", "5m" or "1h30m" (units us, ms, s, m, h, d, w), a timedelta, '
    "or a whole number of microseconds"
)
_INSTANTS_ACCEPTED = (
    'give ISO text such as "2023-11-09T10:15:23Z", a datetime or date, a numpy datetime64, '
    "or a whole number of microseconds since 1970 UTC"
)
_ARRAYS_ACCEPTED = (
    "give timestamps, dates or integers (microseconds since 1970 UTC) in a numpy, Arrow, pandas or polars "
    "column, or a list of instants"
)


def duration(value: DurationLike, *, allow_zero: bool = False) -> int:
    """A length of time in microseconds.

    Text is a sum of whole numbers with a unit: us, ms, s, m, h, d or w. An int is microseconds already.
    Durations are positive; `allow_zero` is for the few places, such as lateness, where none makes sense.

    >>> duration("250ms")
    250000
    >>> duration("1h30m") == duration("1h 30m") == duration(timedelta(minutes=90))
    True
    >>> duration("soon")
    Traceback (most recent call last):
    slidewheel.errors.InvalidTime: 'soon' is not a duration: give text such as "250ms", "5m" or "1h30m" ...
    """
    if isinstance(value, str):
        us = _parse_duration(value)
    elif isinstance(value, np.timedelta64):
        us = _from_timedelta64(value)
    elif isinstance(value, timedelta):
        # pandas' Timedelta is a timedelta that holds nanoseconds as well.
        if getattr(value, "nanoseconds", 0):
            raise InvalidTime(f"{value!r} is not a whole number of microseconds: round it first")
        us = value // timedelta(microseconds=1)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        us = int(value)
    else:
        raise InvalidTime(f"{value!r} is not a duration: {_DURATIONS_ACCEPTED}")

    if us < 0 or (us == 0 and not allow_zero):
        raise InvalidTime(f"the duration {value!r} must be {'zero or longer' if allow_zero else 'longer than zero'}")
    if us > _INT64.max:
        raise InvalidTime(f"the duration {value!r} is too long: microseconds must fit in 64 bits (292,000 years)")
    return us


def format_duration(microseconds: int) -> str:
    """The canonical short text of a duration; `duration` reads it back.

    Days are the largest unit written, as in the names of output columns (`count_7d`).

    >>> format_duration(5_400_000_000)
    '1h30m'
    >>> format_duration(duration("1w")), format_duration(duration("1500ms"))
    ('7d', '1s500ms')
    """
    if microseconds < 0:
        raise InvalidTime(f"{microseconds} microseconds cannot be written as a duration: it must not be negative")
    parts = []
    rest = microseconds
    for unit, size in _MICROSECONDS.items():
        if unit != "w":
            count, rest = divmod(rest, size)
            if count:
                parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def instant(value: InstantLike) -> int:
    """A point in time in microseconds since 1970 UTC.

    An int is that already. A datetime or text without a time zone is UTC; a date is its midnight. What is
    finer than a microsecond is floored.

    >>> instant("1970-01-01T00:00:01.5")
    1500000
    >>> instant("2023-11-09T12:00+02:00") == instant("2023-11-09 10:00") == instant(datetime(2023, 11, 9, 10))
    True
    >>> instant(np.datetime64("1969-12-31T23:59:59"))
    -1000000
    >>> instant("yesterday")
    Traceback (most recent call last):
    slidewheel.errors.InvalidTime: 'yesterday' is not an instant: give ISO text such as ...
    """
    if type(value) is int and -(2**63) <= value < 2**63:  # by far the most frequent
        return value
    if isinstance(value, str):
        return _from_datetime(_parse_iso(value))
    if isinstance(value, np.datetime64):
        return int(_from_datetime64(np.asarray(value)))
    if isinstance(value, datetime):
        # pandas' NaT calls itself a datetime; like every NaT it differs from itself.
        if value != value:
            raise InvalidTime(f"NaT is not an instant: {_INSTANTS_ACCEPTED}")
        return _from_datetime(value)
    if isinstance(value, date):
        return (value.toordinal() - _EPOCH_ORDINAL) * _MICROSECONDS["d"]
    # numpy counts timedelta64 among its integers, but a length of time is no instant.
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        us = int(value)
        if not _INT64.min <= us <= _INT64.max:
            raise InvalidTime(f"{us} is not an instant: microseconds since 1970 must fit in 64 bits")
        return us
    if isinstance(value, Sized):
        raise InvalidTime(f"{type(value).__name__} is not an instant: {_INSTANTS_ACCEPTED}, one at a time")
    raise InvalidTime(f"{value!r} is not an instant: {_INSTANTS_ACCEPTED}")


def instants(values: Any) -> npt.NDArray[np.int64]:
    """A column of instants as an int64 array of microseconds since 1970 UTC.

    Takes numpy arrays (datetime64 of any unit, or integers that are microseconds already), Arrow arrays of
    timestamps, dates or integers, pandas and polars columns, and lists of whatever `instant` takes.
    Nanoseconds that are not whole microseconds are floored; a null, or a time that does not fit, is an error
    that names its position. Where the column holds microseconds already, the result shares its memory, so do
    not write to it.

    >>> instants(np.array(["1970-01-01", "1969-12-31"], dtype="datetime64[D]"))
    array([           0, -86400000000])
    >>> instants(["1970-01-01T00:00:01", 5])
    array([1000000,       5])
    >>> import pyarrow as pa
    >>> instants(pa.array([1, None], pa.timestamp("ms")))
    Traceback (most recent call last):
    slidewheel.errors.InvalidTime: the time at position 1 is null: every row needs one; ...
    """
    if type(values) is np.ndarray and values.dtype is _MICROS and values.ndim == 1:
        return values  # most often; to find that out below takes longer than some hundred ranges do
    if isinstance(values, np.ndarray):
        return _from_numpy(values)
    if any(hasattr(values, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "to_numpy")):
        return _from_arrow(_import_column(values))
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return _one_by_one(values)
    raise InvalidTime(f"{values!r} is not a column of times: {_ARRAYS_ACCEPTED}")


@lru_cache(maxsize=256)
def _parse_duration(text: str) -> int:
    total = position = 0
    while part := _PART.match(text, position):
        total += int(part[1]) * _MICROSECONDS[part[2]]
        position = part.end()
    if position == 0 or text[position:].strip():
        raise InvalidTime(f"{text!r} is not a duration: {_DURATIONS_ACCEPTED}")
    return total


def _from_timedelta64(value: np.timedelta64) -> int:
    unit, count = np.datetime_data(value.dtype)
    if np.isnat(value):
        raise InvalidTime(f"NaT is not a duration: {_DURATIONS_ACCEPTED}")
    if unit in ("Y", "M", "generic"):
        raise InvalidTime(f"{value!r} is not a duration: its unit has no fixed length; use weeks or less")
    ticks = int(value.view(np.int64)) * count
    if unit not in _PER_MICROSECOND:
        return ticks * _MICROSECONDS[unit.lower()]
    us, rest = divmod(ticks, _PER_MICROSECOND[unit])
    if rest:
        raise InvalidTime(f"{value!r} is not a whole number of microseconds: round it first")
    return us


def _parse_iso(text: str) -> datetime:
    # The pattern is narrower than fromisoformat, which reads "20231109" and takes any letter for the T.
    if _ISO.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError as error:
            raise InvalidTime(f"{text!r} is not an instant: {error}") from None
    raise InvalidTime(f"{text!r} is not an instant: {_INSTANTS_ACCEPTED}")


def _from_datetime(value: datetime) -> int:
    # Counted from the fields: converting to UTC first would fail within a day of years 1 and 9999.
    seconds = (value.toordinal() - _EPOCH_ORDINAL) * 86_400 + value.hour * 3_600 + value.minute * 60 + value.second
    offset = value.utcoffset() or timedelta(0)
    return seconds * _SECOND + value.microsecond - offset // timedelta(microseconds=1)


def _from_numpy(array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if array.ndim != 1:
        raise InvalidTime(f"an array of {array.ndim} dimensions is not a column of times: {_ARRAYS_ACCEPTED}")
    if np.ma.is_masked(array):
        _refuse_null(int(np.argmax(np.ma.getmaskarray(array))))
    array = np.asarray(array)
    match array.dtype.kind:
        case "M":
            return _from_datetime64(array)
        case "i":
            return array.astype(np.int64, copy=False)
        case "u" | "U" | "O":
            # One by one, since these may hold what does not fit or is no time at all.
            return _one_by_one(array)
    raise InvalidTime(f"an array of {array.dtype} is not a column of times: {_ARRAYS_ACCEPTED}")


# pyarrow takes as long to import as all the rest, so it is imported only where a column needs it.


def _import_column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        # Not to_numpy: for times with a zone, pandas would answer with an array of objects.
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidTime(f"{type(values).__name__} is not a column of times ({error}): {_ARRAYS_ACCEPTED}") from error


def _from_arrow(column: Any) -> npt.NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if column.null_count:
        _refuse_null(pc.index(column.is_null(), True).as_py())
    if pa.types.is_null(kind):
        # An empty column of which nobody said the type.
        return np.empty(0, np.int64)
    if pa.types.is_timestamp(kind):
        storage, numpy_kind = pa.int64(), f"datetime64[{kind.unit}]"
    elif pa.types.is_date32(kind):
        storage, numpy_kind = pa.int32(), "datetime64[D]"
    elif pa.types.is_date64(kind):
        storage, numpy_kind = pa.int64(), "datetime64[ms]"
    elif pa.types.is_integer(kind):
        storage, numpy_kind = kind, None
    else:
        raise InvalidTime(f"an Arrow column of {kind} is not a column of times: {_ARRAYS_ACCEPTED}")

    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    ticks: npt.NDArray[Any] = column.view(storage).to_numpy()
    if numpy_kind is None:
        return _from_numpy(ticks)
    return _from_datetime64(ticks.astype(np.int64, copy=False).view(numpy_kind))


def _from_datetime64(array: npt.NDArray[np.datetime64]) -> npt.NDArray[np.int64]:
    """Reads a column, or a single value as an array without dimensions."""
    missing = np.isnat(array)
    if missing.any():
        if array.ndim == 0:
            raise InvalidTime(f"NaT is not an instant: {_INSTANTS_ACCEPTED}")
        _refuse_null(int(np.argmax(missing)))
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    unit, count = np.datetime_data(array.dtype)
    if unit == "generic" and array.size:
        raise InvalidTime("a datetime64 without a unit cannot be read as a time: say which, as in datetime64[us]")
    if unit in _PER_MICROSECOND:
        # Divided here, not by astype, which wraps around for the first nanoseconds of its range.
        ticks = array if count == 1 else _refine(array, unit)
        return np.asarray(ticks.view(np.int64) // _PER_MICROSECOND[unit])
    return _refine(array, "us").view(np.int64)


def _refine(array: npt.NDArray[np.datetime64], unit: str) -> npt.NDArray[np.datetime64]:
    """Converts to a finer unit, which numpy does without a look at overflow."""
    target = np.dtype(f"datetime64[{unit}]")
    if array.dtype == target or array.size == 0:
        return array.astype(target, copy=False)
    # A time that wrapped around does not come back. The conversion keeps order, so both ends speak for all.
    ends = np.array([array.min(), array.max()])
    if (ends.astype(target).astype(array.dtype) != ends).any():
        lost = array.astype(target).astype(array.dtype) != array
        where = f" at position {np.argmax(lost)}" if array.ndim else ""
        raise InvalidTime(
            f"the {array.dtype} time{where} does not fit in 64 bits of {unit}: "
            "it is too far from 1970, or of another unit than its column says"
        )
    return array.astype(target)


def _one_by_one(values: Iterable[Any]) -> npt.NDArray[np.int64]:
    def read() -> Iterable[int]:
        for position, value in enumerate(values):
            if value is None:
                _refuse_null(position)
            try:
                yield instant(value)
            except InvalidTime as error:
                raise InvalidTime(f"at position {position}: {error}") from None

    return np.fromiter(read(), np.int64)


def _refuse_null(position: int) -> NoReturn:
    raise InvalidTime(f"the time at position {position} is null: every row needs one; drop such rows or fill them")


def format_instant(microseconds: int) -> str:
    """An instant as ISO text in UTC.

    >>> format_instant(1_500_000)
    '1970-01-01T00:00:01.5'
    """
    text = str(np.datetime64(microseconds, "us"))
    return text.rstrip("0").rstrip(".") if "." in text else text
