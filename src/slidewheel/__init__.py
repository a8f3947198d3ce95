"""slidewheel: sliding-window aggregation, exact and fast, for your own aggregates too."""

from slidewheel import swag
from slidewheel._version import __version__
from slidewheel.algebra.aggregate import Aggregate
from slidewheel.algebra.bloom import BloomFilter, bloom
from slidewheel.algebra.define import aggregate
from slidewheel.algebra.extremes import argmax, argmin, max, max_count, min, min_count, span
from slidewheel.algebra.laws import check
from slidewheel.algebra.moments import std, var
from slidewheel.algebra.order import collect, collect_distinct, concat, first, last
from slidewheel.algebra.sums import count, geomean, mean, product, sum
from slidewheel.engine.rolling import rolling
from slidewheel.errors import (
    CompileError,
    InvalidAggregate,
    InvalidArgument,
    InvalidTime,
    LawViolation,
    Overflow,
    SlidewheelError,
    UnknownAlgorithm,
    Unsupported,
)
from slidewheel.swag.registry import algorithms

__all__ = [
    "Aggregate",
    "BloomFilter",
    "CompileError",
    "InvalidAggregate",
    "InvalidArgument",
    "InvalidTime",
    "LawViolation",
    "Overflow",
    "SlidewheelError",
    "UnknownAlgorithm",
    "Unsupported",
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
    "first",
    "geomean",
    "last",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "product",
    "rolling",
    "span",
    "std",
    "sum",
    "swag",
    "var",
]
