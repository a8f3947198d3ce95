"""The page and the server that it is made for."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

import slidewheel as sw
from slidewheel.serve.app import make_app
from slidewheel.serve.stores import Stores
from slidewheel.store.store import Store
from tests.browser.chrome import Tab, until

HOUR = 3_600_000_000
START = 1_700_000_000_000_000 // HOUR * HOUR


@pytest.fixture
def store(tmp_path: Path) -> Store:
    query = sw.query(time="at", keys="zone", windows=[sw.tumbling("1h")], aggregates=[sw.mean("fare"), sw.count()])
    store = sw.create_store(tmp_path / "fares", query, levels=["1s", "1m", "1h", "1d"])
    append(store, 0, 240)
    return store


def append(store: Store, first: int, last: int) -> None:
    hours = range(first, last)
    at = [START + hour * HOUR for hour in hours for _ in "ab"]
    store.append({"at": at, "zone": ["a", "b"] * len(hours), "fare": [float(k % 7) for k in range(2 * len(hours))]})


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(make_app(Stores([store])), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, 30)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def test_a_real_store_is_drawn_zoomed_and_followed(tab: Tab, address: str, store: Store) -> None:
    tab.open(address)
    tab.until("document.querySelectorAll('#legend .entry').length === 2", 30)
    assert "1h" in tab.text("#facts")
    tab.drag(".u-over", 0.5, 0.6)
    tab.until("document.querySelector('#facts').innerText.includes(' 1m')", 30)
    tab.press("0")
    tab.press("l")
    append(store, 240, 300)
    tab.until("document.querySelector('#range').innerText.includes('12 d')")
    assert tab.complaints() == []
