"""The commands for stores."""

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import slidewheel as sw
from slidewheel.cli.commands import app
from tests.store.events import events

MODULE = """
import slidewheel as sw

@sw.aggregate(state="f8", commutative=True)
class Total:
    identity = 0.0
    def lift(x):        return x
    def combine(a, b):  return a + b
    def lower(s):       return s
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    query = sw.query(
        time="t", keys=["k", "n"], windows=sw.tumbling("1h"), aggregates=[sw.count(), sw.mean("x"), sw.max("s")]
    )
    made = sw.create_store(tmp_path_factory.mktemp("cli") / "s", query)
    for seed in (1, 2):
        made.append(events(200, seed))
    return made


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_upkeep(store):
    assert "not folded  2 files, 400 rows" in run("store", "info", store.path).output
    assert run("store", "compact", store.path).output.startswith("folded 400 partials: 2 files became 6")
    assert "not folded  0 files" in run("store", "info", store.path).output
    done = run("store", "check", store.path)
    assert (done.exit_code, "all is well" in done.output) == (0, True)
    assert "2 files would be deleted" in run("store", "vacuum", store.path, "--keep", "0s", "--dry-run").output
    assert "2 files were deleted" in run("store", "vacuum", store.path, "--keep", "0s").output
    assert "0 files were deleted" in run("store", "vacuum", store.path).output


def test_damage_is_found(tmp_path):
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=sw.count())
    store = sw.create_store(tmp_path / "s", query)
    store.append(events(50, 1))
    [file] = store.snapshot().files
    (tmp_path / "s" / file.path).write_bytes(b"")
    done = run("store", "check", store.path)
    assert done.exit_code == 1 and file.path in done.output


def test_table(store):
    done = run("query", store.path, "--from", "2023-11-14T22:00", "--to", "2023-11-14T23:00", "--key", "k=key 1")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["k", "n", "count", "mean_x", "max_s"]
    assert len(lines) == 4 and all(line.startswith("key 1") for line in lines[1:])
    assert run("query", store.path, "--key", "k=nobody").stdout.endswith("no rows in this range\n")


def test_files(store, tmp_path):
    question = ("query", store.path, "--every", "1h", "--aggregate", "count", "--aggregate", "mean_x")
    expected = store.query(every="1h", aggregates=["count", "mean_x"])
    run(*question, "--format", "csv", "-o", tmp_path / "a.csv")
    assert pyarrow.csv.read_csv(tmp_path / "a.csv")["count"].to_pylist() == expected["count"].to_pylist()
    run(*question, "--format", "parquet", "-o", tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == expected.to_pylist()
    assert run(*question, "--format", "csv").stdout == (tmp_path / "a.csv").read_text()
    assert "files" in run(*question, "--explain").stderr
    failed = run(*question, "--format", "csv", "-o", tmp_path / "no" / "a.csv")
    assert failed.exit_code == 2 and "can't be written" in failed.stderr


def test_plot(store):
    done = run("query", store.path, "--every", "10m", "--key", "k=key 1", "--key", "n=1", "--plot")
    assert done.exit_code == 0
    assert done.stdout.startswith("count\n") and "key 1 1" in done.stdout
    assert any("\u2801" <= letter <= "\u28ff" for letter in done.stdout)
    assert "can't be drawn" in run("query", store.path, "--every", "1h", "--aggregate", "max_s", "--plot").stderr
    assert "add --every" in run("query", store.path, "--plot").stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--from", "yesterday"], "yesterday"),
        (["--key", "JFK"], "--key origin=JFK"),
        (["--key", "z=1"], "there is no key column 'z'"),
        (["--key", "n=one"], "no values of the key column"),
        (["--aggregate", "cuont"], "there is no aggregate 'cuont'"),
        (["--format", "excel"], "table, csv, parquet"),
    ],
)
def test_mistakes(store, arguments, said):
    done = run("query", store.path, *arguments)
    assert done.exit_code == 2 and said in done.stderr.replace("\n", "")


def test_no_store(tmp_path):
    done = run("query", tmp_path / "nothing")
    assert done.exit_code == 2 and "there is no store" in done.stderr


def test_an_aggregate_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.py").write_text(MODULE)
    from slidewheel.pipeline.aggregates import own_aggregates

    Total = own_aggregates("totals", tmp_path)[0]["Total"]
    query = sw.query(time="t", keys="k", windows=sw.tumbling("1h"), aggregates=Total("x"))
    sw.create_store(tmp_path / "s", query).append(events(50, 1))
    assert "pass it along" in run("query", tmp_path / "s").stderr
    assert "Total_x" in run("query", tmp_path / "s", "--module", "totals").stdout
