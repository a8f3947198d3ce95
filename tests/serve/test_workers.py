"""Slow questions: how many there may be, and that others are answered meanwhile."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from slidewheel.serve.limits import Limits
from slidewheel.serve.workers import Workers
from slidewheel.store.store import Store


@pytest.fixture
def slow(monkeypatch):
    """Questions wait for this."""
    go, running, most, lock = threading.Event(), [0], [0], threading.Lock()
    answer = Store.answer

    def slowly(self, *arguments, **options):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        go.wait(20)
        with lock:
            running[0] -= 1
        return answer(self, *arguments, **options)

    monkeypatch.setattr(Store, "answer", slowly)
    go.most, go.running = most, running
    yield go
    go.set()


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_a_queue_that_ends(connect, store, slow):
    limits = Limits(threads=2, timeout=20)
    room = limits.threads + limits.waiting
    workers = Workers(limits.threads, limits.waiting, limits.timeout)
    client = connect(store, limits=limits, workers=workers)
    client.get("/keys")
    one = {"key": ["origin=A1", "gate=1"]}
    with ThreadPoolExecutor(room) as asking:
        asked = [asking.submit(client.get, "/query", params=one) for _ in range(room)]
        until(lambda: workers.taken == room)
        for path in ("/query", "/stores", "/keys", "/api/v1/query?query=1"):
            reply = client.get(path)
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "1"), path
        assert client.get("/health").json()["status"] == "ok"
        assert client.get("/").status_code == 200
        assert f"slidewheel_requests_in_flight {room + 1}" in client.get("/metrics").text
        slow.set()
        assert [reply.result().status_code for reply in asked] == [200] * room
    assert slow.most == [2], "never more than there are threads"
    until(lambda: workers.taken == 0)
    assert client.get("/query", params=one).status_code == 200
    assert 'slidewheel_refused_total{limit="busy"} 4' in client.get("/metrics").text


def test_a_limit_of_time(connect, store, slow):
    workers = Workers(1, 1, 0.2)
    client = connect(store, workers=workers)
    with ThreadPoolExecutor(2) as asking:
        replies = [asking.submit(client.get, "/query", params={"key": ["origin=A1", "gate=1"]}) for _ in range(2)]
        assert [reply.result().status_code for reply in replies] == [503, 503]
        assert "no answer within 0.2 s" in replies[0].result().json()["error"]
    assert workers.taken == 1, "the one that runs keeps its thread, the other one never had any"
    assert slow.running == [1]
    assert client.get("/health").status_code == 200
    slow.set()
    until(lambda: workers.taken == 0)
    assert client.get("/keys").status_code == 200
    assert workers.close(1)


def test_closing_does_not_wait_for_ever():
    import asyncio

    workers, go = Workers(1, 1, 0.05), threading.Event()

    async def ask():
        await workers.run(go.wait)

    with pytest.raises(Exception, match="no answer within"):
        asyncio.run(ask())
    assert not workers.close(0.2)
    go.set()
    until(lambda: workers.close(0.2))
