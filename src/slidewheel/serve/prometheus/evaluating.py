"""What an expression means at some times.

A selector at a time t is the aggregate of the last lookback before t, a function over time that of its range. The store
has whole ticks, so t is floored to one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slidewheel.engine.columns import Array
from slidewheel.serve.encoding import texts_of
from slidewheel.serve.limits import Limits
from slidewheel.serve.prometheus.matching import keys_that_fit, metrics_that_fit
from slidewheel.serve.prometheus.metrics import Metric, metrics_of
from slidewheel.serve.prometheus.promql import (
    OVER_TIME,
    Expression,
    Grouped,
    NotSupported,
    Number,
    OverTime,
    Selector,
)
from slidewheel.serve.prometheus.series import Series, grouped
from slidewheel.serve.prometheus.windows import Found, windows_of
from slidewheel.serve.stores import Stores
from slidewheel.times import format_duration

LOOKBACK = 300_000_000
MOST_POINTS = 11_000
"""Of a series, as in Prometheus."""


@dataclass(frozen=True)
class Evaluation:
    """Stores, the times to answer for in microseconds, and how far back a plain selector looks."""

    stores: Stores
    limits: Limits
    times: Sequence[int]
    lookback: int = LOOKBACK

    def of(self, expression: Expression) -> Series | float:
        """A number, or series with a value for each time."""
        if isinstance(expression, Number):
            return expression.value
        if isinstance(expression, Grouped):
            inside = self.of(expression.inside)
            assert isinstance(inside, Series)
            return grouped(inside, expression.function, expression.by)
        if isinstance(expression, OverTime):
            return self._over_time(expression)
        metric = self._metric(expression)
        if metric is None:
            return Series.none(len(self.times))
        lookback = _ticks(self.lookback, metric)
        return self._series(metric, expression, self.times, lookback, named=True)

    def raw(self, selector: Selector) -> tuple[list[int], Series]:
        """The samples of a range: the values of the windows of the lookback that end in it, one after the other."""
        assert selector.range is not None
        metric, at = self._metric(selector), self.times[0]
        if metric is None:
            return [], Series.none(0)
        length = _ticks(self.lookback, metric)
        low, high = at - selector.offset - selector.range, at - selector.offset
        count = high // length - low // length
        if count > MOST_POINTS:
            raise NotSupported(f"this range has {count:,} samples, more than {MOST_POINTS:,}: use query_range")
        ends = [(low // length + 1 + k) * length for k in range(count)]
        if not ends:
            return [], Series.none(0)
        times = [end + selector.offset for end in ends]
        return times, self._series(metric, selector, times, length, named=True)

    def _over_time(self, expression: OverTime) -> Series:
        selector = expression.selector
        metric = self._metric(selector)
        if metric is None:
            return Series.none(len(self.times))
        _check_function(metric, expression)
        assert selector.range is not None
        tick = metric.served.store.tick
        if selector.range % tick:
            raise NotSupported(
                f"the range {format_duration(selector.range)} is not a whole number of ticks of {format_duration(tick)}"
            )
        return self._series(metric, selector, self.times, selector.range, named=False)

    def _metric(self, selector: Selector) -> Metric | None:
        names = [x for x in selector.matchers if x.label == "__name__"]
        if not any(x.sign == "=" for x in names):
            raise NotSupported("a selector needs the name of one metric")
        found = metrics_that_fit(metrics_of(self.stores), names)
        return found[0] if found else None

    def _series(self, metric: Metric, selector: Selector, times: Sequence[int], length: int, named: bool) -> Series:
        tick = metric.served.store.tick
        ends = (np.asarray(times, dtype=np.int64) - selector.offset) // tick * tick
        different, place = np.unique(ends, return_inverse=True)
        keys = keys_that_fit(metric, selector.matchers)
        if keys == []:
            return Series.none(len(times))
        found = windows_of(metric.served, keys, metric.aggregate, different, length, self.limits)
        return Series(labels_of(metric, found.keys, named), *_at(found, place))


def _at(found: Found, place: Array) -> tuple[Array, Array]:
    return found.values[:, place], found.present[:, place]


def _ticks(lookback: int, metric: Metric) -> int:
    """At least as long, in whole ticks."""
    tick = metric.served.store.tick
    return -(-lookback // tick) * tick


def labels_of(metric: Metric, keys: pa.Table, named: bool) -> list[dict[str, str]]:
    """The labels of each key; a null has none."""
    columns = {label: texts_of(keys[column]).to_pylist() for label, column in metric.labels.items()}
    name = {"__name__": metric.name} if named else {}
    rows = keys.num_rows if metric.labels else 1
    return [name | {label: texts[k] for label, texts in columns.items() if texts[k] is not None} for k in range(rows)]


def _check_function(metric: Metric, expression: OverTime) -> None:
    """That the aggregate over a range is what a function over time means."""
    needed, aggregate = OVER_TIME[expression.function], metric.aggregate
    fits = aggregate.built_in and aggregate.name == needed
    wanted = needed
    if needed == "quantile":
        fits = fits and dict(aggregate.parameters).get("q") == expression.q
        wanted = f"quantile with q={expression.q:g}"
    if not fits:
        raise NotSupported(
            f"{expression.function} needs an aggregate {wanted}, and {metric.name} is a {metric.about}"
            + (f" with q={dict(aggregate.parameters)['q']:g}" if aggregate.name == "quantile" else "")
        )
