"""query.spark over Structured Streaming beside F.window with a watermark."""

from bench.report.index import Headline
from bench.report.page import Page, Record, Records, ratio
from bench.report.plots import short


def write(page: Page) -> None:
    page.title("On Spark, streaming, against F.window with a watermark")
    page.say(
        "Rows in a second: the median over micro-batches after the first two. Windows of the mean slide by 10 s; the "
        "ratio is range over slide; rows are up to 2 s behind. The native plan gets fewer rows, of fewer keys, where "
        "a micro-batch would take too long (`@`): what a micro-batch takes without rows weighs more then. "
        "*Checkpoint*: bytes of new files for a row; *state*: bytes for a key after the last micro-batch. Beyond "
        "ratio 300 there is no native plan: Spark writes code for each window that a row is in, and fails to compile "
        "it."
    )
    timed = Records(r for r in page.records if "event_time" in r)
    for event_time in timed.values("event_time"):
        for keys in timed.where(event_time=event_time).values("keys"):
            found = timed.where(event_time=event_time, keys=keys)
            page.heading(f"{keys:,} keys, {event_time} s of event time in a micro-batch")
            title = f"{keys:,} keys: rows a second"
            name = f"{keys}-{event_time}"
            page.lines(name, title, found, "ratio", "plan", "range / slide", "rows a second", y=rate)
            page.table(
                ["ratio", "ours", "native", "native, times ours", "checkpoint", "native's", "state", "native's"],
                [_row(found.where(ratio=value)) for value in found.values("ratio")],
            )
    given = Records(r for r in page.records if "answers" in r)
    if given:
        page.heading("More keys, more answers")
        page.say(
            "With ten times the keys, as many rows close up to ten times the windows. These ran in the same rounds. "
            "*Giving*: a stream that reads the same files and gives out as many answers, which its workers have "
            "already: what Spark takes for them when none is computed. Milliseconds of a micro-batch."
        )
        rows = []
        for value, keys in [(value, keys) for value in given.values("ratio") for keys in given.values("keys")]:
            both = given.where(ratio=value, keys=keys)
            taken = [both.one(plan=plan) for plan in ("ours", "giving")]
            times = [f"{r['median'] * r['rows'] / 1e6:.0f}" for r in taken if r is not None]
            rows.append((value, f"{keys:,}", f"{both[0]['answers']:,}", *times))
        page.table(["ratio", "keys", "answers", "ours", "giving"], rows)
    history = Records(r for r in page.records if "history" in r)
    if history:
        page.heading("With full windows behind them")
        page.say(
            "Ours, with a row or so of each key in every slide of the longest window before the first that is timed."
        )
        rows = [(f"{r['keys']:,}", r["ratio"], short(rate(r))) for r in history]
        page.table(["keys", "ratio", "rows a second"], rows)


def rate(record: Record) -> float:
    return 1e9 / record["median"]


def _row(group: Records) -> list[str]:
    ours, native = group.one(plan="ours"), group.one(plan="native")
    if ours is None:
        return ["-"] * 8
    value = str(ours["ratio"])
    if native is None:
        return [value, short(rate(ours)), "-", "-", short(ours["checkpoint"]), "-", short(ours["state"]), "-"]
    fewer = f" @{short(native['rows'])}" if native["rows"] < ours["rows"] else ""
    sizes = [short(r[name]) for name in ("checkpoint", "state") for r in (ours, native)]
    return [value, short(rate(ours)), short(rate(native)) + fewer, str(ratio(native, ours)), *sizes]


def headlines(page: Page) -> list[Headline]:
    found = []
    timed = Records(r for r in page.records if "event_time" in r)
    for event_time in timed.values("event_time"):
        for keys in timed.where(event_time=event_time).values("keys"):
            group = timed.where(event_time=event_time, keys=keys)
            for value in group.values("ratio"):
                over = group.ratio({"ratio": value, "plan": "native"}, {"ratio": value, "plan": "ours"})
                if over is not None:
                    what = f"Structured Streaming, {keys:,} keys, ratio {value}, {event_time} s"
                    found.append(Headline(what, "F.window", over))
    return found
