"""Errors as replies: a mistake of the user is never a failure of the server."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from slidewheel.errors import InvalidStore, SlidewheelError
from slidewheel.serve.guard import HEADERS
from slidewheel.serve.metrics import Metrics
from slidewheel.serve.refusals import Refused

PROMETHEUS = "/api/v1/"
log = logging.getLogger("slidewheel.serve")


def status_of(error: SlidewheelError) -> int:
    """The status of an error; only a damaged store is not the user's own."""
    return getattr(error, "status", 500 if isinstance(error, InvalidStore) else 400)


def kind_of(status: int) -> str:
    """What Prometheus calls errors of a status."""
    kinds = {400: "bad_data", 404: "not_found", 422: "execution", 500: "internal", 503: "timeout"}
    return kinds.get(status, "bad_data" if status < 500 else "internal")


def reply(request: Request, status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error in the form of the API that was asked."""
    content: dict[str, Any] = {"error": text}
    if request.url.path.startswith(PROMETHEUS):
        # Limits are errors of execution there, as are questions that are beyond this server.
        status = 422 if status == 413 else status
        content = {"status": "error", "errorType": kind_of(status), "error": text}
    return JSONResponse(content, status, headers)


def handle_errors(app: FastAPI, metrics: Metrics) -> None:
    """Let an app reply to all errors."""

    @app.exception_handler(SlidewheelError)
    async def ours(request: Request, error: SlidewheelError) -> JSONResponse:
        status = status_of(error)
        if isinstance(error, Refused) and error.reason:
            metrics.refused[error.reason] += 1
        if isinstance(error, InvalidStore):
            log.error("%s", error)
        return reply(request, status, str(error), {"retry-after": "1"} if status == 503 else None)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        said = [f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors()]
        # Prometheus has 400 for this.
        status = 400 if request.url.path.startswith(PROMETHEUS) else 422
        return reply(request, status, "; ".join(said))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return reply(request, error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        # This reply is made outside of the guard, which adds the headers to all others.
        headers = {name.decode(): value.decode() for name, value in HEADERS}
        return reply(request, 500, f"the server failed: {type(error).__name__}; its log says more", headers)
