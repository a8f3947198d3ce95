"""What a store takes, refuses and says."""

import datetime
import decimal
import threading

import numpy as np
import pyarrow as pa
import pytest

import slidewheel as sw
from tests.store.events import LEVELS, SECOND, START, events, recalculated, same

QUERY = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.sum("i"), sw.max("x")])


def test_empty(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    assert store.span is None and store.check().ok and store.info().fresh_rows == 0
    assert store.compact().partials == 0
    with pytest.raises(sw.InvalidArgument, match="nothing has been written"):
        store.query()
    typed = sw.create_store(tmp_path / "typed", QUERY, schema=events(1, 1).schema)
    assert typed.query().num_rows == typed.windows().num_rows == typed.keys().num_rows == 0
    assert typed.append(events(1, 1).slice(0, 0)).partials == 0
    assert typed.load().key_count == 0


def test_one_row(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    store.append({"t": [START], "k": ["a"], "i": pa.array([None], pa.int64()), "x": [1.5]})
    for _ in range(2):
        assert store.query().to_pylist() == [{"k": "a", "count": 1, "sum_i": None, "max_x": 1.5}]
        assert store.span == (START // SECOND * SECOND, START // SECOND * SECOND + SECOND)
        store.compact()


def test_before_1970(tmp_path):
    times = [-90_000_001, -90_000_000, -1, 0, 59_000_000]
    store = sw.create_store(tmp_path / "s", QUERY, levels=LEVELS)
    store.append({"t": times, "k": ["a"] * 5, "i": [1, 2, 4, 8, 16], "x": [0.0] * 5})
    for _ in range(2):
        found = store.query(-91 * SECOND, 60 * SECOND, every="30s", aggregates="sum_i")
        assert found["sum_i"].to_pylist() == [3, 12, 16]
        assert store.query(-60 * SECOND, 0)["sum_i"].to_pylist() == [4]
        store.compact()
        assert store.check().problems == []


def test_no_keys(tmp_path):
    table = events(300, seed=3)
    query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.mean("x")])
    store = sw.create_store(tmp_path / "s", query, levels=LEVELS)
    for first in (0, 100, 200):
        store.append(table.slice(first, 100))
    edges = [START - 7200 * SECOND, START + 3600 * SECOND]
    same(store.query(*edges), recalculated(table, query, edges).drop_columns(["start", "end"]))
    same(store.windows(), query.run(table))
    with pytest.raises(sw.Unsupported, match="needs keys"):
        store.load()


KEYS = {
    "text": (pa.string(), ["a", "", None, "ä"]),
    "large": (pa.large_string(), ["a", "b", None, "c"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None, "c"]),
    "small": (pa.int8(), [1, -1, None, 3]),
    "unsigned": (pa.uint64(), [1, 2**64 - 1, None, 3]),
    "float": (pa.float64(), [1.5, float("nan"), None, -0.5]),
    "bool": (pa.bool_(), [True, False, None, True]),
    "date": (pa.date32(), [datetime.date(2020, 1, k) for k in (1, 2, 3)] + [None]),
    "naive": (pa.timestamp("us"), [datetime.datetime(2020, 1, k) for k in (1, 2, 3)] + [None]),
    "zoned": (pa.timestamp("ms", "Europe/Stockholm"), [datetime.datetime(2020, 1, k) for k in (1, 2, 3)] + [None]),
    "decimal": (pa.decimal128(9, 2), [decimal.Decimal("1.25"), decimal.Decimal("-3.00"), None, decimal.Decimal("7")]),
    "bytes": (pa.binary(), [b"a", b"", None, b"\xff"]),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_any_type(tmp_path, kind):
    arrow, values = KEYS[kind]
    table = pa.table({"t": [START, START, START + SECOND, START + 70 * SECOND], "k": pa.array(values, arrow)})
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.max("t")])
    store = sw.create_store(tmp_path / "s", query, levels=LEVELS)
    store.append(table.slice(0, 2))
    store.append(table.slice(2))
    expected = query.run(table)
    for _ in range(2):
        opened = sw.open_store(store.path)
        answers = opened.query()
        assert repr(answers["k"].to_pylist()) == repr(expected["k"].to_pylist())
        assert answers["count"].to_pylist() == expected["count"].to_pylist()
        first = answers["k"][1].as_py()
        if first == first:
            assert opened.query(keys=[first])["count"].to_pylist() == [answers["count"][1].as_py()]
        store.compact()
        assert store.check().problems == []


