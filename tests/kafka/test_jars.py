"""Fetching jars: all of them or none, and a registry that is out of reach is said so."""

import socket
from pathlib import Path

import pytest

from tests.kafka import jars


def fill(scratch: Path) -> None:
    for name in ("broker", "connector"):
        (scratch / "jars" / name).mkdir(parents=True)
        (scratch / "jars" / name / f"{name}.jar").touch()


def test_what_is_there_is_not_fetched_again(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(jars, "_fetch", lambda scratch: (calls.append(scratch), fill(scratch)))
    assert [path.name for path in jars.broker_jars(tmp_path)] == ["broker.jar"]
    assert [path.name for path in jars.connector_jars(tmp_path)] == ["connector.jar"]
    assert len(calls) == 1


def test_other_versions_are_fetched_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(jars, "_fetch", fill)
    jars.broker_jars(tmp_path)
    newer = tmp_path / "jars.xml"
    newer.write_text(jars.WANTED.read_text().replace('rev="', 'rev="9'))
    monkeypatch.setattr(jars, "WANTED", newer)
    jars.broker_jars(tmp_path)
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2


def test_an_interrupted_fetch_leaves_nothing_that_looks_complete(tmp_path, monkeypatch):
    def interrupted(scratch: Path) -> None:
        (scratch / "jars" / "broker").mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(jars, "_fetch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jars.broker_jars(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(jars, "_fetch", fill)
    assert len(jars.connector_jars(tmp_path)) == 1


def test_two_that_fetch_at_the_same_time(tmp_path, monkeypatch):
    def slower(scratch: Path) -> None:
        fill(scratch)
        monkeypatch.setattr(jars, "_fetch", fill)
        assert len(jars.broker_jars(tmp_path)) == 1

    monkeypatch.setattr(jars, "_fetch", slower)
    assert len(jars.broker_jars(tmp_path)) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_registry_out_of_reach(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    # Nobody listens there, and nothing is fetched around it.
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
    with pytest.raises(jars.JarsNotFetched, match=r"Connection refused(.|\n)*HTTPS_PROXY"):
        jars.broker_jars(tmp_path)
    assert list(tmp_path.iterdir()) == []
