"""The page in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chrome import Tab, until
from tests.browser.fake import END, START, Fake, seconds

DRAWN = "!!document.querySelector('#chart canvas') && !document.querySelector('#plan').hidden"
SAID = "!document.querySelector('#message').hidden"
Look = Callable[..., Tab]


@pytest.fixture
def look(tab: Tab, fake: Fake) -> Look:
    """Open the page, and wait for what it is to show."""

    def opened(view: str = "", ready: str = DRAWN, width: int = 1280, height: int = 800) -> Tab:
        tab.size(width, height)
        tab.open(fake.address + view)
        tab.until(ready)
        return tab

    return opened


def asked_after(fake: Fake, action: Callable[[], Any]) -> dict[str, list[str]]:
    """The question that an action leads to."""
    before = len(fake.asked)
    action()
    until(lambda: len(fake.asked) > before)
    return fake.asked[-1]


def range_of(asked: dict[str, list[str]]) -> tuple[int, int]:
    return seconds(asked["start"][0]), seconds(asked["end"][0])


def series(tab: Tab) -> list[str]:
    found: list[str] = tab.value("[...document.querySelectorAll('#legend .entry')].map(e => e.innerText.trim())")
    return found


def colours(tab: Tab) -> int:
    """How many of the colours of lines are on the canvas, each in more than a few pixels."""
    script = """(() => {
      const canvas = document.querySelector('#chart canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Map();
      for (let k = 0; k < data.length; k += 4) {
        const [r, g, b, a] = data.subarray(k, k + 4);
        if (a === 255 && Math.max(r, g, b) - Math.min(r, g, b) > 60) {
          const colour = `${r},${g},${b}`;
          seen.set(colour, (seen.get(colour) ?? 0) + 1);
        }
      }
      return [...seen.values()].filter(count => count > 200).length;
    })()"""
    found: int = tab.value(script)
    return found


def test_it_loads_without_complaints_and_asks_nobody_else(look: Look, fake: Fake, tmp_path: Path) -> None:
    tab = look()
    assert tab.complaints() == []
    assert all(url.startswith(fake.address) for url in tab.requests())
    [asked] = fake.asked
    assert range_of(asked) == (START, END)
    assert asked["aggregate"] == ["mean_delay"] and asked["key"] == ["origin=JFK", "origin=LGA", "origin=EWR"]
    width = tab.value("document.querySelector('.u-over').clientWidth")
    assert int(asked["points"][0]) == pytest.approx(width / 2, rel=0.1)
    assert "7 of 48" in tab.text("#facts") and "hours" in tab.text("#facts") and "ms" in tab.text("#facts")
    tab.screenshot(tmp_path / "light.png")


def test_keys_are_filtered_and_drawn_as_series(look: Look, fake: Fake) -> None:
    tab = look()
    assert series(tab) == ["JFK", "LGA", "EWR"] and colours(tab) == 3
    tab.value("document.querySelector('#filter').focus()")
    tab.type("ND")
    tab.until("document.querySelectorAll('#keys input').length === 1")
    asked = asked_after(fake, lambda: tab.click("#keys input"))
    assert "origin=NDX" in asked["key"]
    tab.until("document.querySelectorAll('#legend .entry').length === 4")
    assert colours(tab) == 4
    # Nothing is left when all are taken away again.
    tab.value("location.hash = 'store=flights&keys=none'")
    tab.until(SAID)
    assert "No key is chosen" in tab.text("#message")


def test_another_aggregate_and_store(look: Look, fake: Fake) -> None:
    tab = look()

    def choose(name: str, value: str) -> None:
        chosen = f"Object.assign(document.querySelector('#{name}'), {{ value: '{value}' }})"
        tab.value(f"{chosen}.dispatchEvent(new Event('change'))")

    asked = asked_after(fake, lambda: choose("aggregate", "count"))
    assert asked["aggregate"] == ["count"]
    # What is no number is a table.
    choose("aggregate", "first_carrier")
    tab.until("['UA', 'DL', 'B6'].includes(document.querySelector('td')?.innerText)")
    assert "no number" in tab.text("#note")
    # Keys of two columns: the answer holds all pairs, the page shows those that were asked for.
    choose("store", "routes")
    tab.until("document.querySelector('#legend')?.innerText.includes('EWR · LAX')")
    assert len(series(tab)) == 3
    # No keys at all: one line.
    choose("store", "totals")
    tab.until("document.querySelector('#legend')?.innerText.includes('mean_delay')")
    assert tab.value("document.querySelector('#panel').hidden")
    assert tab.complaints() == []


def test_dragging_zooms_and_a_double_click_goes_back(look: Look, fake: Fake, tmp_path: Path) -> None:
    tab = look()
    plan, low, high = tab.text("#facts"), START, END
    for level in ("minutes", "seconds"):
        asked = asked_after(fake, lambda: tab.drag(".u-over", 0.5, 0.52))
        before, (low, high) = high - low, range_of(asked)
        assert 0.01 * before < high - low < 0.03 * before
        tab.until(f"document.querySelector('#facts').innerText.includes({json.dumps(level)})")
        assert tab.text("#facts") != plan
        plan = tab.text("#facts")
    tab.screenshot(tmp_path / "zoomed.png")
    box = tab.value("document.querySelector('.u-over').getBoundingClientRect().toJSON()")
    x, y = box["x"] + 200, box["y"] + 100

    def double_click() -> None:
        for count in (1, 2):
            tab.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
            tab.mouse("mouseReleased", x, y, button="left", clickCount=count)

    low, high = range_of(asked_after(fake, double_click))
    assert 5 * 86400 < high - low < 12 * 86400
    assert range_of(asked_after(fake, lambda: tab.press("Backspace"))) == (START, END)
    assert tab.complaints() == []


def test_keyboard(look: Look, fake: Fake) -> None:
    tab = look("#store=flights&from=2013-06-01T00:00:00Z&to=2013-06-11T00:00:00Z")
    day = 86400
    first = seconds("2013-06-01T00:00:00Z")
    assert range_of(fake.asked[-1]) == (first, first + 10 * day)
    low, high = range_of(asked_after(fake, lambda: tab.press("ArrowRight")))
    assert high - low == 10 * day and low - first == pytest.approx(2.5 * day, abs=3600)
    low, high = range_of(asked_after(fake, lambda: tab.press("+")))
    assert high - low == pytest.approx(5 * day, abs=3600)
    low, high = range_of(asked_after(fake, lambda: tab.press("-")))
    assert high - low == pytest.approx(10 * day, abs=7200)
    assert range_of(asked_after(fake, lambda: tab.press("0"))) == (START, END)
    tab.press("t")
    tab.until("document.querySelectorAll('#values td').length > 100")
    tab.press("t")
    tab.until(DRAWN)
    tab.press("?")
    tab.until("document.querySelector('#keyboard').open")
    tab.press("Escape")
    tab.until("!document.querySelector('#keyboard').open")
    # Everything can be reached with Tab, and is seen to be.
    reached = set()
    for _ in range(20):
        tab.press("Tab")
        reached.add(tab.value("document.activeElement.id"))
        assert tab.value("document.activeElement.matches('body, :focus-visible')")
    assert {"store", "aggregate", "filter", "closer", "live", "table", "csv", "chart"} <= reached


def test_live_mode_moves_to_the_new_end(look: Look, fake: Fake, tmp_path: Path) -> None:
    tab = look("#store=flights&from=2013-12-31T22:00:00Z&to=2014-01-01T00:00:00Z")
    tab.press("l")
    tab.until("document.querySelector('#live').ariaPressed === 'true'")
    fake.end, fake.version = END + 600, fake.version + 1
    until(lambda: range_of(fake.asked[-1]) == (END + 600 - 7200, END + 600))
    tab.until("document.querySelector('#range').innerText.includes('00:10')")
    assert "live=1" in tab.value("location.hash")
    tab.screenshot(tmp_path / "live.png")
    # Whoever moves away stays there.
    tab.press("ArrowLeft")
    tab.until("document.querySelector('#live').ariaPressed === 'false'")


def test_an_empty_store_fills_while_it_is_watched(look: Look, fake: Fake) -> None:
    tab = look("#store=new&live=1", SAID)
    assert "This store is empty" in tab.text("#message")
    fake.filled = True
    tab.until(DRAWN)
    assert series(tab) == ["JFK", "LGA", "EWR"]


def test_themes(look: Look, tab: Tab, tmp_path: Path) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    tab.prefer("light")
    look()
    light = tab.value(ground)
    tab.prefer("dark")
    tab.until(f"{ground} !== '{light}'")
    dark = tab.value(ground)
    assert colours(tab) == 3
    tab.screenshot(tmp_path / "dark.png")
    # The switch outlives a reload, and goes before what the system prefers.
    tab.click("#theme")
    assert tab.value(ground) == light
    tab.reload()
    tab.until(DRAWN)
    assert tab.value(ground) == light != dark


def test_a_phone_has_no_horizontal_scroll(look: Look, tmp_path: Path) -> None:
    tab = look(width=360, height=740)
    tab.screenshot(tmp_path / "phone.png")
    fits = "document.documentElement.scrollWidth <= 360"
    assert tab.value(fits)
    tab.click("#panel summary")
    assert tab.value(fits) and tab.value("document.querySelector('#keys').clientHeight > 100")
    tab.click("#table")
    tab.until("document.querySelectorAll('#values td').length > 10")
    assert tab.value(fits)


def test_fingers_move_and_stretch_the_range(look: Look, tab: Tab, fake: Fake) -> None:
    tab.touch()
    look("#store=flights&from=2013-06-01T00:00:00Z&to=2013-06-11T00:00:00Z", width=360, height=740)
    first, day = seconds("2013-06-01T00:00:00Z"), 86400
    low, high = range_of(asked_after(fake, lambda: tab.swipe(".u-over", (0.7, 0.2))))
    assert high - low == 10 * day and low - first == pytest.approx(5 * day, abs=day / 2)
    low, high = range_of(asked_after(fake, lambda: tab.swipe(".u-over", (0.4, 0.2), (0.6, 0.8))))
    assert high - low < 6 * day


def test_no_more_keys_than_can_be_told_apart(look: Look, fake: Fake) -> None:
    names = [f"A{letter}X" for letter in "ABCDEFGHIKLMNOPQRS"]
    tab = look("#store=flights&" + "&".join(f"key={name}" for name in names))
    assert series(tab) == names[:16] and colours(tab) == 8
    assert "16 keys" in tab.text("#keys-note")
    assert tab.value("[...document.querySelectorAll('#keys input')].every(box => box.checked !== box.disabled)")


def test_errors_say_what_to_do(look: Look, fake: Fake, tmp_path: Path) -> None:
    fake.broken = "the time <b>before</b> June is older than what is kept"
    tab = look(ready=SAID)
    assert "be answered" in tab.text("#message")
    assert "The time <b>before</b> June is older than what is kept. Choose another range" in tab.text("#message")
    assert "kept" in tab.value("document.querySelector('[role=alert]').textContent")
    tab.screenshot(tmp_path / "error.png")
    fake.broken = ""
    tab.click("#again")
    tab.until(f"{DRAWN} && document.querySelector('#message').hidden")


def test_a_range_without_rows(look: Look) -> None:
    tab = look("#store=flights&from=2013-03-01T02:00:00Z&to=2013-03-01T02:10:00Z", SAID)
    assert "No rows in this range" in tab.text("#message") and "press 0" in tab.text("#message")


def test_slow_answers_show_that_they_are_awaited_and_old_questions_are_dropped(look: Look, fake: Fake) -> None:
    tab = look()
    fake.slow = 0.6
    asked_after(fake, lambda: tab.press("+"))
    assert tab.value("document.querySelector('#busy').hidden")
    tab.until("!document.querySelector('#busy').hidden")
    asked_after(fake, lambda: tab.press("+"))
    low, high = range_of(fake.asked[-1])
    tab.until("document.querySelector('#busy').hidden")
    assert high - low == pytest.approx((END - START) / 4, rel=0.01)
    assert [one["errorText"] for one in tab.events("Network.loadingFailed")] == ["net::ERR_ABORTED"]
    assert tab.complaints() == []


def test_the_address_holds_the_view(look: Look, fake: Fake) -> None:
    tab = look()
    asked_after(fake, lambda: tab.drag(".u-over", 0.3, 0.4))
    zoomed = range_of(fake.asked[-1])
    tab.value("document.querySelectorAll('#keys input')[1].click()")
    tab.until("document.querySelectorAll('#legend .entry').length === 2")
    asked_after(fake, tab.reload)
    tab.until("document.querySelectorAll('#legend .entry').length === 2")
    assert range_of(fake.asked[-1]) == zoomed and series(tab) == ["JFK", "EWR"]
    # The browser's Back takes the changes back, one by one.
    tab.value("history.back()")
    tab.until("document.querySelectorAll('#legend .entry').length === 3")
    assert range_of(asked_after(fake, lambda: tab.value("history.back()"))) == (START, END)


def test_values_can_be_downloaded(look: Look) -> None:
    tab = look("#store=routes&key=%5B%22EWR%22,%22LAX%22%5D&key=%5B%22JFK%22,%22SFO%22%5D")
    tab.value("URL.createObjectURL = blob => { window.made = blob; return '#' }")
    tab.click("#csv")
    head, *rows = str(tab.value("window.made.text()")).split("\r\n")
    assert head == "start,end,origin,dest,mean_delay"
    assert rows[0].startswith("2012-12-3") and rows[0].count("Z,") == 2
    assert {tuple(row.split(",")[2:4]) for row in rows if row} == {("EWR", "LAX"), ("JFK", "SFO")}


def test_without_the_chart_library_there_is_a_table(look: Look, tab: Tab) -> None:
    tab.block("*uPlot.iife.min.js")
    look(ready="document.querySelectorAll('#values td').length > 100")
    assert "make page" in tab.text("#note")
