"""PromQL, as far as it is answered: selectors, functions over time, aggregations, and sums with numbers.

expression  := product (("+" | "-") product)*               of numbers
product     := signed (("*" | "/") signed)*                 of numbers
signed      := ("+" | "-")* value
value       := number | "(" expression ")" | over_time | grouped | selector
over_time   := name "_over_time" "(" [number ","] selector ")"
grouped     := ("sum" | ...) [by] "(" expression ")" [by]    by := "by" "(" labels ")"
selector    := name ["{" matchers "}"] ["[" duration "]"] ["offset" ["-"] duration]
"""

import math
from dataclasses import dataclass

from slidewheel.errors import Unsupported
from slidewheel.serve.prometheus.lexing import Word, bad, duration_of, text_of, words

OVER_TIME = {
    "sum_over_time": "sum",
    "count_over_time": "count",
    "min_over_time": "min",
    "max_over_time": "max",
    "avg_over_time": "mean",
    "quantile_over_time": "quantile",
}
"""Which aggregate of the store each function needs."""
GROUPED = ("sum", "avg", "min", "max", "count")
OTHER_GROUPED = ("topk", "bottomk", "quantile", "stddev", "stdvar", "group", "count_values", "limitk", "limit_ratio")
COMPARED = ("==", "!=", ">", "<", ">=", "<=")
DEEPEST = 50


class NotSupported(Unsupported):
    """PromQL that is beyond this server."""

    status = 422


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Matcher:
    """A condition for a label: = != =~ or !~ and a text."""

    label: str
    sign: str
    text: str


@dataclass(frozen=True)
class Selector:
    matchers: tuple[Matcher, ...]
    """The name of the metric is one of them, for the label __name__."""
    range: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class OverTime:
    function: str
    selector: Selector
    q: float | None = None


@dataclass(frozen=True)
class Grouped:
    function: str
    by: tuple[str, ...]
    inside: "Expression"


Expression = Number | Selector | OverTime | Grouped


def parse(query: str) -> Expression:
    """The meaning of a query.

    >>> parse('sum by (origin) (flights_count{gate!="7"} offset 1h)')
    Grouped(function='sum', by=('origin',), inside=Selector(matchers=(Matcher(label='__name__', ...
    >>> parse("1 + 2 * 3")
    Number(value=7.0)
    >>> parse("flights_count{gate=7}")
    Traceback (most recent call last):
    slidewheel.serve.prometheus.lexing.BadQuery: parse error at character 20: a text in quotes should be here, not '7'
    """
    parser = _Parser(words(query))
    found = parser.expression()
    parser.finish()
    return found


