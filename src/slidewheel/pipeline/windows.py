"""Windows as a pipeline file says them: `"sliding 1h every 5m"` or `{kind = "sliding", range = "1h", every = "5m"}`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from slidewheel.errors import InvalidArgument
from slidewheel.pipeline.table import meant, shown
from slidewheel.windows import specs

MAKERS: dict[str, Callable[..., specs.Spec]] = {**specs.KINDS, "tumbling": specs.tumbling}
EXAMPLES = {
    "sliding": "sliding 1h every 5m",
    "tumbling": "tumbling 1d",
    "trailing": "trailing 1h closed left",
    "session": "session 30m",
    "rows": "rows 1000 every 10",
    "delta": "delta odometer 10.0",
    "punctuated": "punctuated is_end",
}


def window(said: Any) -> specs.Spec:
    """The window that a text or a table stands for.

    >>> window("sliding 1h every 5m") == window({"kind": "sliding", "range": "1h", "every": "5m"})
    True
    >>> window("sliding 1h")
    Traceback (most recent call last):
    slidewheel.errors.InvalidArgument: sliding needs every, as in "sliding 1h every 5m"
    """
    if isinstance(said, str):
        kind, arguments = _read(said)
    elif isinstance(said, Mapping) and "kind" in said:
        kind, arguments = said["kind"], {key: value for key, value in said.items() if key != "kind"}
    else:
        raise InvalidArgument(
            f'a window is a text such as "sliding 1h every 5m", or a table with a kind, not {shown(said)}'
        )
    maker = _maker(kind)
    parameters = inspect.signature(maker).parameters
    for name in arguments:
        if name not in parameters:
            raise InvalidArgument(f"{kind} has no {name!r}{meant(name, list(parameters))}")
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in arguments:
            raise InvalidArgument(f'{kind} needs {name}, as in "{EXAMPLES[kind]}"')
    return maker(**arguments)


def _maker(kind: Any) -> Callable[..., specs.Spec]:
    if not isinstance(kind, str) or kind not in MAKERS:
        raise InvalidArgument(f"unknown kind of window {shown(kind)}{meant(str(kind), list(MAKERS))}")
    return MAKERS[kind]


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """A kind, what it needs in order, then names with values."""
    kind, *words = text.split() or [""]
    parameters = inspect.signature(_maker(kind)).parameters
    unnamed = [name for name, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    arguments: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if word in parameters and word not in arguments and words:
            name, word = word, words.pop(0)
        else:
            free = [name for name in unnamed if name not in arguments]
            if not free:
                raise InvalidArgument(f'{word!r} is too much in "{text}": write it as in "{EXAMPLES[kind]}"')
            name = free[0]
        arguments[name] = _value(word, parameters[name].annotation)
    return kind, arguments


def _value(word: str, wanted: Any) -> Any:
    """Numbers where the window takes numbers; else the word, which is a duration or a name."""
    if wanted in (int, float):
        try:
            return wanted(word)
        except ValueError:
            raise InvalidArgument(f"{word!r} is not a {'whole ' if wanted is int else ''}number") from None
    return word
