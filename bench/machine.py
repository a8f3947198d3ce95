"""What a result depends on besides the code: the machine, the versions, the commit."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "slidewheel",
    "numba",
    "llvmlite",
    "numpy",
    "pandas",
    "polars",
    "pyspark",
    "bottleneck",
    "scipy",
    "duckdb",
    "pyarrow",
    "river",
    "deltalake",
)


def facts() -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
        "commit": _commit(),
    }


def free_memory() -> float:
    """Bytes that programs can still have; 8 GiB where the system does not say."""
    known = Path("/proc/meminfo")
    lines = known.read_text().splitlines() if known.exists() else []
    available = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return float(available[0] if available else 8 << 30)


def _cpu() -> str:
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of this checkout, marked where files were changed since."""
    try:
        changed = _git("status", "--porcelain", "--", "src", "bench", ":!bench/results")
        return _git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    here = Path(__file__).parent.parent
    found = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
    return found.stdout.strip()
