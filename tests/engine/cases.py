"""Random cases, the same for the same seed: tables, queries, orders and batches that an engine is judged by."""

import random
from collections.abc import Collection
from typing import Any

from tests.engine.oracle import (
    COMMUTATIVE,
    GIVE_ROWS,
    REPAIRED,
    Aggregate,
    Case,
    Window,
    columns_of,
    kind,
    output_name,
    window_name,
)

KINDS = ("sliding", "tumbling", "session", "rows_every", "punctuated", "trailing", "rows", "delta")
SECOND = 1_000_000
UNITS = (1, 1_000, SECOND, SECOND, 60 * SECOND, 60 * SECOND, 3600 * SECOND)
ORIGINS = (
    0,
    -86_400 * SECOND,  # before 1970, and across it
    -777_777_777_777_777,
    1_711_845_000 * SECOND,  # 2024-03-31T00:30Z, half an hour before European clocks go forward
    1_729_987_200 * SECOND,  # 2024-10-27T00:00Z, an hour before they go back
    1_704_110_400 * SECOND,  # 2024-01-01T12:00Z
)
NUMBERS = ("i", "x")
NUMERIC = ("sum", "product", "mean", "geomean", "var", "std", "min", "max", "span", "min_count", "max_count")
ORDERED = ("argmin", "argmax", "first", "last", "concat", "collect", "collect_distinct")
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0)


def random_case(
    seed: int,
    *,
    kinds: Collection[str] = KINDS,
    commutative: bool = False,
    on_time: bool | None = None,
    rows: int | None = None,
) -> Case:
    """A case made from a seed.

    `kinds` are the windows to choose from, `commutative` leaves out aggregates that need an order, `on_time=True`
    makes no row late and `on_time=False` lets rows come in wildly; `rows` is the number of rows at most. Late rows
    never meet what the order of late rows decides: aggregates that are not commutative, and a `delta` whose column
    goes up and down.
    """
    dice = random.Random(seed)
    forms = [[k for k in KINDS if k in kinds and (k in GIVE_ROWS) == form] for form in (False, True)]
    chosen = dice.choice([form for form in forms if form])
    in_time = dice.random() < 0.5 if on_time is None else on_time
    repaired = [k for k in chosen if k in REPAIRED]
    if repaired and dice.random() < (0.2 if in_time else 0.5):
        # Chosen together with others, they would seldom stand alone, and late="update" would seldom be tried.
        chosen = repaired
    unit = dice.choice(UNITS)
    size = _size(dice, 60 if rows is None else rows)

    windows = _windows(dice, chosen, unit)
    aggregates = _aggregates(dice, commutative or not in_time)
    used = {kind(w) for w in windows}
    keys = dice.choice([[], ["k"], ["k"], ["k", "g"]])
    columns, types = _table(dice, size, unit, keys, steady="delta" in used and not in_time)
    if used <= GIVE_ROWS:
        # Peers that differ only in what the query does not read would come out in any order.
        read = {"t", "tag", *keys, *(w[1].get("column") for w in windows)} | {
            c for a in aggregates for c in columns_of(a)
        }
        columns = {name: values for name, values in columns.items() if name in read}

    late = dice.choice(["drop", "keep", "update", "update"] if used <= REPAIRED else ["drop", "keep"])
    case = Case(
        columns,
        windows,
        aggregates,
        keys=keys,
        late=late,
        repair=_duration(dice, unit, 0, 40) if late == "update" else 0,
        types=types,
        time_type=dice.choice(["us", "us", "utc", "ns", "int64"]),
        on_time=in_time,
    )
    _arrivals(dice, case, unit, strictly="session" in used)
    return case


def _size(dice: random.Random, most: int) -> int:
    return min(most, dice.choice([dice.randint(0, 2), dice.randint(3, 12), dice.randint(3, 30), dice.randint(10, 60)]))


def _duration(dice: random.Random, unit: int, least: int, most: int) -> int:
    """A number of units, now and then a little more or less; at least one microsecond unless `least` is 0."""
    length = dice.randint(least, most) * unit
    if dice.random() < 0.2:
        length += dice.randint(-1, 1) if dice.random() < 0.5 else dice.randint(0, unit)
    return max(length, min(least, 1))


