"""From the start of a process to its first answer, with nothing compiled yet and with all found in the cache."""

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
MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Settings:
    answers: tuple[str, ...] = tuple(ANSWERS)


FULL = QUICK = Settings()


def run(report: Report, settings: Settings) -> None:
    report.say("ms from the start of a Python process; cold: nothing compiled yet, warm: all kernels in the cache")
    with tempfile.TemporaryDirectory() as folder:
        imports = [_contestant(f"import {name}", code, folder, cold=False) for name, code in BASES.items()]
        groups = {"imports": imports}
        for name in settings.answers:
            code = f"import slidewheel as sw\nanswer = {ANSWERS[name]}.sum()"
            groups[name] = [_contestant(kind, code, folder, cold=kind == "cold") for kind in ("warm", "cold")]
        times = report.race(groups)
    table = report.table(["ms"], first=22)
    for title, group in times.items():
        for name, timing in group.items():
            table.row(name if title == "imports" else f"{title}, {name}", [timing])
            report.keep("ms", timing, what=title, cache=name)
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
