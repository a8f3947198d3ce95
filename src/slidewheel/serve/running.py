"""Running the server: its address, its start and its end."""

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence

import uvicorn

from slidewheel.algebra.define import AggregateType
from slidewheel.errors import InvalidArgument
from slidewheel.serve.app import make_app
from slidewheel.serve.limits import Limits
from slidewheel.serve.stores import Stores
from slidewheel.serve.tokens import read_token
from slidewheel.serve.workers import Workers

PATIENCE = 5
"""Seconds that requests have to end when the server is stopped."""


def serve(
    paths: Sequence[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    token_file: str | None = None,
    limits: Limits | None = None,
    aggregates: Sequence[AggregateType] = (),
    say: Callable[[str], None] = print,
) -> None:
    """Serve stores until SIGINT or SIGTERM; `aggregates` are those of your own that they hold.

    It is for the main thread of a process of its own, which it ends itself if a question is still being worked on then.
    """
    limits = limits or Limits()
    token = None if token_file is None else read_token(token_file)
    stores = Stores.opened(paths, aggregates)
    listening = bound(host, port, any_host=token is not None)
    workers = Workers(limits.threads, limits.waiting, limits.timeout)
    config = uvicorn.Config(
        make_app(stores, limits, token, workers),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    ready = f"slidewheel: serving {', '.join(stores)} on {address(listening)}"
    server = _Server(config, lambda: say(ready))
    for number in (signal.SIGINT, signal.SIGTERM):
        # As uvicorn does while it runs. It raises them once more after its end, which is to end in the same way.
        signal.signal(number, server.handle_exit)
    with listening:
        server.run(sockets=[listening])
    if not workers.close(1):
        # Python would wait for its threads, however long they take. They only read, so nothing is lost.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()


def bound(host: str, port: int, any_host: bool) -> socket.socket:
    """A socket at this address. What is not this machine alone needs a token."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise InvalidArgument(f"{host} port {port} is no address to serve on: {error}") from None
    if not any_host and not all(_loopback(str(where[4][0])) for where in found):
        raise InvalidArgument(
            f"{host} can be reached from other machines: that needs a token, --token-file FILE; or serve on 127.0.0.1"
        )
    family, kind, protocol, _, where = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # A server that was stopped a moment ago does not keep its port.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        made.listen(128)
    except (OSError, OverflowError) as error:
        made.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidArgument(f"can't serve on {host} port {port}: {reason}; choose another with --port") from None
    made.set_inheritable(True)
    return made


def _loopback(text: str) -> bool:
    return ipaddress.ip_address(text.partition("%")[0]).is_loopback


def address(listening: socket.socket) -> str:
    """Where a browser finds what is served."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
