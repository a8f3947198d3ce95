"""The commands: run, explain, doctor, version; those for stores, the server and benchmarks have files of their own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from slidewheel import __version__
from slidewheel.cli import bench, serve, store
from slidewheel.cli.errors import Traceback, said
from slidewheel.cli.progress import shown

app = typer.Typer(
    help="Sliding-window aggregation: pipelines on Spark, stores of what they have aggregated, and a server.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
File = Annotated[Path, typer.Argument(metavar="PIPELINE.TOML", help="The pipeline file.", show_default=False)]
app.add_typer(store.app, name="store")
app.command()(store.query)
serve.register(app)
bench.register(app)
COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


@app.command()
def run(file: File, traceback: Traceback = False) -> None:
    """Run a pipeline. Ctrl-C stops a stream after the batch that is running; the next run goes on from there."""
    from slidewheel.pipeline import load

    console = Console(stderr=True)
    with said(traceback):
        pipeline = load(file)
        with shown(console) as watch:
            summary = pipeline.run(watch=watch)
    console.print(summary.text(), markup=False, highlight=False, soft_wrap=True)
    if summary.signal is not None:
        raise typer.Exit(128 + summary.signal)


@app.command()
def explain(file: File, traceback: Traceback = False) -> None:
    """Check a pipeline and say what it will do, without starting Spark."""
    from slidewheel.pipeline import load

    with said(traceback):
        text = load(file).explain()
    typer.echo(text)


@app.command()
def doctor(
    spark: Annotated[bool, typer.Option("--spark", help="Also start Spark and run something on it.")] = False,
) -> None:
    """Check what Spark needs on this machine, and say how to mend what is missing."""
    from slidewheel.spark.doctor import examine

    console, failed = Console(), False
    for check in examine(with_spark=spark):
        failed = failed or check.state == "fail"
        console.print(f"{check.state:<5}", style=COLORS[check.state], end="")
        console.print(f"{check.name:<22} {check.found}", markup=False, highlight=False, soft_wrap=True)
        if check.mend and check.state != "ok":
            console.print(f"{'':<28}{check.mend}", markup=False, highlight=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


@app.command()
def version() -> None:
    """Print the version of slidewheel."""
    typer.echo(__version__)
