"""A query written down as its meaning, docs/semantics.md word by word: slow, obvious, plain Python.

After every step the windows are found anew from all rows that have come in; no state is carried but what came in,
the watermark from before it, and the sessions that are closed. Instants are integers, null is None, and a watermark
that is not there yet is minus infinity; `finish` raises it to plus infinity.

Not told here: in which place a late row stands for an aggregate that is not commutative. Cases must not ask for it.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from slidewheel.times import format_duration
from tests.engine.reference import answer

Window = tuple[str, dict[str, Any]]
Aggregate = tuple[str, str | tuple[str, ...] | None, dict[str, Any]]
Key = tuple[Any, ...]
Output = dict[str, Any]

GIVE_ROWS = {"trailing", "rows", "delta"}
REPAIRED = {"sliding", "tumbling", "trailing"}
COMMUTATIVE = ["count", "sum", "product", "mean", "geomean", "var", "std"]
COMMUTATIVE += ["min", "max", "span", "min_count", "max_count"]


@dataclass
class Case:
    """A query, its table, and how the table comes in."""

    columns: dict[str, list[Any]]
    windows: list[Window]
    """("sliding", {"range", "every", "offset"}), ("tumbling", {"every", "offset"}), ("session", {"gap"}),
    ("rows", {"n", "every"}), ("punctuated", {"column"}), ("trailing", {"range", "closed"}) or
    ("delta", {"column", "distance"}), each with a "name" if it is not to have its own."""
    aggregates: list[Aggregate]
    """("count", None, {}), ("var", "x", {"ddof": 0}), ("argmax", ("x", "s"), {"alias": "best"})."""
    time: str = "t"
    keys: list[str] = field(default_factory=list)
    lateness: int = 0
    late: str = "drop"
    repair: int = 0
    batches: list[list[int]] = field(default_factory=list)
    """The rows of each batch by their place in the columns."""
    advances: list[int | None] = field(default_factory=list)
    """After each batch an instant to advance to, or None; may be shorter than `batches`."""
    types: dict[str, str] = field(default_factory=dict)
    """Arrow types of the columns other than time, where the values do not tell."""
    time_type: str = "us"
    """How the time column is handed over: "us", "utc", "ns" or "int64"."""
    on_time: bool = False
    """No row is late, so that the stream's windows are those of `run`."""

    def steps(self) -> Iterator[tuple[str, Any]]:
        """("push", rows), ("advance", instant), and ("finish", None) at the end."""
        for k, batch in enumerate(self.batches):
            yield "push", batch
            if k < len(self.advances) and self.advances[k] is not None:
                yield "advance", self.advances[k]
        yield "finish", None


@dataclass
class Late:
    late: int = 0
    """Rows that belong to a window which was closed when they came."""
    missed: int = 0
    """Those of them that did not get into one of their windows; with late="update" a repaired window is not missed."""
    lost: int | None = 0
    """Those of them that got into none. None where later rows decide: trailing, rows and delta."""
    outside: int = 0
    """Rows that came in time and that no window holds, since the slide is longer than the range."""
    without_time: int = 0
    kept: list[int] = field(default_factory=list)
    """With late="keep" the rows that missed a window, in the order in which they came."""
    kept_without_time: list[int] = field(default_factory=list)


@dataclass
class Streamed:
    steps: list[list[Output]]
    """What comes out of each of `case.steps()`."""
    watermarks: list[int | None]
    """The watermark after each step but the last, `finish`."""
    late: Late


def kind(window: Window) -> str:
    """The kind of a window; `rows` that give windows are "rows_every"."""
    return "rows_every" if window[0] == "rows" and window[1].get("every", 1) > 1 else window[0]


def gives_rows(case: Case) -> bool:
    forms = {kind(w) in GIVE_ROWS for w in case.windows}
    assert len(forms) == 1, "a query has windows of one form"
    return forms.pop()


def window_name(window: Window) -> str:
    options = window[1]
    if "name" in options:
        return str(options["name"])
    match window[0]:
        case "sliding":
            return f"{format_duration(options['range'])}/{format_duration(options['every'])}"
        case "tumbling":
            return format_duration(options["every"])
        case "trailing":
            return format_duration(options["range"])
        case "session":
            return f"session_{format_duration(options['gap'])}"
        case "rows":
            return f"{options['n']}rows" + (f"/{options['every']}" if kind(window) == "rows_every" else "")
        case "delta":
            return f"{options['column']}_{options['distance']:g}"
        case "punctuated":
            return str(options["column"])
    raise NotImplementedError(window)


