"""Pipelines that run on Spark: what comes out is what the query gives in process, and nothing is lost on the way."""

import json
import os
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import slidewheel as sw
from slidewheel.pipeline import PipelineFailed, load, running
from slidewheel.pipeline.kafka import Messages, ToKafka
from slidewheel.pipeline.outputs import ToParquet
from slidewheel.pipeline.rejects import MALFORMED, readable, reasons, rejected
from slidewheel.pipeline.stream import ToAll
from tests.spark.support import same_answers

QUERY = """
[query]
time = "t"
keys = ["k"]
windows = ["sliding 10s every 5s"]
aggregates = [{aggregate = "count"}, {aggregate = "sum", column = "x"}]
"""
MADE_UP = """
[query]
time = "time"
keys = ["key"]
windows = ["sliding 1s every 1s"]
aggregates = [{aggregate = "count"}, {aggregate = "sum", column = "value"}]
"""
PARQUET = '[source]\nkind = "parquet"\npath = "rows"\n'
JSON = '[source]\nkind = "json"\npath = "rows"\nschema = "t TIMESTAMP, k STRING, x DOUBLE"\n'
NOW = "[trigger]\navailable_now = true\n"
START = datetime(2024, 1, 1)


def output(path: str, **more: str) -> str:
    return f'[[output]]\nkind = "parquet"\npath = "{path}"\n' + "".join(f'{k} = "{v}"\n' for k, v in more.items())


def pipeline(folder: Path, text: str):
    (folder / "pipeline.toml").write_text(text)
    return load(folder / "pipeline.toml")


def rows(seconds) -> pa.Table:
    """A row for each of these seconds."""
    times = pa.array([START + timedelta(seconds=s) for s in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"t": times, "k": [f"k{s % 3}" for s in seconds], "x": [float(s) for s in seconds]})


def add_file(folder: Path, name: str, table: pa.Table) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / name)


def sink_files(folder: Path) -> pa.Table:
    """What Spark's file sink says is there."""
    logs = sorted((folder / "_spark_metadata").iterdir())
    entries = [json.loads(line) for log in logs if log.name.isdigit() for line in log.read_text().splitlines()[1:]]
    return pa.concat_tables(pq.read_table(entry["path"].removeprefix("file://")) for entry in entries)


def by_batch(folder: Path) -> pa.Table:
    return ds.dataset(folder, partitioning="hive").to_table().drop_columns(["batch"])


