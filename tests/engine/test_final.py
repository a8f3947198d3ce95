"""Windows put together by an algorithm that was asked for: the oracle's answers from each of them."""

import dataclasses
import math
import random
from typing import Any

import pyarrow as pa
import pytest

import slidewheel as sw
from slidewheel.swag.multi.registry import FORMS
from tests.engine.cases import random_case
from tests.engine.harness import build, compare, listed, table
from tests.engine.oracle import Aggregate, Case, expected_columns, expected_run, expected_stream

ALGORITHMS = ("recalc", "flatfat", "b_int", "flatfit", "slickdeque")
ANY = [name for name in ALGORITHMS if name != "slickdeque"]
MOST_SLICES = 2000
CHUNK = 20
SETS: dict[str, list[Aggregate]] = {
    "numbers": [("sum", "i", {}), ("max", "x", {})],
    "texts": [("concat", "s", {"sep": ","})],
}
"""Each compiled pair of an aggregate and an algorithm takes its time, so there are few. concat is not commutative."""
PAIRS = [(final, chosen) for final in ALGORITHMS for chosen in SETS if final in ANY or chosen == "numbers"]


def asked(query: sw.Query, final: str) -> sw.Query:
    """The same query by another algorithm."""
    return sw.Query.from_dict({**query.to_dict(), "final": final})


def slices(case: Case) -> int:
    """How many slices of equal length the longest window has."""
    everys = [options["every"] for _, options in case.windows]
    ranges = [options.get("range", options["every"]) for _, options in case.windows]
    offsets = [options.get("offset", 0) for _, options in case.windows]
    return max(ranges) // math.gcd(*everys, *ranges, *(offset - offsets[0] for offset in offsets))


def cases(chosen: str, first: int, count: int = CHUNK) -> list[tuple[int, Case]]:
    """Random cases with these aggregates, but for those that would have too many slices."""
    found = []
    for seed in range(first, first + count):
        case = random_case(seed, kinds=("sliding", "tumbling"), on_time=True if chosen == "texts" else None)
        case = dataclasses.replace(case, aggregates=SETS[chosen])
        if slices(case) <= MOST_SLICES:
            found.append((seed, case))
    return found


def test_most_cases_are_tried():
    assert sum(len(cases(chosen, first)) for chosen in SETS for first in (0, CHUNK)) > CHUNK


@pytest.mark.parametrize(("final", "chosen"), PAIRS)
def test_answers_are_the_oracles(final, chosen):
    judge(final, chosen, 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(CHUNK, 10 * CHUNK, CHUNK))
@pytest.mark.parametrize(("final", "chosen"), PAIRS)
def test_answers_are_the_oracles_at_length(final, chosen, first):
    judge(final, chosen, first)


def judge(final: str, chosen: str, first: int) -> None:
    for seed, case in cases(chosen, first):
        query = asked(build(case)[0], final)
        where = f"{final}, {chosen}, seed {seed}: "
        compare(query.run(table(case)), expected_run(case), expected_columns(case), where)
        streamed(query, case, where)


def streamed(query: sw.Query, case: Case, where: str) -> None:
    """A stream gives what the oracle gives, step by step: late rows and repaired windows too."""
    whole, stream = table(case), query.stream()
    steps = expected_stream(case).steps
    for number, ((step, what), wanted) in enumerate(zip(case.steps(), steps, strict=True)):
        if step == "push":
            got = stream.push(whole.take(pa.array(what, pa.int64())))
        else:
            got = stream.advance_to(what) if step == "advance" else stream.finish()
        compare(got, wanted, expected_columns(case), f"{where}step {number}: ")


@pytest.mark.parametrize("final", ALGORITHMS)
def test_restored_streams(final):
    for seed, case in cases("numbers", 100, 8):
        query, whole = asked(build(case)[0], final), table(case)
        stream, found = query.stream(), []
        for step, what in case.steps():
            stream = sw.Stream.restore(query, stream.snapshot())
            if step == "push":
                found.append(stream.push(whole.take(pa.array(what, pa.int64()))))
            elif step == "advance":
                found.append(stream.advance_to(what))
        found.append(stream.finish())
        for got, wanted in zip(found, expected_stream(case).steps, strict=True):
            compare(got, wanted, expected_columns(case), f"{final}, seed {seed}: ")


# Streams in small batches, with gaps longer than any window and keys of which some come and go


def trips(rows: int = 300, seed: int = 2) -> pa.Table:
    dice = random.Random(seed)
    times, t = [], -500
    for _ in range(rows):
        t += dice.choice([0, 1, 1, 2, 5, 300 if dice.random() < 0.1 else 1])
        times.append(t)
    return pa.table(
        {
            "t": times,
            "k": [dice.choice(["a", "b", None, f"{n // 50}"]) for n in range(rows)],
            "i": pa.array([None if dice.random() < 0.2 else dice.randint(-9, 9) for _ in times], pa.int64()),
            "x": [dice.choice([0.5, -1.25, float("nan"), float("inf"), dice.randint(-80, 80) / 8]) for _ in times],
            "s": [dice.choice(["u", "v", ""]) + str(n % 10) for n in range(rows)],
        }
    )


