"""Threads that work on questions: a few at once, a few more in a queue, and none of them in the event loop."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from slidewheel.serve.refusals import Busy, TooSlow

T = TypeVar("T")


class Workers:
    """A pool with a limited queue and a limit of time.

    A thread can't be stopped from outside. A question that takes too long is refused, but keeps its thread until it is
    done, so that there are never more of them than threads.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="slidewheel-serve")
        self._room, self._seconds = threads + waiting, seconds
        self._lock = threading.Lock()
        self.taken = 0
        """Questions that are worked on or wait."""

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises."""
        with self._lock:
            if self.taken >= self._room:
                raise Busy(f"{self.taken} questions are being worked on or wait: try again in a moment")
            self.taken += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._free)
        waited = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({waited}, timeout=self._seconds)
        if done:
            return waited.result()
        waited.add_done_callback(_ignore)
        waited.cancel()
        raise TooSlow(f"there was no answer within {self._seconds:g} s: ask for less, or try again later")

    def _free(self, _: Any) -> None:
        with self._lock:
            self.taken -= 1

    def close(self, seconds: float) -> bool:
        """Whether all that was being worked on was done in time; what waits is given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        pause = threading.Event()
        for _ in range(max(1, int(seconds / 0.05))):
            if self.taken == 0:
                return True
            pause.wait(0.05)
        return False


def _ignore(future: "asyncio.Future[Any]") -> None:
    """Nobody waits for this any more; asyncio is not to complain about it."""
    if not future.cancelled():
        future.exception()
