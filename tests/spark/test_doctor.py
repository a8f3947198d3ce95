"""Each check of the doctor finds what it is for."""

import subprocess
import sys
from importlib import metadata

import pytest

from slidewheel.spark import doctor


@pytest.fixture
def installed(monkeypatch):
    """Packages as if installed in these versions; None is not installed."""
    versions: dict[str, str | None] = {}
    true = metadata.version

    def version(name: str) -> str:
        found = versions.get(name, "") or ("" if name in versions else true(name))
        if not found:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    return versions


PROTOBUF = ".".join(map(str, doctor._protobuf_of_pyspark()))

PACKAGES = {
    "no pyspark": ("pyspark", None, "fail", "not installed", "pip install 'slidewheel[spark]'"),
    "old pyspark": ("pyspark", "3.5.8", "fail", "3.5.8, but 4.0 or newer is needed", "pip install"),
    "pyspark": ("pyspark", "4.0.1", "ok", "4.0.1", ""),
    "new pandas": ("pandas", "3.0.0", "warn", "3.0.0, which PySpark does not fully support", "pip install 'pandas<3'"),
    "no pandas": ("pandas", None, "fail", "not installed", "pip install"),
    "old pyarrow": ("pyarrow", "17.0.0", "fail", "17.0.0, but 18 or newer is needed", "pip install"),
    "old protobuf": ("protobuf", "4.25.8", "fail", f"4.25.8, but {PROTOBUF} or newer is needed", "pip install"),
    "no protobuf": ("protobuf", None, "fail", "not installed", "pip install"),
    "old numba": ("numba", "0.60.0", "fail", "0.60.0, but 0.61 or newer is needed", "pip install"),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_packages(installed, name):
    package, version, state, found, mend = PACKAGES[name]
    installed[package] = version
    check = getattr(doctor, f"check_{package}")()
    assert (check.name, check.state, check.found) == (package, state, found)
    assert check.mend.startswith(mend) and bool(check.mend) == bool(mend)


def test_connect_is_not_needed_by_everybody(installed):
    installed["grpcio-status"] = None
    check = doctor.check_connect()
    assert check.state == "ok" and "without grpcio-status, which only Spark Connect" in check.found
    assert check.mend == "pip install 'pyspark[connect]'"


def test_java(monkeypatch):
    assert doctor.check_java().state == "ok"
    monkeypatch.setattr(doctor.java, "_candidates", lambda: iter(()))
    check = doctor.check_java()
    assert check.state == "fail" and "needs a Java of version 17" in check.found and "install a JDK" in check.mend


def test_python_of_the_workers(monkeypatch, tmp_path):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert sys.executable in doctor.check_workers().found
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert doctor.check_workers().state == "ok"
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    assert (doctor.check_workers().state, "does not run" in doctor.check_workers().found) == ("fail", True)
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.9\n")
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    assert (doctor.check_workers().state, "of version 3.9" in doctor.check_workers().found) == ("fail", True)
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without its packages
    bare.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare))
    check = doctor.check_workers()
    assert check.state == "warn" and "no slidewheel" in check.found and "ship(spark)" in check.mend


def test_cache_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kernel").write_bytes(bytes(2_500_000))
    assert doctor.check_cache() == doctor.Check("cache directory", "ok", f"{tmp_path}/cache, 2.5 MB")
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "file" / "below"))
    check = doctor.check_cache()
    assert check.state == "warn" and "every process compiles anew" in check.found and "SLIDEWHEEL" in check.mend


def test_with_a_session(spark):
    checks = {check.name: check for check in doctor.examine(with_spark=True)}
    assert [checks[name].state for name in ("session", "arrow", "state store")] == ["ok", "ok", "ok"], checks
    assert spark.range(3).count() == 3, "the session was there before and stays"


def test_a_failing_check_says_why(spark):
    check = doctor._tried("arrow", lambda spark: str(1 / 0), spark, "mend it")
    assert check == doctor.Check("arrow", "fail", "division by zero", "mend it")


def test_without_pyspark():
    program = """if True:
        import sys
        sys.modules["pyspark"] = None
        from slidewheel.spark.doctor import examine
        print(*(check.name for check in examine(with_spark=True) if check.state == "fail"))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "session\n"
