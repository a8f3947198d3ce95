"""Why a request is not answered, each with the status that says so."""

from slidewheel.errors import SlidewheelError


class Refused(SlidewheelError):
    """A request that the server does not serve."""

    status = 400
    reason = ""
    """What `/metrics` counts it under; nothing for mistakes."""


class NoSuchStore(Refused):
    status = 404


class TooManyPoints(Refused):
    status, reason = 413, "points"


class TooManyKeys(Refused):
    status, reason = 413, "keys"


class Busy(Refused):
    status, reason = 503, "busy"


class TooSlow(Refused):
    status, reason = 503, "timeout"
