"""The token that whoever asks has to know, read from a file."""

import hashlib
import hmac
import os
from pathlib import Path

from slidewheel.errors import InvalidArgument

COOKIE = "slidewheel"
WORLD = 0o007


class Token:
    """Compares in constant time. Browsers get a hash of it as a cookie, so that it does not lie about on disks."""

    def __init__(self, text: str) -> None:
        self._token = text.encode()
        self.cookie = hashlib.sha256(b"slidewheel cookie\0" + self._token).hexdigest()

    def fits(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._token)

    def fits_cookie(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self.cookie.encode())


def read_token(path: str | Path) -> Token:
    """The token of a file that only its owner, and perhaps a group, can read."""
    try:
        with open(path, encoding="utf-8") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"the token file {path} can't be read: {error}") from None
    if os.name == "posix" and mode & WORLD:
        raise InvalidArgument(f"everybody on this machine can read or change the token file {path}: chmod 600 {path}")
    if not text:
        raise InvalidArgument(
            f"the token file {path} is empty: write a token that nobody can guess, as with "
            f"python -c 'import secrets; print(secrets.token_urlsafe(32))' > {path}"
        )
    if not text.isascii() or len(text.split()) > 1:
        raise InvalidArgument(f"the token file {path} holds more than one word of ASCII: write only the token to it")
    return Token(text)
