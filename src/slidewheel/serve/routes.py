"""The endpoints for stores. Each parses its request in the event loop; all else is done by a worker."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import PlainTextResponse

from slidewheel import __version__
from slidewheel.serve import replies
from slidewheel.serve.asking import Asked, asked, instant_from, keys_from, plan_of, time_of
from slidewheel.serve.encoding import ARROW, arrow_stream, json_table, wants_arrow
from slidewheel.serve.limits import Limits
from slidewheel.serve.metrics import TEXT, Metrics
from slidewheel.serve.stores import KeyList, Stores
from slidewheel.serve.workers import Workers
from slidewheel.store.planning import StorePlan
from slidewheel.times import format_duration

log = logging.getLogger("slidewheel.serve")
PLAN = "x-slidewheel-plan"
LOOK = 1.0
"""Seconds that `/metrics` waits for the versions of stores; then it says those that were seen last."""

Name = Annotated[str | None, Query(description="The store; it may be left out where there is one only.")]
Start = Annotated[str | None, Query(description="ISO text or microseconds since 1970; the first slot, unless given.")]
End = Annotated[str | None, Query(description="Where the range ends, itself not in it; the last slot, unless given.")]
Every = Annotated[str | None, Query(description='A bucket: a length such as "5m", or "hour", "day", "week", ...')]
Points = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="Choose buckets so that there are at most so many.")
]
Zone = Annotated[str | None, Query(description='Of the calendar, with every="day" and its like.')]
Keys = Annotated[list[str], Query(description="column=value; several values of a column are any of them.")]
Aggregates = Annotated[list[str], Query(description="Names of aggregates; all of them, unless given.")]
Times = Annotated[Literal["iso", "us"], Query(description="Times as ISO text or as microseconds since 1970.")]
Format = Annotated[Literal["json", "arrow"] | None, Query(description="JSON, unless this or Accept asks for Arrow.")]
Accept = Annotated[str, Header(include_in_schema=False)]

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": replies.Problem, "description": about}
    for status, about in {
        400: "What is asked for makes no sense.",
        401: "The token is missing or wrong.",
        404: "There is no such store.",
        413: "Too many points or keys.",
        422: "A parameter is of the wrong type.",
        500: "The store is damaged.",
        503: "Too slow, or too busy.",
    }.items()
}


def _binary(model: Any) -> dict[int | str, dict[str, Any]]:
    """A reply of 200 that may be an Arrow stream."""
    return {200: {"model": model, "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}}}}


def store_routes(stores: Stores, limits: Limits, workers: Workers) -> APIRouter:
    router = APIRouter(responses=ERRORS)

    @router.get("/stores", response_model=list[replies.StoreInfo])
    async def list_stores() -> Response:
        """All stores: their columns, levels, span of time and version."""
        return await workers.run(lambda: _json([served.described() for served in stores.values()]))

    @router.get("/keys", response_model=replies.KeysReply)
    async def list_keys(
        store: Name = None,
        limit: Annotated[int, Query(ge=0, le=1_000_000)] = 1000,
        prefix: Annotated[str, Query(description="Keys of which a column begins so.")] = "",
    ) -> Response:
        """The keys of a store, in their order; `total` counts those beyond the limit too."""

        def work() -> Response:
            found = stores.named(store).keys()
            rows = _beginning(found, prefix)
            lists = found.lists
            return _json({"keys": [lists[row] for row in rows[:limit]], "total": len(rows)})

        return await workers.run(work)

    def question(
        store: Name = None,
        start: Start = None,
        end: End = None,
        every: Every = None,
        points: Points = None,
        timezone: Zone = None,
        key: Keys = [],  # noqa: B006
        aggregate: Aggregates = [],  # noqa: B006
    ) -> Callable[[], Asked]:
        """What a request asks for, to be made out by a worker."""

        def made() -> Asked:
            found = asked(
                stores.named(store),
                start=start,
                end=end,
                every=every,
                points=points,
                timezone=timezone,
                key=key,
                aggregate=aggregate,
            )
            found.check(limits)
            return found

        return made

    Question = Annotated[Callable[[], Asked], Depends(question)]

    @router.get("/query", responses=_binary(replies.QueryReply))
    async def query(asks: Question, times: Times = "iso", format: Format = None, accept: Accept = "") -> Response:
        """The aggregates of a range for every key that has rows there, whole or in buckets."""
        arrow = format == "arrow" or (format is None and wants_arrow(accept))

        def work() -> Response:
            made = asks()
            table, plan = made.answer()
            limits.check(table.num_rows, 1)
            return _arrow(table, plan) if arrow else _answer(made, table, plan, times)

        return await workers.run(work)

    @router.get("/explain", response_model=replies.PlanReply)
    async def explain(asks: Question) -> Response:
        """How `/query` answers this: which slots and files it is made of."""
        return await workers.run(lambda: _json(plan_of(asks().answer()[1])))

    @router.get("/windows", responses=_binary(replies.WindowsReply))
    async def windows(
        store: Name = None,
        window: Annotated[str | None, Query(description="The name of one; all, unless given.")] = None,
        start: Start = None,
        end: End = None,
        key: Keys = [],  # noqa: B006
        times: Times = "iso",
        format: Format = None,
        accept: Accept = "",
    ) -> Response:
        """The windows of the store's query inside of a range, as `query.run` gives them."""
        arrow = format == "arrow" or (format is None and wants_arrow(accept))

        def work() -> Response:
            served = stores.named(store)
            keys = keys_from(served, key)
            question = Asked(served, instant_from(start), instant_from(end), keys=keys)
            specs = [x for x in served.store.definition.query.windows if window in (None, x.name)]
            for spec in specs:
                length = getattr(spec, "every", None)
                _with_every(question, length).check(limits)
            table = served.store.windows(question.start, question.end, window=window, keys=keys)
            limits.check(table.num_rows, 1)
            if arrow:
                return Response(arrow_stream(table), media_type=ARROW)
            about = f'"store":{json.dumps(served.name)},"version":{served.version()}'
            return Response(f"{{{about},{json_table(table, times)}}}", media_type="application/json")

        return await workers.run(work)

    return router


