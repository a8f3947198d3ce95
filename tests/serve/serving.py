"""A server of its own on a free port of this machine."""

import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from slidewheel.serve.running import address, bound


@contextlib.contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Where an app is served while the block runs."""
    listening = bound("127.0.0.1", 0, any_host=False)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
        assert not thread.is_alive()
