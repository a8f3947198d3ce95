"""What metrics, labels and series there are."""

from collections.abc import Sequence
from typing import Any

from slidewheel.serve.prometheus.evaluating import labels_of
from slidewheel.serve.prometheus.lexing import BadQuery
from slidewheel.serve.prometheus.matching import metrics_that_fit, rows_that_fit
from slidewheel.serve.prometheus.metrics import Metric, metrics_of
from slidewheel.serve.prometheus.promql import Matcher, Selector, parse
from slidewheel.serve.stores import Stores


def selectors(match: Sequence[str]) -> list[Selector]:
    """The selectors of parameters match[]."""
    found = []
    for text in match:
        selector = parse(text)
        if not isinstance(selector, Selector) or selector.range is not None or selector.offset:
            raise BadQuery(f"invalid parameter 'match[]': {text!r} is not a selector such as name{{label=\"value\"}}")
        found.append(selector)
    return found


def series(stores: Stores, match: Sequence[str]) -> list[dict[str, str]]:
    """The labels of all series that one of the selectors matches."""
    found: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    metrics = metrics_of(stores)
    for selector in selectors(match):
        for metric in metrics_that_fit(metrics, selector.matchers):
            for labels in _of_metric(metric, selector.matchers):
                found.setdefault(tuple(sorted(labels.items())), labels)
    return list(found.values())


def _of_metric(metric: Metric, matchers: Sequence[Matcher]) -> list[dict[str, str]]:
    keys = metric.served.keys()
    rows = rows_that_fit(metric, keys, matchers)
    return labels_of(metric, keys.table.take(rows), True) if len(rows) else []


def label_names(stores: Stores, match: Sequence[str]) -> list[str]:
    if match:
        return sorted({label for labels in series(stores, match) for label in labels})
    metrics = metrics_of(stores).values()
    return sorted({"__name__"} | {label for metric in metrics for label in metric.labels}) if metrics else []


def label_values(stores: Stores, name: str, match: Sequence[str]) -> list[str]:
    if match:
        return sorted({labels[name] for labels in series(stores, match) if name in labels})
    metrics = metrics_of(stores)
    if name == "__name__":
        return sorted(metrics)
    columns = {(metric.served, metric.labels[name]) for metric in metrics.values() if name in metric.labels}
    texts = (text for served, column in columns for text in served.keys().texts[column].to_pylist())
    return sorted({text for text in texts if text is not None})


def metadata(stores: Stores, metric: str | None) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{"type": "gauge", "help": one.about, "unit": ""}]
        for name, one in metrics_of(stores).items()
        if metric in (None, name)
    }
