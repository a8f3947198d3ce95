"""What endpoints reply, for the description of the API. Large ones are not made from these, but look like them."""

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    error: str


class AggregateInfo(BaseModel):
    name: str
    type: str | None
    """The Arrow type as text; null while nothing has been written to the store."""
    numeric: bool


class LevelInfo(BaseModel):
    name: str
    length: float
    keep: str | int


class StoreInfo(BaseModel):
    name: str
    keys: list[str]
    aggregates: list[AggregateInfo]
    levels: list[LevelInfo]
    tick: float
    start: str | None
    end: str | None
    version: int
    windows: list[str]


class KeysReply(BaseModel):
    keys: list[list[Any]]
    total: int


class PlanReply(BaseModel):
    text: str
    slots: dict[str, int]
    files: int
    all_files: int
    rows: int
    fresh: int
    combined: int
    answers: int
    milliseconds: float


class QueryReply(BaseModel):
    store: str
    version: int
    start: str | int
    end: str | int
    every: str | None
    columns: list[str]
    data: list[list[Any]]
    rows: int
    plan: PlanReply


class WindowsReply(BaseModel):
    store: str
    version: int
    columns: list[str]
    data: list[list[Any]]
    rows: int


class Health(BaseModel):
    status: str
    stores: int
    version: str