def own_routes(stores: Stores, metrics: Metrics) -> APIRouter:
    """What tells of the server itself. It is answered however busy the workers are."""
    router = APIRouter()
    looking = Workers(1, 1, LOOK)

    @router.get("/health", response_model=replies.Health)
    async def health() -> Response:
        return _json({"status": "ok", "stores": len(stores), "version": __version__})

    @router.get("/metrics", response_class=PlainTextResponse)
    async def show_metrics() -> Response:
        """Counters in Prometheus' text format."""
        try:
            await looking.run(lambda: [served.version() for served in stores.values()])
        except Exception:
            log.warning("a store does not say its version", exc_info=True)  # the counters are right all the same
        return Response(metrics.text({name: served.seen for name, served in stores.items()}), media_type=TEXT)

    return router


def _json(content: Any) -> Response:
    return Response(json.dumps(content, allow_nan=False), media_type="application/json")


def _beginning(keys: KeyList, prefix: str) -> list[int]:
    """The numbers of keys of which a column begins with this."""
    if not prefix:
        return list(range(len(keys)))
    fits = pa.array([False] * len(keys))
    for texts in keys.texts.values():
        fits = pc.or_(fits, pc.fill_null(pc.starts_with(texts, prefix), False))
    found: list[int] = pc.indices_nonzero(fits).to_pylist()
    return found


def _with_every(question: Asked, microseconds: int | None) -> Asked:
    return question if microseconds is None else replace(question, every=format_duration(microseconds))


def _answer(question: Asked, table: pa.Table, plan: StorePlan, times: str) -> Response:
    about = {
        "store": question.served.name,
        "version": plan.version,
        "start": time_of(plan.start, times),
        "end": time_of(plan.end, times),
        "every": question.every,
    }
    text = f'{json.dumps(about)[:-1]},{json_table(table, times)},"plan":{json.dumps(plan_of(plan))}}}'
    return Response(text, media_type="application/json")


def _arrow(table: pa.Table, plan: StorePlan) -> Response:
    headers = {PLAN: json.dumps(plan_of(plan)), "x-slidewheel-version": str(plan.version)}
    return Response(arrow_stream(table), media_type=ARROW, headers=headers)