def _windows(dice: random.Random, kinds: list[str], unit: int) -> list[Window]:
    windows: list[Window] = []
    for k in range(dice.choice([1, 1, 2, 3, 4])):
        window = _window(dice, dice.choice(kinds), unit)
        # sliding with range == every may go by either name.
        plain = window[1].get("range") != window[1].get("every") or "range" not in window[1]
        if not plain or window_name(window) in map(window_name, windows) or dice.random() < 0.1:
            window[1]["name"] = f"w{k}"
        windows.append(window)
    return windows


def _window(dice: random.Random, chosen: str, unit: int) -> Window:
    offset = dice.choice([0, 0, _duration(dice, unit, 0, 9), -_duration(dice, unit, 0, 9)])
    match chosen:
        case "sliding":
            every = _duration(dice, unit, 1, 8)
            # Up to ten windows for a row; sometimes a slide longer than the range.
            length = dice.choice([every, 2 * every, dice.randint(every, 10 * every), _duration(dice, unit, 1, 10)])
            length = min(length, 12 * every)
            return "sliding", {"range": length, "every": every, **({"offset": offset} if offset else {})}
        case "tumbling":
            return "tumbling", {"every": _duration(dice, unit, 1, 20), **({"offset": offset} if offset else {})}
        case "session":
            return "session", {"gap": _duration(dice, unit, 1, 6)}
        case "rows_every":
            return "rows", {"n": dice.randint(1, 8), "every": dice.randint(2, 6)}
        case "punctuated":
            return "punctuated", {"column": dice.choice(["p", "p", "q"])}
        case "trailing":
            closed = dice.choice(["right", "right", "left", "both", "neither"])
            options: dict[str, Any] = {"range": _duration(dice, unit, 1, 15)}
            return "trailing", options | ({} if closed == "right" else {"closed": closed})
        case "rows":
            return "rows", {"n": dice.choice([1, 2, 3, dice.randint(4, 12), 100])}
        case "delta":
            return "delta", {"column": "odo", "distance": dice.choice([0.0, 0.5, 1.0, 2.0, 2.5, 5.0, 20.0])}
    raise NotImplementedError(chosen)


def _aggregates(dice: random.Random, commutative: bool) -> list[Aggregate]:
    found: dict[str, Aggregate] = {}
    for _ in range(dice.randint(1, 5)):
        made = _aggregate(dice, dice.choice(COMMUTATIVE if commutative else [*COMMUTATIVE, *ORDERED, *ORDERED]))
        if dice.random() < 0.1:
            made[2]["alias"] = f"a{len(found)}"
        found.setdefault(output_name(made), made)
    return list(found.values())


def _aggregate(dice: random.Random, name: str) -> Aggregate:
    match name:
        case "count":
            return name, dice.choice([None, None, "i", "x", "s", "p"]), {}
        case "var" | "std":
            return name, dice.choice(NUMBERS), dice.choice([{}, {"ddof": 0}, {"ddof": 1}, {"ddof": 2}])
        case "argmin" | "argmax":
            return name, (dice.choice(NUMBERS), dice.choice(["s", "i", "x"])), {}
        case "first" | "last" | "collect" | "collect_distinct":
            return name, dice.choice(["i", "x", "s"]), {}
        case "concat":
            return name, dice.choice(["s", "s", "i"]), dice.choice([{}, {"sep": ","}, {"sep": " - "}])
    assert name in NUMERIC
    return name, dice.choice(NUMBERS), {}


