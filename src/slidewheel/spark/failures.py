"""What went wrong in Spark, as one line that a user can act on, out of pages of two languages' stack traces."""

import re

PLACES = (
    (r"No space left on device", "the disk is full"),
    (r"Disk quota exceeded", "the disk quota is used up"),
    (r"Read-only file system", "the file system is read-only"),
    (r"Permission denied|AccessControlException", "a file or folder can't be written to or read: permission denied"),
    (r"Parent path is not a directory: (\S+)", "{} is a file, not a folder"),
    (r"mkdir of (\S+) failed", "the folder {} can't be made"),
)
"""What is said of places that can't be used, wherever in the text it stands, and what to say instead."""

_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*): (?P<said>.+)$", re.MULTILINE)
_FRAME = re.compile(r'^ *File "(?P<file>[^"]+)", line (?P<line>\d+), in', re.MULTILINE)
_CAUSED = re.compile(r"^Caused by: (?P<said>.+)$", re.MULTILINE)
_CLASS = re.compile(r"^(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error): ")
_WRAPPING = re.compile(r"^\[STREAM_FAILED\].*?terminated with exception: ", re.DOTALL)


def is_sparks(error: BaseException) -> bool:
    """Whether Spark, or the bridge to its Java, raised this."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc")


def cause_of(error: BaseException) -> str:
    """The root of a failure in one line.

    >>> cause_of(RuntimeError("An error occurred\\n: java.io.IOException: No space left on device\\n\\tat java.io..."))
    'the disk is full'
    """
    text = str(error).strip()
    for pattern, words in PLACES:
        found = re.search(pattern, text)
        if found:
            return words.format(*(re.sub("^file:/*", "/", group) for group in found.groups()))
    if _TRACEBACK in text:
        return _python(text.rpartition(_TRACEBACK)[2]) or _first_line(text)
    caused = _CAUSED.findall(text)
    return _first_line(caused[-1] if caused else text) or type(error).__name__


def _python(traceback: str) -> str:
    """The last line of a traceback, and where in the user's code it was."""
    raised = _RAISED.search(traceback)
    if raised is None:
        return ""
    kind = raised["kind"].rpartition(".")[2]
    if kind == "PipelineFailed":  # has been through here already
        return raised["said"]
    frames = list(_FRAME.finditer(traceback[: raised.start()]))
    where = f" ({frames[-1]['file']}, line {frames[-1]['line']})" if frames else ""
    return f"{kind}: {_plain(raised['said'])}{where}"


def _first_line(text: str) -> str:
    """The first line that says something, without names of Java classes and codes."""
    lines = [line.strip().removeprefix(": ") for line in _WRAPPING.sub("", text).splitlines()]
    said = [line for line in lines if line and not line.startswith(("at ", "An error occurred while calling"))]
    return _plain(said[0]) if said else ""


def _plain(line: str) -> str:
    while _CLASS.match(line):
        line = _CLASS.sub("", line)
    return re.sub(r"\s*SQLSTATE: \w+", "", line).strip()
