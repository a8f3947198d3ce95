"""What is wrong with a pipeline: mistakes are gathered with their lines, so that all are named at once."""

from dataclasses import dataclass

from slidewheel.errors import InvalidArgument, SlidewheelError
from slidewheel.pipeline.lines import Place


class InvalidPipeline(InvalidArgument):
    """A pipeline file can't be used; `mistakes` has each reason with its line."""

    def __init__(self, file: str, mistakes: tuple["Mistake", ...]) -> None:
        self.file, self.mistakes = file, mistakes
        count = f"{len(mistakes)} mistakes" if len(mistakes) > 1 else "a mistake"
        super().__init__("\n".join([f"{file} has {count}:", *(f"  {mistake}" for mistake in mistakes)]))


class PipelineFailed(SlidewheelError):
    """A pipeline could not start, or ended before its time."""


@dataclass(frozen=True, order=True)
class Mistake:
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


class Mistakes:
    """Gathers mistakes by their places in a file."""

    def __init__(self, file: str, lines: dict[Place, int]) -> None:
        self.file, self.lines = file, lines
        self.found: list[Mistake] = []

    def add(self, place: Place, text: str) -> None:
        """Note a mistake at this place; where the file has nothing there, at what it would be a part of."""
        while place and place not in self.lines:
            place = place[:-1]
        self.found.append(Mistake(self.lines.get(place, 1), text))

    def check(self) -> None:
        """Raise what was found, in the order of the lines."""
        if self.found:
            raise InvalidPipeline(self.file, tuple(sorted(set(self.found))))
