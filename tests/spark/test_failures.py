"""What users are told of failures: one line, with the root of it."""

import pytest

from slidewheel.spark.failures import cause_of, is_sparks

STACK = "\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:338)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
TRACEBACK = """\
Traceback (most recent call last):
  File "/opt/spark/worker.py", line 10, in main
    process()
  File "/home/ann/own.py", line 12, in lift
    return 1 / x
           ~~^~~
{}
"""

TEXTS = {
    "a full disk": (
        "An error occurred while calling o18.parquet.\n: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Failed.\n"
        f"{STACK}Caused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device\n{STACK}",
        "the disk is full",
    ),
    "read-only": (
        f"java.io.FileNotFoundException: /data/x (Read-only file system)\n{STACK}",
        "the file system is read-only",
    ),
    "no permission": (f": java.io.FileNotFoundException: /data/x (Permission denied)\n{STACK}", "permission denied"),
    "a file for a folder": (
        f": org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/data/file\n{STACK}",
        "/data/file is a file, not a folder",
    ),
    "no folder": (f": java.io.IOException: mkdir of file:/proc/x failed\n{STACK}", "the folder /proc/x can't be made"),
    "a condition": (
        "[PATH_NOT_FOUND] Path does not exist: file:/data/x. SQLSTATE: 42K03",
        "[PATH_NOT_FOUND] Path does not exist: file:/data/x.",
    ),
    "a cause of a cause": (
        f"An error occurred while calling o1.save.\n: org.apache.spark.SparkException: Job aborted.\n{STACK}"
        f"Caused by: org.apache.spark.SparkException: Stage failed\n{STACK}"
        f"Caused by: org.apache.kafka.KafkaException: org.apache.kafka.TimeoutException: Topic t is not there\n{STACK}",
        "Topic t is not there",
    ),
    "a stream": (
        "[STREAM_FAILED] Query [id = 1-2, runId = 3-4] terminated with exception: [CODE] What it says. SQLSTATE: 39000 "
        "SQLSTATE: XXKST\n=== Streaming Query ===\nIdentifier: [id = 1-2]\n",
        "[CODE] What it says.",
    ),
    "an error in Python": (
        "[STREAM_FAILED] Query [id = 1] terminated with exception: [PYTHON_EXCEPTION] An exception was thrown: "
        + TRACEBACK.format("ZeroDivisionError: division by zero")
        + " SQLSTATE: 38000\n"
        + STACK,
        "ZeroDivisionError: division by zero (/home/ann/own.py, line 12)",
    ),
    "an error of slidewheel": (
        "An exception was thrown from the Python worker:\n" + TRACEBACK.format("slidewheel.errors.Overflow: too much"),
        "Overflow: too much (/home/ann/own.py, line 12)",
    ),
    "one that is known": (TRACEBACK.format("slidewheel.PipelineFailed: the disk is full"), "the disk is full"),
    "nothing": ("", "RuntimeError"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_cause(name):
    text, words = TEXTS[name]
    cause = cause_of(RuntimeError(text))
    assert cause.endswith(words) and "\n" not in cause and "SQLSTATE" not in cause


def test_whose_error_it_is(spark):
    with pytest.raises(Exception, match="nowhere") as raised:
        spark.read.parquet("/nowhere/at/all")
    assert is_sparks(raised.value)
    assert not is_sparks(ValueError("ours"))
