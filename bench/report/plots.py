"""Plots as SVG files that can be read on light and on dark pages.

Matplotlib draws with colours that stand for roles; in the file they become variables with a light and a dark value,
between which the reader's browser chooses.
"""

import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

ROLES = {"#010101": "ink", "#020202": "card", "#030303": "grid"}
INK, CARD, GRID = ROLES
SERIES = tuple(f"#0400{k:02x}" for k in range(1, 11))
LIGHT = ("#0a58ca", "#c2410c", "#15803d", "#7e22ce", "#0f766e", "#b91c1c", "#a16207", "#475569", "#be185d", "#4d7c0f")
DARK = ("#7cb0ff", "#ff9e64", "#7ad99a", "#d0a5ff", "#5fd4c8", "#ff8f8f", "#f0c75e", "#a9b6c8", "#ff8fc0", "#b8d977")
MARKERS = "os^Dv<>P*X"
WIDTH = 7.6
"""Inches of 72 points: a column of text."""


@dataclass(frozen=True)
class Line:
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    """The range of each point, drawn as a bar."""
    high: Sequence[float] | None = None


def lines(
    path: Path,
    title: str,
    found: Mapping[str, Line],
    x_label: str,
    y_label: str,
    log: str = "xy",
    markers: bool = True,
    level: float | None = None,
) -> None:
    """A line for each name. `log` names the axes that are logarithmic; `level` is a horizontal line to compare with."""
    figure, axes = _drawn(y_label, x_label, 4.0)
    for place, (name, line) in enumerate(found.items()):
        style = {"color": SERIES[place % 10], "lw": 1.6}
        if markers:
            style |= {"marker": MARKERS[place % 10], "ms": 4}
        axes.plot(line.x, line.y, label=name, linestyle="--" if place >= 10 else "-", **style)
        if line.low is not None and line.high is not None:
            axes.vlines(line.x, line.low, line.high, color=SERIES[place % 10], lw=1)
    if level is not None:
        axes.axhline(level, color=INK, lw=0.8, ls=":")
    if "x" in log:
        powers = all(_is_power(x) for line in found.values() for x in line.x)
        axes.set_xscale("log", base=2 if powers else 10)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _power(x) if powers else short(x)))
        axes.xaxis.set_minor_locator(NullLocator())
    if "y" in log:
        axes.set_yscale("log")
        _plain_numbers(axes.yaxis)
    axes.legend(frameon=False, fontsize=8, ncols=1, loc="upper left", bbox_to_anchor=(1.01, 1.0), labelcolor=INK)
    _save(figure, path, title)


def bars(path: Path, title: str, found: Mapping[str, Mapping[str, float]], x_label: str, log: bool = False) -> None:
    """Groups of horizontal bars: `found[group][name]`. A logarithmic axis has no zero to begin at: there, dots."""
    names = list(dict.fromkeys(name for group in found.values() for name in group))
    height = sum(0.2 * len(group) + 0.16 for group in found.values()) + 1.1
    figure, axes = _drawn("", x_label, max(height, 1.8))
    at, ticks = 0.0, []
    for title_of_group, group in found.items():
        ticks.append((at + (len(group) - 1) / 2, title_of_group))
        for name, value in group.items():
            first = at == 0 or name not in axes.get_legend_handles_labels()[1]
            style = {"color": SERIES[names.index(name) % 10], "label": name if first else None}
            if log:
                axes.plot([value], [at], "o", ms=6, linestyle="", **style)
            else:
                axes.barh(at, value, height=0.86, **style)
            beside = {"xytext": (7 if log else 3, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(short(value), (value, at), fontsize=7, color=INK, **beside)
            at += 1
        at += 0.8
    axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    if log:
        axes.set_xscale("log")
        _plain_numbers(axes.xaxis)
    axes.margins(x=0.12)
    if len(names) > 1:
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), labelcolor=INK)
    _save(figure, path, title)


def short(value: float) -> str:
    """
    >>> [short(v) for v in (0.02, 3.14159, 31.4, 1234567.0, math.inf)]
    ['0.02', '3.1', '31', '1.2M', '∞']
    """
    if math.isinf(value):
        return "∞"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            scale = 1e3 if letter == "k" else size
            return f"{value / scale:.2g}{letter}" if value / scale < 100 else f"{value / scale:.0f}{letter}"
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:.0f}"


