"""PromQL: what is read, and where mistakes are."""

import math
from contextlib import suppress

import pytest

from slidewheel.serve.prometheus.lexing import BadQuery
from slidewheel.serve.prometheus.promql import Grouped, Matcher, NotSupported, Number, OverTime, Selector, parse

SECOND = 1_000_000
X = Matcher("__name__", "=", "x")
READ = {
    "x": Selector((X,)),
    " x # a comment": Selector((X,)),
    "x{}": Selector((X,)),
    '{__name__="x"}': Selector((X,)),
    "x{a='1',b!=\"2\",c=~`3`,d!~'4',}": Selector(
        (X, Matcher("a", "=", "1"), Matcher("b", "!=", "2"), Matcher("c", "=~", "3"), Matcher("d", "!~", "4"))
    ),
    r'x{a="\"\\\n\x41\u00e9\101"}': Selector((X, Matcher("a", "=", '"\\\nAéA'))),
    r"x{a=`\n`}": Selector((X, Matcher("a", "=", r"\n"))),
    "x offset 1h30m": Selector((X,), None, 5400 * SECOND),
    "x offset -5s": Selector((X,), None, -5 * SECOND),
    "x[5m] offset 1w": Selector((X,), 300 * SECOND, 7 * 86400 * SECOND),
    "(x)": Selector((X,)),
    "sum:rate": Selector((Matcher("__name__", "=", "sum:rate"),)),
    "sum": Selector((Matcher("__name__", "=", "sum"),)),
    "sum_over_time(x[1y])": OverTime("sum_over_time", Selector((X,), 365 * 86400 * SECOND)),
    "quantile_over_time(0.9, x[500ms])": OverTime("quantile_over_time", Selector((X,), 500_000), 0.9),
    "quantile_over_time(1 - 0.5, x[1m])": OverTime("quantile_over_time", Selector((X,), 60 * SECOND), 0.5),
    "sum(x)": Grouped("sum", (), Selector((X,))),
    "avg by (a, b) (x)": Grouped("avg", ("a", "b"), Selector((X,))),
    "max(x) by (a,)": Grouped("max", ("a",), Selector((X,))),
    "min by () (sum by (a) (x))": Grouped("min", (), Grouped("sum", ("a",), Selector((X,)))),
    "count(max_over_time(x[1m]))": Grouped("count", (), OverTime("max_over_time", Selector((X,), 60 * SECOND))),
}
COMPUTED = {
    "1+1": 2,
    "1 - 2 * 3": -5,
    "-(2 + 2) / 8": -0.5,
    "1e3": 1000,
    ".5": 0.5,
    "--1": 1,
    "1/0": math.inf,
    "-1/0": -math.inf,
}
WRONG = {
    "": (1, "a metric, a function or a number"),
    "x y": (3, "should end here"),
    "x{": (3, "a label"),
    "x{a}": (4, "one of ="),
    "x{a=1}": (5, "a text in quotes"),
    'x{a="1" b="2"}': (9, "',' should be here"),
    'x{a="1}': (5, "without an end"),
    r'x{a="\q"}': (6, "unknown escape"),
    "x[5]": (3, "a duration"),
    "x[5m": (5, "']' should be here"),
    "x[0s]": (3, "not a length of time"),
    "x offset": (9, "a duration"),
    "{}": (1, "needs a matcher"),
    '{a!="b"}': (1, "needs a matcher"),
    "sum_over_time(x)": (15, "needs a metric and a range"),
    "sum_over_time(1)": (15, "needs a metric and a range"),
    "sum(x[5m])": (5, "neither a number nor a range"),
    "sum(1)": (5, "neither a number nor a range"),
    "sum(x": (6, "')' should be here"),
    "sum by a (x)": (8, "'(' should be here"),
    "5x": (1, "means nothing here"),
    "x $": (3, "'$' means nothing"),
    "é": (1, "'é' means nothing"),
    "(" * 60 + "1" + ")" * 60: (51, "brackets inside of each other"),
    f"x[{'9' * 5000}y]": (3, "not a length of time"),
}
BEYOND = {
    "rate(x[5m])": "the function rate at character 1",
    "topk(3, x)": "the aggregation topk",
    "sum without (a) (x)": "without at character 5",
    "sum_over_time(x[5m:1m])": "the subquery at character 19",
    "x + 1": "'+' at character 3",
    "x / x": "'/' at character 3",
    "-x": "only a number is supported",
    "x > 1": "'>' at character 3",
    "x and y": "'and' at character 3",
    "2 ^ 3": "'^' at character 3",
    "x @ 5": "the modifier @ at character 3",
    "'text'": "the text at character 1",
}


@pytest.mark.parametrize("query", READ)
def test_what_is_read(query):
    assert parse(query) == READ[query]


@pytest.mark.parametrize("query", COMPUTED)
def test_numbers(query):
    assert parse(query) == Number(COMPUTED[query])


@pytest.mark.parametrize("query", WRONG, ids=lambda query: query[:20])
def test_mistakes_are_named_with_their_place(query):
    place, problem = WRONG[query]
    with pytest.raises(BadQuery) as caught:
        parse(query)
    assert str(caught.value).startswith(f"parse error at character {place}: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize("query", BEYOND)
def test_what_is_not_supported(query):
    with pytest.raises(NotSupported) as caught:
        parse(query)
    assert BEYOND[query] in str(caught.value)


def test_a_query_that_is_too_long():
    with pytest.raises(BadQuery, match="longer than"):
        parse("x" * 10_001)


def test_any_text_is_read_or_refused():
    from hypothesis import example, given
    from hypothesis import strategies as st

    pieces = ["x", "{", "}", "(", ")", "[", "]", '"a"', "=", "=~", "5m", "1", ",", "sum", "by", "offset", "-", "+", " "]

    @given(st.one_of(st.text(max_size=30), st.lists(st.sampled_from(pieces), max_size=15).map("".join)))
    @example("sum by")
    def check(query):
        with suppress(BadQuery, NotSupported):
            parse(query)

    check()
