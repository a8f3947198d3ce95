"""Which metrics and keys matchers mean.

Regular expressions are RE2's, as in Prometheus, by way of Arrow: they take time that grows with the text only, whatever
the expression.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slidewheel.engine.columns import Array
from slidewheel.serve.encoding import texts_of
from slidewheel.serve.prometheus.lexing import BadQuery
from slidewheel.serve.prometheus.metrics import Metric
from slidewheel.serve.prometheus.promql import Matcher
from slidewheel.serve.stores import KeyList
from slidewheel.store.choosing import typed

LONGEST = 1000
"""Characters of a regular expression."""
Keys = dict[str, list[Any]] | list[tuple[Any, ...]] | None
"""As a store takes them; None for all."""


def fits(matcher: Matcher, texts: pa.Array) -> Array:
    """Which texts a matcher matches; a missing one is as good as an empty one."""
    texts = pc.fill_null(texts, "")
    plain = matcher.sign in ("=", "!=")
    found = pc.equal(texts, matcher.text) if plain else _matched(matcher.text, texts)
    mask = np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)
    return ~mask if matcher.sign.startswith("!") else mask


def _matched(expression: str, texts: pa.Array) -> pa.Array:
    if len(expression) > LONGEST:
        raise BadQuery(f"a regular expression is longer than {LONGEST:,} characters")
    try:
        # Once as it is: what closes brackets that it did not open is wrong, but would be right in brackets.
        pc.match_substring_regex(pa.array([""]), expression)
        return pc.match_substring_regex(texts, f"^(?s:{expression})$")
    except pa.ArrowException as error:
        raise BadQuery(f"{expression!r} is not a regular expression: {error}") from None


def metrics_that_fit(metrics: dict[str, Metric], matchers: Sequence[Matcher]) -> list[Metric]:
    """The metrics whose names match."""
    names = pa.array(list(metrics), pa.string())
    mask = np.ones(len(names), dtype=bool)
    for matcher in matchers:
        if matcher.label == "__name__":
            mask &= fits(matcher, names)
    return [metric for metric, fit in zip(metrics.values(), mask, strict=True) if fit]


def rows_that_fit(metric: Metric, keys: KeyList, matchers: Sequence[Matcher]) -> Array:
    """The numbers of the keys whose labels match."""
    mask = np.ones(len(keys), dtype=bool)
    nothing = pa.nulls(len(keys), pa.string())
    for matcher in matchers:
        if matcher.label != "__name__":
            column = metric.labels.get(matcher.label)
            mask &= fits(matcher, nothing if column is None else keys.texts.get(column, nothing))
    return np.flatnonzero(mask)


def keys_that_fit(metric: Metric, matchers: Sequence[Matcher]) -> Keys:
    """The keys to ask a store for. The list of keys is looked at only if matchers are more than plain values."""
    own = [matcher for matcher in matchers if matcher.label != "__name__"]
    if not own:
        return None
    if all(x.sign == "=" and x.text and x.label in metric.labels for x in own):
        return _values(metric, own)
    keys = metric.served.keys()
    return [keys.rows[row] for row in rows_that_fit(metric, keys, own).tolist()]


def _values(metric: Metric, matchers: Sequence[Matcher]) -> Keys:
    types, found = metric.served.types(), dict[str, list[Any]]()
    for matcher in matchers:
        column = metric.labels[matcher.label]
        try:
            value = typed(matcher.text, types[column])
            same = texts_of(pa.array([value], types[column]))[0].as_py() == matcher.text
        except (pa.ArrowException, ValueError):
            same = False
        # 007 is no label of the key 7, and of two values of one label none is both.
        if not same or found.get(column, [value]) != [value]:
            return []
        found[column] = [value]
    return found
