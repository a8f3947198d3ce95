"""What users say about windows: names, what is refused, and specs as plain data."""

from datetime import timedelta

import pytest

import slidewheel as sw
from slidewheel.windows.specs import KINDS, Spec, from_dict, gives_rows

NAMES = {
    "1h/5m": sw.sliding("1h", every="5m"),
    "1h30m/1s500ms": sw.sliding("90m", every="1500ms"),
    "7d/1d": sw.sliding("1w", every=timedelta(days=1)),
    "1d": sw.tumbling("1d"),
    "50us": sw.tumbling(50),
    "7d": sw.trailing("7d"),
    "session_30m": sw.session("30m"),
    "1000rows": sw.rows(1000),
    "1000rows/10": sw.rows(1000, every=10),
    "odometer_10": sw.delta("odometer", 10.0),
    "odometer_2.5": sw.delta("odometer", 2.5),
    "is_end": sw.punctuated("is_end"),
}
NAMED = [
    sw.sliding("1h", every="5m", offset="-1m", name="w"),
    sw.tumbling("1d", offset="6h", name="w"),
    sw.trailing("1h", "both", name="w"),
    sw.session("30m", name="w"),
    sw.rows(5, every=2, name="w"),
    sw.delta("odometer", 1, name="w"),
    sw.punctuated("is_end", name="w"),
]


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert NAMES[name].name == name


@pytest.mark.parametrize("spec", NAMED, ids=lambda spec: type(spec).__name__)
def test_a_name_of_ones_own(spec):
    assert spec.name == "w"


@pytest.mark.parametrize("spec", [*NAMES.values(), *NAMED], ids=lambda spec: f"{type(spec).__name__} {spec.name}")
def test_there_and_back_as_plain_data(spec):
    data = spec.to_dict()
    assert data["kind"] in KINDS
    assert all(isinstance(value, (str, int, float)) for value in data.values())
    assert from_dict(data) == spec
    assert type(from_dict(data)) is type(spec)
    assert data == spec.to_dict(), "reading leaves the data as they are"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "unknown kind of window None: there are sliding, session"),
        ({"kind": "hopping"}, "unknown kind of window 'hopping'"),
        ({"kind": "sliding", "name": "w", "range": 5}, "'sliding' can't be read"),
        ({"kind": "session", "name": "w", "gap": 5, "every": 1}, "'session' can't be read"),
    ],
)
def test_data_that_are_no_spec(data, says):
    with pytest.raises(sw.InvalidArgument, match=says):
        from_dict(data)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sw.sliding("0s", every="5m"),
        lambda: sw.sliding("1h", every=0),
        lambda: sw.sliding(-5, every=5),
        lambda: sw.sliding("1h", every="soon"),
        lambda: sw.tumbling("1 month"),
        lambda: sw.tumbling(1.5),
        lambda: sw.tumbling("1d", offset="late"),
        lambda: sw.tumbling("1d", name=""),
        lambda: sw.tumbling("1d", name=5),
        lambda: sw.trailing("1h", "middle"),
        lambda: sw.trailing(0),
        lambda: sw.session("0s"),
        lambda: sw.rows(0),
        lambda: sw.rows(-1),
        lambda: sw.rows(2.0),
        lambda: sw.rows(True),
        lambda: sw.rows(5, every=0),
        lambda: sw.rows(5, every="2"),
        lambda: sw.delta("x", -1),
        lambda: sw.delta("x", float("nan")),
        lambda: sw.delta("x", float("inf")),
        lambda: sw.delta("x", "10"),
        lambda: sw.delta(3, 1.0),
        lambda: sw.delta("", 1.0),
        lambda: sw.punctuated(None),
        lambda: sw.punctuated(""),
    ],
)
def test_what_is_refused(make):
    with pytest.raises(sw.InvalidArgument):
        make()


@pytest.mark.parametrize(
    ("offset", "wanted"),
    [
        ("0s", 0),
        ("1s", 1_000_000),
        ("-1s", 9_000_000),
        ("-0s", 0),
        (-1, 9_999_999),
        (25_000_000, 5_000_000),
        (timedelta(seconds=-3), 7_000_000),
        (timedelta(seconds=13), 3_000_000),
    ],
)
def test_offsets_are_within_a_slide(offset, wanted):
    assert sw.tumbling("10s", offset=offset).offset == wanted
    assert sw.sliding("1m", every="10s", offset=offset).offset == wanted


def test_which_give_rows():
    per_row = [sw.trailing(5), sw.rows(5), sw.delta("x", 1)]
    windows: list[Spec] = [sw.tumbling(5), sw.sliding(5, every=2), sw.session(5), sw.rows(5, every=2)]
    assert all(map(gives_rows, per_row))
    assert not any(map(gives_rows, [*windows, sw.punctuated("p")]))


def test_which_columns_they_read():
    assert sw.delta("x", 1).columns == ("x",)
    assert sw.punctuated("p").columns == ("p",)
    assert sw.tumbling(5).columns == ()


@pytest.mark.parametrize("window", [(10, 4, 0), (10, 4, 3), (3, 10, 1), (7, 7, 6), (1, 1, 0)])
def test_indices_of_windows(window):
    length, every, offset = window
    spec = sw.sliding(length, every=every, offset=offset)
    for time in range(-50, 50):
        first, last = spec.first_end_after(time), spec.last_end_until(time)
        assert first == last + 1
        assert spec.end(last) <= time < spec.end(first)
        assert spec.end(first) - spec.start(first) == length


@pytest.mark.parametrize(
    ("closed", "wanted"), [("right", [1, 2, 3]), ("left", [0, 1, 2]), ("both", [0, 1, 2, 3]), ("neither", [1, 2])]
)
def test_reach_of_trailing_windows(closed, wanted):
    before, after = sw.trailing(3, closed).reach
    assert [t for t in range(-9, 9) if 3 - before <= t < 3 + after] == wanted
