"""The command serve: stores over HTTP."""

from typing import Annotated

import typer
from rich.console import Console

from slidewheel.cli.errors import Traceback, said
from slidewheel.cli.store import Module, own_from

NEEDED = ("fastapi", "uvicorn", "deltalake")


def serve(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="The stores.", show_default=False)],
    host: Annotated[str, typer.Option(help="The address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes one that is free.")] = 8080,
    token_file: Annotated[
        str | None, typer.Option(help="A file with the token that requests must have.", show_default=False)
    ] = None,
    max_points: Annotated[int, typer.Option(min=1, help="Rows of an answer, at most.")] = 500_000,
    max_keys: Annotated[int, typer.Option(min=1, help="Keys of an answer, at most.")] = 50_000,
    timeout: Annotated[float, typer.Option(help="Seconds for a question, at most.")] = 30.0,
    threads: Annotated[int, typer.Option(min=1, help="Questions that are worked on at once.")] = 4,
    module: Module = None,
    traceback: Traceback = False,
) -> None:
    """Serve stores over HTTP: JSON, Arrow, Prometheus' API and a page. Ctrl-C ends it."""
    try:
        from slidewheel.serve.limits import Limits
        from slidewheel.serve.running import serve as run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in NEEDED:
            raise
        text = f"The command serve needs the package {package}: pip install 'slidewheel[serve]'"
        Console(stderr=True).print(text, style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    with said(traceback):
        limits = Limits(max_points=max_points, max_keys=max_keys, timeout=timeout, threads=threads)
        own = own_from(module)
        run(paths, host=host, port=port, token_file=token_file, limits=limits, aggregates=own, say=typer.echo)


def register(app: typer.Typer) -> None:
    """Add the command to the others."""
    app.command()(serve)
