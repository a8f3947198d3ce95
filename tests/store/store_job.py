"""Writes batches to a store and compacts it, until all are there: to be killed and started again."""

import sys

import pyarrow as pa

import slidewheel as sw
from tests.store.events import events

BATCHES = 40


def batch(number: int) -> pa.Table:
    return events(200, seed=number)


def main(path: str) -> None:
    store = sw.open_store(path)
    batch(0)
    print("begun", flush=True)
    for number in range((store.last_batch("job") or -1) + 1, BATCHES):
        store.append(batch(number), batch=("job", number))
        if number % 3 == 2:
            store.compact(target=500)


if __name__ == "__main__":
    main(sys.argv[1])
