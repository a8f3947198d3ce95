"""Processes of their own for tests that start Spark elsewhere, and kill it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

PROC = Path("/proc")
ROOT = Path(__file__).parents[2]
LIMIT = 300.0
"""Seconds after which a wait is given up: many times what it takes on an idle machine."""

needs_proc = pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are found in /proc")


def until(condition: Callable[[], object], what: str, limit: float = LIMIT, pause: float = 0.02) -> None:
    """Wait for a condition."""
    give_up = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < give_up, f"waited {limit:.0f} s in vain for this: {what}"
        time.sleep(pause)


class Job:
    """A module that runs in a process of its own, with all that it starts: a JVM, executors, Python workers."""

    def __init__(self, module: str, *arguments: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log.txt"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "SPARK_HOME": str(home_of_its_own(folder)),
            # Connect listens at a port that is free, not at the one that two would be fighting for.
            "SPARK_TESTING": "1" if "connect" in arguments else "",
        }
        if not environment["SPARK_TESTING"]:
            del environment["SPARK_TESTING"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Python workers leave the process group, but not the session.
                start_new_session=True,
            )

    def wait_for(self, condition: Callable[[], object], what: str, pause: float = 0.02) -> None:
        """Wait for what the job is to bring about; it fails the test to end before."""

        def ended_or_fulfilled() -> bool:
            ended = self.process.poll() is not None  # in this order: its last act may have been to fulfil it
            if condition():
                return True
            assert not ended, f"ended with {self.process.returncode} before this: {what}\n{self.said()}"
            return False

        until(ended_or_fulfilled, what, pause=pause)

    def succeed(self) -> None:
        """Wait until it ends, and see that it ended well."""
        until(lambda: self.process.poll() is not None, f"the end of a job\n{self.said()}")
        assert self.process.returncode == 0, self.said()

    def said(self) -> str:
        """The end of what it wrote."""
        return self.log.read_text(errors="replace")[-6000:]

    def kill(self) -> None:
        """Kill -9, all at once."""

        def gone() -> bool:
            members = [pid for pid in processes() if _stat(pid)[3:4] == [str(self.process.pid)]]
            for pid in members:
                kill(pid)
            self.process.poll()
            return not members

        until(gone, "processes that were killed are gone", limit=60, pause=0.005)


@contextmanager
def running(module: str, *arguments: str, folder: Path) -> Iterator[Job]:
    """A job that nothing is left of afterwards."""
    job = Job(module, *arguments, folder=folder)
    try:
        yield job
    finally:
        job.kill()


def home_of_its_own(folder: Path) -> Path:
    """Spark's folder by links: executors of a local cluster keep their files in it."""
    home = folder / "spark"
    if not home.exists():
        home.mkdir()
        for path in Path(pyspark.__file__).parent.iterdir():
            if path.name != "work":
                (home / path.name).symlink_to(path)
    return home


def processes() -> list[int]:
    """All there are."""
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def kill(pid: int) -> None:
    """Kill -9, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_there(pid: int) -> bool:
    return bool(_stat(pid))


def parent(pid: int) -> int:
    return int(_stat(pid)[1])


def children(pid: int) -> list[int]:
    return [child for child in processes() if _stat(child)[1:2] == [str(pid)]]


def command(pid: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """State, parent, group, session and more; nothing of one that is gone or only waits to be noticed by its parent."""
    try:
        found = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if found[0] == "Z" else found
