"""What a command does with a user's mistake."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from slidewheel import SlidewheelError

Traceback = Annotated[bool, typer.Option("--traceback", help="Show the whole traceback of an error.")]


@contextmanager
def said(traceback: bool) -> Iterator[None]:
    """A user's mistake is a message, not a traceback."""
    try:
        yield
    except SlidewheelError as error:
        if traceback:
            raise
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
