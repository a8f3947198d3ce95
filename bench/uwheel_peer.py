"""uwheel, a Rust library, on the same data: builds the program in bench/peers/uwheel and runs its experiments.

Times are int64 microseconds since 1970, ranges, slides, intervals and delays are whole seconds. Values are float64 or
uint64, and are summed. Sums are right where no value is negative and `start` is a midnight (UTC).
"""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "peers" / "uwheel"
BINARY = HERE / "target" / "release" / ("uwheel-peer.exe" if os.name == "nt" else "uwheel-peer")
SOURCES = (HERE / "Cargo.toml", HERE / "src" / "main.rs")
MODES = ("default", "hints", "prefix")
SECOND = 1_000_000


class Unavailable(Exception):
    """There is no program, and why."""


def build() -> str:
    """The path of the program. Builds only what has changed."""
    if BINARY.exists() and all(BINARY.stat().st_mtime >= source.stat().st_mtime for source in SOURCES):
        return str(BINARY)
    usual = Path.home() / ".cargo" / "bin"
    cargo = shutil.which("cargo") or shutil.which("cargo", path=str(usual))
    if cargo is None:
        raise Unavailable("there is no cargo to build it with")
    known = dict(os.environ, RUSTFLAGS="-C target-cpu=native")
    command = [cargo, "build", "--release", "--quiet", "--target-dir", str(HERE / "target")]
    for network in (["--offline"], []):  # What it needs may be here already.
        done = subprocess.run([*command, *network], cwd=HERE, env=known, capture_output=True, text=True)
        if done.returncode == 0:
            os.utime(BINARY)  # A build that finds nothing to do leaves it as old as it was.
            return str(BINARY)
    raise Unavailable("its build failed: " + " ".join(done.stderr.split())[-300:])


@dataclass(frozen=True)
class Feed:
    """How events come to a wheel: `every` of them, and then the watermark follows."""

    ahead: int = 64
    """Seconds of slots above the watermark, a power of two; events beyond them wait in a timer."""
    every: int = 100
    delay: int = 2
    """How far the watermark stays behind the greatest time so far, before it is cut to a second."""
    keep: bool = False
    """Keep all slots of all levels, where a wheel would keep as many as a rotation has. Ranges always do."""
    until: int = 0
    """Advance to here after the last event; 0 is to stay. For ranges, 0 is the second after the last event."""


FEED = Feed()


@dataclass(frozen=True)
class Filled:
    """What is known of any wheel with all events in it."""

    late: int
    """Events that came after the watermark had passed them; they are dropped."""
    landmark: float | int | None
    """The sum of all events below the watermark."""
    watermark: int
    size: int
    """Bytes, by the library's own estimate."""


@dataclass(frozen=True)
class Ingested(Filled):
    ns: int


@dataclass(frozen=True)
class Windows(Filled):
    ns: int
    ends: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Latencies(Filled):
    """Nanoseconds of each call; `clock_ns` of each is the clock's own."""

    inserts: np.ndarray
    advances: np.ndarray
    clock_ns: int


@dataclass(frozen=True)
class Ranges(Filled):
    ns: int
    """Of all ranges."""
    whole_ns: int
    """The same with the making of its ranges of all pairs of times."""
    values: np.ndarray
    """NaN, or the greatest integer, where the library gave no answer."""
    missing: int
    latencies: np.ndarray
    """Nanoseconds of each range, measured again; `clock_ns` of each is the clock's own."""
    combines: np.ndarray
    """What the library says it combined for each range."""
    clock_ns: int


@dataclass(frozen=True)
class Groups(Filled):
    ns: float
    """Of one call."""
    times: np.ndarray
    values: np.ndarray


