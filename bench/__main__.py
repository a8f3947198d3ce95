"""Run the benchmarks, keep what they measure in files, and make the pages of docs/benchmarks from these.

Answers of all systems are compared before any time is taken; what gives another answer is an error and is not timed.
"""

import argparse
import difflib
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine, results, suites
from bench.harness import SEED, Report
from bench.results import Results
from bench.suites import SUITES

ROUNDS = {"smoke": 1, "quick": 5, "full": 7}
PAGES = Path(__file__).parent.parent / "docs" / "benchmarks"


def main(arguments: list[str] | None = None, prog: str = "python -m bench") -> int:
    options = _parsed(arguments, prog)
    kind = "smoke" if options.smoke else "quick" if options.quick else "full"
    facts = machine.facts()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}, {facts['system']}")
    print(f"python {facts['python']}, " + ", ".join(f"{name} {v}" for name, v in facts["versions"].items()))
    print(f"commit {facts['commit'] or 'unknown'}, seed {SEED}, {kind}", flush=True)
    begun = time.perf_counter()
    reports, complete = _run(options, kind, facts)
    print(f"\n{time.perf_counter() - begun:.0f} s")
    _sum_up(reports)
    wrong = any(report.errors for report in reports)
    if not options.no_report:
        wrong |= not _pages(options)
    return 130 if not complete else 1 if wrong else 0


def _parsed(arguments: list[str] | None, prog: str) -> Any:
    parser = argparse.ArgumentParser(
        prog=prog,
        description=__doc__,
        epilog="suites:\n" + "\n".join(f"  {name:12}{what}" for name, what in SUITES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suites", nargs="*", metavar="suite", help="which suites to run; all of them if none is named")
    much = parser.add_mutually_exclusive_group()
    much.add_argument(
        "--quick", action="store_true", help="fewer rows, windows, rounds: all suites in about 15 minutes"
    )
    much.add_argument("--smoke", action="store_true", help="only to compare answers: the times mean nothing")
    parser.add_argument(
        "--results", metavar="DIR", type=Path, default=results.FOLDER, help="where results go, and pages come from"
    )
    parser.add_argument("--pages", metavar="DIR", type=Path, default=PAGES, help="where the pages go")
    parser.add_argument("--no-report", action="store_true", help="measure, and leave the pages as they are")
    parser.add_argument("--only-report", action="store_true", help="measure nothing, and make the pages")
    options = parser.parse_args(arguments)
    for name in options.suites:
        if name not in SUITES:
            near = difflib.get_close_matches(name, SUITES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            parser.error(f"unknown suite {name!r}; {hint}there are {', '.join(SUITES)}")
    if options.smoke and (options.results == results.FOLDER or not (options.no_report or options.pages != PAGES)):
        parser.error(
            "--smoke measures nothing worth keeping: say with --results DIR and --pages DIR where it may write"
        )
    return options


def _run(options: Any, kind: str, facts: dict[str, Any]) -> tuple[list[Report], bool]:
    """What was measured, and whether that is all. A suite that breaks does not take the others with it."""
    reports: list[Report] = []
    chosen = [] if options.only_report else options.suites or list(SUITES)
    for place, name in enumerate(chosen, 1):
        report = Report(rounds=ROUNDS[kind], suite=name)
        before = results.load(options.results, name)
        known = f", {before.seconds:.0f} s when it was last run" if before is not None and before.kind == kind else ""
        report.say(f"\n== {name} ({place} of {len(chosen)}{known}): {SUITES[name]}")
        missing = suites.lacking(name)
        if missing:
            report.say(f"skipped, as these are not installed: {', '.join(missing)}; pip install them, or make setup")
            continue
        begun = time.perf_counter()
        reports.append(report)
        try:
            suite = suites.module(name)
            suite.run(report, getattr(suite, kind.upper()))
        except KeyboardInterrupt:
            report.say(f"\nstopped: what {name} had measured is not kept; the suites before it are")
            return reports, False
        except Exception as error:
            traceback.print_exc()
            report.wrong(f"{type(error).__name__}: {error}")
        made = Results(
            suite=name,
            machine=facts,
            seed=SEED,
            kind=kind,
            rounds=report.rounds,
            date=f"{datetime.now(UTC):%Y-%m-%d}",
            seconds=round(time.perf_counter() - begun, 1),
            errors=report.errors,
            targets=report.targets,
            records=report.results,
        )
        report.say(f"\n{made.seconds:.0f} s; kept in {made.save(options.results)}")
    return reports, True


def _sum_up(reports: list[Report]) -> None:
    targets = [target for report in reports for target in report.targets]
    missed = [target for target in targets if not target["met"]]
    print(f"targets: {len(targets) - len(missed)} met, {len(missed)} missed")
    for target in missed:
        within = " ({:.3g} to {:.3g})".format(*target["within"]) if "within" in target else ""
        figures = f"{target['measured']:.3g}{target['unit']}{within}, not < {target['limit']:g}{target['unit']}"
        print(f"  missed: {target['suite']}: {target['target']}: {figures}")
    for error in (error for report in reports for error in report.errors):
        print(f"  ERROR {error}")


def _pages(options: Any) -> bool:
    """Whether the pages could be made."""
    try:
        from bench.report.build import build
    except ModuleNotFoundError as error:
        print(f"no pages were made, as {error.name} is not installed: pip install {error.name}, then --only-report")
        return False
    for path in build(options.results, options.pages):
        print(f"made {path}")
    return True


if __name__ == "__main__":
    sys.exit(main())
