"""Generated modules and the cache: warm in a second process, right after every edit, never in the way."""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import slidewheel as sw
from slidewheel.compiler import module
from tests.compiler.users import QUICK, made

# What a user may have in a file, and a last line that tells the answer and what was compiled.
SCRIPT = """
import json
import slidewheel as sw
from slidewheel.compiler import kernels

FACTOR = 2.0

@sw.aggregate(state="f8")
class Scaled:
    identity = 0.0
    def lift(x):
        return x * FACTOR
    def combine(a, b):
        return a + b

answer = sw.rolling([1.0, 2.0, 4.0], Scaled(), size=2, algorithm="recalc").tolist()
drivers = [d for k in kernels._kernels.values() for d in vars(k.module).values() if hasattr(d, "stats")]
hits, misses = (sum(sum(getattr(d.stats, kind).values()) for d in drivers) for kind in ("cache_hits", "cache_misses"))
print(json.dumps({"answer": answer, "hits": hits, "misses": misses}))
"""


def start(script, cache):
    environment = {**os.environ, "SLIDEWHEEL_CACHE_DIR": str(cache)}
    return subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True)


def finish(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(out.splitlines()[-1])


def run(script, cache):
    return finish(start(script, cache))


def modules_in(directory):
    return sorted(path.name for path in Path(directory).glob("slidewheel_generated_*.py"))


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A script, and a cache that it has filled."""
    directory = tmp_path_factory.mktemp("warm")
    script = directory / "user.py"
    script.write_text(SCRIPT)
    cold = run(script, directory / "cache")
    assert cold["answer"] == [2.0, 6.0, 12.0] and cold["hits"] == 0 and cold["misses"] >= 1
    return script, directory / "cache"


def test_a_second_process_compiles_nothing(warm):
    script, cache = warm
    before = modules_in(cache)
    found = run(script, cache)
    assert found["answer"] == [2.0, 6.0, 12.0]
    assert found["misses"] == 0 and found["hits"] >= 1
    assert modules_in(cache) == before and len(before) == 1


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("return x * FACTOR", "return x * FACTOR + 1", [3.0, 8.0, 14.0]),
        ("FACTOR = 2.0", "FACTOR = 10.0", [10.0, 30.0, 60.0]),
    ],
    ids=["lift", "global"],
)
def test_an_edit_gives_the_new_answer(warm, tmp_path, old, new, wanted):
    script, cache = warm
    edited = tmp_path / "user.py"
    edited.write_text(script.read_text().replace(old, new))
    assert run(edited, cache)["answer"] == wanted


def test_processes_that_start_at_once(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(SCRIPT)
    cache = tmp_path / "cache"
    running = [start(script, cache) for _ in range(3)]
    assert [finish(process)["answer"] for process in running] == [[2.0, 6.0, 12.0]] * 3
    after = run(script, cache)
    assert after["answer"] == [2.0, 6.0, 12.0] and after["misses"] == 0
    assert not list(cache.glob("*.tmp"))


# In this process, with a cache of its own.


@pytest.fixture
def cache(tmp_path, monkeypatch):
    directory = tmp_path / "cache"
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(directory))
    return directory


numbers = itertools.count(1)


def unseen():
    """A sum that no other test has compiled: the number is part of its text."""
    number = next(numbers)

    def lift(x):
        return x + 0 * number

    return made(lift=lift)


def rolled(aggregate):
    return sw.rolling([1.0, 2.0, 4.0], aggregate, **QUICK).tolist()


offset = 0.5


def shifted(x):
    return x + offset


def test_a_global_number_that_changes(cache, monkeypatch):
    aggregate = made(lift=shifted)
    assert rolled(aggregate) == [1.5, 4.0, 7.0]
    monkeypatch.setitem(globals(), "offset", 1.0)
    assert rolled(aggregate) == [2.0, 5.0, 8.0]
    monkeypatch.setitem(globals(), "offset", 0.5)
    assert rolled(aggregate) == [1.5, 4.0, 7.0]
    assert len(modules_in(cache)) == 2


def test_a_number_in_a_closure_that_changes(cache):
    factor = 1.0

    def lift(x):
        return x * factor

    aggregate = made(lift=lift)
    assert rolled(aggregate) == [1.0, 3.0, 6.0]
    factor = 3.0
    assert rolled(aggregate) == [3.0, 9.0, 18.0]
    assert len(modules_in(cache)) == 2


@numba.njit
def doubled(x):
    return 2 * x


def calls_a_helper(x):
    return doubled(x)


def closing_over(pair):
    def lift(x):
        return pair[1] * x

    return lift


written: dict = {}
exec("def lift(x):\n    return 2 * x", written)

UNCACHED = {
    "a helper": calls_a_helper,
    "an array": closing_over(np.array([0.0, 2.0])),
    "exec": written["lift"],
}


@pytest.mark.parametrize("lift", UNCACHED.values(), ids=UNCACHED)
def test_what_has_no_text_is_compiled_without_a_cache(cache, lift):
    assert rolled(made(lift=lift)) == [2.0, 6.0, 12.0]
    assert modules_in(cache) == []


def test_an_array_that_changes_in_place(cache):
    weights = np.array([0.0, 2.0])
    aggregate = made(lift=closing_over(weights))
    assert rolled(aggregate) == [2.0, 6.0, 12.0]
    weights[1] = 10.0
    assert rolled(aggregate) == [10.0, 30.0, 60.0]


def test_a_helper_that_is_replaced(cache, monkeypatch):
    aggregate = made(lift=calls_a_helper)
    assert rolled(aggregate) == [2.0, 6.0, 12.0]
    monkeypatch.setitem(globals(), "doubled", numba.njit(lambda x: 3 * x))
    assert rolled(aggregate) == [3.0, 9.0, 18.0]


def below_a_file(directory):
    (directory / "file").write_text("")
    return directory / "file" / "cache"


def file_in_the_way(directory):
    (directory / "__pycache__").write_text("")
    return directory


@pytest.mark.parametrize("place", [below_a_file, file_in_the_way])
def test_a_cache_that_can_not_be_written(tmp_path, monkeypatch, place):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(place(tmp_path)))
    assert rolled(unseen()) == [1.0, 3.0, 6.0]


def test_a_cache_that_breaks_between_loading_and_compiling(cache, monkeypatch):
    load = module.load

    def load_and_break(text, label):
        loaded = load(text, label)
        (cache / "__pycache__").rename(cache / "moved")
        (cache / "__pycache__").write_text("")
        return loaded

    monkeypatch.setattr(module, "load", load_and_break)
    assert rolled(unseen()) == [1.0, 3.0, 6.0]


def test_a_user_without_a_home(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SLIDEWHEEL_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert rolled(unseen()) == [1.0, 3.0, 6.0]


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "own"))
    assert module.cache_directory() == tmp_path / "own"
    monkeypatch.delenv("SLIDEWHEEL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert module.cache_directory() == tmp_path / "xdg" / "slidewheel"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert module.cache_directory() == tmp_path / ".cache" / "slidewheel"


def test_a_file_that_is_edited_while_its_process_runs(tmp_path, cache):
    """What was loaded counts, before and after its first use."""
    path = tmp_path / "edited_while_running.py"
    path.write_text(
        "import slidewheel as sw\n"
        + "".join(
            f"""
@sw.aggregate(state="f8")
class {name}:
    identity = 0.0
    def lift(x):
        return 2 * x
    def combine(a, b):
        return a + b
"""
            for name in ("Early", "Late")
        )
    )
    spec = importlib.util.spec_from_file_location("edited_while_running", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    assert rolled(loaded.Early()) == [2.0, 6.0, 12.0]
    path.write_text(path.read_text().replace("2 * x", "1000 * x"))
    assert rolled(loaded.Early()) == [2.0, 6.0, 12.0]
    assert rolled(loaded.Late()) == [2.0, 6.0, 12.0]
    assert "1000" not in "".join((cache / name).read_text() for name in modules_in(cache))


def test_what_is_compiled_otherwise_is_another_module(monkeypatch):
    known = module.fingerprint("x = 1")
    assert module.fingerprint("x = 1") == known
    assert "forceinline" in module._recipe() and "loop_unrolling" in module._recipe()
    monkeypatch.setattr(module, "_recipe", lambda: "another way")
    assert module.fingerprint("x = 1") != known


def test_one_text_is_one_module(cache):
    text = "ANSWER = 1\n"
    assert module.load(text, "unit") is module.load(text, "unit")
    assert module.load(text, "unit") is not module.load("ANSWER = 2\n", "unit")
    assert len(modules_in(cache)) == 2


def test_a_module_that_fails_is_not_kept(cache):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            module.load("1 / 0\n", "failing")


def test_threads_never_see_half_a_module(cache):
    text = "import time\ntime.sleep(0.5)\nready = True\n"
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(module.load, text, "slow")
        while not other.done() and not any("generated_slow" in name for name in list(sys.modules)):
            pass
        assert hasattr(module.load(text, "slow"), "ready")
        assert hasattr(other.result(), "ready")
