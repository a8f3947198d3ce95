"""The command line: which suites to run, how long, and where the results go."""

import argparse
import difflib
import importlib
import importlib.util
import json
import sys
import time
import traceback
from typing import Any

from bench import machine
from bench.harness import SEED, Report

SUITES = {
    "algorithms": "every algorithm, compiled: ns per round at windows from 2^4 to 2^20",
    "latency": "the slowest single operations of each algorithm",
    "rolling": "sw.rolling against bottleneck, polars, pandas, scipy and DuckDB",
    "windows": "sw.query over sliding and trailing windows against polars, pandas and DuckDB",
    "user": "a user's own aggregate against pandas' apply with Numba",
    "one_by_one": "windows used from Python, one item at a time",
    "start": "from the start of a process to its first answer",
    "slickdeque": "the experiments of the SlickDeque paper, figures 10 to 15",
    "reactive": "the experiments of the Reactive Aggregator paper, figures 6 to 12, tables 3 and 4",
    "daba": "the experiments of the DABA paper, tables 2 and 3, figure 13",
    "wheel": "sw.Wheel against uwheel, DuckDB, a segment tree and FiBA: figures 5 to 11 of the uWheel paper",
    "store": "a store against DuckDB and Polars over the raw rows, and wheels loaded from it",
    "serve": "the server under load, while rows are appended and compacted",
    "spark": "query.spark over finite tables against F.window, frames and functions in pandas",
    "stream": "query.spark over Structured Streaming against F.window with a watermark",
}
NEEDS = {"store": "deltalake", "serve": "fastapi", "spark": "pyspark", "stream": "pyspark"}
"""A package that not everybody who runs the other suites has."""


def main(arguments: list[str] | None = None) -> int:
    options = _parsed(arguments)
    facts = machine.facts()
    report = Report(rounds=3 if options.quick else 7)
    report.say(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}, {facts['system']}")
    report.say(f"python {facts['python']}, " + ", ".join(f"{name} {v}" for name, v in facts["versions"].items()))
    report.say(f"commit {facts['commit'] or 'unknown'}, seed {SEED}, {'quick' if options.quick else 'full'}")
    begun = time.perf_counter()
    complete = _run(report, options)
    report.say(f"\n{time.perf_counter() - begun:.0f} s")
    _sum_up(report)
    if options.json:
        known = {"machine": facts, "seed": SEED, "quick": options.quick, "complete": complete}
        measured = {"errors": report.errors, "targets": report.targets, "results": report.results}
        with open(options.json, "w") as file:
            json.dump({**known, **measured}, file, indent=1)
    return 130 if not complete else 1 if report.errors else 0


def _parsed(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog="suites:\n" + "\n".join(f"  {name:12}{what}" for name, what in SUITES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suites", nargs="*", metavar="suite", help="which suites to run; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer rows, windows and rounds: some minutes")
    parser.add_argument("--json", metavar="FILE", help="write all results to this file too")
    options = parser.parse_args(arguments)
    for name in options.suites:
        if name not in SUITES:
            near = difflib.get_close_matches(name, SUITES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            parser.error(f"unknown suite {name!r}; {hint}there are {', '.join(SUITES)}")
    return options


def _run(report: Report, options: Any) -> bool:
    """Whether all was measured, or the user stopped it. A suite that breaks does not take the others with it."""
    for name in options.suites or SUITES:
        report.suite = name
        report.say(f"\n== {name}: {SUITES[name]}")
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            report.say(f"skipped, as {NEEDS[name]} is not installed")
            continue
        try:
            suite = importlib.import_module(f"bench.{name}")
            suite.run(report, suite.QUICK if options.quick else suite.FULL)
        except KeyboardInterrupt:
            report.say("\nstopped: what follows is what was measured so far")
            return False
        except Exception as error:
            traceback.print_exc()
            report.wrong(f"{type(error).__name__}: {error}")
    return True


def _sum_up(report: Report) -> None:
    missed = [target for target in report.targets if not target["met"]]
    report.say(f"targets: {len(report.targets) - len(missed)} met, {len(missed)} missed")
    for target in missed:
        figures = f"{target['measured']:.3g}{target['unit']}, not < {target['limit']:g}{target['unit']}"
        report.say(f"  missed: {target['suite']}: {target['target']}: {figures}")
    for error in report.errors:
        report.say(f"  ERROR {error}")


if __name__ == "__main__":
    sys.exit(main())
