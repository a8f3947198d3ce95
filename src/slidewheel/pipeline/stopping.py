"""Ctrl-C and its like ask a pipeline to stop; it does so when the batch that is running is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopping:
    """Which signal has asked to stop, and how often."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.times = 0

    @property
    def asked(self) -> bool:
        return self.times > 0

    @property
    def at_once(self) -> bool:
        """Asked twice: do not wait for the batch."""
        return self.times > 1

    def ask(self, number: int, frame: FrameType | None = None) -> None:
        self.signal = self.signal or number
        self.times += 1


@contextmanager
def stop_on_signals() -> Iterator[Stopping]:
    """Catch SIGINT and SIGTERM as long as this lasts; other threads than the main one can't."""
    stopping = Stopping()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    before = {number: signal.signal(number, stopping.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
