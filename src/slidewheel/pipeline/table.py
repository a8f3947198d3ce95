"""A table of a pipeline file, read key by key: what has the wrong type, is missing or unknown becomes a mistake."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from slidewheel.errors import SlidewheelError
from slidewheel.pipeline.lines import Place
from slidewheel.pipeline.mistakes import Mistakes
from slidewheel.times import duration

Scalar = str | bool | int | float


class Table:
    """Keys are known by being asked for; `refuse_others` comes last."""

    def __init__(self, data: Any, place: Place, mistakes: Mistakes) -> None:
        self.place, self.mistakes = place, mistakes
        self.known: list[str] = []
        self.is_table = isinstance(data, Mapping)
        self.data: Mapping[str, Any] = data if self.is_table else {}
        if not self.is_table:
            self.wrong(None, f"{self.name} is a table, not {shown(data)}")

    @property
    def name(self) -> str:
        """How the table is called in messages: by the last key of its place."""
        keys = [key for key in self.place if isinstance(key, str)]
        return f"[{'.'.join(keys)}]" if keys else "the file"

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def wrong(self, key: str | None, text: str) -> None:
        self.mistakes.add(self.place if key is None else (*self.place, key), text)

    def missing(self, key: str) -> None:
        if self.is_table:
            self.wrong(None, f"{self.name} needs {key}")

    def get(self, key: str) -> Any:
        """The value as it is, None if there is none; the key is known from now on."""
        self.known.append(key)
        return self.data.get(key)

    def text(self, key: str, default: str | None = None, *, required: bool = False) -> str:
        value = self.get(key)
        if value is None:
            if required:
                self.missing(key)
            return default or ""
        if not isinstance(value, str) or not value:
            self.wrong(key, f"{key} is a text, not {shown(value)}")
            return default or ""
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of some words; "" if it is not."""
        value = self.text(key, default, required=default is None)
        if value and value not in choices:
            near = get_close_matches(value, choices, n=1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            self.wrong(key, f"{key} is one of {', '.join(choices)}, not {value!r}{hint}")
            return ""
        return value

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, f"{key} is true or false, not {shown(value)}")
        return value is True

    def number(self, key: str, default: int | None = None, least: int = 1) -> int | None:
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.wrong(key, f"{key} is a whole number, {least} or more, not {shown(value)}")
            return default
        return value

    def span(self, key: str, default: str, *, allow_zero: bool = False) -> int:
        """A duration in microseconds."""
        try:
            return duration(self.text(key, default), allow_zero=allow_zero)
        except SlidewheelError as error:
            self.wrong(key, f"{key}: {error}")
            return duration(default, allow_zero=True)

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """A text or a list of them."""
        value = self.get(key)
        if value is None:
            if required:
                self.missing(key)
            return ()
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
            self.wrong(key, f"{key} is a text or a list of texts, not {shown(value)}")
            return ()
        return tuple(items)

    def scalars(self, key: str) -> dict[str, Scalar]:
        """A table of options, passed on as they are."""
        value = self.get(key)
        if value is None:
            return {}
        inner = Table(value, (*self.place, key), self.mistakes)
        flat = dict(_flattened(inner.data))
        for name, item in flat.items():
            if not isinstance(item, (str, bool, int, float)):
                place = (*inner.place, *([name] if name in inner.data else name.split(".")))
                self.mistakes.add(place, f"{name} is a text, a number, true or false, not {shown(item)}")
        return flat

    def refuse_others(self) -> None:
        """Every key that was not asked for is a mistake."""
        for key in self.data:
            if key not in self.known:
                self.wrong(key, f"{self.name} has no {key!r}{meant(key, self.known)}")


def meant(word: str, known: Sequence[str]) -> str:
    """What somebody who wrote this may have meant, as the end of a sentence.

    >>> meant("latness", ["lateness", "late"])
    ": did you mean 'lateness'?"
    >>> meant("colour", ["time", "keys"])
    ': there are keys, time'
    """
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f": did you mean {near[0]!r}?" if near else f": there are {', '.join(sorted(known))}"


def shown(value: Any) -> str:
    """A value of a file in a message, as it is written there."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _flattened(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Dotted keys, `spark.log.level = "WARN"`, are nested tables in TOML, but names of options here."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{rest}", item) for rest, item in _flattened(value))
        else:
            yield key, value