def _is_power(x: float) -> bool:
    return x >= 1 and x == 2 ** round(math.log2(x))


def _power(x: float) -> str:
    exponent = round(math.log2(x))
    return f"{x:g}" if exponent < 7 else "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))


def _plain_numbers(axis: "matplotlib.axis.Axis") -> None:
    """Numbers as people write them; where no power of ten is shown, what lies between them."""
    low, high = sorted(axis.get_view_interval())
    wide = low > 0 and high / low > 20
    axis.set_major_locator(LogLocator(10, (1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(NullLocator())


def _drawn(y_label: str, x_label: str, height: float) -> tuple["plt.Figure", "plt.Axes"]:
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "slidewheel", "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(WIDTH, height), facecolor=CARD)
    axes.set_facecolor(CARD)
    axes.set_xlabel(x_label, color=INK, fontsize=9)
    axes.set_ylabel(y_label, color=INK, fontsize=9)
    axes.tick_params(which="both", colors=INK, labelsize=8)
    axes.grid(True, color=GRID, lw=0.6)
    axes.set_axisbelow(True)
    for place, spine in axes.spines.items():
        spine.set_visible(place in ("left", "bottom"))
        spine.set_color(INK)
    return figure, axes


def _save(figure: "plt.Figure", path: Path, title: str) -> None:
    figure.axes[0].set_title(title, color=INK, fontsize=10, loc="left", pad=10)
    made = io.StringIO()
    figure.savefig(made, format="svg", bbox_inches="tight", pad_inches=0.15, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(themed(made.getvalue(), title))


def themed(svg: str, title: str) -> str:
    """The drawing with its roles as variables, a title for those who hear it, and no fixed size."""
    for colour, role in ROLES.items():
        svg = svg.replace(colour, f"var(--{role})")
    for place, colour in enumerate(SERIES, 1):
        svg = svg.replace(colour, f"var(--s{place})")
    svg = re.sub(r"font-family: [^;\"]*", "font-family: system-ui, sans-serif", svg)
    svg = re.sub(r"<\?xml.*?(?=<svg)", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->|<g id=[^>]*/>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (?:d|x|y|transform|viewBox)="[^"]*"', lambda m: _rounded(m[0]), svg)
    svg = re.sub(r"\s*\n\s*", "\n", re.sub(r" ?\n(?=[LzMQC\"])", " ", svg))
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    heading = f"<title>{title.replace('&', '&amp;').replace('<', '&lt;')}</title>\n<style>{_styles()}</style>\n"
    return re.sub(
        r"(<svg [^>]*>)\s*", lambda m: m[1].replace("<svg ", '<svg role="img" ') + "\n" + heading, svg, count=1
    )


def _rounded(places: str) -> str:
    return re.sub(r"\d+\.\d{2,}", lambda m: f"{float(m[0]):.1f}", places)


def _styles() -> str:
    def variables(card: str, ink: str, grid: str, colours: Sequence[str]) -> str:
        series = "".join(f"--s{place}:{colour};" for place, colour in enumerate(colours, 1))
        return f":root{{--card:{card};--ink:{ink};--grid:{grid};{series}}}"

    light = variables("#ffffff", "#24292f", "#e2e5e9", LIGHT)
    dark = variables("#16191d", "#d8dee4", "#343a41", DARK)
    return f"{light}@media (prefers-color-scheme: dark){{{dark}}}"


def strips(path: Path, title: str, found: Mapping[str, Sequence[float]], x_label: str) -> None:
    """A line of dots for each name, on a logarithmic axis; the line at 1 is where both are equal."""
    figure, axes = _drawn("", x_label, 0.3 * len(found) + 1.0)
    for place, values in enumerate(found.values()):
        for colour, group in ((SERIES[0], [v for v in values if v >= 1]), (SERIES[1], [v for v in values if v < 1])):
            axes.plot(group, [place] * len(group), "o", color=colour, ms=6, alpha=0.75, mew=0)
    axes.axvline(1, color=INK, lw=0.8, ls=":")
    axes.set_xscale("log")
    _plain_numbers(axes.xaxis)
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.margins(y=0.1)
    _save(figure, path, title)
