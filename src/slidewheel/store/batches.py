"""Batches of rows that are given to a store, and what became of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from slidewheel.errors import InvalidArgument

Batch = tuple[str, int]
"""The id of an application, and the number of one of its batches."""


@dataclass(frozen=True)
class Appended:
    """What became of rows that were given to a store."""

    committed: bool
    """False if the store had this batch already: nothing was written then."""
    partials: int = 0
    without_time: int = 0
    """Rows that had no time, and so are in no slot."""


def checked_batch(batch: Any) -> None:
    """That a batch is an id and a number."""
    if batch is None:
        return
    fits = isinstance(batch, tuple) and len(batch) == 2 and isinstance(batch[0], str) and batch[0]
    if not fits or isinstance(batch[1], bool) or not isinstance(batch[1], (int, np.integer)):
        raise InvalidArgument(
            f"a batch is the id of an application and a number, such as ('flights', 7), not {batch!r}"
        )
