"""What one request may ask for, and how many are served at once."""

from dataclasses import dataclass

from slidewheel.errors import InvalidArgument
from slidewheel.serve.refusals import TooManyKeys, TooManyPoints


@dataclass(frozen=True)
class Limits:
    """Limits of a server: each can be set on the command line."""

    max_points: int = 500_000
    """Rows of an answer: buckets times keys."""
    max_keys: int = 50_000
    timeout: float = 30.0
    """Seconds until a request is answered, or refused."""
    threads: int = 4
    """Questions that are worked on at once."""

    def __post_init__(self) -> None:
        for name in ("max_points", "max_keys", "timeout", "threads"):
            if not getattr(self, name) > 0:
                raise InvalidArgument(f"--{name.replace('_', '-')} must be more than 0, not {getattr(self, name)}")

    @property
    def waiting(self) -> int:
        """Questions that may wait for a thread. More of them would only wait until their time is up."""
        return 8 * self.threads

    def check(self, buckets: int, keys: int, empty: int = 0) -> None:
        """That an answer of this size may be asked for; `empty` are buckets outside of all data."""
        if keys > self.max_keys:
            raise TooManyKeys(f"this is about {keys:,} keys, more than {self.max_keys:,}: name some with key=")
        points = max(buckets * keys, buckets + empty)
        if points > self.max_points:
            raise TooManyPoints(
                f"{buckets + empty:,} buckets for {keys:,} keys are up to {points:,} points, more than "
                f"{self.max_points:,}: take longer buckets, a shorter time or fewer keys"
            )
