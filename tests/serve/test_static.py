"""The page is served from the package."""

import pytest

from slidewheel.serve import static


def test_the_page(client):
    reply = client.get("/")
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.content == static.contents("index.html")


def test_a_page_that_is_missing(client, monkeypatch):
    monkeypatch.setattr(static, "contents", lambda _: None)
    reply = client.get("/")
    assert (reply.status_code, reply.text) == (200, static.MISSING)


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "%2fetc/passwd", "..%5capp.py", "", ".", "vendor", "LICENSE"]
)
def test_nothing_else(client, name):
    assert client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize("name", ["../app.py", "/etc/passwd", "a/../../app.py", "..\\app.py", "", "nowhere.js"])
def test_names_that_lead_out(name):
    assert static.contents(name) is None
