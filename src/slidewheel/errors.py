"""The error family. Every mistake a user can make raises one of these, and its message says what to do instead."""


class SlidewheelError(Exception):
    """The base of every error that slidewheel raises on purpose."""


class InvalidArgument(SlidewheelError, ValueError):
    """An argument is out of range, of the wrong kind, or contradicts another one."""


class InvalidTime(InvalidArgument):
    """A time or a duration could not be read, or times go back where they must not."""


class UnknownAlgorithm(InvalidArgument):
    """No algorithm has this name; the message lists the nearest ones."""


class Unsupported(SlidewheelError, TypeError):
    """What was asked needs a property that the aggregate, or the type of its input, does not have."""


class InvalidAggregate(SlidewheelError, TypeError):
    """An aggregate's definition contradicts itself, for example a state that its identity does not fit."""


class CompileError(InvalidAggregate):
    """An aggregate's function could not be compiled; the message names the line and the way out."""


class LawViolation(SlidewheelError, AssertionError):
    """An aggregate breaks a law that it needs or claims; the message holds a counterexample."""


class Overflow(SlidewheelError, OverflowError):
    """An integer answer does not fit its 64-bit type."""


class PlanTooLarge(InvalidArgument):
    """The windows of a query would take more slices or give more answers than any stream can use."""


class InvalidSnapshot(SlidewheelError, ValueError):
    """A snapshot is damaged, of another version, or of another query."""


class InvalidStore(SlidewheelError, ValueError):
    """A store is damaged, of another version, or of other aggregates; the message names the file."""


class StoreConflict(SlidewheelError, RuntimeError):
    """Somebody else changed the store in a way that this change can't follow: try again."""
