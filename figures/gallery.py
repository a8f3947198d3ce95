"""All pictures by the names of their files."""

from collections.abc import Callable
from pathlib import Path

from figures.canvas import Canvas
from figures.daba import daba, daba_lite
from figures.two_stacks import two_stacks, two_stacks_lite

FOLDER = Path(__file__).parent.parent / "docs" / "figures"

FIGURES: dict[str, Callable[[], Canvas]] = {
    "two-stacks": two_stacks,
    "two-stacks-lite": two_stacks_lite,
    "daba": daba,
    "daba-lite": daba_lite,
}


def file_of(name: str) -> Path:
    return FOLDER / f"{name}.svg"
