"""`slidewheel bench`: the benchmarks, which are part of a checkout and not of the installed package."""

import sys
from importlib import import_module
from pathlib import Path

import typer

import slidewheel

PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True}


def register(app: typer.Typer) -> None:
    # Its options, and its help, are those of the benchmarks themselves.
    app.command(context_settings=PASSED_ON, add_help_option=False)(bench)


def bench(context: typer.Context) -> None:
    """Run the benchmarks and make their pages, from a checkout: --quick, --help, or the names of suites."""
    root = checkout()
    if root is None:
        typer.echo(
            "The benchmarks are not part of the installed package: run this in a checkout of slidewheel's source, "
            "after make setup.",
            err=True,
        )
        raise typer.Exit(2)
    sys.path.insert(0, str(root))
    main = import_module("bench.__main__").main
    raise typer.Exit(main(list(context.args), prog="slidewheel bench"))


def checkout() -> Path | None:
    """The folder of the source that is installed, or the current one if it is one."""
    places = (Path(slidewheel.__file__).parents[2], Path.cwd())
    return next((p for p in places if (p / "bench" / "suites.py").exists() and (p / "src/slidewheel").exists()), None)
