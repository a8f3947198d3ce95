"""A tour of slidewheel in the terminal: `make tour`. The first run compiles a few kernels, later ones find them."""

import time
from typing import Any

import numpy as np
import pyarrow as pa

import slidewheel as sw

ROWS = 200_000
HOUR = 3600


def main() -> None:
    began = time.perf_counter()
    print(f"slidewheel {sw.__version__}: sliding-window aggregation")
    print("Aggregates are compiled when they are first used; the next run finds them compiled.\n")
    times, values = sensor()
    by_count(values)
    by_time(times, values)
    own_aggregate(values)
    worst_case()
    no_trace(values)
    laws()
    query, flights, answers = at_once()
    streamed(query, flights, answers)
    any_range(times, values)
    print(f"Done in {time.perf_counter() - began:.1f} s, compiling included. Next: docs/index.md")


def title(text: str) -> None:
    print(f"{text}\n{'-' * len(text)}")


def sensor() -> tuple[np.ndarray, np.ndarray]:
    title("1. A noisy sensor")
    random = np.random.default_rng(7)
    seconds = np.cumsum(random.exponential(scale=2.0, size=ROWS))
    times = np.datetime64("2024-05-01T00:00:00", "us") + (seconds * 1e6).astype("timedelta64[us]")
    values = 20 + 5 * np.sin(seconds * 2 * np.pi / (24 * HOUR)) + random.normal(scale=0.5, size=ROWS)
    values[random.integers(ROWS, size=20)] += 15
    days = (times[-1] - times[0]) / np.timedelta64(1, "D")
    print(f"{ROWS:,} readings at irregular times over {days:.1f} days, with a few spikes.\n")
    return times, values


def by_count(values: np.ndarray) -> None:
    title("2. The last 1000 readings: sw.rolling(values, sw.max(), size=1000)")
    highest = sw.rolling(values, sw.max(), size=1000)
    spread = sw.rolling(values, sw.std(), size=1000)
    for row in ROWS // 2, ROWS - 1:
        window = values[row - 999 : row + 1]
        print(f"row {row:7,}: max {highest[row]:.3f}, std {spread[row]:.3f}", end="")
        print(f"   numpy on that slice: {window.max():.3f}, {window.std(ddof=1):.3f}")
    print("One answer for every row, and the cost of a row does not depend on the size of the window.\n")


def by_time(times: np.ndarray, values: np.ndarray) -> None:
    title('3. The last hour: sw.rolling(values, sw.max(), over="1h", times=times)')
    highest = sw.rolling(values, sw.max(), over="1h", times=times)
    spread = sw.rolling(values, sw.std(), over="1h", times=times)
    for row in ROWS // 2, ROWS - 1:
        window = values[(times > times[row] - np.timedelta64(1, "h")) & (times <= times[row])]
        print(f"row {row:7,}: max {highest[row]:.3f}, std {spread[row]:.3f}", end="")
        print(f"   numpy on those {len(window):,} readings: {window.max():.3f}, {window.std(ddof=1):.3f}")
    print("The window grows and shrinks with the readings that fall into it.\n")


@sw.aggregate(state={"high": "f8", "low": "f8", "fall": "f8"})
class Fall:
    """The deepest fall from a value to a later one: order matters, and nothing can be subtracted."""

    identity = (-float("inf"), float("inf"), 0.0)

    def lift(x):
        return x, x, 0.0

    def combine(a, b):
        return max(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2], a[0] - b[1])

    def lower(s):
        return s[2]


def own_aggregate(values: np.ndarray) -> None:
    title("4. An aggregate of your own: the deepest fall from a value to a later one")
    falls = sw.rolling(values, Fall(), size=1000)
    row = int(falls.argmax())
    window = values[max(row - 999, 0) : row + 1]
    by_hand = (np.maximum.accumulate(window) - window).max()
    print(f"the deepest of all is {falls[row]:.3f}, in the window of row {row:,}   by hand: {by_hand:.3f}")
    print("Three small functions and an identity, compiled like the built-in ones.\n")


def worst_case() -> None:
    title("5. No pauses: what is the most that one operation costs?")
    print("Combines for one operation, in a window of n items that slides 3n times:")
    print(f"{'n':>6}  {'two_stacks':>10}  {'daba':>5}")
    for n in 10, 100, 1000:
        print(f"{n:6,}  {most_combines('two_stacks', n):10,}  {most_combines('daba', n):5}")
    print("Two-Stacks needs fewer on average, but pauses to flip its stacks. DABA never needs more than 4.\n")


def most_combines(algorithm: str, n: int) -> int:
    calls = 0

    @sw.aggregate(state=object, commutative=True)
    class Counting:
        identity = 0

        def lift(x):
            return x

        def combine(a, b):
            nonlocal calls
            calls += 1
            return a + b

    window = sw.swag.window(Counting, algorithm=algorithm)
    most = 0
    for value in range(4 * n):
        operations = [lambda value=value: window.insert(value), window.query]
        if value >= n:
            operations.insert(0, window.evict)
        for operation in operations:
            calls = 0
            operation()
            most = max(most, calls)
    return most


def no_trace(values: np.ndarray) -> None:
    title("6. NaN and infinities leave no trace")
    broken = values[:5000].copy()
    broken[1000], broken[2000] = np.nan, np.inf
    clean, dirty = sw.rolling(values[:5000], sw.std(), size=100), sw.rolling(broken, sw.std(), size=100)
    differs = np.flatnonzero(~((clean == dirty) | (np.isnan(clean) & np.isnan(dirty))))
    print("Row 1000 is set to NaN and row 2000 to infinity; windows have 100 rows.")
    print(f"Answers that differ: {ranges(differs)}. All others are the same to the last bit.\n")


