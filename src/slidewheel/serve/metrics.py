"""What the server counts of itself, in Prometheus' text format."""

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds, the upper ends of the histogram's buckets but the last."""
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters. All of them are changed in the event loop only, so none needs a lock."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.refused: Counter[str] = Counter()
        self.in_flight = 0
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def done(self, endpoint: str, status: int, seconds: float) -> None:
        self.requests[endpoint, status] += 1
        counts = self._buckets.setdefault(endpoint, [0] * (len(BOUNDS) + 1))
        counts[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[endpoint] += seconds  # type: ignore[assignment]

    def text(self, versions: Mapping[str, int]) -> str:
        """All of them, as `/metrics` says it."""
        lines = [
            *_family("slidewheel_requests_total", "counter", "Requests by endpoint and status."),
            *(
                f"slidewheel_requests_total{_labels(endpoint=endpoint, status=status)} {count}"
                for (endpoint, status), count in sorted(self.requests.items())
            ),
            *_family("slidewheel_request_seconds", "histogram", "Seconds from a request to its reply."),
            *(line for endpoint in sorted(self._buckets) for line in self._histogram(endpoint)),
            *_family("slidewheel_requests_in_flight", "gauge", "Requests that have no reply yet."),
            f"slidewheel_requests_in_flight {self.in_flight}",
            *_family("slidewheel_refused_total", "counter", "Requests that were refused, by the limit that did."),
            *(f"slidewheel_refused_total{_labels(limit=name)} {n}" for name, n in sorted(self.refused.items())),
            *_family("slidewheel_store_version", "gauge", "The newest version of each store."),
            *(f"slidewheel_store_version{_labels(store=name)} {number}" for name, number in versions.items()),
            *_family("process_resident_memory_bytes", "gauge", "Memory of the process that is in use."),
            f"process_resident_memory_bytes {resident_memory()}",
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self, endpoint: str) -> Iterable[str]:
        name, total = "slidewheel_request_seconds", 0
        for bound, count in zip([*map(str, BOUNDS), "+Inf"], self._buckets[endpoint], strict=True):
            total += count
            yield f"{name}_bucket{_labels(endpoint=endpoint, le=bound)} {total}"
        yield f"{name}_sum{_labels(endpoint=endpoint)} {self._seconds[endpoint]}"
        yield f"{name}_count{_labels(endpoint=endpoint)} {total}"


def _family(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"


def _labels(**labels: object) -> str:
    escaped = (str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for value in labels.values())
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(labels, escaped, strict=True)) + "}"


def resident_memory() -> int:
    """Bytes of this process that are in memory."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


class Counted:
    """Counts and times all requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.metrics.in_flight += 1
        try:
            await self.app(scope, receive, sent)
        finally:
            self.metrics.in_flight -= 1
            # The path as it was declared: what users make up is not to become a label.
            endpoint = getattr(scope.get("route"), "path", "other")
            self.metrics.done(endpoint, status, time.perf_counter() - began)
