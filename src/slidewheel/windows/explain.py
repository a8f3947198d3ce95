"""The plan of a query as text, with what it costs: combines counted in advance, and states kept."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from slidewheel.algebra.aggregate import Aggregate
from slidewheel.swag.time_blocks import CARD
from slidewheel.times import format_duration
from slidewheel.windows.plan import Group, Plan, trailing_shifts
from slidewheel.windows.sharing import Part, parts_of
from slidewheel.windows.slicing import cutty, pairs, panes
from slidewheel.windows.specs import Delta, Punctuated, Rows, Session, Sliding, Spec, Trailing


@dataclass(frozen=True)
class Cost:
    """What windows of one slicing cost for a key that has rows in every slice, and for each state."""

    period: int
    """Microseconds after which everything repeats."""
    slices: int
    """Slices in a period."""
    answers: int
    """Windows that end in a period."""
    extending: float
    """Combines in a period to extend prefixes and suffixes."""
    answering: float
    """Combines in a period for the answers."""
    held: int
    """Slices of the longest window."""
    rows: int
    """States for each slice: its own, and a prefix and a suffix for each length of blocks."""

    @property
    def combines(self) -> float:
        return self.extending + self.answering


def cost(group: Group) -> Cost:
    """From the edges alone: which slices begin a block, averaged over all ways in which periods and blocks can meet."""
    slicing = group.slicing
    period = math.lcm(slicing.period, *(spec.every for _, spec in group.specs))
    edges = [edge + turn * slicing.period for turn in range(period // slicing.period) for edge in slicing.edges]
    lengths = {1 << group.shift(spec) for _, spec in group.specs if not group.single(spec)}
    begun = {length: [0.0, *accumulate(_begins(edges, period, length))] for length in lengths}
    extending = sum(2 * (len(edges) - sums[-1]) for sums in begun.values())
    answers, answering = 0, 0.0
    for _, spec in group.specs:
        count = period // spec.every
        answers += count
        if not group.single(spec):
            # A part more for every slice behind the first one that begins a block.
            known = edges, period, begun[1 << group.shift(spec)]
            answering += sum(_until(spec.end(k), *known) - _until(spec.start(k) + 1, *known) for k in range(count))
    held = max(slicing.inside(spec.range) for _, spec in group.specs)
    return Cost(period, len(edges), answers, extending, answering, held, 1 + 2 * len(lengths))


def _until(time: int, edges: list[int], period: int, sums: list[float]) -> float:
    """How many of the slices that start before this time begin a block."""
    turn, rest = divmod(time, period)
    return turn * sums[-1] + sums[bisect_left(edges, rest)]


def _begins(edges: list[int], period: int, block: int) -> list[float]:
    """For each slice how often it is the first of its block, which starts behind the start of the slice before."""
    grid = math.gcd(period, block)
    before = [edges[-1] - period, *edges[:-1]]
    return [min(1.0, (a % grid + b - a) // grid * grid / block) for a, b in zip(before, edges, strict=True)]


def explain(plan: Plan, time: str, keys: Sequence[str], lateness: int, late: str, repair: int) -> str:
    """What `Query.explain` gives."""
    lines = [f"time {time}, keys {', '.join(keys) or 'none'}, lateness {format_duration(lateness)}, late rows: {late}"]
    if repair:
        lines[0] += f", repaired for {format_duration(repair)}"
    lines += ["", "windows"]
    lines += [f"  {spec.name:<16} {_said(spec)}" for spec in plan.specs]
    for spec in plan.specs:
        if isinstance(spec, Sliding) and spec.every > spec.range:
            gap = format_duration(spec.every - spec.range)
            lines.append(f"  note: {spec.name} leaves gaps of {gap} between its windows; rows in them are in none")
    parts, uses = parts_of(plan.aggregates, [_likely(aggregate) for aggregate in plan.aggregates], plan.final)
    lines += ["", "states: every row is added once to each of them"]
    for number, part in enumerate(parts):
        readers = [a.output for a, use in zip(plan.aggregates, uses, strict=True) if use.part == number]
        lines.append(f"  {_described(part):<40} for {', '.join(readers)}")
    if plan.in_order:
        lines.append(f"  rows wait for the watermark and are added in the order of their times: {_why_ordered(plan)}")
    for number, group in enumerate(plan.groups):
        lines += ["", *_group(group, number, parts, lateness + repair)]
    others = [spec for spec in plan.specs if not isinstance(spec, Sliding)]
    if others:
        trailing = [spec for spec in others if isinstance(spec, Trailing)]
        shifts: dict[Spec, int] = dict(zip(trailing, trailing_shifts(trailing), strict=True))
        lines += ["", "entries", *(f"  {spec.name:<16} {_entries(spec, shifts.get(spec, 0))}" for spec in others)]
    return "\n".join(lines)


def _group(group: Group, number: int, parts: list[Part], waiting: int) -> list[str]:
    slicing = group.slicing
    edges = f"{len(slicing.edges)} edges" if len(slicing.edges) > 1 else "1 edge"
    lines = [f"slices {number + 1}: {edges} every {format_duration(slicing.period)}"]
    if any(part.form is not None for part in parts):
        lines += [f"  {spec.name:<16} reads {slicing.inside(spec.range)} slices" for _, spec in group.specs]
        for part in parts:
            if part.form is not None:
                lines.append(f"  {_described(part):<40} by {part.form.CARD.name}, as asked for: {part.form.CARD.worst}")
        return lines
    known = cost(group)
    if len(group.specs) == 1:
        [(_, spec)] = group.specs
        counts = [len(cut(spec).edges) * spec.every // cut(spec).period for cut in (panes, pairs, cutty)]
        lines[0] += (
            f" (a slide by panes: {counts[0]}, by pairs: {counts[1]}, by Cutty, if rows came in order: {counts[2]})"
        )
    for _, spec in group.specs:
        if group.single(spec):
            lines.append(f"  {spec.name:<16} reads 1 slice as it is: 0 combines")
        else:
            shift = group.shift(spec)
            most = 3 if spec.range >> shift == 1 else 5
            lines.append(
                f"  {spec.name:<16} reads {slicing.inside(spec.range)} slices by {CARD.name}, in blocks of "
                f"{format_duration(1 << shift)}: at most {most} parts, so {_combines(spec.range, shift)} combines"
            )
    lines.append(
        f"  why {CARD.name}: any aggregate, windows share blocks, and answers do not depend on how rows were batched"
        if known.rows > 1
        else "  no final aggregation is needed"
    )
    lines.append(
        f"  combines, for each state, in {format_duration(known.period)}: {known.combines:.2f} "
        f"({known.extending:.2f} for {known.slices} slices, {known.answering:.2f} for {known.answers} answers)"
    )
    held = known.held + slicing.inside(waiting) if waiting else known.held + 1
    lines.append(
        f"  states a key: at most {held} slices x {known.rows} x {len(parts)} kept = {held * known.rows * len(parts)}"
    )
    return lines


def _said(spec: Spec) -> str:
    match spec:
        case Sliding():
            shift = f", shifted by {format_duration(spec.offset)}" if spec.offset else ""
            if spec.range == spec.every:
                return f"tumbling: {format_duration(spec.range)}{shift}"
            return f"sliding: {format_duration(spec.range)} every {format_duration(spec.every)}{shift}"
        case Session():
            return f"session: rows within {format_duration(spec.gap)} of each other"
        case Rows():
            every = f", after every {spec.every} rows" if spec.every > 1 else ", at every row"
            return f"rows: the last {spec.count}{every}"
        case Punctuated():
            return f"punctuated: up to each row whose {spec.column} is true"
        case Trailing():
            return f"trailing: the last {format_duration(spec.range)} at every row, closed {spec.closed}"
        case Delta():
            return f"delta: rows whose {spec.column} is within {spec.size:g} of the newest"
    return type(spec).__name__


def _combines(length: int, shift: int) -> str:
    """How many an answer takes, where blocks are longer than half of a window, or longer than a quarter."""
    return "1 or 2" if length >> shift <= 1 else "1 to 4"


def _entries(spec: Spec, shift: int) -> str:
    match spec:
        case Session():
            return "one for each stretch without a gap: 1 combine when two of them have grown together"
        case Punctuated():
            return "one for each window: 0 combines for the answer"
        case Trailing():
            answer = _combines(sum(spec.reach), shift)
            return f"one for each instant of a key, by {CARD.name}: 2 combines an entry, {answer} an answer"
        case Rows():
            return f"one for each row, by {CARD.name} of rows: 2 combines an entry, 1 or 2 an answer"
    return f"one for each row, by {CARD.name} of every power of two: 2 combines an entry and power, 1 or 2 an answer"


def _likely(aggregate: Aggregate) -> tuple[str, ...]:
    """Kinds for a plan that has not seen a table: numbers."""
    if aggregate.prepare is not None:
        return ("hash",)
    return ("f", "i") if aggregate.positional else ("f",) * aggregate.arity


def _described(part: Part) -> str:
    of = f" of {', '.join(part.columns)}" if part.columns else " of rows"
    state = part.monoid.state
    if state is None:
        return f"{part.monoid.name}{of} (Python objects)"
    fields = f"({', '.join(state.names)})" if state.names else part.monoid.name
    return f"{fields}{of}, {state.itemsize} bytes"


def _why_ordered(plan: Plan) -> str:
    names = [aggregate.output for aggregate in plan.aggregates if not aggregate.commutative]
    return f"it decides {', '.join(names)}" if names else "the windows count rows"