def ranges(rows: np.ndarray) -> str:
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return " and ".join(f"rows {part[0]} to {part[-1]}" for part in parts if len(part))


@sw.aggregate(state={"mean": "f8", "n": "i8"})
class Average:
    """Wrong: the mean of two means is not the mean of all."""

    identity = (0.0, 0)

    def lift(x):
        return x, 1

    def combine(a, b):
        if a[1] == 0 or b[1] == 0:
            return b if a[1] == 0 else a
        return (a[0] + b[0]) / 2, a[1] + b[1]

    def lower(s):
        return s[0]


def laws() -> None:
    title("7. sw.check finds a wrong aggregate: the mean of two means")
    try:
        sw.check(Average(), [1.0, 2.0, 4.0])
    except sw.LawViolation as error:
        print(f"LawViolation: {error}")
    sw.check(Fall(), [3.0, 5.0, -1.0, 4.0])
    print("Fall, from above, passes.\n")


def at_once() -> tuple[sw.Query, pa.Table, pa.Table]:
    title("8. One definition: a query over a table with keys")
    random = np.random.default_rng(11)
    seconds = np.sort(random.integers(0, 24 * HOUR, size=ROWS))
    flights = pa.table(
        {
            "departed": np.datetime64("2024-05-01T00:00:00", "us") + seconds.astype("timedelta64[s]"),
            "origin": random.choice(["AMS", "CDG", "LHR", "OSL"], size=ROWS),
            "delay": random.integers(-5, 90, size=ROWS).astype(float),  # whole minutes, so that no sum rounds
        }
    )
    query = sw.query(
        time="departed",
        keys="origin",
        windows=[sw.sliding("1h", every="5m"), sw.tumbling("6h")],
        aggregates=[sw.count().alias("flights"), sw.mean("delay"), sw.sum("delay"), sw.max("delay")],
        lateness="10m",
        late="update",
        repair="4h",
    )
    print(query.explain())
    began = time.perf_counter()
    result = query.run(flights)
    print(f"\n{ROWS:,} flights, {result.num_rows:,} windows, {time.perf_counter() - began:.2f} s. The last of them:")
    for row in result.slice(result.num_rows - 4).to_pylist():
        hours = f"{row['window_start']:%d %H:%M} to {row['window_end']:%d %H:%M}"
        print(f"  {row['origin']} {hours} {row['window']:6} {row['flights']:6,} flights, mean {row['mean_delay']:.2f}")
    print()
    return query, flights, result


def streamed(query: sw.Query, flights: pa.Table, answers: pa.Table) -> None:
    title("9. The same definition, streamed: rows out of order, some of them hours late")
    random = np.random.default_rng(12)
    on_the_way = random.integers(0, 600, size=ROWS)
    on_the_way[random.choice(ROWS, size=100, replace=False)] += 3 * HOUR
    arrival = np.argsort(flights["departed"].to_numpy() + on_the_way.astype("timedelta64[s]"), kind="stable")
    stream, steps = query.stream(), []
    for first in range(0, ROWS, 5000):
        steps.append(stream.push(flights.take(arrival[first : first + 5000])))
        if first == ROWS // 2:
            snapshot = stream.snapshot()
            stream = sw.Stream.restore(query, snapshot)
            print(f"After {first + 5000:,} rows it was stopped, and restored from {len(snapshot):,} bytes.")
    steps.append(stream.finish())
    rows = [row for step in steps for row in step.to_pylist()]
    newest = {window_of(row): row for row in rows}
    print(
        f"{len(steps)} steps gave {len(rows):,} windows; {stream.late.updates:,} of them are corrections by late rows."
    )
    equal = newest == {window_of(row): row for row in answers.to_pylist()}
    print(f"Rows that came too late to be corrected: {stream.late.rows}")
    print(f"The newest answer for each window, compared with the table's: {'equal' if equal else 'DIFFERENT'}\n")


def any_range(times: np.ndarray, values: np.ndarray) -> None:
    title('10. Any range, asked for later: sw.Wheel(sw.max(), start="2024-05-01")')
    wheel = sw.Wheel(sw.max(), start="2024-05-01")
    wheel.window(sw.tumbling("1d"))
    random = np.random.default_rng(13)
    arrival = np.argsort(times + random.integers(0, 30, size=ROWS).astype("timedelta64[s]"), kind="stable")
    days = wheel.ingest(times[arrival], values[arrival], delay="30s")
    print(f"{ROWS:,} readings, up to 30 s out of order. {wheel.late} were late, and {days.num_rows} days came out:")
    print("  " + ", ".join(f"{row['start']:%d May} {row['max']:.3f}" for row in days.to_pylist()))
    start, end = np.datetime64("2024-05-01T10:15:23", "us"), np.datetime64("2024-05-03T13:20:50", "us")
    inside = (times >= start) & (times < end)
    print(f"From then on, any range: {wheel.query(start, end):.3f}   numpy: {values[inside].max():.3f}. The plan:")
    print(f"{wheel.explain(start, end)}")
    print(f"Seconds alone would take {wheel.explain(start, end, plan='wheel').cost:,} combines.\n")


def window_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["origin"], row["window"], row["window_start"]


if __name__ == "__main__":
    main()
