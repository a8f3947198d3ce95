"""Every algorithm in compiled code: nanoseconds for one round of evict, insert and query on a full window."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import slidewheel as sw
from bench.compiled import Live, columns_for
from bench.harness import SEED, Contestant, Report, figure
from slidewheel.swag import registry

AGGREGATES = {
    "sum": sw.sum(),
    "max": sw.max(),
    "std": sw.std(),
    "argmax": sw.argmax(),
    "geomean": sw.geomean(),
    "bloom": sw.bloom(),
}
NOT_FLAT = ("recalc", "flatfat", "b_int")
"""Those whose cost grows with the window by design."""


@dataclass(frozen=True)
class Settings:
    windows: tuple[int, ...] = (1 << 4, 1 << 8, 1 << 14, 1 << 20)
    rounds: int = 1 << 20
    """In one measurement, or the window's size if that is more: some algorithms do much work once per window."""
    flat: tuple[int, int] = (1 << 8, 1 << 20)
    aggregates: tuple[str, ...] = tuple(AGGREGATES)
    algorithms: tuple[str, ...] = tuple(registry.ALGORITHMS)


FULL = Settings()
QUICK = Settings(windows=(1 << 8, 1 << 20), rounds=1 << 18, aggregates=("sum", "max", "std", "bloom"))
SMOKE = Settings(windows=(4, 8), rounds=16, flat=(4, 8), aggregates=("sum",), algorithms=("two_stacks", "daba", "foa"))


def run(report: Report, settings: Settings) -> None:
    report.say("ns per round of evict, insert and query on a full window, compiled, float64; ± half the quartile range")
    report.say(
        "foa has no compiled form and runs interpreted, for fewer rounds; it and bloom stop at 2^14, recalc at 2^8"
    )
    for name in settings.aggregates:
        _aggregate(report, settings, name, AGGREGATES[name])


def _aggregate(report: Report, settings: Settings, name: str, aggregate: sw.Aggregate) -> None:
    fitting = [a for a in settings.algorithms if not list(registry.lacking(registry.ALGORITHMS[a].CARD, aggregate))]
    # Twice the longest window, so that no item meets its own copy.
    columns = columns_for(aggregate, 2 * max(settings.windows), SEED)
    report.say(f"\n{name}: {len(fitting)} algorithms")
    # One race for all windows, as the ratio of one window to another is wanted too.
    groups = {
        _power(w): [_contestant(settings, a, aggregate, w, columns) for a in fitting if w <= _longest(a, aggregate)]
        for w in settings.windows
    }
    times = report.race({f"{name}, {title}": group for title, group in groups.items() if group})
    short, long = (f"{name}, {_power(w)}" for w in settings.flat)
    grown = " over ".join(_power(w) for w in reversed(settings.flat))
    table = report.table([*groups, grown, "target < 2x"])
    for algorithm in fitting:
        found = [times.get(f"{name}, {title}", {}).get(algorithm) for title in groups]
        for window, timing in zip(settings.windows, found, strict=True):
            if timing is not None:
                report.keep("ns/round", timing, aggregate=name, algorithm=algorithm, window=window)
        growth = verdict = ""
        if algorithm in times.get(short, {}) and algorithm in times.get(long, {}):
            ratio = times[long][algorithm].over(times[short][algorithm])
            growth = f"{figure(ratio)}x"
            if algorithm not in NOT_FLAT:
                verdict = report.judge(f"{name} by {algorithm}: {grown}", ratio, 2, "x")
        table.row(algorithm, [*(timing or "-" for timing in found), growth, verdict])


def _power(window: int) -> str:
    return f"2^{window.bit_length() - 1}"


def _longest(algorithm: str, aggregate: sw.Aggregate) -> int:
    """The longest window that is worth the time and the memory."""
    if algorithm == "recalc":
        return 1 << 8
    if algorithm == "foa" and aggregate.name == "bloom":
        return 0  # interpreted, its states are of another form than the compiled ones
    return 1 << 14 if algorithm == "foa" or aggregate.name == "bloom" else 1 << 20


def _contestant(settings: Settings, algorithm: str, aggregate: sw.Aggregate, window: int, columns: Any) -> Contestant:
    count, kept = max(window, settings.rounds), 1 << 12
    if aggregate.name == "bloom":
        count, kept = max(window, settings.rounds >> 7), 1 << 6
    if algorithm == "recalc":
        count //= window
    made: Live | Interpreted
    if registry.ALGORITHMS[algorithm].CARD.compiled:
        made = Live(algorithm, aggregate, window, columns, kept)
    else:
        made, count = Interpreted(algorithm, aggregate, window, columns, kept), max(window, 1 << 12)
    return Contestant(algorithm, lambda: made.advance(count), count, answer=lambda: made.advance(kept).copy())


class Interpreted:
    """The same rounds as `Live`, for an algorithm that has no compiled form."""

    def __init__(self, algorithm: str, aggregate: sw.Aggregate, window: int, columns: Any, kept: int) -> None:
        parts = [column.tolist() for column in columns[1]]
        self.values = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        self.window, self.kept, self.taken = window, kept, 0
        self.live = sw.swag.window(aggregate, algorithm, capacity=window)

    def advance(self, count: int) -> np.ndarray:
        insert, evict, query, values = self.live.insert, self.live.evict, self.live.query, self.values
        last, kept = len(values) - 1, self.kept - 1
        if self.taken == 0:
            for value in values[: self.window]:
                insert(value)
            self.taken = self.window
        out = [0.0] * self.kept
        for i in range(self.taken, self.taken + count):
            evict()
            insert(values[i & last])
            out[i & kept] = query()
        self.taken += count
        return np.array(out)
