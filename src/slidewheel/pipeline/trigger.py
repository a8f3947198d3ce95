"""When a pipeline runs: once over what is there, or as a stream."""

from dataclasses import dataclass
from typing import Any

from slidewheel.pipeline.table import Table
from slidewheel.times import format_duration

MODES = ("batch", "stream")


@dataclass(frozen=True)
class Trigger:
    stream: bool
    every: int
    """Microseconds from one micro-batch to the next."""
    available_now: bool

    @classmethod
    def read(cls, table: Table) -> "Trigger":
        of_streams = [key for key in ("every", "available_now") if key in table]
        mode = table.choice("mode", MODES, "stream" if of_streams else "batch")
        every, now = table.span("every", "1s"), table.flag("available_now")
        if mode == "batch":
            for key in of_streams:
                table.wrong(key, f'{key} is for streams: write mode = "stream", or leave mode out')
        if now and "every" in table:
            table.wrong("every", "a stream runs either every so often, or over what is available now and ends")
        if every < 1000:
            table.wrong("every", f"every is 1ms or longer, not {format_duration(every)}")
        table.refuse_others()
        return cls(mode == "stream", every, now)

    def options(self) -> dict[str, Any]:
        """What Spark's `writeStream.trigger` takes."""
        if self.available_now:
            return {"availableNow": True}
        return {"processingTime": f"{self.every // 1000} milliseconds"}

    def __str__(self) -> str:
        if not self.stream:
            return "once, over what is there"
        if self.available_now:
            return "as a stream, over what is available now"
        return f"as a stream, every {format_duration(self.every)}"