def naive(table: pa.Table) -> pa.Table:
    """Spark writes instants with a time zone into Parquet."""
    for name in ("window_start", "window_end"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, table[name].cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us")))
    return table


def closed(query, table: pa.Table, until: int) -> pa.Table:
    """The answers of windows that end by this second."""
    answers = naive(query.run(table))
    return answers.filter(pa.compute.less_equal(answers["window_end"], START + timedelta(seconds=until)))


def test_a_batch_of_parquet_files_to_two_outputs(spark, tmp_path):
    table = rows(range(100))
    add_file(tmp_path / "rows", "a.parquet", table.slice(0, 60))
    add_file(tmp_path / "rows", "b.parquet", table.slice(60))
    made = pipeline(tmp_path, PARQUET + QUERY + output("answers") + '[[output]]\nkind = "memory"\nname = "answered"\n')
    summary = made.run(spark)
    wanted = naive(made.query.run(table))
    same_answers(naive(pq.read_table(tmp_path / "answers")), wanted)
    same_answers(naive(spark.table("answered").toArrow()), wanted)
    assert (summary.rows, summary.answers, summary.rejected, summary.batches) == (100, wanted.num_rows, 0, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers", "pipeline.toml", "rows"]
    with pytest.raises(PipelineFailed, match=r"answers is there already: add mode"):
        made.run(spark)


def test_rows_of_a_batch_that_can_not_be_used(spark, tmp_path):
    (tmp_path / "rows").mkdir()
    lines = ["t,k,x,other", "2024-01-01T00:00:01Z,a,1.5,1", "2024-01-01T00:00:02Z,a,many,1", ",a,2,1"]
    lines += ["2024-01-01T00:00:03Z,,,1", "then,a,2,1", "2024-01-01T00:00:04Z,a,1,not read by the query"]
    lines += ["2024-01-01T00:00:05Z,a", "2024-01-01T00:00:06Z,b,2,1,too much"]
    (tmp_path / "rows" / "a.csv").write_text("\n".join(lines) + "\n")
    source = '[source]\nkind = "csv"\npath = "rows"\nschema = "t TIMESTAMP, k STRING, x DOUBLE, other INT"\n'
    made = pipeline(
        tmp_path, 'rejects = "bad"\n' + source + QUERY.replace("10s every 5s", "1h every 1h") + output("out")
    )
    summary = made.run(spark)
    assert (summary.rows, summary.malformed, summary.without_time, summary.without_key) == (8, 5, 1, 1)
    answers = naive(pq.read_table(tmp_path / "out")).sort_by("k").to_pylist()
    assert [(row["k"], row["count"], row["sum_x"]) for row in answers] == [("a", 1, 1.5)]
    kept = pq.read_table(tmp_path / "bad").to_pylist()
    assert sorted(row["row"] for row in kept if row["reason"] == "malformed") == sorted(
        [lines[2], lines[5], lines[6], lines[7], lines[8]]
    )
    assert [json.loads(row["row"]) for row in kept if row["reason"] == "no time"] == [{"k": "a", "x": 2.0, "other": 1}]
    assert [json.loads(row["row"])["t"] for row in kept if row["reason"] == "no key"] == ["2024-01-01T00:00:03.000Z"]
    taken = pipeline(tmp_path, source + QUERY + "null_keys = true\n" + output("out"))
    assert "no key" not in taken.reasons


def test_a_stream_goes_on_where_it_was(spark, tmp_path):
    asked = PARQUET + QUERY + 'late = "keep"\n'
    made = pipeline(tmp_path, asked + output("answers") + NOW + '[late]\npath = "late"\n')
    add_file(tmp_path / "rows", "a.parquet", rows(range(40)))
    first = made.run(spark)
    assert (first.rows, first.last_batch) == (40, 1)
    same_answers(naive(sink_files(tmp_path / "answers")), closed(made.query, rows(range(40)), 39))

    add_file(tmp_path / "rows", "b.parquet", rows([3, *range(40, 70)]))
    second = load(tmp_path / "pipeline.toml").run(spark)
    assert (second.rows, second.last_batch, second.watermark) == (31, 3, "2024-01-01T00:01:09.000Z")
    answers = naive(sink_files(tmp_path / "answers"))
    same_answers(answers, closed(made.query, rows(range(70)), 69))
    assert first.answers + second.answers == answers.num_rows
    assert (first.late, second.late) == (0, 1)
    [late] = ds.dataset(tmp_path / "late" / "late").to_table().to_pylist()
    assert late["x"] == 3.0

    for before, after, what in [
        ('["k"]', "[]", "keys"),
        ('"sum"', '"max"', "aggregates"),
        ("rows", "others", "source"),
    ]:
        changed = pipeline(tmp_path, asked.replace(before, after) + output("answers") + NOW)
        with pytest.raises(PipelineFailed, match=f"is of a pipeline with other {what}: "):
            changed.run(spark)
    several = pipeline(tmp_path, asked + output("answers") + output("more") + NOW)
    with pytest.raises(PipelineFailed, match="was written as the only output of a stream"):
        several.run(spark)


def test_rows_are_kept_in_a_store(spark, tmp_path):
    """A batch over what was, and a stream over all the rest, which goes on where it was: every row once."""
    store = '[store]\npath = "kept"\nlevels = ["1s", "1m"]\n'
    history = pipeline(tmp_path, PARQUET + QUERY + output("history", mode="overwrite") + store + "batch = 1\n")
    add_file(tmp_path / "rows", "a.parquet", rows(range(40)))
    for _ in range(2):
        history.run(spark)
    asked = PARQUET.replace('"rows"', '"more"') + QUERY + output("answers") + NOW + store
    for number in range(2):
        add_file(tmp_path / "more", f"{number}.parquet", rows([3, *range(40 + 30 * number, 70 + 30 * number)]))
        made = pipeline(tmp_path, asked)
        made.run(spark)
    kept = sw.open_store(tmp_path / "kept")
    expected = made.query.run(rows([*range(100), 3, 3]))
    same_answers(naive(kept.windows()), naive(expected))
    assert f"store       {tmp_path}/kept" in made.explain() and kept.check().ok
    changed = asked.replace('"sum"', '"max"').replace("answers", "others")
    other = pipeline(tmp_path, 'checkpoint = "another"\n' + changed)
    with pytest.raises(PipelineFailed, match="is of another query"):
        other.run(spark)


def test_rows_of_a_stream_that_can_not_be_used_and_two_outputs(spark, tmp_path):
    (tmp_path / "rows").mkdir()
    good = [{"t": f"2024-01-01T00:00:{s:02}Z", "k": f"k{s % 3}", "x": float(s)} for s in range(30)]
    bad = ['{"t": "2024-01-01T00:00:02Z", "k": "a", "x": "many"}', "{broken", '"text"', '{"t": "soon", "k": "a"}']
    lines = [json.dumps(row) for row in good] + bad + ['{"k": "a", "x": 1}', ""]
    (tmp_path / "rows" / "a.json").write_text("\n".join(lines) + "\n")
    made = pipeline(tmp_path, JSON + QUERY + output("one") + output("two") + NOW)
    summary = made.run(spark)
    wanted = closed(made.query, rows(range(30)), 29)
    for name in ("one", "two"):
        same_answers(naive(by_batch(tmp_path / name)), wanted)
    assert (summary.rows, summary.malformed, summary.without_time, summary.answers) == (35, 4, 1, wanted.num_rows)
    kept = sink_files(tmp_path / "pipeline.checkpoint" / "rejects").to_pylist()
    assert sorted(row["row"] for row in kept if row["reason"] == "malformed") == sorted(bad)
    assert len(kept) == 5
    with pytest.raises(PipelineFailed, match="has the rejects of a stream, which a batch would replace"):
        pipeline(tmp_path, JSON + QUERY + output("three")).run(spark)


def test_a_batch_that_is_repeated_replaces_itself(spark, tmp_path):
    outputs = [ToParquet(str(tmp_path / name), "error", {}) for name in ("one", "two")]
    write = ToAll(outputs)
    write(spark.range(10).withColumnRenamed("id", "x"), 7)
    write(spark.range(10).withColumnRenamed("id", "x"), 7)
    write(spark.range(0), 8)
    for output in outputs:
        assert sorted(os.listdir(output.path)) == ["batch=7"]
        assert sorted(by_batch(Path(output.path))["x"].to_pylist()) == list(range(10))


def test_corrected_windows_are_in_later_batches(spark, tmp_path):
    made = pipeline(tmp_path, PARQUET + QUERY + 'late = "update"\nrepair = "1h"\n' + output("answers") + NOW)
    add_file(tmp_path / "rows", "a.parquet", rows(range(30)))
    made.run(spark)
    add_file(tmp_path / "rows", "b.parquet", rows([3, 40]))
    made.run(spark)
    given = ds.dataset(tmp_path / "answers", partitioning="hive").to_table()
    rows_of_it = [row for row in naive(given).to_pylist() if (row["k"], row["window_start"]) == ("k0", START)]
    counts = {row["batch"]: row["count"] for row in rows_of_it}
    assert [counts[batch] for batch in sorted(counts)] == [4, 5]


class StopAtOnce:
    """Sends this process a signal when there is something to see."""

    def __init__(self, number: int) -> None:
        self.number = number

    def update(self, summary) -> None:
        os.kill(os.getpid(), self.number)


def test_signals_stop_a_stream_which_then_goes_on(spark, tmp_path):
    source = '[source]\nkind = "generator"\nrate = 500\nkeys = 3\n'
    made = pipeline(tmp_path, source + MADE_UP + output("answers") + '[trigger]\nevery = "100ms"\n')
    before = signal.getsignal(signal.SIGTERM)
    first = made.run(spark, StopAtOnce(signal.SIGINT))
    second = made.run(spark, StopAtOnce(signal.SIGTERM))
    assert (first.signal, second.signal) == (signal.SIGINT, signal.SIGTERM)
    assert second.last_batch > first.last_batch >= 0
    assert first.rows == 50 * first.batches and second.rows == 50 * second.batches
    assert signal.getsignal(signal.SIGTERM) == before


def test_made_up_rows_come_to_an_end(spark, tmp_path):
    source = '[source]\nkind = "generator"\nrows = 200\nrate = 1000\nkeys = 5\ndisorder = "20ms"\nseed = 4\n'
    asked = MADE_UP.replace("1s every 1s", "50ms every 20ms") + 'lateness = "20ms"\n'
    at_once = pipeline(tmp_path, source + asked + '[[output]]\nkind = "memory"\nname = "made_up"\n')
    assert at_once.run(spark).rows == 200
    table = at_once.source.rows(spark, stream=False).drop(MALFORMED).toArrow()
    assert table.num_rows == 200 and len(set(table["key"].to_pylist())) == 5
    behind = pa.compute.less(table["time"][1:], table["time"][:-1]).to_pylist()
    assert 50 < sum(behind) < 150
    wanted = naive(at_once.query.run(table))
    same_answers(naive(spark.table("made_up").toArrow()), wanted)

    streamed = pipeline(tmp_path, source + asked + output("answers") + '[trigger]\nevery = "100ms"\n')
    summary = streamed.run(spark)  # ends by itself
    assert (summary.rows, summary.signal) == (200, None)
    given = naive(sink_files(tmp_path / "answers"))
    until = max(given["window_end"].to_pylist())
    same_answers(given, wanted.filter(pa.compute.less_equal(wanted["window_end"], until)))


def test_aggregates_of_a_module_beside_the_file(spark, tmp_path):
    (tmp_path / "own_aggregates_of_a_test.py").write_text(
        "import slidewheel as sw\n\n\ndef inverse(x):\n    return 1 / x\n\n\n"
        "@sw.aggregate(state=object, commutative=True)\nclass Inverses:\n    identity = 0.0\n"
        "    def lift(x):\n        return inverse(x)\n    def combine(a, b):\n        return a + b\n"
        "    def lower(s) -> float:\n        return s\n\n\n"
        "@sw.aggregate(state=object, commutative=True)\nclass Broken:\n    identity = 0\n"
        "    def lift(x):\n        return {}[x]\n    def combine(a, b):\n        return a\n"
        "    def lower(s) -> int:\n        return s\n"
    )
    add_file(tmp_path / "rows", "a.parquet", rows([1, 2, 4]))
    asked = QUERY.replace("sum", "Inverses").replace("10s every 5s", "1h every 1h").replace('keys = ["k"]', "")
    asked += 'module = "own_aggregates_of_a_test"\n'
    pipeline(tmp_path, PARQUET + asked + output("answers")).run(spark)
    assert pq.read_table(tmp_path / "answers")["Inverses_x"].to_pylist() == [1.75]

    broken = pipeline(tmp_path, PARQUET + asked.replace("Inverses", "Broken") + output("broken"))
    with pytest.raises(PipelineFailed) as raised:
        broken.run(spark)
    assert "KeyError: 1.0" in str(raised.value) and "\n" not in str(raised.value)


def test_messages_of_kafka(spark):
    messages = Messages("h:1", "t", "csv", "t TIMESTAMP, x INT", "earliest", {}, None)
    values = ["2024-01-01T00:00:01Z,5", "2024-01-01T00:00:02Z,five", ",6", "", "2024-01-01T00:00:03Z,"]
    parsed = messages.parsed(spark.createDataFrame([(value.encode(),) for value in values], "value binary"))
    good, counted = readable(parsed, reasons("t", []))
    assert [row.x for row in good.sort("t").collect()] == [5, None]
    counts = counted.get
    assert (counts["rows"], counts["malformed"], counts["without_time"]) == (4, 1, 1)
    bad = sorted(map(tuple, rejected(parsed, reasons("t", ["x"])).collect()))
    assert bad == [("malformed", values[1]), ("no key", '{"t":"2024-01-01T00:00:03.000Z"}'), ("no time", '{"x":6}')]
    answers = spark.createDataFrame([("a", 1), (None, 2)], "k string, n int")
    sent = ToKafka("h:1", "t", {}, keys=("k",)).messages(answers).collect()
    assert [tuple(row) for row in sent] == [('{"k":"a"}', '{"k":"a","n":1}'), ("{}", '{"n":2}')]


@pytest.mark.parametrize("what", ["checkpoint", "rejects", "output"])
def test_folders_that_can_not_be_written_to(tmp_path, monkeypatch, what):
    monkeypatch.setattr(running, "session", lambda *_, **__: pytest.fail("Spark was started"))
    (tmp_path / "file").touch()
    path = {"checkpoint": "checkpoint", "rejects": "rejects", "output": "answers"} | {what: "file/below"}
    head = f'checkpoint = "{path["checkpoint"]}"\nrejects = "{path["rejects"]}"\n'
    made = pipeline(tmp_path, head + PARQUET + QUERY + output(path["output"]) + NOW)
    with pytest.raises(PipelineFailed, match=f"{what}.*file/below, can't be written to .not a directory."):
        made.run()


def test_a_checkpoint_that_is_damaged(tmp_path):
    made = pipeline(tmp_path, PARQUET + QUERY + NOW)
    (tmp_path / "pipeline.checkpoint").mkdir()
    (tmp_path / "pipeline.checkpoint" / "pipeline.json").write_text("{")
    with pytest.raises(PipelineFailed, match=r"the checkpoint .* can't be read"):
        made.run()


def test_a_folder_without_files(spark, tmp_path):
    made = pipeline(tmp_path, JSON + QUERY + output("answers"))
    with pytest.raises(PipelineFailed, match=r"Path does not exist: .*rows"):
        made.run(spark)


class SparkError(Exception):
    __module__ = "pyspark.errors"


@pytest.mark.parametrize("full", [True, False])
def test_a_failure_whose_reason_is_a_folder(tmp_path, full):
    made = pipeline(tmp_path, PARQUET + QUERY + NOW)
    if full:
        (tmp_path / "pipeline.checkpoint").touch()
    reason = r"the folder of the checkpoint, .* can't be written to" if full else r"\[CANNOT_COMMIT\] Cannot commit$"
    with pytest.raises(PipelineFailed, match=f"pipeline.toml failed: {reason}"), running._failures(made):
        raise SparkError("[CANNOT_COMMIT] Cannot commit")