class Peer:
    """Events in files of a temporary directory, written once; each method runs the program on them."""

    def __init__(self, binary: str, times: np.ndarray, values: np.ndarray, start: int) -> None:
        self.binary, self.start, self.last = binary, int(start), int(np.max(times))
        self.kind, self.dtype = ("f64", "<f8") if values.dtype.kind == "f" else ("u64", "<u8")
        self._directory = tempfile.TemporaryDirectory(prefix="uwheel-")
        self._asked: np.ndarray | None = None
        times.astype("<i8", copy=False).tofile(self._path("times"))
        values.astype(self.dtype, copy=False).tofile(self._path("values"))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._directory.cleanup()

    def ingest(self, feed: Feed = FEED, lasting: int = 0) -> Ingested:
        """Inserts all events, into one new wheel after the other for so many nanoseconds; what is given is one time."""
        return Ingested(**self._run("ingest", feed, lasting=lasting))

    def windows(self, length: int, slide: int, feed: Feed = FEED, lasting: int = 0) -> Windows:
        """The same with one sliding window, and takes all that the wheel gives."""
        found = self._run("windows", feed, files=("out",), range=length, slide=slide, lasting=lasting)
        ends, values = self._timed()
        return Windows(**found, ends=ends, values=values)

    def insert_latency(self, length: int, slide: int, feed: Feed = FEED) -> Latencies:
        """The same as `windows`, each call timed on its own."""
        found = self._run("insert_latency", feed, files=("out", "advances"), range=length, slide=slide)
        return Latencies(**found, inserts=self._array("out", "<u8"), advances=self._array("advances", "<u8"))

    def ranges(self, pairs: np.ndarray, mode: str = "default", feed: Feed = FEED, lasting: int = 0) -> Ranges:
        """Fills a wheel, then asks it for the sum over each range [start, end): an array of two columns.

        All of them are asked again and again for so many nanoseconds, and what is given is the time of one pass.
        `prefix` is with prefix sums on all levels, `hints` with a way to combine a slice that the optimizer knows of.
        """
        if pairs is not self._asked:
            pairs.astype("<i8", order="C", copy=False).tofile(self._path("queries"))
            self._asked = pairs
        files = ("queries", "out", "latencies", "combines")
        found = self._run("ranges", self._whole(feed), files=files, mode=_known(mode), lasting=lasting)
        values, latencies, combines = self._array("out", self.dtype), *(self._array(f, "<u8") for f in files[2:])
        return Ranges(**found, values=values, latencies=latencies, combines=combines)

    def group(
        self, begin: int, end: int, interval: int, *, repeat: int = 1, mode: str = "default", feed: Feed = FEED
    ) -> Groups:
        """Fills a wheel, then asks it for the sums over each interval of [begin, end), so many times."""
        asked = {"from": begin, "to": end, "interval": interval, "repeat": repeat, "mode": _known(mode)}
        found = self._run("group", self._whole(feed), files=("out",), **asked)
        times, values = self._timed()
        return Groups(**found | {"ns": found["ns"] / repeat}, times=times, values=values)

    def _whole(self, feed: Feed) -> Feed:
        """Every event below the watermark, and every slot kept."""
        return replace(feed, keep=True, until=feed.until or (self.last // SECOND + 1) * SECOND)

    def _run(self, experiment: str, feed: Feed, files: tuple[str, ...] = (), **options: Any) -> dict[str, Any]:
        paths = {name: self._path(name) for name in ("times", "values", *files)}
        given = {"kind": self.kind, "start": self.start, **asdict(feed), "keep": int(feed.keep), **paths, **options}
        command = [self.binary, experiment, *(f"{name}={value}" for name, value in given.items())]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"uwheel, {experiment}: " + " ".join(done.stderr.split()))
        found = json.loads(done.stdout)
        return {name: value for name, value in found.items() if name not in ("windows", "groups")}

    def _path(self, name: str) -> str:
        return os.path.join(self._directory.name, name)

    def _array(self, name: str, dtype: str) -> np.ndarray:
        return np.fromfile(self._path(name), dtype)

    def _timed(self) -> tuple[np.ndarray, np.ndarray]:
        found = self._array("out", f"<i8, {self.dtype}")
        return found["f0"], found["f1"]


def _known(mode: str) -> str:
    if mode not in MODES:
        raise ValueError(f"the mode is one of {', '.join(MODES)}, not {mode!r}")
    return mode
