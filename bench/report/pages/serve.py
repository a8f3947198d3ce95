"""The server under load."""

from bench.report.page import Page

KINDS = {
    "point": "an hour of a key",
    "range": "a day of a key in 200 buckets, as a chart asks",
    "group_by": "six hours of all keys, a row for each",
}


def write(page: Page) -> None:
    page.title("The server under load")
    found = page.records.where(unit="requests/s")
    if found:
        page.say(
            f"{found[0]['connections']} connections on loopback; the client and a writer, which appends rows and "
            "compacts now and then, run on the same cores."
        )
    rows = [(KINDS.get(r["kind"], r["kind"]), r["rate"], r["p50"], r["p99"], r["failed"]) for r in found]
    page.table(["question", "requests/s", "p50 ms", "p99 ms", "failed"], rows)
    memory = page.records.one(kind="memory")
    if memory is not None:
        page.say(
            f"The server's memory went from {memory['before'] / 2**20:.0f} to {memory['after'] / 2**20:.0f} MiB "
            "during the run; up to 512 MiB for decoded states are allowed."
        )
