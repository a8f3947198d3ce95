"""A store of random rows, part of it compacted, and clients that ask it without a network."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from fastapi import FastAPI

import slidewheel as sw
from slidewheel.serve.app import make_app
from slidewheel.serve.stores import Stores

START = 1_700_000_000_000_000
SECONDS = 2 * 86_400
AGGREGATES = [
    sw.count().alias("flights"),
    sw.sum("delay"),
    sw.count("delay"),
    sw.mean("delay"),
    sw.min("delay"),
    sw.max("delay"),
    sw.sum("seats"),
    sw.max("seats"),
    sw.mean("seats"),
    sw.quantile("delay", q=0.9).alias("p90"),
    sw.top_k("carrier", k=2).alias("carriers"),
    sw.last("carrier").alias("last"),
]


def rows(seed: int, count: int = 1500) -> pa.Table:
    rng = np.random.default_rng(seed)
    times = START + rng.integers(0, SECONDS, count) * 1_000_000
    delay = np.where(rng.random(count) < 0.002, np.nan, rng.normal(size=count))
    return pa.table(
        {
            "at": pa.array(times, pa.timestamp("us", "UTC")),
            "origin": pa.array([None if k == 0 else f"A{k}" for k in rng.integers(0, 5, count)], pa.string()),
            "gate": pa.array(rng.integers(0, 3, count)),
            "delay": pa.array(delay, mask=rng.random(count) < 0.1),
            "seats": pa.array(rng.integers(2**53, 2**54, count)),
            "carrier": pa.array(rng.choice(["x", "y", "z"], count)),
        }
    )


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    query = sw.query(
        time="at",
        keys=["origin", "gate"],
        windows=[sw.sliding("2h", every="30m"), sw.tumbling("1d")],
        aggregates=AGGREGATES,
    )
    found = str(tmp_path_factory.mktemp("stores") / "flights")
    store = sw.create_store(found, query, levels=["1s", "1m", "1h", "1d"])
    store.append(rows(1))
    store.append(rows(2))
    store.compact()
    store.append(rows(3))
    return found


@pytest.fixture(scope="session")
def store(path: str) -> sw.Store:
    return sw.open_store(path)


class Client:
    """Asks an app in this process, each time in an event loop of its own; it keeps cookies as a browser does."""

    def __init__(self, app: FastAPI) -> None:
        self.app, self.cookies = app, httpx.Cookies()

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", cookies=self.cookies
            ) as client:
                reply = await client.request(method, path, **options)
                self.cookies.update(client.cookies)
                return reply

        return asyncio.run(ask())


@pytest.fixture(scope="session")
def connect() -> Callable[..., Client]:
    """Makes clients of an app over stores."""
    return lambda *stores, **options: Client(make_app(Stores(stores), **options))


@pytest.fixture(scope="session")
def client(connect: Callable[..., Client], store: sw.Store) -> Client:
    return connect(store)
