"""Mistakes are said in a sentence, under the right status."""

import glob
import os
import shutil

import pytest

import slidewheel as sw
from slidewheel.serve.limits import Limits

MISTAKES = [
    ("/query?start=yesterday", 400, "'yesterday' is not an instant"),
    ("/query?start=1", 400, "whole ticks"),
    ("/query?every=3601500ms", 400, "whole number of ticks"),
    ("/query?every=soon", 400, "not a duration"),
    ("/query?every=month&timezone=Nowhere/Land", 400, "unknown time zone"),
    ("/query?timezone=UTC", 400, "timezone goes with every"),
    ("/query?points=5&every=1h", 400, "leave every"),
    ("/query?points=0", 422, "points"),
    ("/query?points=many", 422, "points"),
    ("/query?times=ms", 422, "times"),
    ("/query?format=xml", 422, "format"),
    ("/query?aggregate=nothing", 400, "no aggregate 'nothing'"),
    ("/query?key=carrier=x", 400, "names no key column"),
    ("/query?key=gate=many", 400, "'many' is no int64"),
    ("/query?start=2024-01-01&end=2023-01-01", 400, "ends before it starts"),
    ("/query?start=99999999999999999999", 400, "not an instant"),
    ("/query?store=none", 404, "there is no store 'none'"),
    ("/explain?aggregate=nothing", 400, "no aggregate"),
    ("/windows?window=7d", 400, "there is no window '7d'"),
    ("/keys?limit=-1", 422, "limit"),
    ("/nowhere", 404, "Not Found"),
    ("/static/nowhere.js", 404, "no file"),
    ("/query?every=1s", 413, "points"),
    ("/query?every=1us&start=0&end=2000-01-01", 413, "points"),
]


@pytest.mark.parametrize(("address", "status", "text"), MISTAKES)
def test_mistakes(client, address, status, text):
    reply = client.get(address)
    assert reply.status_code == status, reply.text
    assert text in (reply.text if address.startswith("/static") else reply.json()["error"])


def test_only_get(client):
    assert client.post("/query").status_code == 405
    assert client.request("DELETE", "/stores").json() == {"error": "Method Not Allowed"}


def test_limits(connect, store):
    client = connect(store, limits=Limits(max_points=20, max_keys=14))
    assert "15 keys" in client.get("/query").json()["error"]
    assert client.get("/query").status_code == 413
    one = {"key": ["origin=A1", "gate=1"]}
    assert client.get("/query", params=one).status_code == 200
    assert client.get("/query", params={**one, "points": 20}).status_code == 200
    assert client.get("/query", params={**one, "every": "1h"}).status_code == 413
    assert client.get("/windows", params={**one, "window": "1d"}).status_code == 200
    assert client.get("/windows", params=one).status_code == 413
    counted = client.get("/metrics").text
    assert 'slidewheel_refused_total{limit="keys"} 2' in counted
    assert 'slidewheel_refused_total{limit="points"} 2' in counted


def test_a_damaged_store_is_named(connect, path, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    files = glob.glob(f"{copy}/**/*.parquet", recursive=True)
    client = connect(sw.open_store(copy))
    for file in files:
        with open(file, "r+b") as opened:
            opened.seek(os.path.getsize(file) // 2)
            opened.write(b"damage")
    reply = client.get("/query")
    assert reply.status_code == 500
    assert any(os.path.basename(file) in reply.json()["error"] for file in files)


def test_what_nobody_thought_of(client, monkeypatch):
    monkeypatch.setattr(sw.store.store.Store, "answer", lambda *_, **__: 1 / 0)
    reply = client.get("/query")
    assert (reply.status_code, reply.json()) == (
        500,
        {"error": "the server failed: ZeroDivisionError; its log says more"},
    )
    assert reply.headers["x-content-type-options"] == "nosniff"
