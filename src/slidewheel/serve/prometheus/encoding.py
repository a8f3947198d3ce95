"""Replies as Prometheus writes them: values are texts, times are seconds."""

import json
import math
from collections.abc import Sequence
from typing import Any

from slidewheel.serve.prometheus.series import Series


def success(data: str) -> str:
    return f'{{"status":"success","data":{data}}}'


def seconds(microseconds: int) -> int | float:
    whole, rest = divmod(microseconds // 1000, 1000)
    return whole + rest / 1000 if rest else whole


def value_text(value: Any) -> str:
    """A value with all its digits.

    >>> value_text(2.0), value_text(0.1), value_text(2**60 + 1), value_text(float("-inf"))
    ('2', '0.1', '1152921504606846977', '-Inf')
    """
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value):
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"


def scalar(microseconds: int, value: float) -> str:
    return json.dumps({"resultType": "scalar", "result": [seconds(microseconds), value_text(value)]})


def vector(microseconds: int, series: Series) -> str:
    """The values of one time."""
    series, at = series.ordered(), seconds(microseconds)
    values = [value_text(value) for value in series.values[:, 0].tolist()] if series.labels else []
    result = [{"metric": labels, "value": [at, text]} for labels, text in zip(series.labels, values, strict=True)]
    return json.dumps({"resultType": "vector", "result": result})


def matrix(times: Sequence[int], series: Series) -> str:
    """The values of all times."""
    series, at = series.ordered(), [seconds(time) for time in times]
    result = []
    for labels, values, present in zip(series.labels, series.values, series.present, strict=True):
        listed = zip(at, values.tolist(), present.tolist(), strict=True)
        result.append({"metric": labels, "values": [[t, value_text(v)] for t, v, there in listed if there]})
    return json.dumps({"resultType": "matrix", "result": result})


def constant(times: Sequence[int], value: float) -> str:
    """A number at all times."""
    values = [[seconds(time), value_text(value)] for time in times]
    return json.dumps({"resultType": "matrix", "result": [{"metric": {}, "values": values}]})
