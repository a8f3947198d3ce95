"""What a suite measured, as a file: with the machine, the versions, the commit and the seed.

There is one file for each suite, which the next run of the suite replaces. The pages under docs/benchmarks are made
from these files alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Results:
    suite: str
    machine: dict[str, Any]
    seed: int
    kind: str
    """smoke, quick or full."""
    rounds: int
    date: str
    seconds: float
    errors: list[str]
    targets: list[dict[str, Any]]
    records: list[dict[str, Any]]
    """What was measured, each as a flat dictionary: what it is of, its unit, its median and its rounds."""

    def save(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        known = {name: value for name, value in vars(self).items() if name != "records"}
        # A record is a line, so that the next run's changes can be read.
        lines = ",\n  ".join(json.dumps(_rounded(record)) for record in self.records)
        text = json.dumps(known, indent=1)[:-2] + f',\n "records": [\n  {lines}\n ]\n}}\n'
        path = folder / f"{self.suite}.json"
        # A run that is stopped while it writes leaves the old file as it was.
        unfinished = path.with_suffix(".new")
        unfinished.write_text(text)
        unfinished.replace(path)
        return path


def _rounded(value: Any) -> Any:
    """Six digits: no clock is better, and files are half as long."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


def load(folder: Path, suite: str) -> Results | None:
    path = folder / f"{suite}.json"
    return Results(**json.loads(path.read_text())) if path.exists() else None
