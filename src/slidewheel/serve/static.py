"""The page, from the files in the package."""

from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
MISSING = (
    "slidewheel is serving, but this installation has no page. The API works without it: see /stores, /query and "
    "/openapi.json, or point Grafana's Prometheus data source here.\n"
)
router = APIRouter(include_in_schema=False)


def contents(name: str) -> bytes | None:
    """A file of the page; None if there is none of this name."""
    parts = PurePosixPath(name).parts
    if not parts or "\\" in name or any(part.startswith((".", "/")) for part in parts):
        return None
    found = files("slidewheel.serve").joinpath("page", *parts)
    return found.read_bytes() if found.is_file() else None


def _file(name: str) -> Response | None:
    kind = KINDS.get(PurePosixPath(name).suffix)
    found = contents(name) if kind else None
    if found is None:
        return None
    return Response(found, media_type=kind, headers={"cache-control": "no-cache"})


@router.get("/")
async def page() -> Response:
    return _file("index.html") or PlainTextResponse(MISSING)


@router.get("/static/{name:path}")
async def static(name: str) -> Response:
    return _file(name) or PlainTextResponse(f"there is no file {name}\n", 404)
