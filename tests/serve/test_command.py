"""The command serve, as a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
import typer
from typer.testing import CliRunner

from slidewheel.cli.serve import register

PROGRAM = """
import sys, typer
from slidewheel.cli.serve import register
app = typer.Typer()
app.callback()(lambda: None)
register(app)
app()
"""
LINE = re.compile(r"slidewheel: serving flights on (http://127\.0\.0\.1:\d+/)\n")


@pytest.fixture
def start():
    """Starts the command, and says the address when it is ready."""
    started = []

    def made(*arguments):
        command = [sys.executable, "-c", PROGRAM, "serve", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        match = LINE.fullmatch(line)
        assert match, (line, process.stderr.read())
        return process, match[1]

    yield made
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_start_and_stop(start, path, store, number):
    process, address = start(path, "--port", "0")
    said = httpx.get(f"{address}query", params={"aggregate": "flights"}).json()
    assert said["data"][-1] == store.query(aggregates="flights")["flights"].to_pylist()
    assert httpx.get(address).status_code == 200
    assert httpx.get(f"{address}stores", headers={"host": "evil.example"}).status_code == 400
    process.send_signal(number)
    out, errors = process.communicate(timeout=15)
    assert (process.returncode, out, errors) == (0, "", "")


def test_a_token(start, path, tmp_path):
    file = tmp_path / "token"
    file.write_text("secret")
    os.chmod(file, 0o600)
    _, address = start(path, "--port", "0", "--token-file", str(file))
    assert httpx.get(f"{address}stores").status_code == 401
    assert httpx.get(f"{address}stores", headers={"authorization": "Bearer secret"}).status_code == 200


@pytest.fixture
def refused():
    """The message of a command that does not start."""
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)

    def run(*arguments):
        result = CliRunner().invoke(app, ["serve", *arguments])
        assert result.exit_code == 2, result.output
        return " ".join(result.output.split())

    return run


def test_what_is_refused(refused, path, tmp_path):
    assert "there is no store at" in refused(str(tmp_path / "none"))
    assert "that needs a token, --token-file FILE" in refused(path, "--host", "0.0.0.0")
    assert "that needs a token, --token-file FILE" in refused(path, "--host", "::")
    assert "is no address to serve on" in refused(path, "--host", "no such host")
    assert "--timeout must be more than 0" in refused(path, "--timeout", "0")
    file = tmp_path / "token"
    file.write_text("secret")
    os.chmod(file, 0o644)
    assert "chmod 600" in refused(path, "--token-file", str(file))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"can't serve on 127.0.0.1 port {port}: Address already in use" in refused(path, "--port", port)


def test_a_question_that_never_ends_does_not_keep_it(path, tmp_path):
    program = (
        "import time, sys\nfrom slidewheel.store.store import Store\n"
        "Store.answer = lambda *_, **__: time.sleep(600)\nfrom slidewheel.serve.running import serve\n"
        "from slidewheel.serve.limits import Limits\n"
        "serve([sys.argv[1]], port=0, limits=Limits(timeout=0.2), say=lambda text: print(text, flush=True))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
    address = LINE.fullmatch(process.stdout.readline())[1]
    assert httpx.get(f"{address}query").status_code == 503
    began = time.monotonic()
    process.terminate()
    assert process.wait(10) == 0
    assert time.monotonic() - began < 8
    process.stdout.close()
