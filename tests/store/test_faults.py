"""kill -9 at every step of writing and compacting: nothing is lost, nothing counts twice."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import slidewheel as sw
from tests.store.faults import QUERY, Clients, Death, Killed

SEEDS = 210


def dies_and_goes_on(path, monkeypatch, seed, at):
    clients = Clients(path, seed)
    with Death(at).around(monkeypatch), pytest.raises(Killed):
        clients.run()
    clients.run()
    clients.check()


@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_step(tmp_path, monkeypatch, first):
    """One script, killed once at each of its steps: at every other one, and at those between."""
    whole = Clients(tmp_path / "whole", 0, pieces=2)
    with Death(None).around(monkeypatch) as counted:
        whole.run()
    whole.check()
    assert counted.steps > 60
    for at in range(first, counted.steps, 2):
        clients = Clients(tmp_path / f"{at}", 0, pieces=2)
        with Death(at).around(monkeypatch), pytest.raises(Killed):
            clients.run()
        clients.run()
        clients.check()


def dies_often(path, monkeypatch, seed):
    """Killed again and again, after a random number of steps each time."""
    dice, clients = random.Random(seed), Clients(path, seed)
    for _ in range(dice.randint(1, 6)):
        with Death(dice.randint(0, 40)).around(monkeypatch):
            try:
                clients.run()
                break
            except Killed:
                pass
    clients.run()
    clients.check()


@pytest.mark.parametrize("seed", range(10))
def test_some_deaths(tmp_path, monkeypatch, seed):
    dies_often(tmp_path / "s", monkeypatch, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, SEEDS))
def test_many_deaths(tmp_path, monkeypatch, seed):
    dies_often(tmp_path / "s", monkeypatch, seed)


def test_killed_by_the_system(tmp_path):
    """The same with a process of its own, and a real signal."""
    dice, path = random.Random(1), tmp_path / "s"
    sw.create_store(path, QUERY, levels=["1s", "1m", "1h"])
    job = [sys.executable, "-m", "tests.store.store_job", str(path)]
    killed = 0
    for _ in range(30):
        process = subprocess.Popen(job, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()  # it has begun
        time.sleep(dice.uniform(0, 0.25))
        if process.poll() is None and killed < 2:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        if process.wait() == 0:
            break
    assert process.returncode == 0 and killed == 2
    from tests.store.store_job import BATCHES, batch

    store = sw.open_store(path)
    assert sum(store.query(aggregates="count")["count"].to_pylist()) == sum(batch(k).num_rows for k in range(BATCHES))
    assert store.check().problems == []


def test_two_writers_of_one_batch(tmp_path):
    """A batch that two processes commit at once is in the store once."""
    store, other = sw.create_store(tmp_path / "s", QUERY), None
    rows = Clients(tmp_path / "rows", 3).history[0]
    store.append(rows, batch=("a", 1))
    other = sw.open_store(store.path)
    partials = other.prepared(rows.schema)
    files = other.write_table(partials.table(partials.lifted(rows)[0]))
    assert store.append(rows, batch=("a", 2)).committed
    assert not other.commit(files, ("a", 2))
    assert sum(store.query(aggregates="count")["count"].to_pylist()) == 2 * rows.num_rows


def test_two_compactions_at_once(tmp_path, monkeypatch):
    """The second one raises, and nothing has changed."""
    clients = Clients(tmp_path / "s", 4)
    store, other = sw.open_store(clients.path), sw.open_store(clients.path)
    for rows in clients.history:
        store.append(rows)
    from slidewheel.store import compacting

    run = compacting.Compaction.run

    def slow(self):
        numbers = run(self)
        monkeypatch.setattr(compacting.Compaction, "run", run)
        other.compact()
        return numbers

    monkeypatch.setattr(compacting.Compaction, "run", slow)
    with pytest.raises(sw.StoreConflict, match="changed meanwhile"):
        store.compact()
    assert sum(store.query(aggregates="count")["count"].to_pylist()) == sum(r.num_rows for r in clients.history)
    assert store.check().problems == []
    store.append(clients.live[0])
    store.compact()
    assert store.check().problems == []
