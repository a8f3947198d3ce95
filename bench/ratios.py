"""How many times as long one takes as another, and how sure that is.

A round of a race runs every contestant once, so that each round gives one ratio. Of these the median is reported, with
the interval that contains the true median as often as stated. The interval lies between two of the ordered ratios
themselves; it supposes that rounds are independent of each other, and nothing of how times are spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

WANTED = 0.95


@dataclass(frozen=True)
class Ratio:
    median: float
    low: float
    high: float
    confidence: float
    """How often such an interval contains the true median."""

    @classmethod
    def of(cls, found: Sequence[float]) -> "Ratio":
        """
        >>> Ratio.of([2.0, 1.9, 2.1, 2.2, 2.0, 2.3, 1.8])
        Ratio(median=2.0, low=1.8, high=2.3, confidence=0.984375)
        """
        ordered = sorted(found)
        skipped = cut(len(ordered))
        return cls(
            float(np.median(ordered)), ordered[skipped], ordered[-1 - skipped], confidence(len(ordered), skipped)
        )

    @classmethod
    def between(cls, rounds: Sequence[float], others: Sequence[float]) -> "Ratio":
        """Of two contestants of one race, round by round."""
        return cls.of(np.divide(rounds, others).tolist())

    def __str__(self) -> str:
        return f"{figure(self.median)} ({figure(self.low)} to {figure(self.high)})"


def confidence(rounds: int, skipped: int) -> float:
    """That the median lies within all but so many of the ordered values at either end."""
    return 1 - 2 * sum(comb(rounds, k) for k in range(skipped + 1)) / 2**rounds


def cut(rounds: int) -> int:
    """How many values to leave out at either end: as many as the wanted confidence allows.

    >>> [cut(rounds) for rounds in (1, 5, 7, 9, 60)]
    [0, 0, 0, 1, 21]
    """
    fitting = [k for k in range((rounds + 1) // 2) if confidence(rounds, k) >= WANTED]
    return max(fitting, default=0)


def figure(value: float) -> str:
    """Three digits, or all digits before the point.

    >>> [figure(v) for v in (0.01234, 0.5, 7.0, 31.42, 4321.0)]
    ['0.012', '0.50', '7.00', '31.4', '4,321']
    """
    if abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"
