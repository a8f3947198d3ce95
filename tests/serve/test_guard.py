"""Tokens, the header Host, and the headers of replies."""

import os

import pytest

import slidewheel as sw
from slidewheel.serve.tokens import Token, read_token


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost:80"])
def test_this_machine(client, host):
    assert client.get("/stores", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "localhost:8081", "localhost.evil.example", "", "127.0.0.1.evil", "[::2]"],
)
def test_other_names_are_refused(client, host):
    for path in ("/stores", "/", "/api/v1/query?query=1", "/metrics", "/health"):
        reply = client.get(path, headers={"host": host})
        assert (reply.status_code, list(reply.json())) == (400, ["error"])


def test_a_token_is_needed(connect, store):
    client = connect(store, token=Token("secret"))
    for path in ("/stores", "/query", "/", "/static/app.js", "/metrics", "/api/v1/labels", "/openapi.json", "/nowhere"):
        reply = client.get(path)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer"), path
        assert "error" in reply.json()
    for given in ("Bearer wrong", "Bearer", "Basic secret", "secret", "Bearer secret2"):
        assert client.get("/stores", headers={"authorization": given}).status_code == 401
    assert client.get("/stores", headers={"authorization": "Bearer secret"}).status_code == 200
    assert client.get("/stores", headers={"authorization": "Bearer secret", "host": "any.example"}).status_code == 200
    assert client.get("/health").status_code == 200


def test_a_browser_gets_a_cookie(connect, store):
    client = connect(store, token=Token("secret"))
    assert client.get("/?token=wrong").status_code == 401
    assert client.get("/stores?token=secret").status_code == 401, "only the page takes it from the address"
    reply = client.get("/?token=secret")
    cookie = reply.headers["set-cookie"]
    assert reply.status_code == 200
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert "secret" not in cookie and "secret" not in reply.text
    assert client.get("/stores").status_code == 200, "the client keeps cookies"
    client.cookies.clear()
    assert client.get("/stores", headers={"cookie": "slidewheel=wrong"}).status_code == 401
    assert client.get("/stores", headers={"cookie": "slidewheel=secret"}).status_code == 401


def test_token_files(tmp_path):
    file = tmp_path / "token"
    with pytest.raises(sw.InvalidArgument, match="can't be read"):
        read_token(file)
    file.write_text("secret\n")
    os.chmod(file, 0o644)
    with pytest.raises(sw.InvalidArgument, match=f"chmod 600 {file}"):
        read_token(file)
    os.chmod(file, 0o600)
    assert read_token(file).fits(b"secret")
    assert not read_token(file).fits("sécret".encode())
    for text, problem in {" \n": "is empty", "two words": "more than one word", "é": "ASCII"}.items():
        file.write_text(text)
        with pytest.raises(sw.InvalidArgument, match=problem):
            read_token(file)


@pytest.mark.parametrize("address", ["/", "/stores", "/query?points=x", "/nowhere", "/static/app.js", "/metrics"])
def test_headers(client, address):
    reply = client.get(address, headers={"origin": "http://evil.example"})
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-security-policy"].startswith("default-src 'self'")
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_nothing_comes_from_elsewhere(client):
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.get("/openapi.json").json()["paths"].keys() >= {"/query", "/stores", "/api/v1/query_range"}
