"""Requests that are made up: whatever is asked, the server does not fail."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance

from slidewheel.serve.tokens import Token
from tests.serve.conftest import START

HEADERS = {"authorization": "Bearer secret"}
BOUNDED = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


def test_requests_from_the_description(connect, store):
    """By schemathesis, which also looks whether replies are as described. Few of them make sense: times are texts."""
    app = connect(store, token=Token("secret")).app  # which is not only for localhost
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    asked = set()
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=8, **BOUNDED)
        @given(case=operation.as_strategy())
        def check(case):
            asked.add(case.operation.label)
            case.call_and_validate(headers=HEADERS, excluded_checks=[positive_data_acceptance])

        check()
    assert len(asked) >= 18, "all operations were asked"


TIMES = st.one_of(
    st.none(),
    st.integers(-3, 50).map(lambda hours: str(START + hours * 3_600_000_000)),
    st.sampled_from(
        ["2023-11-15", "2023-11-15T10:00:00+01:00", "0001-01-01", "9999-12-31", "0", "-1", str(2**62), "x"]
    ),
)
STEPS = st.sampled_from([None, "1s", "7s", "1m", "1h", "1d", "day", "month", "1us", "0s", "100000000w", "x"])
KEYS = st.lists(
    st.sampled_from(["origin=A1", "origin=A2", "origin", "gate=1", "gate=x", "gate", "x=1", "=", ""]), max_size=3
)
QUESTIONS = st.fixed_dictionaries(
    {
        "start": TIMES,
        "end": TIMES,
        "every": STEPS,
        "points": st.sampled_from([None, None, None, 1, 2, 500, 1_000_000]),
        "timezone": st.sampled_from([None, None, "Europe/Stockholm", "UTC", "/etc/passwd", "\0"]),
        "key": KEYS,
        "aggregate": st.lists(st.sampled_from(["flights", "p90", "carriers", "last", "x"]), max_size=3),
        "times": st.sampled_from([None, "us"]),
        "window": st.sampled_from([None, "1d", "2h/30m", "x"]),
    }
)
SELECTORS = st.sampled_from(
    [
        "flights_flights",
        'flights_p90{origin=~"A.*"}',
        'flights_sum_seats{gate!="1"}',
        "nothing",
        'flights_max_delay{gate="2"}',
    ]
)
FUNCTIONS = st.sampled_from(
    [
        "{}",
        "sum({})",
        "max by (gate) ({})",
        "{} offset 1h",
        "sum_over_time({}[2h])",
        "max_over_time({}[90m])",
        "quantile_over_time(0.9, {}[7s])",
        "min by (x) (count_over_time({}[1d]))",
        "{}[1h]",
    ]
)
RANGES = st.fixed_dictionaries(
    {
        "query": st.builds(str.format, FUNCTIONS, SELECTORS),
        "start": st.sampled_from(["1700000000", "1700050000.5", "2023-11-15T00:00:00Z", "0", "-1e10", "NaN"]),
        "end": st.sampled_from(["1700090000", "1700150000", "1e12", "2023-11-16T00:00:00Z"]),
        "step": st.sampled_from(["3600", "1h30m", "30", "0.5", "86400", "1y", "-1"]),
    }
)


def test_questions_that_may_make_sense(connect, store):
    client = connect(store)
    seen = set()

    def given_only(parameters):
        return {name: value for name, value in parameters.items() if value is not None}

    @settings(max_examples=100, **BOUNDED)
    @given(st.sampled_from(["/query", "/explain", "/windows"]), QUESTIONS)
    def ask(path, parameters):
        reply = client.get(path, params=given_only(parameters))
        seen.add(reply.status_code)
        assert reply.status_code < 500, reply.text

    @settings(max_examples=60, **BOUNDED)
    @given(RANGES)
    def ask_prometheus(parameters):
        for reply in (
            client.get("/api/v1/query_range", params=parameters),
            client.get("/api/v1/query", params={"query": parameters["query"], "time": parameters["end"]}),
        ):
            seen.add(reply.status_code)
            assert reply.status_code < 500, reply.text

    ask()
    ask_prometheus()
    assert seen >= {200, 400, 413, 422}