def columns_of(aggregate: Aggregate) -> list[str]:
    columns = aggregate[1]
    return [] if columns is None else [columns] if isinstance(columns, str) else list(columns)


def output_name(aggregate: Aggregate) -> str:
    return str(aggregate[2].get("alias", "_".join([aggregate[0], *columns_of(aggregate)])))


def expected_columns(case: Case) -> list[str]:
    """The columns of the result. For queries that give rows, the order of the aggregates is not told."""
    if gives_rows(case):
        return [*case.columns, *(f"{output_name(a)}_{window_name(w)}" for w in case.windows for a in case.aggregates)]
    return [*case.keys, "window_start", "window_end", "window", *map(output_name, case.aggregates)]


def expected_run(case: Case) -> list[Output]:
    """The rows of `query.run(table)`: all rows are one batch, and all windows close."""
    replay = _Replay(case)
    replay.arrive(range(len(case.columns[case.time])))
    return replay.rise(math.inf)


def expected_stream(case: Case) -> Streamed:
    """The rows of each push, each advance_to and finish, and what was late."""
    replay = _Replay(case)
    steps, watermarks = [], []
    for step, what in case.steps():
        if step == "push":
            replay.arrive(what)
            steps.append(replay.rise(replay.newest - case.lateness))
        else:
            steps.append(replay.rise(what if step == "advance" else math.inf))
        if step != "finish":
            watermarks.append(None if replay.watermark == -math.inf else replay.watermark)
    return Streamed(steps, watermarks, replay.late)


def rank(value: Any) -> tuple[int, Any]:
    """What keys and peers are ordered by: nulls first, NaN last."""
    return (0, 0) if value is None else (2, 0) if value != value else (1, value)


def aggregated(case: Case, aggregate: Aggregate, rows: list[int]) -> Any:
    """The aggregate of these rows, in their order."""
    name, _, options = aggregate
    columns = [case.columns[c] for c in columns_of(aggregate)]
    if not columns:
        assert name == "count"
        return len(rows)
    held = [(r, columns[0][r]) for r in rows if columns[0][r] is not None]
    found = answer(name, held, **{k: v for k, v in options.items() if k != "alias"})
    if name in ("argmin", "argmax") and found is not None:
        return columns[1][found]
    return found