def _times(dice: random.Random, size: int, unit: int) -> list[int]:
    t = dice.choice(ORIGINS)
    jitter = dice.random() < 0.3
    steps = dice.choice([[0, 1, 1, 2, 3], [0, 0, 0, 1], [1], [0, 1, 5, 40], [0, 1, 2, 3, 1000]])
    times = []
    for _ in range(size):
        t += dice.choice(steps) * unit + (dice.choice([0, 0, 1, 2, unit // 3]) if jitter else 0)
        times.append(t)
    return times


def _holes(dice: random.Random, values: list[Any]) -> list[Any]:
    share = dice.choice([0, 0, 0.1, 0.3, 1]) if dice.random() < 0.7 else 0
    return [None if dice.random() < share else v for v in values]


def _table(
    dice: random.Random, size: int, unit: int, keys: list[str], steady: bool
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Columns in a random order of rows. `odo` goes up with time, and if not `steady` sometimes down."""
    times: list[int | None] = list(_times(dice, size, unit))
    special = SPECIAL if dice.random() < 0.3 else ()
    odo, distance = [], 0.0
    for _ in range(size):
        distance += dice.choice([0, 0, 0.125, 1, 2, 10])
        odo.append(distance)
    if not steady and dice.random() < 0.4:
        odo = [max(0.0, d + dice.choice([0, 0, -3, 3])) for d in odo]

    columns: dict[str, list[Any]] = {"t": times}
    types = {"i": "int64", "x": "float64", "s": "string", "p": "bool", "q": "bool", "odo": "float64", "tag": "string"}
    for name in keys:
        types[name] = dice.choice(["int64", "string", "string", "float64"])
        few: list[Any] = {
            "int64": [3, -1, 0, 2**40],
            "string": ["b", "a", "", "é"],
            "float64": [0.0, -0.0, 1.5, float("nan"), -2.0],
        }[types[name]][: dice.randint(1, 5)]
        columns[name] = [dice.choice([*few, None] if dice.random() < 0.3 else few) for _ in range(size)]
    columns["i"] = _holes(dice, [dice.randint(-20, 20) for _ in range(size)])
    columns["x"] = _holes(
        dice,
        [dice.choice(special) if special and dice.random() < 0.2 else dice.randint(-200, 400) / 8 for _ in range(size)],
    )
    columns["s"] = _holes(dice, [dice.choice(["u", "v", "w", "", "zz"]) for _ in range(size)])
    often = dice.choice([0.1, 0.3, 0.7])
    for name in "p", "q":
        columns[name] = _holes(dice, [dice.random() < often for _ in range(size)])
    columns["odo"] = _holes(dice, odo)
    # Not read by any query, and told by the time, so that peers stay alike in it.
    columns["tag"] = [f"at {t}" for t in times]
    if dice.random() < 0.3:
        columns["t"] = [None if dice.random() < 0.1 else t for t in times]

    order = dice.sample(range(size), size)
    return {name: [values[r] for r in order] for name, values in columns.items()}, types


def _arrivals(dice: random.Random, case: Case, unit: int, strictly: bool) -> None:
    """The order in which rows come in, their batches, the lateness and the instants to advance to.

    A row that comes in no more than `lateness` after its time is never late. `strictly` keeps it from standing
    exactly at the watermark too: there it may follow a session that has just come out, by its gap to the microsecond.
    """
    times = case.columns[case.time]
    timed = [t for t in times if t is not None]
    lateness = dice.choice([0, _duration(dice, unit, 0, 5), _duration(dice, unit, 0, 40)])
    delay = lateness if case.on_time else lateness + dice.choice([1, 5, 20, 60, 2000]) * unit
    place = {
        r: (dice.choice(timed or [0]) if t is None else t + dice.choice([0, delay, dice.randint(0, delay)]))
        for r, t in enumerate(times)
    }
    order = sorted(place, key=lambda r: (place[r], dice.random()))
    case.lateness = lateness + (1 if strictly and case.on_time else dice.choice([0, 0, 0, unit]))

    cuts = sorted(dice.randint(0, len(order)) for _ in range(dice.choice([0, 1, 3, 8, 8, len(order)])))
    case.batches = [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]

    case.advances = [None] * len(case.batches)
    if timed and dice.random() < 0.4:
        for k in range(len(case.batches)):
            if dice.random() < 0.4:
                instant = dice.randint(min(timed) - 3 * unit, max(timed) + 3 * unit)
                to_come = [times[r] for b in case.batches[k + 1 :] for r in b if times[r] is not None]
                if case.on_time and to_come:
                    instant = min(instant, min(to_come) - strictly)
                case.advances[k] = instant
