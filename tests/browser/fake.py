"""A server with made-up answers: the page's files, and the part of the API that the page asks."""

import json
import math
import threading
import time
from datetime import UTC, datetime
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import slidewheel
from slidewheel.times import format_duration

PAGE = Path(slidewheel.__file__).parent / "serve" / "page"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LENGTHS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
STEPS = [a * b for b in (1, 60, 3600) for a in (1, 2, 5, 10, 15, 30)] + [a * 86400 for a in (1, 2, 7, 14, 30)]
CSP = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
START = int(datetime(2013, 1, 1, tzinfo=UTC).timestamp())
END = int(datetime(2014, 1, 1, tzinfo=UTC).timestamp())
AIRPORTS = ["JFK", "LGA", "EWR", *(f"{a}{b}X" for a in "ABCDEFGHIKLMN" for b in "ABCDEFGHIKLMNOPQRSTU")]


def text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())


class Fake:
    """Its attributes are what a test changes."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.end, self.version = END, 12
        self.slow, self.broken, self.filled = 0.0, "", False
        self.asked: list[dict[str, list[str]]] = []

    @cached_property
    def address(self) -> str:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                split = urlsplit(self.path)
                status, kind, body = owner.answer(split.path, parse_qs(split.query))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Security-Policy", CSP)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quietly."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    def answer(self, path: str, given: dict[str, list[str]]) -> tuple[int, str, bytes]:
        if path == "/" or path.startswith("/static/"):
            file = PAGE / (path.removeprefix("/static/") if path != "/" else "index.html")
            if not file.is_file():
                return 404, "text/plain", b"not here"
            return 200, TYPES.get(file.suffix, "text/plain"), file.read_bytes()
        question = {"/stores": self.stores, "/keys": self.keys, "/query": self.query}.get(path)
        status, said = (404, {"error": f"there is nothing at {path}"}) if question is None else question(given)
        return status, "application/json", json.dumps(said).encode()

    def stores(self, _: Any) -> tuple[int, Any]:
        numbers = [("mean_delay", "double"), ("count", "int64"), ("max_delay", "double")]
        aggregates = [{"name": name, "type": kind, "numeric": True} for name, kind in numbers]
        words = {"name": "first_carrier", "type": "string", "numeric": False}
        levels = [{"name": name, "length": length, "keep": None} for name, length in LENGTHS.items()]
        store = {"tick": 1, "levels": levels, "version": self.version, "windows": ["1h"], "start": text(START)}
        return 200, [
            {"name": "flights", "keys": ["origin"], "aggregates": [*aggregates, words], "end": text(self.end), **store},
            {"name": "routes", "keys": ["origin", "dest"], "aggregates": aggregates, "end": text(self.end), **store},
            {"name": "totals", "keys": [], "aggregates": aggregates, "end": text(self.end), **store},
            self.new(store),
        ]

    def new(self, store: dict[str, Any]) -> dict[str, Any]:
        """A store that may be empty: types are not known then."""
        kind, numeric = ("double", True) if self.filled else (None, False)
        about = {"name": "new", "keys": ["origin"], "aggregates": [{"name": "mean", "type": kind, "numeric": numeric}]}
        span = {"start": text(START), "end": text(self.end)} if self.filled else {"start": None, "end": None}
        return {**store, **about, **span, "version": self.version + self.filled}

    def keys(self, given: dict[str, list[str]]) -> tuple[int, Any]:
        keys = [[name] for name in AIRPORTS]
        if given["store"] == ["routes"]:
            keys = [[a, b] for a in ("EWR", "JFK") for b in ("LAX", "SFO", "ORD")]
        prefix = given.get("prefix", [""])[0]
        fitting = [key for key in keys if key[0].startswith(prefix)]
        return 200, {"keys": fitting[: int(given["limit"][0])], "total": len(fitting)}

    def query(self, given: dict[str, list[str]]) -> tuple[int, Any]:
        self.asked.append(given)
        time.sleep(self.slow)
        if self.broken:
            return 400, {"error": self.broken}
        low, high, points = seconds(given["start"][0]), seconds(given["end"][0]), int(given["points"][0])
        step = next((step for step in STEPS if -(-high // step) - low // step <= points), 30 * 86400)
        low, high = low // step * step, -(-high // step) * step
        [name] = given["aggregate"]
        columns, keys = self.chosen(given)
        rows = []
        for key in keys:
            for at in range(max(low, START // step * step), min(high, self.end), step):
                # Nobody flies at night.
                if step < 6 * 3600 and 1 <= at // 3600 % 24 < 5:
                    continue
                rows.append((at * 10**6, (at + step) * 10**6, *key, value_of(name, key, at, step)))
        data = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(3 + len(columns))]
        return 200, {
            **{"store": given["store"][0], "version": self.version, "start": text(low), "end": text(high)},
            **{"every": format_duration(step * 10**6), "columns": ["start", "end", *columns, name]},
            **{"data": data, "rows": len(rows)},
            "plan": plan_of(low, high, step, len(rows)),
        }

    def chosen(self, given: dict[str, list[str]]) -> tuple[list[str], list[list[str]]]:
        if given["store"] == ["totals"]:
            return [], [[]]
        pairs = [pair.split("=", 1) for pair in given["key"]]
        columns = list(dict.fromkeys(column for column, _ in pairs))
        keys: list[list[str]] = [[]]
        for column in columns:
            keys = [[*key, value] for key in keys for name, value in pairs if name == column]
        return columns, keys


def value_of(name: str, key: list[str], at: int, step: int) -> Any:
    shift = sum(k * ord(letter) for k, letter in enumerate("".join(key))) % 17
    if name == "first_carrier":
        return ["UA", "DL", "B6"][(at // step + shift) % 3]
    year = math.sin(2 * math.pi * (at - START) / (365 * 86400) + shift / 5)
    day = math.sin(2 * math.pi * (at % 86400) / 86400 - 2)
    noise = math.sin(at / step * 12.9898 + shift * 78.233) * 43758.5453 % 1
    if name == "count":
        return round(step / 3600 * (18 + shift / 3 + 4 * year) * (1 + 0.2 * noise)) or None
    delay = 12 + shift / 2 + 6 * year + (5 * day if step < 86400 else 0) + 4 * noise
    return "NaN" if name == "max_delay" and noise > 0.97 else round(delay * (9 if name == "max_delay" else 1), 3)


def plan_of(low: int, high: int, step: int, rows: int) -> dict[str, Any]:
    level = max((name for name in LENGTHS if step % LENGTHS[name] == 0), key=LENGTHS.__getitem__)
    slots = {level: (high - low) // LENGTHS[level]}
    read = slots[level] * max(1, rows * step // max(1, high - low))
    said = f"[{text(low)}, {text(high)})  {(high - low) // step:,} buckets\n  + {slots[level]:,} of {level}\n"
    said += f"  {read:,} states read from 7 of 48 files; {read:,} combined to {rows:,} answers in 3.4 ms"
    counts = {"rows": read, "fresh": 0, "combined": read, "answers": rows}
    return {"text": said, "slots": slots, "files": 7, "all_files": 48, **counts, "milliseconds": 3.4}


if __name__ == "__main__":
    print(Fake().address, flush=True)
    threading.Event().wait()
