"""The server under load: questions of three kinds at once, while rows are appended and compacted."""

import asyncio
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

import slidewheel as sw
from bench.harness import SEED, Report

PROGRAM = """
import sys
from slidewheel.serve.running import serve
serve([sys.argv[1]], port=0, say=lambda text: print(text, flush=True))
"""
START = 1_704_067_200_000_000
SECOND = 1_000_000
HOUR = 3600 * SECOND
GROWTH = 1.5
"""Memory at the end over memory after the first questions."""


@dataclass(frozen=True)
class Settings:
    keys: int = 1000
    hours: int = 48
    rows: int = 400_000
    batch: int = 5000
    """Rows that the writer appends at a time."""
    pause: float = 0.5
    """Seconds between two of its batches; every tenth is followed by a compaction."""
    connections: int = 16
    seconds: float = 10


FULL = Settings()
QUICK = Settings(keys=200, hours=24, rows=50_000, seconds=3)
SMOKE = Settings(keys=5, hours=8, rows=500, batch=50, pause=0.05, connections=2, seconds=0.3)


def run(report: Report, settings: Settings) -> None:
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        store = _store(str(Path(folder, "load")), settings, rng)
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, store.path], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found, "the server did not start"
            _measure(report, settings, store, found[0])
        finally:
            process.terminate()
            code = process.wait(20)
    if code:
        report.wrong(f"the server ended with {code}")


def _store(path: str, settings: Settings, rng: np.random.Generator) -> sw.Store:
    aggregates = [sw.count(), sw.sum("x"), sw.max("x"), sw.mean("x")]
    query = sw.query(time="at", keys="key", windows=sw.tumbling("1h"), aggregates=aggregates)
    store = sw.create_store(path, query, levels=["1s", "1m", "1h", "1d"])
    store.append(_rows(settings, rng, settings.rows, 0, settings.hours))
    store.compact()
    return store


def _rows(settings: Settings, rng: np.random.Generator, count: int, first: float, hours: float) -> pa.Table:
    times = START + ((first + rng.random(count) * hours) * 3600).astype(np.int64) * SECOND
    keys = pa.array([f"k{k}" for k in rng.integers(0, settings.keys, count)])
    return pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "key": keys, "x": rng.random(count)})


def _measure(report: Report, settings: Settings, store: sw.Store, url: str) -> None:
    where = urlsplit(url)
    assert where.hostname and where.port
    client = Client(where.hostname, where.port)
    rng = np.random.default_rng(SEED + 1)
    kinds: dict[str, Callable[[], str]] = {
        "point": lambda: _point(settings, rng),
        "range": lambda: _range(settings, rng),
        "group_by": lambda: _group_by(settings, rng),
    }
    for ask in kinds.values():
        asyncio.run(client.load(ask, 1, 0.5))
    before = _memory(client)
    report.say(f"{settings.connections} connections, {settings.keys:,} keys, {settings.rows:,} rows; a writer beside")
    table = report.table(["requests/s", "p50 ms", "p99 ms", "failed", "commits"], first=10)
    with Writer(store, settings) as writer:
        for name, ask in kinds.items():
            commits = writer.commits
            times, failed = asyncio.run(client.load(ask, settings.connections, settings.seconds))
            p50, p99 = (float(x) for x in np.percentile(times, [50, 99]) * 1000)
            rate = len(times) / settings.seconds
            cells = [f"{rate:.0f}", f"{p50:.1f}", f"{p99:.1f}", failed, writer.commits - commits]
            table.row(name, cells)
            known = {"rate": rate, "p50": p50, "p99": p99, "failed": failed}
            report.keep("requests/s", known, kind=name, connections=settings.connections)
            if failed:
                report.wrong(f"{name}: {failed} requests were not answered with 200")
    if writer.problem:
        report.wrong(f"the writer: {writer.problem!r}")
    after = _memory(client)
    report.say(f"  memory of the server: {before / 2**20:.0f} MiB before, {after / 2**20:.0f} MiB after")
    report.keep("bytes", {"before": before, "after": after}, kind="memory")
    report.target("memory after over before", after / before, GROWTH)


def _point(settings: Settings, rng: np.random.Generator) -> str:
    """An hour of one key."""
    start = START + int(rng.integers(0, (settings.hours - 1) * 3600)) * SECOND
    return f"/query?key=key=k{rng.integers(0, settings.keys)}&start={start}&end={start + HOUR}"


def _range(settings: Settings, rng: np.random.Generator) -> str:
    """A day of one key in some two hundred buckets, as a chart asks for it."""
    start = START + int(rng.integers(0, max(1, settings.hours - 24))) * HOUR
    key = rng.integers(0, settings.keys)
    return f"/query?key=key=k{key}&start={start}&end={start + 24 * HOUR}&points=200&aggregate=mean_x&times=us"


def _group_by(settings: Settings, rng: np.random.Generator) -> str:
    """Some hours of all keys."""
    start = START + int(rng.integers(0, settings.hours - 6)) * HOUR
    return f"/query?start={start}&end={start + 6 * HOUR}&aggregate=sum_x&aggregate=count"


def _memory(client: "Client") -> int:
    async def ask() -> bytes:
        connection = await client.connect()
        try:
            return (await client.get(connection, "/metrics"))[1]
        finally:
            connection[1].close()

    found = re.search(rb"^process_resident_memory_bytes (\d+)", asyncio.run(ask()), re.MULTILINE)
    assert found
    return int(found[1])


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Client:
    """As little HTTP as it takes, so that the server is what is measured."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def connect(self) -> Connection:
        return await asyncio.open_connection(self.host, self.port)

    async def get(self, connection: Connection, path: str) -> tuple[int, bytes]:
        reader, writer = connection
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length
        return int(head.split(b" ", 2)[1]), await reader.readexactly(int(length[1]))

    async def load(self, ask: Callable[[], str], connections: int, seconds: float) -> tuple[list[float], int]:
        """The time of each request, and how many were refused."""
        end, times, failed = time.perf_counter() + seconds, list[float](), 0

        async def one() -> None:
            nonlocal failed
            connection = await self.connect()
            while time.perf_counter() < end:
                began = time.perf_counter()
                status, _ = await self.get(connection, ask())
                times.append(time.perf_counter() - began)
                failed += status != 200
            connection[1].close()

        await asyncio.gather(*(one() for _ in range(connections)))
        return times, failed


class Writer(threading.Thread):
    """Appends rows behind those that are there, and compacts now and then."""

    def __init__(self, store: sw.Store, settings: Settings) -> None:
        super().__init__(daemon=True)
        self.store, self.settings, self.commits = store, settings, 0
        self.problem: Exception | None = None
        self._stop_now = threading.Event()

    def run(self) -> None:
        rng = np.random.default_rng(SEED + 2)
        try:
            while not self._stop_now.wait(self.settings.pause):
                first = self.settings.hours + self.commits / 60
                self.store.append(_rows(self.settings, rng, self.settings.batch, first, 1 / 60))
                self.commits += 1
                if self.commits % 10 == 0:
                    self.store.compact()
        except Exception as error:
            self.problem = error

    def __enter__(self) -> "Writer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_now.set()
        self.join(60)
