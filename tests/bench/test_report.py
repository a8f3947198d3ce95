"""The pages of docs/benchmarks: that they say what the result files say, and that they can be read."""

import io
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from bench import results, suites
from bench.__main__ import PAGES
from bench.harness import Report
from bench.ratios import Ratio, confidence
from bench.report import plots
from bench.report.build import build
from bench.report.page import Page, Records
from bench.results import Results

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {path.name: path for path in [*build(results.FOLDER, folder), *folder.glob("*.svg")]}


def test_the_pages_in_docs_are_those_of_the_result_files(made):
    here = {path.name: path for path in PAGES.iterdir()}
    assert here.keys() == made.keys()
    for name, path in made.items():
        assert path.read_text() == here[name].read_text(), f"{name} is out of date: slidewheel bench --only-report"


def test_every_suite_was_measured_from_a_commit_without_errors():
    for suite in suites.SUITES:
        found = results.load(results.FOLDER, suite)
        assert found is not None, suite
        assert found.errors == [] and found.records and found.kind in ("quick", "full")
        assert re.fullmatch("[0-9a-f]{40}", found.machine["commit"]), f"{suite}: {found.machine['commit']}"
        assert found.machine["cpu"] and found.machine["versions"]["numpy"]


def test_plots_have_a_title_and_colours_for_light_and_dark(made):
    pictures = [path for name, path in made.items() if name.endswith(".svg")]
    assert pictures
    for path in pictures:
        root = xml.parse(path).getroot()
        assert root.find("{http://www.w3.org/2000/svg}title").text
        text = path.read_text()
        assert "prefers-color-scheme: dark" in text
        drawn = re.sub("<style>.*?</style>", "", text, flags=re.DOTALL)
        assert not re.search(r"#[0-9a-f]{6}\b", drawn), f"{path.name}: a colour that does not change with the page"


def test_text_in_a_plot_is_what_it_was_given(tmp_path):
    plots.bars(tmp_path / "made.svg", "at 99.99 & <100", {"p99.95": {"a": 1.0, "p99.99": 2.0}}, "1.2345 ns")
    text = (tmp_path / "made.svg").read_text()
    assert all(f">{label}<" in text for label in ("p99.95", "p99.99", "1.2345 ns", "at 99.99 &amp; &lt;100"))


@pytest.mark.parametrize(
    "card, ink, colours", [("#ffffff", "#24292f", plots.LIGHT), ("#16191d", "#d8dee4", plots.DARK)]
)
def test_colours_stand_out_from_the_page(card, ink, colours):
    def light(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, other: str) -> float:
        low, high = sorted((light(one), light(other)))
        return (high + 0.05) / (low + 0.05)

    assert f"--card:{card};--ink:{ink}" in plots._styles()
    assert contrast(card, ink) > 7
    assert min(contrast(card, colour) for colour in colours) > 4.5


def test_documentation_has_no_figures_of_speed_that_were_typed_by_hand():
    pages = [ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if p.parent != PAGES)]
    measured = re.compile(r"\d[\d.,]* ?(?:ns|µs|nanoseconds|milliseconds)\b|\d times as (?:fast|long)")
    for page in pages:
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        assert not measured.search(prose), f"{page.name}: {measured.search(prose)[0]}"


def test_an_interval_contains_the_median_as_often_as_it_says():
    """By counting all orders of five rounds above and below the median."""
    assert confidence(5, 0) == 1 - 2 / 32
    assert confidence(9, 1) == 1 - 2 * 10 / 512
    found = Ratio.between([2.0, 4.0, 6.0], [1.0, 1.0, 2.0])
    assert (found.median, found.low, found.high, found.confidence) == (3.0, 2.0, 4.0, 0.75)


def test_results_come_back_from_their_file(tmp_path):
    kept = Results("daba", {"commit": "c"}, 1, "quick", 5, "2026-01-01", 2.5, ["wrong"], [{"met": True}], [{"a": 1.0}])
    kept.save(tmp_path)
    assert results.load(tmp_path, "daba") == kept
    assert results.load(tmp_path, "greedy") is None


def test_an_experiment_has_its_parts():
    records = Records([{"experiment": name} for name in ("figure 1", "figure 13", "figure 13, sum")])
    assert len(records.experiment("figure 13")) == 2 and len(records.experiment("figure 1")) == 1


def test_a_suite_without_figures_has_a_page_with_its_errors(tmp_path):
    Results("user", {"commit": None, "cpu": "", "cores": 1, "system": "", "python": "", "versions": {}}, 1, "quick", 5,
            "2026-01-01", 2.5, ["user: it broke"], [], []).save(tmp_path)  # fmt: skip
    list(build(tmp_path, tmp_path))
    assert "- user: it broke" in (tmp_path / "user.md").read_text()
    assert "Nothing has been measured yet" in (tmp_path / "index.md").read_text()


def test_an_aim_within_the_interval_is_said_to_be_near(tmp_path):
    made = Report(suite="user", out=io.StringIO())
    for rounds in ([0.1, 0.2, 0.3], [0.3, 0.4, 0.6], [0.4, 0.6, 0.7], [0.6, 0.7, 0.8]):
        made.judge(f"from {rounds[0]}", Ratio.of(rounds), 0.5)
    made.judge("a number", 0.6, 0.5)
    page = Page(Results("user", {}, 1, "quick", 3, "", 1.0, [], made.targets, []), tmp_path)
    page.targets()
    text = page.text()
    assert "5 aims, 2 met, 3 missed" in text and "for 2 of them, 1 met and 1 missed" in text
    missed, near = text.split("| met, but")
    assert "| from 0.4 | 0.60 (0.40 to 0.70) | 0.50 |" in missed and "| from 0.6 |" in missed
    assert "| a number | 0.60 | 0.50 |" in missed and "| from 0.3 |" in near and "| from 0.1 |" not in text


def test_files_that_are_not_of_the_report_stay(tmp_path):
    for name in ("notes.md", "picture.svg", "user-old.svg"):
        (tmp_path / name).write_text("mine")
    found = results.load(results.FOLDER, "user")
    found.save(tmp_path / "results")
    list(build(tmp_path / "results", tmp_path))
    assert (tmp_path / "notes.md").read_text() == (tmp_path / "picture.svg").read_text() == "mine"
    assert not (tmp_path / "user-old.svg").exists() and (tmp_path / "user.md").exists()


def test_a_finding_that_differs_is_explained(tmp_path):
    known = {"experiment": "table 2", "paper": "twice", "here": "thrice", "seen": False, "why": "not known"}
    page = Page(Results("daba", {}, 1, "quick", 5, "", 1.0, [], [], [known]), tmp_path)
    page.findings("table 2")
    assert "| table 2 | twice | thrice | no |" in page.text() and "- **table 2**: not known" in page.text()
