"""Folders of a pipeline: where they are, and whether they can be used, asked before Spark starts."""

import os
import re
import tempfile
from pathlib import Path

from slidewheel.pipeline.mistakes import PipelineFailed

PROBE = 1 << 16
"""Bytes that must fit on the disk for a start to make sense."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def resolved(path: str, folder: Path) -> str:
    """A path of a file, relative to where that file is; what has a scheme, such as `s3a://`, stays as it is.

    >>> resolved("answers", Path("/data")), resolved("s3a://bucket/answers", Path("/data"))
    ('/data/answers', 's3a://bucket/answers')
    """
    if not path or _SCHEME.match(path):
        return path
    return os.path.normpath(folder / Path(path).expanduser())


def local(path: str) -> Path | None:
    """The folder on this machine; None if it is elsewhere.

    >>> local("file:///data/answers"), local("s3a://bucket/answers")
    (PosixPath('/data/answers'), None)
    """
    if path.startswith("file:/"):
        return Path("/" + path.removeprefix("file:").lstrip("/"))
    return None if _SCHEME.match(path) else Path(path)


def check_writable(path: str, what: str) -> None:
    """Write something into the folder, or where it would be made, and remove it again."""
    folder = local(path)
    if folder is None:
        return
    there = next(parent for parent in (folder, *folder.parents) if os.path.lexists(parent))
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".slidewheel") as probe:
            probe.write(bytes(PROBE))
            probe.flush()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PipelineFailed(
            f"the folder of {what}, {folder}, can't be written to ({reason}): choose another one, or make room and see "
            f"to its permissions"
        ) from None
