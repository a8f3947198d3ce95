"""Blocks of time against plain recalculation: prefixes, suffixes and windows of texts, in rings that wrap around."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from slidewheel.swag import time_blocks


def load(table: list[Any], place: int) -> Any:
    return table[place]


def store(table: list[Any], place: int, state: Any) -> None:
    table[place] = state


COMBINED: list[tuple[str, str]] = []


def joined(a: str, b: str) -> str:
    COMBINED.append((a, b))
    return a + b


@pytest.fixture
def combines():
    return COMBINED


PREFIXES, SUFFIXES, WINDOW, FIND, NEXT_WINDOW = time_blocks.operations(
    SimpleNamespace(combine=joined), SimpleNamespace(load=load, store=store), lambda function: function
)
NOT_YET = None
PREFIX, SUFFIX = 1, 2
"""The places of a slot, beside those of each level."""


class Key:
    """A ring of entries with random ids, in the middle of a longer table, whose other slots must stay untouched."""

    def __init__(self, dice: random.Random, levels: int = 1) -> None:
        size = 1 << dice.randint(0, 5)
        self.base, self.mask = dice.randint(0, 7), size - 1
        count = dice.randint(1, size)
        self.front = dice.choice([0, 1, size - 1, dice.randint(0, 1000)])
        self.end = self.front + count
        step = dice.choice([1, 1, 3, 10, 100])
        first = dice.randint(-200, 200)
        self.times = sorted(dice.sample(range(first, first + count * step + 1), count))
        self.texts = [f"<{t}>" for t in self.times]
        slots = self.base + size + dice.randint(0, 7)
        self.ids = [10**9] * slots
        self.plane = slots
        self.table: list[Any] = [NOT_YET] * (slots * (1 + 2 * levels))
        for position in range(self.front, self.end):
            self.ids[self.slot(position)] = self.time(position)
            self.table[self.slot(position)] = self.text(position)

    def slot(self, position: int) -> int:
        return self.base + (position & self.mask)

    def time(self, position: int) -> int:
        return self.times[position - self.front]

    def text(self, position: int) -> str:
        return self.texts[position - self.front]

    def change(self, position: int, text: str) -> None:
        self.texts[position - self.front] = self.table[self.slot(position)] = text

    def positions(self) -> range:
        return range(self.front, self.end)

    def block(self, position: int, shift: int) -> list[int]:
        return [p for p in self.positions() if self.time(p) >> shift == self.time(position) >> shift]

    def prefix(self, position: int, shift: int) -> str:
        return "".join(self.text(p) for p in self.block(position, shift) if p <= position)

    def suffix(self, position: int, shift: int) -> str:
        return "".join(self.text(p) for p in self.block(position, shift) if p >= position)

    def at(self, position: int, place: int) -> Any:
        return self.table[place * self.plane + self.slot(position)]

    def make_prefixes(self, shift: int, first: int, last: int, place: int = PREFIX) -> None:
        PREFIXES(self.table, self.plane, place, self.ids, shift, self.base, self.mask, self.front, first, last)

    def make_suffixes(self, shift: int, first: int, last: int, place: int = SUFFIX) -> None:
        SUFFIXES(self.table, self.plane, place, self.ids, shift, self.base, self.mask, first, last)

    def places(self) -> dict[int, Any]:
        return dict(enumerate(self.table))


SHIFTS = range(9)
SEEDS = range(60)


def keys(shift: int, levels: int = 1) -> Any:
    for seed in SEEDS:
        dice = random.Random(1000 * shift + seed)
        yield dice, Key(dice, levels)


@pytest.mark.parametrize("shift", SHIFTS)
class TestPrefixes:
    def test_all_at_once(self, shift):
        for _, key in keys(shift):
            key.make_prefixes(shift, key.front, key.end)
            for p in key.positions():
                assert key.at(p, PREFIX) == key.prefix(p, shift)

    def test_little_by_little(self, shift):
        for dice, key in keys(shift):
            done = key.front
            while done < key.end:
                upto = dice.randint(done, key.end)
                key.make_prefixes(shift, done, upto)
                assert all((key.at(p, PREFIX) is NOT_YET) == (p >= upto) for p in key.positions())
                done = upto
            assert [key.at(p, PREFIX) for p in key.positions()] == [key.prefix(p, shift) for p in key.positions()]

    def test_anew_from_any_position(self, shift):
        for dice, key in keys(shift):
            key.make_prefixes(shift, key.front, key.end)
            changed = dice.choice(key.positions())
            key.change(changed, "<late>")
            key.make_prefixes(shift, changed, key.end)
            assert [key.at(p, PREFIX) for p in key.positions()] == [key.prefix(p, shift) for p in key.positions()]

    def test_what_has_left_is_not_read(self, shift):
        """The front lies inside a block: the block begins there from now on."""
        for dice, key in keys(shift):
            key.make_prefixes(shift, key.front, key.end)
            gone = dice.randint(0, key.end - key.front - 1)
            for p in range(key.front, key.front + gone):
                key.table[PREFIX * key.plane + key.slot(p)] = "gone"
            key.times, key.texts, key.front = key.times[gone:], key.texts[gone:], key.front + gone
            key.make_prefixes(shift, key.front, key.end)
            assert [key.at(p, PREFIX) for p in key.positions()] == [key.prefix(p, shift) for p in key.positions()]


@pytest.mark.parametrize("shift", SHIFTS)
class TestSuffixes:
    def ends(self, key: Key, shift: int) -> list[int]:
        """The positions behind the last of each block."""
        cuts = [p for p in key.positions() if p > key.front and key.time(p) >> shift != key.time(p - 1) >> shift]
        return [*cuts, key.end]

    def test_all_at_once(self, shift):
        for _, key in keys(shift):
            key.make_suffixes(shift, key.front, key.end)
            for p in key.positions():
                assert key.at(p, SUFFIX) == key.suffix(p, shift)

    def test_block_by_block(self, shift):
        for dice, key in keys(shift):
            done = key.front
            for end in self.ends(key, shift):
                if dice.random() < 0.5 or end == key.end:
                    key.make_suffixes(shift, done, end)
                    assert all((key.at(p, SUFFIX) is NOT_YET) == (p >= end) for p in key.positions())
                    done = end
            assert [key.at(p, SUFFIX) for p in key.positions()] == [key.suffix(p, shift) for p in key.positions()]

    def test_anew_from_the_start_of_the_block_that_changed(self, shift):
        for dice, key in keys(shift):
            key.make_suffixes(shift, key.front, key.end)
            changed = dice.choice(key.positions())
            key.change(changed, "<late>")
            key.make_suffixes(
                shift, key.block(changed, shift)[0], dice.choice([e for e in self.ends(key, shift) if e > changed])
            )
            assert [key.at(p, SUFFIX) for p in key.positions()] == [key.suffix(p, shift) for p in key.positions()]

    def test_from_the_middle_of_a_block(self, shift):
        for dice, key in keys(shift):
            first = dice.choice(key.positions())
            key.make_suffixes(shift, first, key.end)
            wanted = [key.suffix(p, shift) if p >= first else NOT_YET for p in key.positions()]
            assert [key.at(p, SUFFIX) for p in key.positions()] == wanted


@pytest.mark.parametrize("shift", [0, 3, 6])
def test_nothing_else_is_written(shift):
    for dice, key in keys(shift):
        first = dice.choice(key.positions())
        last = dice.randint(first, key.end)
        key.make_prefixes(shift, key.front, first)
        before = key.places()
        for place, make in ((PREFIX, key.make_prefixes), (SUFFIX, key.make_suffixes)):
            make(shift, first, last)
            after = key.places()
            written = {k for k in after if after[k] is not before[k]}
            assert written == {place * key.plane + key.slot(p) for p in range(first, last)}
            before = after


@pytest.mark.parametrize("make", ["make_prefixes", "make_suffixes"])
def test_an_empty_stretch(make):
    for _, key in keys(2):
        before = key.places()
        getattr(key, make)(2, key.end, key.end)
        getattr(key, make)(2, key.front, key.front)
        assert key.places() == before


def test_levels_lie_side_by_side():
    """Blocks of several lengths share the entries and do not disturb each other."""
    shifts = (1, 4, 7)
    for dice, key in keys(0, levels=3):
        made = [(level, suffix) for level in range(3) for suffix in (False, True)]
        for level, suffix in dice.sample(made, len(made)):
            make = key.make_suffixes if suffix else key.make_prefixes
            make(shifts[level], key.front, key.end, 1 + 2 * level + suffix)
        for p in key.positions():
            assert key.at(p, 0) == key.text(p)
            for level, shift in enumerate(shifts):
                assert key.at(p, 1 + 2 * level) == key.prefix(p, shift)
                assert key.at(p, 2 + 2 * level) == key.suffix(p, shift)


NO_BLOCK = 2**63 - 1


@pytest.mark.parametrize("shift", range(1, 9))
def test_a_window_is_a_suffix_a_block_and_a_prefix(shift, combines):
    """What the operations are for: windows of one block's length to less than two, with at most 2 combines each.

    Of less than four blocks, with at most 4.
    """
    block = 1 << shift
    for dice, key in keys(shift):
        key.make_prefixes(shift, key.front, key.end)
        key.make_suffixes(shift, key.front, key.end)
        most = dice.choice([2, 4])
        length = dice.randrange(block, most * block)
        starts = sorted(dice.randint(key.times[0] - length, key.times[-1]) for _ in range(10))
        known = [NO_BLOCK] * 8
        for start in starts:
            held = [p for p in key.positions() if start <= key.time(p) < start + length]
            if held:
                del combines[:]
                ring = key.table, key.plane, 0, shift, key.ids, False, key.base, key.mask
                assert WINDOW(*ring, held[0], held[-1], start, known) == "".join(key.text(p) for p in held)
                assert len(combines) <= most


@pytest.mark.parametrize("shift", range(1, 6))
def test_a_window_of_positions(shift):
    """For windows that count rows, blocks are cut by position."""
    block = 1 << shift
    for dice, key in keys(shift):
        if key.end - key.front < block:
            continue
        for p in key.positions():
            key.ids[key.slot(p)] = p
        key.times = list(key.positions())
        key.make_prefixes(shift, key.front, key.end)
        key.make_suffixes(shift, key.front, key.end)
        length = dice.randrange(block, 2 * block)
        for last in key.positions():
            first = max(key.front, last + 1 - length)
            ring = key.table, key.plane, 0, shift, key.ids, True, key.base, key.mask
            found = WINDOW(*ring, first, last, last + 1 - length, [])
            assert found == "".join(key.text(p) for p in range(first, last + 1))


def test_the_next_window_that_holds_an_entry():
    for seed in range(300):
        dice = random.Random(seed)
        key = Key(dice)
        zero, length, every = dice.randint(-50, 50), dice.randint(1, 60), dice.randint(1, 60)
        first = dice.randint(-20, 20)
        held = []
        for i in range(first, (key.times[-1] - zero) // every + 1):
            inside = [p for p in key.positions() if 0 <= key.time(p) - zero - i * every < length]
            if inside:
                held.append((i, inside[0], inside[-1] + 1))
        found = []
        i, lo, hi = first, key.front, key.front
        while True:
            i, lo, hi = NEXT_WINDOW(key.ids, key.base, key.mask, key.end, zero, length, every, i, lo, hi)
            if lo == key.end:
                break
            found.append((i, lo, hi))
            i += 1
        assert found == held


@pytest.mark.parametrize("spread", ["even", "gaps", "steep", "ties", "far"])
def test_find(spread):
    """Rings of all lengths, ids at equal distances or anywhere, up to the ends of 64 bits."""
    for seed in range(40):
        dice = random.Random(seed)
        size = 1 << dice.randint(0, 8)
        base, mask, count = dice.randint(0, 5), size - 1, dice.randint(0, size)
        front = dice.randint(0, 1000)
        match spread:
            case "even":
                times = [1000 + 7 * k for k in range(count)]
            case "gaps":
                times = sorted(dice.sample(range(10 * count + 1), count))
            case "steep":
                times = sorted(int(2 ** dice.uniform(0, 60)) for _ in range(count))
            case "ties":
                times = sorted(dice.choices(range(5), k=count))
            case _:
                times = sorted(dice.choice([-1, 1]) * (2**61 - dice.randint(0, 3)) for _ in range(count))
        ids = [0] * (base + size)
        for k, time in enumerate(times):
            ids[base + ((front + k) & mask)] = time
        asked = [t + d for t in times for d in (-1, 0, 1)] + [-(2**62), 2**62]
        for x in dice.sample(asked, min(len(asked), 60)):
            lo = dice.randint(0, count)
            hi = dice.randint(lo, count)
            wanted = next((k for k in range(lo, hi) if times[k] >= x), hi)
            assert FIND(ids, base, mask, front + lo, front + hi, x) == front + wanted
