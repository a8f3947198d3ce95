"""How long a process takes to its first answer."""

from bench.report.page import Page


def write(page: Page) -> None:
    page.title("From the start of a process to its first answer")
    page.say(
        "Milliseconds from the start of a Python process. *Cold*: nothing has been compiled yet on this machine; "
        "*warm*: all kernels are in the cache, as in every process after the first."
    )
    page.table(["", "", "ms"], [(r["what"], r["cache"], r["median"]) for r in page.records])
