"""What Java says on stderr, without what it says of connections that are broken off on purpose.

Where a stream is stopped within a batch, Spark ends Python's workers while threads of Java still talk to them. These
threads end with a trace on stderr, which no setting of a log turns off.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator

BEGINS = b'Exception in thread "stateConnectionListenerThread"'
"""The thread that answers the questions of a worker about its state; of a worker that fails, its task says why."""
GOES_ON = (b"\tat ", b"\t... ", b"Caused by: ", b"\tSuppressed: ")


@contextlib.contextmanager
def without_noise() -> Iterator[None]:
    """What is started meanwhile has a stderr that is read and passed on, line by line; ours stays as it is."""
    try:
        ours = os.dup(2) if sys.platform != "win32" else None
    except OSError:  # there is none
        ours = None
    if ours is None:
        yield
        return
    read, write = os.pipe()
    os.dup2(write, 2)
    os.close(write)
    threading.Thread(target=_pass_on, args=(read, ours), name="slidewheel-stderr", daemon=True).start()
    try:
        yield
    finally:
        os.dup2(ours, 2)


def _pass_on(read: int, to: int) -> None:
    """Until nobody is left who could write."""
    with open(read, "rb") as lines, open(to, "wb", buffering=0) as out, contextlib.suppress(OSError):
        for line in worth_saying(lines):
            out.write(line)


def worth_saying(lines: Iterable[bytes]) -> Iterator[bytes]:
    """All lines but those traces.

    >>> trace = [BEGINS + b" java.io.IOException: Broken pipe", b"\\tat java.base"]
    >>> list(worth_saying([b"one", *trace, b"two"]))
    [b'one', b'two']
    """
    within = False
    for line in lines:
        within = line.startswith(BEGINS) or (within and line.startswith(GOES_ON))
        if not within:
            yield line