WINDOWS = [sw.sliding(48, every=12), sw.sliding(30, every=6, offset=3), sw.tumbling(9), sw.sliding(3, every=15)]


@pytest.mark.parametrize(("final", "chosen"), PAIRS)
def test_small_batches_give_what_run_gives(final, chosen):
    aggregates = [sw.sum("i"), sw.max("x")] if chosen == "numbers" else [sw.concat("s", sep=",")]
    query = sw.query(time="t", keys="k", windows=WINDOWS, aggregates=aggregates, final=final)
    auto = sw.query(time="t", keys="k", windows=WINDOWS, aggregates=aggregates)
    whole = trips()
    answers = query.run(whole)
    compare(answers, listed(auto.run(whole)))
    for size in (1, 17, 100):
        stream = query.stream()
        pieces = [stream.push(whole.slice(first, size)) for first in range(0, whole.num_rows, size)]
        compare(pa.concat_tables([*pieces, stream.finish()]), listed(answers))


# What can't be


def without(**more: Any) -> sw.Query:
    return sw.query(**{"time": "t", "windows": [sw.tumbling(10)], "aggregates": [sw.sum("x")], **more})


@pytest.mark.parametrize(
    "aggregate",
    [sw.concat("x"), sw.collect("x"), sw.collect_distinct("x"), sw.bloom("x"), sw.distinct("x"), sw.span("x")],
    ids=lambda a: a.name,
)
def test_slickdeque_needs_an_inverse_or_a_selective_combine(aggregate):
    with pytest.raises(sw.Unsupported, match=f"slickdeque needs an inverse or a selective combine; {aggregate.name}"):
        without(aggregates=[sw.sum("x"), aggregate], final="slickdeque")
    for final in ANY:
        without(aggregates=[aggregate], final=final)


def test_slickdeque_inv_needs_an_inverse():
    with pytest.raises(sw.Unsupported, match="slickdeque_inv needs an inverse; max has none"):
        without(aggregates=[sw.max("x")], final="slickdeque_inv")
    without(aggregates=[sw.sum("x")], final="slickdeque_inv")


@pytest.mark.parametrize(
    "windows",
    [
        [sw.session(5)],
        [sw.rows(5)],
        [sw.rows(5, every=2)],
        [sw.trailing(5)],
        [sw.delta("x", 1.0)],
        [sw.punctuated("p")],
        [sw.tumbling(5), sw.session(5)],
    ],
    ids=lambda windows: " ".join(type(spec).__name__ for spec in windows),
)
@pytest.mark.parametrize("final", ALGORITHMS)
def test_other_windows_are_refused(final, windows):
    with pytest.raises(sw.Unsupported, match=f"final='{final}' is for sliding and tumbling windows"):
        without(windows=windows, final=final)


@pytest.mark.parametrize("final", ALGORITHMS)
def test_too_many_slices(final):
    windows = [sw.sliding("1h", every="1s"), sw.sliding("30m", every="1s", offset=1)]
    without(windows=windows)
    with pytest.raises(sw.PlanTooLarge, match=r"longest window would have 3,600,000,000 of them.*final='auto'"):
        without(windows=windows, final=final)
    with pytest.raises(sw.PlanTooLarge, match="every row would be in"):
        without(windows=[sw.sliding("1h", every="1ms")], final=final)


@pytest.mark.parametrize(("name", "said"), [("flatfot", "flatfat"), ("daba", "there are recalc"), ("", "auto")])
def test_algorithms_that_there_are_not(name, said):
    with pytest.raises(sw.UnknownAlgorithm, match=said):
        without(final=name)


# What is said


@pytest.mark.parametrize("final", ALGORITHMS)
def test_explain_names_the_algorithm(final):
    query = without(windows=[sw.sliding("1h", every="5m"), sw.tumbling("15m")], final=final)
    said = query.explain()
    named = "slickdeque_inv" if final == "slickdeque" else final
    assert f"by {named}, as asked for: {FORMS[named].CARD.worst}" in said
    assert "reads 12 slices" in said
    assert "reads 3 slices" in said
    assert "time_blocks" not in said


def test_explain_names_both_kinds_of_slickdeque():
    said = without(aggregates=[sw.sum("x"), sw.max("x")], final="slickdeque").explain()
    assert "by slickdeque_inv, as asked for" in said
    assert "by slickdeque, as asked for" in said


def test_explain_of_auto_names_blocks():
    said = without(windows=[sw.sliding("1h", every="5m")]).explain()
    assert "time_blocks" in said
    assert "as asked for" not in said
