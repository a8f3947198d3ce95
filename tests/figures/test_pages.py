"""The pages of the algorithms: one for each, with its picture and its card, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

import slidewheel as sw
from figures.gallery import FIGURES

DOCS = Path(__file__).parents[2] / "docs"
ALGORITHMS = [card.name for card in sw.algorithms()]
PAGES = [*sorted((DOCS / "algorithms").glob("*.md")), DOCS / "windows-explained.md"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page_with_its_picture_and_card(name):
    page = name.replace("_", "-")
    text = (DOCS / "algorithms" / f"{page}.md").read_text(encoding="utf-8")
    assert f"](../figures/{page}.svg)" in text
    assert f'card.name == "{name}"' in text


def test_the_table_has_all_cards():
    text = (DOCS / "algorithms" / "index.md").read_text(encoding="utf-8")
    for card in sw.algorithms():
        needs = ", ".join(("associative", *card.needs))
        link = f"[`{card.name}`]({card.name.replace('_', '-')}.md)"
        assert f"| {link} | {needs} | {card.amortised} | {card.worst} | {card.space} |" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere_and_pictures_have_words(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ") and len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    for picture, words, address, anchor in LINK.findall(text):
        target = page.parent / address
        if "benchmarks/" not in address:  # results are not part of every checkout
            assert target.exists(), address
        if picture:
            assert len(words) > 30, address
        elif anchor:
            headings = re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor[1:] in anchors, f"{address}{anchor}"


def test_every_picture_is_shown():
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    shown = {name for text in texts for name in re.findall(r"figures/([\w-]+)\.svg", text)}
    assert shown == set(FIGURES)