class _Parser:
    def __init__(self, found: list[Word]) -> None:
        self.words, self.at, self.depth = found, 0, 0

    @property
    def word(self) -> Word:
        return self.words[self.at]

    def next(self) -> Word:
        word = self.word
        self.at += word.kind != "end"
        return word

    def sees(self, *texts: str) -> bool:
        return self.word.kind in ("sign", "name") and self.word.text in texts

    def skips(self, text: str) -> bool:
        """Whether this is the next word, which is passed then."""
        found = self.sees(text)
        self.at += found
        return found

    def expect(self, text: str) -> None:
        if not self.skips(text):
            raise bad(self.word.at, f"{text!r} should be here, not {self.word}")

    def take(self, kind: str, called: str) -> Word:
        if self.word.kind != kind:
            raise bad(self.word.at, f"{called} should be here, not {self.word}")
        return self.next()

    def finish(self) -> None:
        if self.word.kind == "end":
            return
        if self.sees(*COMPARED, "%", "^", "and", "or", "unless", "atan2"):
            raise NotSupported(f"{self.word} at character {self.word.at + 1} is not supported: numbers have + - * /")
        if self.sees("@"):
            raise NotSupported(f"the modifier @ at character {self.word.at + 1} is not supported: use offset")
        raise bad(self.word.at, f"the query should end here, but there is {self.word}")

    # ---- numbers

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise bad(self.word.at, f"more than {DEEPEST} brackets inside of each other")
        found = self.product()
        while self.sees("+", "-"):
            sign = self.next()
            found = _computed(found, sign, self.product())
        self.depth -= 1
        return found

    def product(self) -> Expression:
        found = self.signed()
        while self.sees("*", "/"):
            sign = self.next()
            found = _computed(found, sign, self.signed())
        return found

    def signed(self) -> Expression:
        negative, signs = False, 0
        while self.sees("+", "-"):
            sign = self.next()
            negative, signs = negative != (sign.text == "-"), signs + 1
        at, found = self.word, self.value()
        if not signs:
            return found
        return Number(-_number(found, at) if negative else _number(found, at))

    def value(self) -> Expression:
        word = self.word
        if word.kind == "number":
            return Number(float(self.next().text))
        if word.kind == "text":
            raise NotSupported(f"the text at character {word.at + 1}: texts are supported in {{}} only")
        if self.skips("("):
            found = self.expression()
            self.expect(")")
            return found
        if self.sees("{"):
            return self.selector()
        if word.kind != "name":
            raise bad(word.at, f"a metric, a function or a number should be here, not {word}")
        if word.text.lower() in ("inf", "nan"):
            return Number(float(self.next().text))
        after = self.words[self.at + 1]
        if (after.text == "(" and after.kind == "sign") or after.text in ("by", "without"):
            return self.call()
        return self.selector()

    # ---- functions

    def call(self) -> Expression:
        name = self.word.text
        if name in OVER_TIME:
            return self.over_time()
        if name in GROUPED:
            return self.grouped()
        known = ", ".join((*OVER_TIME, *GROUPED))
        what = "aggregation" if name in OTHER_GROUPED else "function"
        raise NotSupported(f"the {what} {name} at character {self.word.at + 1} is not supported: there are {known}")

    def over_time(self) -> OverTime:
        name = self.next().text
        self.expect("(")
        q = None
        if name == "quantile_over_time":
            at = self.word
            q = _number(self.expression(), at)
            self.expect(",")
        at = self.word
        selector = self.expression()
        if not isinstance(selector, Selector) or selector.range is None:
            raise bad(at.at, f"{name} needs a metric and a range here, as in {name}(metric[5m])")
        self.expect(")")
        return OverTime(name, selector, q)

    def grouped(self) -> Grouped:
        name, by = self.next().text, self.by()
        self.expect("(")
        at, inside = self.word, self.expression()
        if isinstance(inside, Number) or (isinstance(inside, Selector) and inside.range is not None):
            raise bad(at.at, f"{name} needs series here, neither a number nor a range")
        self.expect(")")
        if by is None:
            by = self.by() or ()
        return Grouped(name, by, inside)

    def by(self) -> tuple[str, ...] | None:
        if self.sees("without"):
            raise NotSupported(f"without at character {self.word.at + 1} is not supported: name labels with by")
        if not self.skips("by"):
            return None
        self.expect("(")
        labels = []
        while not self.skips(")"):
            labels.append(self.take("name", "a label").text)
            if not self.sees(")"):
                self.expect(",")
        return tuple(labels)

    # ---- selectors

    def selector(self) -> Selector:
        at = self.word
        matchers = []
        if self.word.kind == "name":
            matchers.append(Matcher("__name__", "=", self.next().text))
        if self.sees("{"):
            matchers += self.matchers()
        if not any(x.text for x in matchers if x.sign in ("=", "=~")):
            raise bad(at.at, "a selector needs a matcher that does not match the empty text")
        length, offset = None, 0
        if self.skips("["):
            length = duration_of(self.take("duration", "a duration such as 5m"))
            if self.word.text.startswith(":"):
                raise NotSupported(f"the subquery at character {self.word.at + 1} is not supported")
            self.expect("]")
        if self.skips("offset"):
            negative = self.skips("-")
            offset = duration_of(self.take("duration", "a duration such as 5m")) * (-1 if negative else 1)
        return Selector(tuple(matchers), length, offset)

    def matchers(self) -> list[Matcher]:
        self.expect("{")
        found = []
        while not self.skips("}"):
            label = self.take("name", "a label").text
            if not self.sees("=", "!=", "=~", "!~"):
                raise bad(self.word.at, f"one of = != =~ !~ should be here, not {self.word}")
            sign = self.next().text
            found.append(Matcher(label, sign, text_of(self.take("text", "a text in quotes"))))
            if not self.sees("}"):
                self.expect(",")
        return found


def _number(found: Expression, at: Word) -> float:
    if isinstance(found, Number):
        return found.value
    raise NotSupported(f"at character {at.at + 1} only a number is supported, and this is not one")


def _computed(left: Expression, sign: Word, right: Expression) -> Number:
    if not isinstance(left, Number) or not isinstance(right, Number):
        raise NotSupported(f"{sign} at character {sign.at + 1}: arithmetic is supported for numbers, not for series")
    a, b = left.value, right.value
    if sign.text == "+":
        return Number(a + b)
    if sign.text == "-":
        return Number(a - b)
    if sign.text == "*":
        return Number(a * b)
    if b == 0:
        return Number(math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b))
    return Number(a / b)
