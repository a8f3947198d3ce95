"""Aggregates as a pipeline file says them: `{aggregate = "mean", column = "delay", alias = "typical"}`."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import slidewheel
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.define import AggregateType
from slidewheel.errors import InvalidArgument
from slidewheel.pipeline.table import meant, shown

MAKERS: dict[str, Callable[..., Aggregate]] = {
    name: maker
    for name in slidewheel.__all__
    if inspect.isfunction(maker := getattr(slidewheel, name))
    and inspect.signature(maker).return_annotation is Aggregate
}
"""The built-in ones by name."""


def aggregate(said: Any, own: Mapping[str, AggregateType]) -> Aggregate:
    """The aggregate that a table stands for, a built-in one or one of the user's.

    >>> aggregate({"aggregate": "quantile", "column": "delay", "q": 0.9, "alias": "p90"}, {}).output
    'p90'
    >>> aggregate({"aggregate": "quantle", "column": "delay"}, {})
    Traceback (most recent call last):
    slidewheel.errors.InvalidArgument: unknown aggregate 'quantle': did you mean 'quantile'?
    """
    if not isinstance(said, Mapping) or "aggregate" not in said:
        raise InvalidArgument(
            f'an aggregate is a table such as {{aggregate = "mean", column = "delay"}}, not {shown(said)}'
        )
    name, alias = said["aggregate"], said.get("alias")
    arguments = {key: value for key, value in said.items() if key not in ("aggregate", "alias")}
    if isinstance(name, str) and name in own:
        made = own[name](*_columns(name, arguments))
    elif isinstance(name, str) and name in MAKERS:
        made = _built_in(name, arguments)
    else:
        raise InvalidArgument(f"unknown aggregate {shown(name)}{meant(str(name), [*own, *MAKERS])}")
    return made if alias is None else made.alias(alias)


def _built_in(name: str, arguments: dict[str, Any]) -> Aggregate:
    parameters = inspect.signature(MAKERS[name]).parameters
    for key, value in arguments.items():
        if key not in parameters:
            raise InvalidArgument(f"{name} has no {key!r}{meant(key, [*parameters, 'alias'])}")
        if key in ("column", "arg") and (not isinstance(value, str) or not value):
            raise InvalidArgument(f"{key} of {name} is the name of a column, not {shown(value)}")
    return MAKERS[name](**arguments)


def _columns(name: str, arguments: dict[str, Any]) -> list[str]:
    """What an aggregate of the user's reads: `column`, or `columns` if there are two."""
    for key in arguments:
        if key not in ("column", "columns"):
            raise InvalidArgument(f"{name} has no {key!r}{meant(key, ['column', 'columns', 'alias'])}")
    if len(arguments) == 2:
        raise InvalidArgument(f"{name} has either a column or columns, not both")
    columns = arguments.get("columns", [arguments["column"]] if "column" in arguments else [])
    if not isinstance(columns, list) or not all(isinstance(column, str) and column for column in columns):
        raise InvalidArgument(f"the columns of {name} are a list of names, not {shown(columns)}")
    return columns


def own_aggregates(name: str, folder: Path) -> tuple[dict[str, AggregateType], Path | None]:
    """The aggregates of a module of the user's, and its file if it stands beside the pipeline's.

    Then it goes along to the executors. A module that is installed is expected to be installed there, too.
    """
    beside = folder / f"{name}.py"
    if not name.replace(".", "_").isidentifier():
        raise InvalidArgument(f'module is the name of a Python module, such as "my_aggregates", not {name!r}')
    try:
        module = _loaded(name, beside) if beside.exists() else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise InvalidArgument(f"the module {name} can't be imported: {error}") from error
        raise InvalidArgument(f"there is no module {name}: neither {beside} nor on Python's path") from None
    except Exception as error:
        raise InvalidArgument(f"the module {name} can't be imported: {type(error).__name__}: {error}") from error
    found = {kind.__name__: kind for kind in vars(module).values() if isinstance(kind, AggregateType)}
    if not found:
        raise InvalidArgument(f"the module {name} ({module.__file__}) has no aggregate under @sw.aggregate")
    return found, beside if beside.exists() else None


def _loaded(name: str, file: Path) -> ModuleType:
    """The module as its file is now, under its name, whatever was imported before."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