def test_types_stay(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    store.append(events(10, 1))
    with pytest.raises(sw.InvalidArgument, match="not of the types"):
        store.append({"t": [START], "k": ["a"], "i": ["text"], "x": [1.0]})
    with pytest.raises(sw.InvalidArgument, match="no column 'x'"):
        store.append({"t": [START], "k": ["a"], "i": [1]})
    assert store.append({"t": [None], "k": ["a"], "i": [1], "x": [1.0]}).without_time == 1
    ints = {"t": [START], "k": ["a"], "i": [1], "x": [2]}
    assert store.append(ints).partials == 1


def test_two_who_write_first(tmp_path, monkeypatch):
    """The types of one of them hold, whoever comes to an end first; others are refused."""
    from deltalake.table import TableAlterer

    store, other = sw.create_store(tmp_path / "s", QUERY), sw.open_store(tmp_path / "s")
    rows = {"t": [START], "k": ["a"], "i": [1], "x": [1.0]}
    real = TableAlterer.set_table_properties

    def meanwhile(*given, **named):
        monkeypatch.setattr(TableAlterer, "set_table_properties", real)
        with pytest.raises(sw.InvalidArgument, match="somebody else writes"):
            other.append({**rows, "x": [2]})
        assert other.append(rows).committed
        return real(*given, **named)

    monkeypatch.setattr(TableAlterer, "set_table_properties", meanwhile)
    assert store.append(rows).committed
    assert sw.open_store(tmp_path / "s").query()["count"].to_pylist() == [2]
    assert store.check().ok


def test_what_can_not_be_stored(tmp_path):
    def made(**given):
        said = {"time": "t", "keys": "k", "windows": sw.tumbling("1h"), "aggregates": sw.count()} | given
        return sw.create_store(tmp_path / "s", sw.query(**said))

    with pytest.raises(sw.InvalidArgument, match="two columns of the store"):
        made(keys="level")
    with pytest.raises(sw.InvalidArgument, match="two columns of the store"):
        made(aggregates=[sw.count().alias("K")])
    with pytest.raises(sw.InvalidArgument, match="use alias"):
        made(aggregates=[sw.count().alias("a b")])
    with pytest.raises(sw.InvalidArgument, match="start and end of their own"):
        made(aggregates=[sw.count().alias("end")])
    with pytest.raises(sw.InvalidArgument, match="names a folder"):
        sw.create_store(tmp_path / "s", QUERY, levels={"a/b": 60})
    with pytest.raises(sw.InvalidArgument, match="a store is made for a query"):
        sw.create_store(tmp_path / "s", "query")
    store = made()
    with pytest.raises(sw.Unsupported, match="no type for"):
        store.append({"t": [START], "k": pa.array([1], pa.duration("us"))})


def test_questions_that_have_no_answer(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    store.append(events(50, 1))
    for question, said in (
        ({"start": START + SECOND, "end": START}, "ends before it starts"),
        ({"start": START + 1}, "whole ticks of 1s"),
        ({"every": "1500ms"}, "whole number of ticks"),
        ({"aggregates": "nothing"}, "there is no aggregate 'nothing'; there are count, sum_i, max_x"),
        ({"aggregates": []}, "name an aggregate"),
        ({"keys": {"z": "a"}}, "there is no key column 'z'; there are k"),
        ({"keys": [("a", "b")]}, "a tuple of 1"),
        ({"keys": [5]}, "no values of the key column"),
        ({"every": "day", "timezone": "Mars"}, "unknown time zone"),
    ):
        with pytest.raises(sw.SlidewheelError, match=said):
            store.query(**question)
    assert store.query(keys="nobody").num_rows == 0
    assert store.query(keys=["nobody", "key 1"]).num_rows == 1
    with pytest.raises(sw.InvalidArgument, match="there is no window"):
        store.windows(window="5m")
    with pytest.raises(sw.InvalidArgument, match="there is no level"):
        store.load(level="years ago")
    with pytest.raises(sw.InvalidArgument, match="a batch is"):
        store.append(events(1, 1), batch=("a", 1.5))


def test_windows_that_slots_do_not_make(tmp_path):
    fine = sw.query(time="t", keys="k", windows=sw.sliding("1500ms", "500ms"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "fine", fine)
    store.append(events(10, 1))
    with pytest.raises(sw.Unsupported, match="finer tick"):
        store.windows()
    session = sw.query(time="t", keys="k", windows=sw.session("5m"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "session", session)
    store.append(events(10, 1))
    with pytest.raises(sw.Unsupported, match="needs the rows"):
        store.windows()


def test_days_of_a_time_zone(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY, levels=["1s", "1m", "1h", "1d"])
    table = events(500, 4, days=4)
    store.append(table)
    found = store.query(every="day", timezone="America/New_York", aggregates="count")
    low, high = store.span
    edges = sorted({low, high, *(int(v) for v in found["start"].cast(pa.int64()).to_pylist())})
    assert len(edges) >= 5
    assert all(edge % (86400 * SECOND) == 5 * 3600 * SECOND for edge in edges[1:-1])  # midnight in November
    same(found, recalculated(table, QUERY, edges).select(found.column_names))


def test_versions(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    store.append(events(50, 1))
    old = sw.open_store(store.path, version=store.version)
    before = old.query()
    store.append(events(50, 2))
    store.compact()
    assert old.query() == before and store.query() != before
    with pytest.raises(sw.InvalidArgument, match="old version"):
        old.append(events(50, 1))
    with pytest.raises(sw.InvalidArgument, match="old version"):
        old.compact()


def test_another_query(tmp_path):
    store = sw.create_store(tmp_path / "s", QUERY)
    other = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.sum("x")])
    with pytest.raises(sw.InvalidArgument, match="is of another query"):
        other.run(events(10, 1), store=store)
    with pytest.raises(sw.InvalidArgument, match="is of another query"):
        other.stream(store=store.path)
    with pytest.raises(sw.InvalidArgument, match="a store or its path"):
        QUERY.run(events(10, 1), store=5)
    with pytest.raises(sw.InvalidArgument, match="give store= as well"):
        QUERY.run(events(10, 1), batch=("a", 1))


def test_code_that_has_changed(tmp_path):
    def aggregate(factor):
        @sw.aggregate(state="f8", commutative=True)
        class Scaled:
            identity = 0.0

            def lift(x):
                return x * factor

            def combine(a, b):
                return a + b

            def lower(s):
                return s

        return Scaled

    made = aggregate(2.0)
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=made("x"))
    store = sw.create_store(tmp_path / "s", query)
    store.append(events(10, 1))
    assert sw.open_store(store.path, aggregates=[made]).query().num_rows == store.query().num_rows
    with pytest.raises(sw.Unsupported, match="pass it along"):
        sw.open_store(store.path)
    with pytest.raises(sw.InvalidStore, match="its code has changed"):
        sw.open_store(store.path, aggregates=[aggregate(3.0)])


def test_integers_beyond_64_bits(tmp_path):
    """A sum may leave the range of its type on the way, if only it comes back."""
    query = sw.query(time="t", windows=sw.tumbling("1h"), aggregates=sw.sum("i"))
    store = sw.create_store(tmp_path / "s", query, levels=LEVELS)
    big = 2**63 - 1
    store.append({"t": [START, START, START + SECOND], "i": [big, big, -big]})
    for _ in range(2):
        assert store.query(START, START + 2 * SECOND)["sum_i"].to_pylist() == [big]
        with pytest.raises(sw.Overflow):
            store.query(START, START + SECOND)
        store.compact()


def test_everybody_at_once(tmp_path):
    """Two who write, one who compacts and two who ask: every answer is one of a version."""
    store = sw.create_store(tmp_path / "s", QUERY, levels=LEVELS, schema=events(1, 1).schema)
    failures, totals = [], []
    done = threading.Event()

    def run(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    def write(name):
        own = sw.open_store(store.path)
        for number in range(8):
            own.append(events(100, number), batch=(name, number))

    def compact():
        own = sw.open_store(store.path)
        while not done.is_set():
            own.compact(target=100)

    def ask():
        while not done.is_set():
            totals.append(sum(store.query(aggregates="count")["count"].to_pylist()))

    others = [threading.Thread(target=run, args=(work,)) for work in (compact, ask, ask)]
    writers = [threading.Thread(target=run, args=(lambda name=name: write(name),)) for name in "ab"]
    for thread in (*others, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    assert not failures
    assert set(totals) <= set(range(0, 1601, 100)) and len(totals) > 3
    assert sum(store.query(aggregates="count")["count"].to_pylist()) == 1600
    assert store.check().problems == []


def test_an_address(tmp_path):
    """A store by its URL goes through deltalake's own files."""
    url = f"file://{tmp_path}/s"
    store = sw.create_store(url, QUERY)
    table = events(200, 1)
    store.append(table)
    store.compact()
    edges = [START - 7200 * SECOND, START + 86400 * SECOND]
    same(sw.open_store(url).query(*edges), recalculated(table, QUERY, edges).drop_columns(["start", "end"]))


def test_files_elsewhere(tmp_path, monkeypatch):
    """The same where no local folder is known, as for an object store."""
    from slidewheel.store import files

    monkeypatch.setattr(files, "local_path", lambda path: None)
    test_an_address(tmp_path)


def test_a_full_disk(tmp_path, monkeypatch):
    from slidewheel.store.files import Folder

    store = sw.create_store(tmp_path / "s", QUERY)
    store.append(events(50, 1))
    before, version = store.query(), store.version

    def full(self, name, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", full)
        for work in (lambda: store.append(events(50, 2)), store.compact):
            with pytest.raises(OSError, match="No space"):
                work()
    assert store.version == version and store.query() == before
    store.compact()
    assert np.array_equal(store.query()["count"], before["count"])
