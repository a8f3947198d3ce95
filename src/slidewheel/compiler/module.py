"""Generated modules: a file named by the hash of what it contains, imported once, its kernels cached beside it.

The name is the whole truth about the contents, so a second process finds its kernels warm, and an edit anywhere gives
another file. Where nothing can be written (a read-only home, a full disk), the module lives in memory only.
"""

import contextlib
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from slidewheel._version import __version__

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_counter = iter(range(sys.maxsize))
_loading = threading.Lock()


def cache_directory() -> Path:
    """Where generated modules and kernels are kept: $SLIDEWHEEL_CACHE_DIR, or the user's cache directory."""
    chosen = os.environ.get("SLIDEWHEEL_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:  # a user without a home
        raise OSError(str(error)) from None
    return base / "slidewheel"


def fingerprint(text: str) -> str:
    import numba

    facts = "\n".join((text, __version__, numba.__version__, sys.version, _recipe()))
    return hashlib.sha256(facts.encode()).hexdigest()[:24]


@cache
def _recipe() -> str:
    """How modules are compiled, which they only refer to."""
    files = (importlib.util.find_spec(f"slidewheel.compiler.{name}") for name in ("runtime", "inner", "addresses"))
    return "\n".join(str(file.loader.get_source(file.name)) for file in files)  # type: ignore[union-attr]


def load(text: str, label: str) -> ModuleType:
    """The module with this text, from memory, from disk, or written now. Raises OSError where it can't be kept."""
    name = f"slidewheel_generated_{label}_{fingerprint(text)}"
    with _loading:  # nobody may see a module that is only half there
        return sys.modules.get(name) or _load(name, text)


def _load(name: str, text: str) -> ModuleType:
    directory = cache_directory()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.py"
    if not path.exists():
        _write(path, text)
    # Numba keeps kernels in __pycache__ beside the file: find out now, not in the middle of compiling.
    (directory / "__pycache__").mkdir(exist_ok=True)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: Numba looks its functions up by module name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_in_memory(text: str, label: str, given: dict[str, object]) -> ModuleType:
    """The module without a file and without cached kernels, with some of its names given as objects."""
    name = f"slidewheel_generated_{label}_{next(_counter)}"
    module = ModuleType(name)
    module.__dict__.update(given)
    sys.modules[name] = module
    exec(compile(text.replace("cache=True, ", ""), f"<{name}>", "exec"), module.__dict__)
    return module


@contextlib.contextmanager
def alone(made: ModuleType, driver: str) -> Iterator[None]:
    """Let no other process compile this driver of the module meanwhile: it waits, and finds it compiled then.

    Where files can't be locked, several do the same work, as they do for a module in memory.
    """
    path = getattr(made, "__file__", None)
    with contextlib.ExitStack() as stack:
        if path is not None and fcntl is not None:
            with contextlib.suppress(OSError):
                file = stack.enter_context(open(f"{path}.{driver}.lock", "w"))
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(path: Path, text: str) -> None:
    """All or nothing: another process may be writing the same file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
