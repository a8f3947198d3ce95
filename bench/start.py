"""From the start of a process to its first answer, with nothing compiled yet and with all found in the cache; and whole
processes that do nothing but begin."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.harness import Contestant, Report

PROGRAM = """
import os
import numpy as np
{answer}
print(answer, flush=True)
os._exit(0)
"""
BASES = {"numpy": "answer = 0.0", "slidewheel": "import slidewheel as sw\nanswer = 0.0"}
ANSWERS = {
    "max by count": "sw.rolling(np.arange(1000.0), sw.max(), size=100)",
    "mean by time": "sw.rolling(np.arange(1000.0), sw.mean(), over='1m', times=np.arange(1000) * 1_000_000)",
}
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import slidewheel": ["-c", "import slidewheel"],
    "slidewheel --help": ["-c", "from slidewheel.cli.main import main; main()", "--help"],
}
LIMITS = {"import slidewheel": 350, "slidewheel --help": 500}
MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Settings:
    answers: tuple[str, ...] = tuple(ANSWERS)


FULL = QUICK = Settings()
SMOKE = Settings(answers=("max by count",))


def run(report: Report, settings: Settings) -> None:
    report.say("ms from the start of a Python process; cold: nothing compiled yet, warm: all kernels in the cache")
    with tempfile.TemporaryDirectory() as folder:
        imports = [_contestant(f"import {name}", code, folder, cold=False) for name, code in BASES.items()]
        groups = {"imports": imports, "whole processes": [_command(name, folder) for name in COMMANDS]}
        for name in settings.answers:
            code = f"import slidewheel as sw\nanswer = {ANSWERS[name]}.sum()"
            groups[name] = [_contestant(kind, code, folder, cold=kind == "cold") for kind in ("warm", "cold")]
        times = report.race(groups)
    table = report.table(["ms"], first=22)
    for title, group in times.items():
        for name, timing in group.items():
            table.row(f"{title}, {name}" if title in ANSWERS else name, [timing])
            report.keep("ms", timing, what=title, cache=name)
            if name in LIMITS and title == "whole processes":
                report.target(f"{name}, from start to end", timing.median, LIMITS[name], " ms")
        if "warm" in group:
            report.target(f"{title}, warm", group["warm"].median, 600, " ms")


def _contestant(name: str, code: str, folder: str, cold: bool) -> Contestant:
    program = PROGRAM.format(answer=code)

    def run() -> np.ndarray:
        cache = tempfile.mkdtemp(dir=folder) if cold else str(Path(folder, "warm"))
        # Numba's own variable is for the one kernel that is part of the installation.
        known = {**os.environ, "SLIDEWHEEL_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
        found = subprocess.run([sys.executable, "-c", program], env=known, capture_output=True, text=True, check=True)
        return np.array([float(found.stdout)])

    return Contestant(name, run, MILLISECOND)


def _command(name: str, folder: str) -> Contestant:
    """Its answer is how it ended."""
    cache = str(Path(folder, "warm"))
    known = {**os.environ, "SLIDEWHEEL_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}

    def run() -> np.ndarray:
        return np.array([subprocess.run([sys.executable, *COMMANDS[name]], env=known, capture_output=True).returncode])

    return Contestant(name, run, MILLISECOND)
