"""Ctrl-C at a pipeline that runs in a process of its own."""

import signal
import subprocess
import sys
import threading

import pyarrow.dataset as ds

PIPELINE = """
[source]
kind = "generator"
rate = 200
[query]
time = "time"
windows = "tumbling 100ms"
aggregates = {aggregate = "count"}
[[output]]
kind = "parquet"
path = "answers"
[[output]]
kind = "parquet"
path = "copies"
[trigger]
every = "200ms"
[spark]
master = "local[2]"
"""
MAIN = [sys.executable, "-c", "from slidewheel.cli.main import main; main()"]


def test_it_stops_after_the_batch(tmp_path):
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    running = subprocess.Popen(
        [*MAIN, "run", "pipeline.toml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    too_long = threading.Timer(200, running.kill)
    too_long.start()
    try:
        said = []
        for line in running.stderr:
            said.append(line)
            if line.startswith("batch "):
                running.send_signal(signal.SIGINT)
                break
        _, rest = running.communicate()
    finally:
        too_long.cancel()
        running.kill()
    said += rest.splitlines()
    assert running.returncode == 130, said
    assert " rows, " in said[-1] and " batch" in said[-1]
    unwanted = [line for line in said if "Traceback" in line or "\tat " in line or "Exception" in line]
    assert unwanted == []
    answers, copies = (ds.dataset(tmp_path / name, partitioning="hive").to_table() for name in ("answers", "copies"))
    assert answers.num_rows == copies.num_rows
