"""Colours, by what they mean, on a light card and on a dark one."""

LIGHT = {
    "card": "#ffffff",
    "edge": "#d0d7de",
    "ink": "#1f2328",
    "soft": "#57606a",
    "line": "#818b98",
    "mark": "#b34500",
    "plain": "#f0f2f5",
    "front": "#d3ebff",
    "back": "#d2f4da",
    "left": "#fdf0b6",
    "right": "#eddcff",
    "ready": "#ffdfdb",
}
DARK = {
    "card": "#161b22",
    "edge": "#30363d",
    "ink": "#e6edf3",
    "soft": "#9ea7b3",
    "line": "#7d8590",
    "mark": "#f0883e",
    "plain": "#262c36",
    "front": "#123d63",
    "back": "#124a2b",
    "left": "#4d3d06",
    "right": "#43296b",
    "ready": "#632323",
}
FILLS = ("plain", "front", "back", "left", "right", "ready")
"""What a box may be filled with; text on it is ink."""
TEXTS = ("ink", "soft", "mark")
"""Ink unless it says otherwise."""


def style() -> str:
    """The style sheet of a picture, with both palettes."""
    fixed = (
        "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:14px}"
        ".small{font-size:13px}.bold{font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}"
        "rect{rx:4px}.card{rx:10px}.empty,.gone,.dashed{stroke-dasharray:3 3}.thick{stroke-width:2.5}"
        ".path{fill:none;stroke-width:1.5}.path.thick{stroke-width:2}"
    )
    return f"{fixed}{_rules(LIGHT)}@media (prefers-color-scheme:dark){{{_rules(DARK)}}}"


def _rules(colour: dict[str, str]) -> str:
    rules = [f".card{{fill:{colour['card']};stroke:{colour['edge']}}}"]
    rules += [f"{'text' if name == 'ink' else '.' + name}{{fill:{colour[name]}}}" for name in TEXTS]
    rules += [f".{name}{{fill:{colour[name]};stroke:{colour['line']}}}" for name in FILLS]
    rules += [f".{name}{{fill:{colour['card']};stroke:{colour['line']}}}" for name in ("empty", "gone")]
    rules += [f".path{{stroke:{colour['line']}}}.rule{{stroke:{colour['edge']}}}.head{{fill:{colour['line']}}}"]
    rules += [f".thick{{stroke:{colour['mark']}}}.tip{{fill:{colour['mark']}}}"]
    return "".join(rules)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as the accessibility guidelines (WCAG 2) define it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
