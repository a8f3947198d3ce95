"""The experiments of the uWheel paper (Meldrum, Carbone, DEBS 2024), section 4: figures 5 to 11.

`uwheel_windows` has what goes into a wheel, and windows (figures 5 and 6), `uwheel_inserts` single inserts (7 and 8),
`uwheel_ranges` what a wheel is asked later (9 to 11), `uwheel_flights` flights, and `uwheel_paper` what the paper says.
"""

from bench import uwheel_flights, uwheel_inserts, uwheel_paper, uwheel_peer, uwheel_ranges, uwheel_windows
from bench.harness import Report
from bench.uwheel_data import HIGH, LOW, Settings, binary

FULL = Settings(rounds=15)
QUICK = Settings(
    rows=300_000,
    slow_rows=60_000,
    window_rows=200_000,
    slow_window_rows=30_000,
    fiba_rows=2000,
    slow_fiba_rows=2000,
    kinds=("i8",),
    high=HIGH[::2],
    low=LOW[::2],
    latency_rows=5000,
    spans=((1, "i8"), (7, "i8")),
    ranges=10_000,
    singles=1000,
    queries=50,
    explained=300,
    repeat=20,
    lasting=5_000_000,
    flights=3000,
)
SMOKE = Settings(
    rows=2000,
    slow_rows=1000,
    window_rows=20_000,
    slow_window_rows=1000,
    fiba_rows=500,
    slow_fiba_rows=500,
    high=((15, 5), (60, 20)),
    low=((180, 1), (900, 3)),
    latency_rows=500,
    spans=((1, "f8"),),
    ranges=200,
    singles=50,
    queries=5,
    explained=20,
    repeat=1,
    lasting=0,
    flights=500,
    uwheel=uwheel_peer.BINARY.exists(),  # nothing is built for a test
)
NOTES = {
    "": "The paper's data are not at hand: these are streams with their rates and their disorder. Answers are compared "
    "first. uwheel's time is taken inside its own process, ours is that of calls from Python, and ratios are medians "
    "of the ratios within rounds. Our integer sums never wrap around, uwheel's do.",
    "ingest": "Rows far ahead of the watermark wait in the overflow wheel, as more than half of Citi Bike's do "
    "with write-ahead 64; ours finds their slots at once, where uwheel's timer goes through them tick by tick. With "
    "write-ahead 512 all rows go straight into slots, and what is left of the difference is the work per tick. "
    "Dense streams spend their time in one addition per row, where there is little to win: least with integers, as "
    "ours look for an overflow each time.",
    "figure 7": "The paper speaks of time, but the authors' program counts calls, and so does the first figure here: "
    "8,010,578 inserts beside a window for each second of 153 days are the paper's 38%.",
    "figure 9, many at once": "So many ranges share suffixes and prefixes of blocks of slots, which query_many makes "
    "for them and forgets, so that none takes more than three combines; *each planned* is what they take if each has a "
    "plan of its own, as single calls do, with or without hints. Most of a range by prefix sums is reading and "
    "checking its times; on seven days by seconds it probably also waits for its two sums, as all of them do not fit "
    "the nearer caches. *Once* that takes several times as long: 50,000 ranges by prefix sums are over before the "
    "caches are warm.",
    "figure 9": "Most of a single call from Python is the call. All are asked the same ranges twice, and the second "
    "time counts, as uwheel has been asked before in its own process; *once* is our first time, after another "
    "contestant had the caches.",
    "figure 9, groups": "A day in minutes reads 1,440 slots; the rest is the making of a table from them.",
    "figure 11": "A level has as many prefix sums as slots.",
}
"""By experiment, what there is to say besides the figures."""


def run(report: Report, settings: Settings) -> None:
    report.say("Meldrum, Carbone: uWheel (DEBS 2024), section 4, on generated streams with the rates and the disorder")
    report.say(
        "of its data. uwheel's time is taken inside its own process; ratios are medians of ratios within rounds."
    )
    report.rounds = settings.rounds or report.rounds
    program = binary(report, settings)
    uwheel_paper.published(report)
    uwheel_windows.run(report, settings, program)
    uwheel_inserts.run(report, settings, program)
    uwheel_ranges.run(report, settings, program)
    uwheel_flights.run(report, settings, program)
