"""slidewheel: sliding-window aggregation, exact and fast, for your own aggregates too."""

from typing import TYPE_CHECKING, Any

from slidewheel import swag
from slidewheel._version import __version__
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.bloom import BloomFilter, bloom
from slidewheel.algebra.count_min import CountMin, count_min
from slidewheel.algebra.define import aggregate
from slidewheel.algebra.distinct import distinct
from slidewheel.algebra.extremes import argmax, argmin, max, max_count, min, min_count, span
from slidewheel.algebra.laws import check
from slidewheel.algebra.moments import std, var
from slidewheel.algebra.order import collect, collect_distinct, concat, first, last
from slidewheel.algebra.quantile import quantile
from slidewheel.algebra.sums import count, geomean, mean, product, sum
from slidewheel.algebra.top_k import top_k
from slidewheel.engine.rolling import rolling
from slidewheel.errors import (
    CompileError,
    InvalidAggregate,
    InvalidArgument,
    InvalidSnapshot,
    InvalidStore,
    InvalidTime,
    LawViolation,
    Overflow,
    PlanTooLarge,
    SlidewheelError,
    StoreConflict,
    UnknownAlgorithm,
    Unsupported,
)
from slidewheel.swag.registry import algorithms
from slidewheel.windows.specs import delta, punctuated, rows, session, sliding, trailing, tumbling

if TYPE_CHECKING:
    from slidewheel.engine.query import Query, query
    from slidewheel.engine.stream import Late, Stream
    from slidewheel.store.opening import create_store, open_store
    from slidewheel.store.store import Store
    from slidewheel.wheel.keyed import KeyedWheel
    from slidewheel.wheel.levels import Level
    from slidewheel.wheel.plans import RangePlan
    from slidewheel.wheel.wheel import Wheel
    from slidewheel.wheel.windows import WindowResult

__all__ = [
    "Aggregate",
    "BloomFilter",
    "CompileError",
    "CountMin",
    "InvalidAggregate",
    "InvalidArgument",
    "InvalidSnapshot",
    "InvalidStore",
    "InvalidTime",
    "KeyedWheel",
    "Late",
    "LawViolation",
    "Level",
    "Overflow",
    "PlanTooLarge",
    "Query",
    "RangePlan",
    "SlidewheelError",
    "Store",
    "StoreConflict",
    "Stream",
    "UnknownAlgorithm",
    "Unsupported",
    "Wheel",
    "WindowResult",
    "__version__",
    "aggregate",
    "algorithms",
    "argmax",
    "argmin",
    "bloom",
    "check",
    "collect",
    "collect_distinct",
    "concat",
    "count",
    "count_min",
    "create_store",
    "delta",
    "distinct",
    "first",
    "geomean",
    "last",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "open_store",
    "product",
    "punctuated",
    "quantile",
    "query",
    "rolling",
    "rows",
    "session",
    "sliding",
    "span",
    "std",
    "sum",
    "swag",
    "top_k",
    "trailing",
    "tumbling",
    "var",
]


_LATER = {
    "KeyedWheel": "wheel.keyed",
    "Late": "engine.stream",
    "Level": "wheel.levels",
    "Query": "engine.query",
    "RangePlan": "wheel.plans",
    "Store": "store.store",
    "Stream": "engine.stream",
    "Wheel": "wheel.wheel",
    "WindowResult": "wheel.windows",
    "create_store": "store.opening",
    "open_store": "store.opening",
    "query": "engine.query",
}


def __getattr__(name: str) -> Any:
    """Queries and wheels are imported when first used: pyarrow and Numba take longer than all the rest."""
    if name not in _LATER:
        raise AttributeError(f"module 'slidewheel' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"slidewheel.{_LATER[name]}"), name)
    globals()[name] = found
    return found
