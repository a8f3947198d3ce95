"""The endpoints of Prometheus' HTTP API that are answered. All take a GET, and most a form by POST as well."""

import json
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from slidewheel import __version__
from slidewheel.errors import InvalidArgument
from slidewheel.serve.limits import Limits
from slidewheel.serve.prometheus import catalogue, encoding
from slidewheel.serve.prometheus.evaluating import Evaluation
from slidewheel.serve.prometheus.lexing import BadQuery
from slidewheel.serve.prometheus.parameters import time_from, times_from
from slidewheel.serve.prometheus.promql import Selector, parse
from slidewheel.serve.prometheus.series import Series
from slidewheel.serve.stores import Stores
from slidewheel.serve.workers import Workers

API = "2.45.0"
"""The release of Prometheus whose API this is a part of: Grafana asks for it."""
LONGEST_FORM = 1 << 16
FORM = "application/x-www-form-urlencoded"


class Success(BaseModel):
    status: str
    data: Any


class Failure(BaseModel):
    status: str
    errorType: str
    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": about}
    for status, about in {
        400: "A parameter is missing or wrong.",
        422: "What is asked for is not supported, or too much.",
        500: "The store is damaged.",
        503: "Too slow, or too busy.",
    }.items()
}
Match = Annotated[list[str], Query(alias="match[]", description="Selectors.")]
Ignored = Annotated[str | None, Query(description="Taken, but without effect.")]


def prometheus_routes(stores: Stores, limits: Limits, workers: Workers) -> APIRouter:
    router = APIRouter(prefix="/api/v1", responses=ERRORS)

    async def reply(work: Callable[[], str]) -> Response:
        def text() -> Response:
            return Response(encoding.success(work()), media_type="application/json")

        return await workers.run(text)

    # ---- queries

    @router.get("/query", response_model=Success)
    async def query(query: str, time: str | None = None, timeout: Ignored = None) -> Response:
        """The value of an expression at one time."""
        return await reply(lambda: instant_query(stores, limits, query, time))

    @router.post("/query", response_model=Success, openapi_extra=_form("query", "time"))
    async def query_form(request: Request) -> Response:
        given = await _given(request)
        text, time = _needed(given, "query"), _last(given, "time")
        return await reply(lambda: instant_query(stores, limits, text, time))

    @router.get("/query_range", response_model=Success)
    async def query_range(query: str, start: str, end: str, step: str, timeout: Ignored = None) -> Response:
        """The values of an expression from start to end, a step apart."""
        return await reply(lambda: range_query(stores, limits, query, start, end, step))

    @router.post("/query_range", response_model=Success, openapi_extra=_form("query", "start", "end", "step"))
    async def query_range_form(request: Request) -> Response:
        given = await _given(request)
        text, start, end, step = (_needed(given, name) for name in ("query", "start", "end", "step"))
        return await reply(lambda: range_query(stores, limits, text, start, end, step))

    # ---- what there is

    @router.get("/labels", response_model=Success)
    async def labels(match: Match = [], start: Ignored = None, end: Ignored = None) -> Response:  # noqa: B006
        return await reply(lambda: json.dumps(catalogue.label_names(stores, match)))

    @router.post("/labels", response_model=Success, openapi_extra=_form("match[]"))
    async def labels_form(request: Request) -> Response:
        given = await _given(request)
        return await reply(lambda: json.dumps(catalogue.label_names(stores, given.get("match[]", []))))

    @router.get("/label/{name}/values", response_model=Success)
    async def label_values(
        name: str,
        match: Match = [],  # noqa: B006
        start: Ignored = None,
        end: Ignored = None,
    ) -> Response:
        return await reply(lambda: json.dumps(catalogue.label_values(stores, name, match)))

    def series_text(match: list[str]) -> str:
        if not match:
            raise InvalidArgument("no match[] parameter provided")
        return json.dumps(catalogue.series(stores, match))

    @router.get("/series", response_model=Success)
    async def series(match: Match = [], start: Ignored = None, end: Ignored = None) -> Response:  # noqa: B006
        return await reply(lambda: series_text(match))

    @router.post("/series", response_model=Success, openapi_extra=_form("match[]"))
    async def series_form(request: Request) -> Response:
        given = await _given(request)
        return await reply(lambda: series_text(given.get("match[]", [])))

    @router.get("/metadata", response_model=Success)
    async def metadata(
        metric: str | None = None,
        limit: Annotated[int | None, Query(ge=0)] = None,
        limit_per_metric: Ignored = None,
    ) -> Response:
        def work() -> str:
            found = catalogue.metadata(stores, metric)
            return json.dumps(dict(list(found.items())[: limit or None]))

        return await reply(work)

    @router.get("/status/buildinfo", response_model=Success)
    async def build() -> Response:
        """Which API this is: Grafana turns on what this release of Prometheus has."""
        about = {"version": API, "revision": f"slidewheel {__version__}"}
        about |= dict.fromkeys(("branch", "buildUser", "buildDate", "goVersion"), "")
        return Response(encoding.success(json.dumps(about)), media_type="application/json")

    _empty(router, "/rules", {"groups": []})
    _empty(router, "/alerts", {"alerts": []})
    _empty(router, "/query_exemplars", [])
    return router


def _empty(router: APIRouter, path: str, data: Any) -> None:
    """An endpoint for something that there is none of here."""

    @router.get(path, response_model=Success, name=path.strip("/"))
    async def nothing() -> Response:
        return Response(encoding.success(json.dumps(data)), media_type="application/json")


def instant_query(stores: Stores, limits: Limits, query: str, time: str | None) -> str:
    """The data of a reply to /query."""
    expression, at = parse(query), time_from("time", time)
    evaluation = Evaluation(stores, limits, [at])
    if isinstance(expression, Selector) and expression.range is not None:
        return encoding.matrix(*evaluation.raw(expression))
    found = evaluation.of(expression)
    return encoding.vector(at, found) if isinstance(found, Series) else encoding.scalar(at, found)


def range_query(stores: Stores, limits: Limits, query: str, start: str, end: str, step: str) -> str:
    """The data of a reply to /query_range."""
    times, length = times_from(start, end, step)
    expression = parse(query)
    if isinstance(expression, Selector) and expression.range is not None:
        raise BadQuery("a range has no value at a time: use it in a function, as in sum_over_time(metric[5m])")
    found = Evaluation(stores, limits, times, length).of(expression)
    return encoding.matrix(times, found) if isinstance(found, Series) else encoding.constant(times, found)


async def _given(request: Request) -> dict[str, list[str]]:
    """The parameters of a form and of the address."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in (FORM, ""):
        raise HTTPException(415, f"the content type of a POST must be {FORM}")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            raise HTTPException(413, f"the form is longer than {LONGEST_FORM:,} bytes")
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=1000)
    except ValueError as error:
        raise InvalidArgument(f"the form can't be read: {error}") from None
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    return found


def _last(given: dict[str, list[str]], name: str) -> str | None:
    return given[name][-1] if given.get(name) else None


def _needed(given: dict[str, list[str]], name: str) -> str:
    found = _last(given, name)
    if found is None:
        raise InvalidArgument(f"invalid parameter {name!r}: it is missing")
    return found


def _form(*names: str) -> dict[str, Any]:
    """What the description of the API says of a form."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in names}
    if "match[]" in properties:
        properties["match[]"] = {"type": "array", "items": {"type": "string"}}
    return {"requestBody": {"content": {FORM: {"schema": {"type": "object", "properties": properties}}}}}