class _Replay:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.times = case.columns[case.time]
        self.by_rows = gives_rows(case)
        self.arrived: dict[int, float] = {}
        """The rows that have a time, with the watermark from before their batch."""
        self.behind: dict[int, int] = {}
        """The rows that came behind the watermark, with the number of rows that had come before their batch."""
        self.batch: list[int] = []
        self.newest = -math.inf
        self.watermark = -math.inf
        self.late = Late(lost=None if any(kind(w) in {*GIVE_ROWS, "rows_every"} for w in case.windows) else 0)
        self.accepted: dict[int, list[int]] = defaultdict(list)
        """By the place of a session or punctuated spec: the rows that its windows may hold."""
        self.repair = case.repair if case.late == "update" else 0
        if case.late == "update":
            assert {kind(w) for w in case.windows} <= REPAIRED

    def arrive(self, rows: Any) -> None:
        """A batch, judged by the watermark from before it."""
        timed = [r for r in rows if self.times[r] is not None]
        untimed = [r for r in rows if self.times[r] is None]
        self.late.without_time += len(untimed)
        self.late.kept_without_time += untimed
        for r in timed:
            self._judge(r)
        for k, window in enumerate(self.case.windows):
            if window[0] in ("session", "punctuated"):
                self.accepted[k] += [r for r in timed if not self._late(window, r)]
        self.behind |= {r: len(self.arrived) for r in timed if self.times[r] < self.watermark}
        for r in timed:
            self.arrived[r] = self.watermark
            self.newest = max(self.newest, self.times[r])
        self.batch = timed

    def rise(self, to: float) -> list[Output]:
        """The watermark rises; what comes out of that and of the late rows of the batch."""
        before, self.watermark = self.watermark, max(self.watermark, to)
        out = self._rows_out(before) if self.by_rows else self._windows_out(before)
        self.batch = []
        return out

    # Late rows

    def _late(self, window: Window, r: int) -> bool:
        """Whether a row of this batch is late for a window of this spec that is not sliding or tumbling."""
        t, options = self.times[r], window[1]
        match kind(window):
            case "session":
                return t + options["gap"] <= self.watermark
            case "punctuated":
                if t >= self.watermark:
                    return False
                ends = [self.times[q] for q in self._ends(window) if self.key(q) == self.key(r)]
                return self.case.columns[options["column"]][r] is True or (bool(ends) and t <= max(ends))
        return t < self.watermark

    def _ends(self, window: Window) -> list[int]:
        """The rows that closed punctuated windows end with."""
        punctuation = self.case.columns[window[1]["column"]]
        rows = self.accepted[self.case.windows.index(window)]
        return [r for r in rows if punctuation[r] is True and self.times[r] < self.watermark]

    def _judge(self, r: int) -> None:
        late = missed = got_in = False
        for window in self.case.windows:
            if window[0] in ("sliding", "tumbling"):
                for _, end in self._periods(window, self.times[r]):
                    late |= end <= self.watermark
                    missed |= end <= self.watermark - self.repair
                    got_in |= end > self.watermark - self.repair
            else:
                is_late = self._late(window, r)
                late |= is_late
                missed |= is_late and self.times[r] < self.watermark - self.repair
                got_in |= not is_late
        self.late.late += late
        self.late.missed += missed
        self.late.outside += not late and not got_in
        if self.late.lost is not None:
            self.late.lost += missed and not got_in
        if self.case.late == "keep" and missed:
            self.late.kept.append(r)

    # Order

    def key(self, r: int) -> Key:
        return tuple(rank(self.case.columns[k][r]) for k in self.case.keys)

    def peer(self, r: int) -> Key:
        """What orders peers: the columns that the query names besides time and keys, those of windows first."""
        names = [w[1]["column"] for w in self.case.windows if "column" in w[1]]
        names += [c for a in self.case.aggregates for c in columns_of(a)]
        own = (self.case.time, *self.case.keys)
        return tuple(rank(self.case.columns[c][r]) for c in names if c not in own)

    def in_order(self, rows: Any) -> list[int]:
        return sorted(rows, key=lambda r: (self.times[r], self.behind.get(r, -1), self.peer(r)))

    def by_key(self, rows: Any) -> dict[Key, list[int]]:
        """The rows of each key in order."""
        grouped: dict[Key, list[int]] = defaultdict(list)
        for r in self.in_order(rows):
            grouped[self.key(r)].append(r)
        return grouped

    # Queries that give windows

    def _windows_out(self, before: float) -> list[Output]:
        found = []
        for k, window in enumerate(self.case.windows):
            match kind(window):
                case "sliding" | "tumbling":
                    closed = self._closed_periods(window, before)
                case "session":
                    closed = self._closed_sessions(k, window[1]["gap"])
                case "rows_every":
                    closed = self._closed_rows(window[1]["n"], window[1]["every"], before)
                case "punctuated":
                    closed = self._closed_punctuated(k, window[1]["column"], before)
            for place, (key, start, end, rows) in enumerate(closed):
                found.append(((end, key, k, place), start, rows, window_name(window)))
        found.sort(key=lambda f: f[0])
        return [self._window_row(rows, start, order[0], name) for order, start, rows, name in found]

    def _window_row(self, rows: list[int], start: int, end: int, name: str) -> Output:
        out = {k: self.case.columns[k][rows[0]] for k in self.case.keys}
        out |= {"window_start": start, "window_end": end, "window": name}
        return out | {output_name(a): aggregated(self.case, a, rows) for a in self.case.aggregates}

    def _periods(self, window: Window, t: int) -> list[tuple[int, int]]:
        """Start and end of the windows that hold an instant."""
        options = window[1]
        every, offset = options["every"], options.get("offset", 0)
        length = options.get("range", every)
        start = offset + (t - offset) // every * every
        starts = []
        while start + length > t:
            starts.append(start)
            start -= every
        return [(s, s + length) for s in starts]

    def _closed_periods(self, window: Window, before: float) -> Iterator[tuple[Key, int, int, list[int]]]:
        """Windows that closed now, and closed ones that a late row of this batch has changed."""
        for key, rows in self.by_key(self.arrived).items():
            held: dict[tuple[int, int], list[int]] = defaultdict(list)
            for r in rows:
                for start, end in self._periods(window, self.times[r]):
                    if end > self.arrived[r] - self.repair:
                        held[start, end].append(r)
            for (start, end), members in held.items():
                changed = any(r in self.batch for r in members)
                if end <= self.watermark and (end > before or changed):
                    yield key, start, end, members

    def _closed_sessions(self, k: int, gap: int) -> list[tuple[Key, int, int, list[int]]]:
        closed = []
        for key, rows in self.by_key(self.accepted[k]).items():
            runs: list[list[int]] = []
            for r in rows:
                if runs and self.times[r] - self.times[runs[-1][-1]] <= gap:
                    runs[-1].append(r)
                else:
                    runs.append([r])
            for run in runs:
                end = self.times[run[-1]] + gap
                if end <= self.watermark:
                    closed.append((key, self.times[run[0]], end, run))
        # No row joins a session that has come out.
        gone = {r for *_, run in closed for r in run}
        self.accepted[k] = [r for r in self.accepted[k] if r not in gone]
        return closed

    def _closed_rows(self, n: int, every: int, before: float) -> Iterator[tuple[Key, int, int, list[int]]]:
        for key, rows in self.by_key(self.arrived).items():
            for count in range(every, len(rows) + 1, every):
                last = self.times[rows[count - 1]]
                if before <= last < self.watermark:
                    members = rows[max(0, count - n) : count]
                    yield key, self.times[members[0]], last, members

    def _closed_punctuated(self, k: int, column: str, before: float) -> Iterator[tuple[Key, int, int, list[int]]]:
        for key, rows in self.by_key(self.accepted[k]).items():
            members: list[int] = []
            for r in rows:
                members.append(r)
                if self.case.columns[column][r] is True:
                    if before <= self.times[r] < self.watermark:
                        yield key, self.times[members[0]], self.times[r], members
                    members = []

    # Queries that give rows

    def _rows_out(self, before: float) -> list[Output]:
        out = []
        for key, rows in self.by_key(self.arrived).items():
            for place, r in enumerate(rows):
                t = self.times[r]
                # A row that missed its own window does not come out, now or later.
                if t >= self.watermark or t < self.arrived[r] - self.repair:
                    continue
                windows = [self._members(window, rows, place) for window in self.case.windows]
                changed = r in self.batch or any(q in self.batch for members in windows for q in members)
                # Before it closed, a row is to come out once; afterwards only if repaired.
                if t >= before or (changed and self.case.late == "update"):
                    out.append(((t, key, self.peer(r)), self._row(r, windows)))
        out.sort(key=lambda o: o[0])
        return [row for _, row in out]

    def _row(self, r: int, windows: list[list[int]]) -> Output:
        out = {name: values[r] for name, values in self.case.columns.items()}
        for window, members in zip(self.case.windows, windows, strict=True):
            for a in self.case.aggregates:
                out[f"{output_name(a)}_{window_name(window)}"] = aggregated(self.case, a, members)
        return out

    def _members(self, window: Window, rows: list[int], place: int) -> list[int]:
        """The rows of the window of one row: `rows` are all of its key, in order."""
        options = window[1]
        match kind(window):
            case "trailing":
                t = self.times[rows[place]]
                closed = options.get("closed", "right")
                in_range = [q for q in rows if _within(self.times[q], t, options["range"], closed)]
                return [q for q in in_range if t >= self.arrived[q] - self.repair]
            case "rows":
                return rows[max(0, place + 1 - options["n"]) : place + 1]
            case "delta":
                values = self.case.columns[options["column"]]
                if values[rows[place]] is None:
                    return []
                window_now: list[int] = []
                for r in rows[: place + 1]:
                    if values[r] is None:
                        continue
                    window_now.append(r)
                    while r not in self.behind and abs(values[window_now[0]] - values[r]) > options["distance"]:
                        del window_now[0]
                return window_now
        raise NotImplementedError(window)


def _within(then: int, t: int, length: int, closed: str) -> bool:
    after_left = then >= t - length if closed in ("left", "both") else then > t - length
    before_right = then <= t if closed in ("right", "both") else then < t
    return after_left and before_right
