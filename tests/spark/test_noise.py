"""Traces of threads that are broken off on purpose are left out of what Java says; everything else is passed on."""

import subprocess
import sys

from slidewheel.spark.noise import worth_saying

STARTED = r"""
import sys
sys.stderr.write("before\n")
sys.stderr.write('Exception in thread "stateConnectionListenerThread" java.io.IOException: Broken pipe\n')
sys.stderr.write("\tat java.base/sun.nio.ch.SocketDispatcher.write0(Native Method)\n")
sys.stderr.write("Caused by: java.io.EOFException\n\t... 3 more\n")
sys.stderr.write('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Main.main\n')
sys.stderr.write("no end of line")
"""
STARTER = f"""
import subprocess, sys, time
from slidewheel.spark.noise import without_noise
with without_noise():
    started = subprocess.Popen([sys.executable, "-c", {STARTED!r}])
started.wait()
time.sleep(0.5)
print("ours", file=sys.stderr)
"""


def test_what_is_passed_on():
    done = subprocess.run([sys.executable, "-c", STARTER], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    out_of_memory = 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Main.main\n'
    assert done.stderr == f"before\n{out_of_memory}no end of lineours\n"


def test_who_outlives_the_starter_is_not_harmed():
    """Java may still write when nobody reads any more."""
    script = STARTER.replace("started.wait()", "").replace("time.sleep(0.5)", "")
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode == 0


def test_no_stderr_at_all():
    script = (
        "import os; os.close(2)\nfrom slidewheel.spark.noise import without_noise\nwith without_noise(): print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "fine\n")


def test_a_trace_ends_with_the_first_other_line():
    first = b'Exception in thread "stateConnectionListenerThread" x\n'
    assert list(worth_saying([first, b"\tat a\n", b"said\n", b"\tat b\n"])) == [b"said\n", b"\tat b\n"]
    assert list(worth_saying([first, first, b"\tat a\n"])) == []
