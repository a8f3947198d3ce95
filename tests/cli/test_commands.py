"""The commands, as far as they need no Spark."""

import subprocess
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

import slidewheel
from slidewheel.cli import bench, progress
from slidewheel.cli.commands import app
from slidewheel.pipeline.summary import Summary
from slidewheel.spark import doctor

PIPELINE = """\
[source]
kind = "generator"
rows = 100
[query]
time = "time"
windows = "tumbling 1s"
aggregates = {aggregate = "count"}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(PIPELINE)
    (tmp_path / "bad.toml").write_text(PIPELINE.replace("tumbling", "tumblin").replace("count", "cuont"))
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_version(run):
    done = run("version")
    assert (done.exit_code, done.stdout) == (0, f"{slidewheel.__version__}\n")


def test_bench_passes_its_arguments_on(run):
    helped = run("bench", "--help")
    assert helped.exit_code == 0 and "usage: slidewheel bench" in helped.stdout and "slickdeque" in helped.stdout
    assert run("bench", "rollin", "--quick").exit_code == 2


def test_bench_needs_a_checkout(run, monkeypatch, tmp_path):
    monkeypatch.setattr(bench.slidewheel, "__file__", str(tmp_path / "site-packages/slidewheel/__init__.py"))
    done = run("bench", "--quick")
    assert done.exit_code == 2 and "in a checkout of slidewheel's source" in done.stderr


def test_explain(run):
    done = run("explain", "good.toml")
    assert done.exit_code == 0 and done.stderr == ""
    assert done.stdout.startswith("good.toml\nsource      100 made-up rows of 10 keys")
    assert "tumbling" in done.stdout


@pytest.mark.parametrize("command", ["run", "explain"])
def test_mistakes_are_messages(run, command):
    done = run(command, "bad.toml")
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.splitlines() == [
        "bad.toml has 2 mistakes:",
        "  line 6: unknown kind of window 'tumblin': did you mean 'tumbling'?",
        "  line 7: unknown aggregate 'cuont': did you mean 'count'?",
    ]
    assert "can't be read" in run(command, "nowhere.toml").stderr


def test_the_traceback_if_asked_for(run):
    done = run("explain", "bad.toml", "--traceback")
    assert isinstance(done.exception, slidewheel.SlidewheelError)


def test_doctor(run, monkeypatch):
    checks = [doctor.Check("java", "ok", "version 17"), doctor.Check("pandas", "warn", "3.0", "pip install 'pandas<3'")]
    monkeypatch.setattr(doctor, "examine", lambda *, with_spark: checks)
    done = run("doctor")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "ok   java                   version 17"
    assert done.stdout.splitlines()[2].strip() == "pip install 'pandas<3'"
    checks.append(doctor.Check("pyspark", "fail", "not installed", "install it"))
    assert run("doctor", "--spark").exit_code == 1


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_what_the_command_needs(package):
    program = f"import sys; sys.modules['{package}'] = None; from slidewheel.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "version"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f"The command slidewheel needs the package {package}: pip install 'slidewheel[cli]'\n"


def test_progress_as_lines(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with open(tmp_path / "log", "w") as file, progress.shown(Console(file=file)) as watch:
        for rows in range(4):
            watch.update(Summary(batches=1, last_batch=rows, rows=rows))
            now[0] += 3
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line.split("  ")[:2] for line in lines] == [["batch 0", "rows 0"], ["batch 2", "rows 2"]]


def test_progress_in_a_terminal(tmp_path):
    with open(tmp_path / "log", "w") as file:
        console = Console(file=file, force_terminal=True, width=60)
        with progress.shown(console) as watch:
            watch.update(Summary(batches=1, last_batch=3, rows=1234, watermark="2024-01-01T00:00:01.000Z"))
    shown = (tmp_path / "log").read_text()
    assert all(word in shown for word in ("rows/s", "watermark", "1,234", "2024-01-01T00:00:01.000Z"))
