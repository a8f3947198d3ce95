"""The pictures of the documentation are those that the code draws today, and can be read in both palettes."""

import re
from xml.etree import ElementTree

import pytest

from figures import palette
from figures.canvas import WIDTH
from figures.gallery import FIGURES, FOLDER, file_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=FIGURES)
def name(request):
    return request.param


def parsed(name):
    return ElementTree.fromstring(file_of(name).read_text(encoding="utf-8"))


def test_is_what_the_code_draws(name):
    drawn = FIGURES[name]().svg()
    assert file_of(name).read_bytes() == drawn.encode(), f"run python -m figures {name}, and look at what has changed"


def test_no_picture_is_left_over():
    assert {path.stem for path in FOLDER.iterdir()} == set(FIGURES)


def test_has_a_title_and_a_description(name):
    root = parsed(name)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text and len(root.find(f"{SVG}desc").text) > 40
    assert root.get("viewBox") == f"0 0 {WIDTH} {root.get('height')}"
    assert file_of(name).stat().st_size < 24_000


def test_takes_all_colours_from_both_palettes(name):
    text = file_of(name).read_text(encoding="utf-8")
    style = re.search(r"<style>(.*)</style>", text)[1]
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert "#" not in text.replace(style, "")
    used = {word for element in parsed(name).iter() for word in element.get("class", "").split()}
    for part, colours in (light, palette.LIGHT), (dark, palette.DARK):
        assert f"text{{fill:{colours['ink']}}}" in part
        named = set(re.findall(r"\.([a-z]+)\{[^}]*#", part))
        assert {word for word in used if word in {*palette.FILLS, *palette.TEXTS, "card", "path", "thick"}} <= named
        assert set(re.findall(r"#[0-9a-f]{6}", part)) <= set(colours.values())


def test_text_stands_out_from_what_is_behind_it(name):
    boxes = []
    for element in parsed(name).iter():
        looks = element.get("class", "").split()
        if element.tag == f"{SVG}rect":
            x, y, width, height = (float(element.get(k)) for k in ("x", "y", "width", "height"))
            boxes.append((x, y, x + width, y + height, looks[0]))
        if element.tag == f"{SVG}text":
            x, y = float(element.get("x")), float(element.get("y")) - 4
            fill = next(box[4] for box in reversed(boxes) if box[0] <= x <= box[2] and box[1] <= y <= box[3])
            behind = fill if fill in palette.FILLS else "card"
            ink = next((look for look in looks if look in palette.TEXTS), "ink")
            for colours in palette.LIGHT, palette.DARK:
                assert palette.contrast(colours[ink], colours[behind]) >= 4.5, element.text


def test_text_stays_on_the_card(name):
    """By a guess of what letters take at most, as fonts differ."""
    for element in parsed(name).iter(f"{SVG}text"):
        looks, x = element.get("class", "").split(), float(element.get("x"))
        width = len(element.text) * (7.6 if "bold" in looks else 7.0)
        left = x - width if "end" in looks else x - width / 2 if "middle" in looks else x
        assert left >= 2 and left + width <= WIDTH - 2, element.text
