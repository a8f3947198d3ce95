"""Who may ask: those who know the token, or, where there is none, those who mean this machine."""

import json
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slidewheel.serve.tokens import COOKIE, Token

OPEN = ("/health",)
"""Paths that need no token: what watches over servers has none."""
LOCAL = ("localhost", "127.0.0.1", "[::1]")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
WELCOME = (
    b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><a href="/">slidewheel</a>\n'
)


class Guard:
    """Lets requests through or refuses them, and adds security headers to all replies."""

    def __init__(self, app: ASGIApp, token: Token | None = None) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        headers = dict(scope["headers"])
        if self.token is None:
            if not _local(headers.get(b"host", b"").decode("latin-1"), scope):
                text = "this server answers to localhost and its port only, which the header Host does not name"
                return await _reply(guarded, 400, {"error": text})
        elif scope["path"] not in OPEN:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
            if scope["path"] == "/" and given and self.token.fits(given[0].encode()):
                return await _welcome(guarded, self.token)
            if not self._known(self.token, headers):
                text = "this needs the header Authorization: Bearer <token>; in a browser, open /?token=<token> once"
                return await _reply(guarded, 401, {"error": text}, (b"www-authenticate", b"Bearer"))
        await self.app(scope, receive, guarded)

    @staticmethod
    def _known(token: Token, headers: dict[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and token.fits(given.strip()):
            return True
        try:
            cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        return COOKIE in cookies and token.fits_cookie(cookies[COOKIE].value.encode())


def _local(host: str, scope: Scope) -> bool:
    """Whether Host names this machine. A page from elsewhere whose name was made to mean 127.0.0.1 has its own name
    there (DNS rebinding)."""
    bound, port = scope.get("server") or ("", None)
    bound = f"[{bound}]" if ":" in bound else bound
    names = (*LOCAL, bound) if bound.startswith("127.") else LOCAL
    name, colon, given = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    name, given = (name, given) if colon else (host, "80")
    return name.lower() in names and given == str(port or 80)


async def _reply(send: Send, status: int, content: dict[str, str], *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps(content).encode()
    sized = (b"content-length", str(len(body)).encode())
    kind = (b"content-type", b"application/json")
    await send({"type": "http.response.start", "status": status, "headers": [kind, sized, *headers]})
    await send({"type": "http.response.body", "body": body})


async def _welcome(send: Send, token: Token) -> None:
    """Sets the cookie, then goes on to the page. Not by a redirect: after a click elsewhere, browsers would not send a
    strict cookie along."""
    cookie = f"{COOKIE}={token.cookie}; Path=/; HttpOnly; SameSite=Strict"
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(WELCOME)).encode()),
        (b"cache-control", b"no-store"),
        (b"set-cookie", cookie.encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": WELCOME})
