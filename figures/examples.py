"""What the examples of a page compute, so that its pictures show their answers and no others."""

import contextlib
import doctest
import io
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


@cache
def results(page: str) -> dict[str, Any]:
    """The names that a page's examples have bound, after all of them have run."""
    text = (DOCS / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(text):
            if example.exc_msg is None:
                exec(compile(example.source, f"<{page}, line {example.lineno}>", "exec"), names)
    return names
