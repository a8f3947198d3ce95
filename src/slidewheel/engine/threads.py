"""Work for two threads, and work that is not to be interrupted."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

NO_MORE = object()


def in_parallel(run: Callable[[Any], None], parts: Sequence[Any]) -> None:
    """All parts, in this thread and a second one: kernels do not hold the interpreter's lock."""
    if len(parts) == 1:
        return run(parts[0])
    waiting = iter(parts)
    taking = threading.Lock()

    def work() -> None:
        while True:
            with taking:
                part = next(waiting, NO_MORE)
            if part is NO_MORE:
                return
            run(part)

    other = _second_thread().submit(work)
    try:
        work()
    finally:
        waiting = iter(())  # after an error, nobody takes another part
        if not other.cancel():
            other.result()


def each(run: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """What `run` gives for each part."""
    found = [None] * len(parts)

    def keep(place: int) -> None:
        found[place] = run(parts[place])

    in_parallel(keep, range(len(parts)))
    return found


@cache
def _second_thread() -> ThreadPoolExecutor:
    """It stays: to start a thread takes as long as half a million rows."""
    return ThreadPoolExecutor(1, thread_name_prefix="slidewheel")


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_second_thread.cache_clear)  # threads do not live on in a child


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the state is whole again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[Any] = []
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    signal.signal(signal.SIGINT, lambda *arguments: asked.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if asked:
            previous(*asked[0])
