"""How far a pipeline has come: counts over all batches, and the state after the last one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from slidewheel.pipeline import rejects

ANSWERS = "slidewheel_output"
STREAM = "slidewheel"
"""The names under which counts of answers and of late rows are among the observed metrics."""


@dataclass
class Summary:
    """What was done. In a stream, counts are of this run, not of those before it."""

    batches: int = 0
    rows: int = 0
    answers: int = 0
    malformed: int = 0
    without_time: int = 0
    without_key: int = 0
    late: int = 0
    open_windows: int | None = None
    """Those that are open after the last batch; a session counts for every key."""
    rows_per_second: float = 0.0
    watermark: str | None = None
    state_rows: int = 0
    state_bytes: int = 0
    seconds: float = 0.0
    signal: int | None = None
    """The signal that stopped it."""
    last_batch: int = -1
    offsets: tuple[Any, ...] = ()
    """Where the sources were before the last batch."""

    @property
    def rejected(self) -> int:
        return self.malformed + self.without_time + self.without_key

    def add_progress(self, progress: Any) -> bool:
        """Take in the progress of a micro-batch as Spark reports it; False if it was known."""
        # Between batches, Spark reports now and then that nothing has happened, under the number of the next one.
        if progress.batchId <= self.last_batch or not (progress.numInputRows or _ran(progress)):
            return False
        self.last_batch = progress.batchId
        self.batches += 1
        observed = {name: _measures(row) for name, row in (progress.observedMetrics or {}).items()}
        self.add_input(observed.get(rejects.METRICS, {}))
        self.answers += observed.get(ANSWERS, {}).get("rows") or 0
        said = observed.get(STREAM, {})
        self.late += said.get("late_rows") or 0
        if said.get("open_windows") is not None:
            self.open_windows = said["open_windows"] + said["open_sessions"]
        self.rows_per_second = progress.processedRowsPerSecond or 0.0
        self.watermark = (progress.eventTime or {}).get("watermark", self.watermark)
        self.state_rows = sum(operator.numRowsTotal for operator in progress.stateOperators)
        self.state_bytes = sum(operator.memoryUsedBytes for operator in progress.stateOperators)
        self.offsets = tuple(_offset(source.startOffset) for source in progress.sources)
        return True

    def add_input(self, counts: Mapping[str, int | None]) -> None:
        self.rows += counts.get("rows") or 0
        self.malformed += counts.get("malformed") or 0
        self.without_time += counts.get("without_time") or 0
        self.without_key += counts.get("without_key") or 0

    def line(self) -> str:
        """The present state in one line."""
        return "  ".join(f"{name} {value}" for name, value in self.figures().items())

    def figures(self) -> dict[str, str]:
        """What a user wants to see, as texts by name."""
        shown = {"rows": f"{self.rows:,}", "answers": f"{self.answers:,}"}
        if self.batches:
            shown = {"batch": f"{self.last_batch}", **shown, "rows/s": f"{self.rows_per_second:,.0f}"}
            shown |= {"watermark": self.watermark or "none"}
            if self.open_windows is not None:
                shown |= {"open windows": f"{self.open_windows:,}"}
            shown |= {"state": f"{self.state_rows:,} rows, {self.state_bytes / 1e6:,.1f} MB", "late": f"{self.late:,}"}
        return {**shown, "rejected": f"{self.rejected:,}"}

    def text(self) -> str:
        """The summary at the end."""
        batches = f" in {_counted(self.batches, 'batch', 'batches')}" if self.batches else ""
        answers = _counted(self.answers, "answer", "answers")
        said = [f"{_counted(self.rows, 'row', 'rows')}, {answers}{batches}, {self.seconds:,.1f} s"]
        if self.rejected:
            malformed = _counted(self.malformed, "malformed row", "malformed rows")
            said.append(
                f"left out: {malformed}, {self.without_time:,} without a time, {self.without_key:,} without a key"
            )
        if self.late:
            said.append(f"{_counted(self.late, 'row', 'rows')} came too late for a window")
        return "\n".join(said)


class Watch(Protocol):
    """Is told how far a pipeline has come."""

    def update(self, summary: Summary) -> None: ...


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _measures(row: Any) -> dict[str, Any]:
    """Observed measures by name. Spark Connect hands out names and values apart."""
    found: dict[str, Any] = row.asDict()
    if found.keys() == {"values", "schema"}:
        return {field["name"]: value for field, value in zip(found["schema"]["fields"], found["values"], strict=True)}
    return found


def _ran(progress: Any) -> bool:
    """Whether a batch was executed: one without rows is, when the watermark has risen."""
    return "addBatch" in (progress.durationMs or {})


def _offset(said: Any) -> Any:
    try:
        return json.loads(said)
    except (TypeError, ValueError):
        return said
