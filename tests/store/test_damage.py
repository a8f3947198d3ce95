"""A file that is not what was written is an error that names it, never a wrong answer."""

import random
import shutil

import pytest

import slidewheel as sw
from tests.store.events import LEVELS, events

QUERY = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.mean("x"), sw.distinct("s")])


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "s"
    store = sw.create_store(path, QUERY, levels=LEVELS)
    store.append(events(500, seed=1))
    store.compact()
    store.append(events(100, seed=2))
    return path


@pytest.fixture
def path(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "s")


def data_files(path):
    return [path / file.path for file in sw.open_store(path).snapshot().files]


def asked(path):
    """All levels are read for it."""
    store = sw.open_store(path)
    low, high = store.span
    return store.query(low + 1_000_000, high - 1_000_000)


def refused(path, file):
    with pytest.raises(sw.InvalidStore, match=file.name):
        asked(path)
    found = sw.open_store(path).check()
    assert len(found.problems) == 1 and file.name in found.problems[0]


def test_sound(path):
    assert asked(path).num_rows == 6
    assert sw.open_store(path).check().ok


def test_missing(path):
    for number, file in enumerate(data_files(path)):
        kept = file.read_bytes()
        file.unlink()
        refused(path, file)
        file.write_bytes(kept)
        assert number < 5


def test_truncated(path):
    for file in data_files(path):
        kept = file.read_bytes()
        for length in (0, 3, len(kept) // 2, len(kept) - 1):
            file.write_bytes(kept[:length])
            refused(path, file)
        file.write_bytes(kept)


def test_flipped_bits(path):
    dice = random.Random(1)
    for file in data_files(path):
        kept = file.read_bytes()
        for _ in range(12):
            at = dice.randrange(8 * len(kept))
            bad = bytearray(kept)
            bad[at // 8] ^= 1 << at % 8
            file.write_bytes(bad)
            refused(path, file)
        file.write_bytes(kept)


def test_a_compaction_refuses_and_changes_nothing(path):
    file = data_files(path)[0]
    kept = file.read_bytes()
    file.write_bytes(kept[:-1])
    store = sw.open_store(path)
    version = store.version
    store.append(events(50, seed=3))
    with pytest.raises(sw.InvalidStore, match=file.name):
        store.compact()
    file.write_bytes(kept)
    assert sw.open_store(path).version == version + 1


def test_log(path):
    """A commit that can't be read is said; what a crash leaves beside the log is not looked at."""
    logs = sorted((path / "_delta_log").glob("*.json"))
    (path / "_delta_log" / "_commit_1234.json.tmp").write_text("half a")
    before = asked(path)
    kept = logs[-1].read_bytes()
    logs[-1].write_bytes(kept[: len(kept) // 2])
    with pytest.raises(sw.InvalidStore, match="log"):
        asked(path)
    logs[-1].write_bytes(kept)
    assert asked(path) == before


def test_a_wrong_roll_up_is_found(path, monkeypatch):
    """Files that are sound each, but do not add up."""
    from slidewheel.store.partials import Partials

    store = sw.open_store(path)
    rolled = Partials.rolled_up

    def wrong(self, entries, length):
        found = rolled(self, entries, length)
        found.states[0] = found.states[0].copy()
        found.states[0][:1] += 1
        return found

    monkeypatch.setattr(Partials, "rolled_up", wrong)
    store.compact()
    monkeypatch.setattr(Partials, "rolled_up", rolled)
    problems = sw.open_store(path).check().problems
    assert problems and "but the level below makes" in problems[0]


def test_not_a_store(tmp_path):
    with pytest.raises(sw.InvalidArgument, match="there is no store at"):
        sw.open_store(tmp_path / "nothing")
    import pyarrow as pa
    from deltalake import write_deltalake

    write_deltalake(str(tmp_path / "table"), pa.table({"a": [1]}))
    with pytest.raises(sw.InvalidStore, match="but not a store"):
        sw.open_store(tmp_path / "table")
    with pytest.raises(sw.InvalidArgument, match="there is a table at"):
        sw.create_store(tmp_path / "table", QUERY)
