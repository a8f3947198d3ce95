"""What a Python worker of Spark does before it works: two things that make Spark wait for it are put right.

Between two tasks, Spark has a worker look through all of its objects for garbage. Those of the libraries that are
loaded here are half a million, which takes longer than a task of a micro-batch. They stay as long as the process, and
Python can be told so.
"""

import gc

from slidewheel.spark.sockets import acknowledge_at_once

FEW = 10_000
"""Objects that are looked through in no time."""


class Kept:
    """How many objects of the process have been told to stay."""

    def __init__(self) -> None:
        self.count = 0

    def more(self) -> None:
        """Keep those that have come, if they are many.

        What is garbage later stays, too, where it holds itself. So it happens when objects have become more by a
        sixteenth: some ten times in the life of a process.
        """
        new = len(gc.get_objects())
        if new > max(FEW, self.count // 16):
            gc.freeze()
            self.count += new


KEPT = Kept()


def ready_to_work() -> None:
    """At the start of a task."""
    acknowledge_at_once()
    KEPT.more()
