"""Small packets go out at once, and no file is left open."""

import os
import socket
import sys

import pytest

from slidewheel.spark import sockets


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc")
def test_all_connections_of_the_process():
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        a, b = socket.socketpair()  # not TCP: is left alone
        with one, other, a, b:
            before = sorted(os.listdir("/proc/self/fd"))
            sockets.acknowledge_at_once()
            assert sorted(os.listdir("/proc/self/fd")) == before
            for end in (one, other):
                assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
            other.sendall(b"still there")
            a.sendall(b"so are we")
            assert (one.recv(20), b.recv(20)) == (b"still there", b"so are we")


def test_where_there_is_no_proc(monkeypatch):
    monkeypatch.setattr(sockets, "OPEN_FILES", "/nowhere")
    sockets.acknowledge_at_once()
