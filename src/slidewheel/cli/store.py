"""The commands for a store: compact, vacuum, check, info, and asking it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from slidewheel.cli.errors import Traceback, said
from slidewheel.errors import InvalidArgument

if TYPE_CHECKING:
    from slidewheel.algebra.define import AggregateType
    from slidewheel.store.store import Store

app = typer.Typer(help="Look after a store.", no_args_is_help=True)
Where = Annotated[str, typer.Argument(metavar="PATH", help="The folder or address of a store.", show_default=False)]
Module = Annotated[
    str | None, typer.Option("--module", metavar="NAME", help="A Python module with aggregates of your own.")
]


@app.command()
def compact(path: Where, module: Module = None, traceback: Traceback = False) -> None:
    """Fold partials, roll levels up, and delete what retention lets go. Safe while others read and write."""
    with said(traceback):
        store = _opened(path, module)
        with Console(stderr=True).status(f"compacting {path}"):
            done = store.compact()
        typer.echo(str(done))


@app.command()
def vacuum(
    path: Where,
    keep: Annotated[
        str, typer.Option(help="Keep what versions younger than this need, as for readers of them.")
    ] = "7d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the files.")] = False,
    module: Module = None,
    traceback: Traceback = False,
) -> None:
    """Delete files that no version needs any more, and those that were never committed."""
    with said(traceback):
        files = _opened(path, module).vacuum(keep=keep, dry_run=dry_run)
    for file in files:
        typer.echo(file)
    typer.echo(f"{len(files)} files {'would be' if dry_run else 'were'} deleted", err=True)


@app.command()
def check(path: Where, module: Module = None, traceback: Traceback = False) -> None:
    """Read all of it: checksums of files, and that every level is the sum of the one below. Exit code 1 if not."""
    with said(traceback):
        store = _opened(path, module)
        with Console(stderr=True).status(f"checking {path}"):
            found = store.check()
    typer.echo(str(found))
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def info(path: Where, module: Module = None, traceback: Traceback = False) -> None:
    """What is in it: time, levels, files, rows, bytes."""
    with said(traceback):
        typer.echo(str(_opened(path, module).info()))


def query(
    path: Where,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="From here on, such as 2024-03-01T12:00.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Up to here.")] = None,
    every: Annotated[
        str | None, typer.Option(metavar="LENGTH", help="A row for each of these: 5m, 1h, or day, week, month, year.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Only these keys; may be given several times.")
    ] = None,
    aggregate: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only these aggregates.")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="Whose days, weeks and months.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="table|csv|parquet", help="What comes out.")] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file for it.")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the first aggregate, with --every.")] = False,
    plan: Annotated[bool, typer.Option("--explain", help="Also say how the question was answered.")] = False,
    module: Module = None,
    traceback: Traceback = False,
) -> None:
    """Ask a store for a range of time."""
    from slidewheel.cli.printing import drawn, printed
    from slidewheel.store.choosing import keys_from_text

    with said(traceback):
        if plot and every is None:
            raise InvalidArgument("--plot draws values over time: add --every, such as --every 1h")
        store = _opened(path, module)
        keys = keys_from_text(store.definition, given) if (given := _keys(key)) else None
        question: dict[str, Any] = {"keys": keys, "every": every, "timezone": timezone, "aggregates": aggregate}
        table, how = store.answer(start, end, **question)
        if plot:
            first = (aggregate or [store.definition.query.aggregates[0].output])[0]
            drawn(table, list(store.definition.query.keys), first)
        else:
            printed(table, form, output)
        if plan:
            typer.echo(str(how), err=True)


def _keys(given: list[str] | None) -> dict[str, list[str]] | None:
    """`COLUMN=VALUE`, several times: the values of each column."""
    if not given:
        return None
    found: dict[str, list[str]] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InvalidArgument(f"--key is a column and a value, such as --key origin=JFK, not {one!r}")
        found.setdefault(name, []).append(value)
    return found


def _opened(path: str, module: str | None) -> "Store":
    from slidewheel.store.opening import open_store

    return open_store(path, aggregates=own_from(module))


def own_from(module: str | None) -> "list[AggregateType]":
    """The aggregates of a module in this folder, or on Python's path."""
    if module is None:
        return []
    from slidewheel.pipeline.aggregates import own_aggregates

    return list(own_aggregates(module, Path.cwd())[0].values())
