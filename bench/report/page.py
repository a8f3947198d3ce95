"""A page of the report: what its file in `pages` says, draws and tabulates, and the words that all pages share.

A page is written from the records of a result file alone. Figures that stand in sentences are computed from them too,
so that a page never says what was not measured.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.ratios import Ratio, confidence, cut, figure
from bench.report import plots
from bench.report.plots import Line
from bench.results import Results

Record = Mapping[str, Any]


class Records(list[Record]):
    """What was measured, chosen by its fields."""

    def where(self, **wanted: Any) -> "Records":
        """Those whose fields have these values; a function is asked whether a value will do."""
        return Records(r for r in self if all(_fits(r.get(name), value) for name, value in wanted.items()))

    def experiment(self, begins: str) -> "Records":
        """Those of an experiment, and of its parts: "figure 13" has "figure 13, sum"."""
        return Records(r for r in self if _begins(str(r.get("experiment", "")), begins))

    def values(self, name: str) -> list[Any]:
        """The different values of a field, in the order in which they come."""
        return list(dict.fromkeys(r[name] for r in self if name in r))

    def one(self, **wanted: Any) -> Record | None:
        """The only one of that kind, if it was measured."""
        found = self.where(**wanted)
        return found[0] if len(found) == 1 else None

    def fastest(self, name: str, but: Sequence[str]) -> Record | None:
        """The one with the least median; not those whose field has one of these values."""
        return min((r for r in self if r[name] not in but), key=lambda r: r["median"], default=None)

    def ratio(self, over: Mapping[str, Any], under: Mapping[str, Any]) -> Ratio | None:
        """How many times as long as the other one takes; both are of one race, so that their rounds belong together."""
        above, below = self.one(**over), self.one(**under)
        if above is None or below is None:
            return None
        return ratio(above, below)


def ratio(over: Record, under: Record) -> Ratio:
    return Ratio.between(over["rounds"], under["rounds"])


def _fits(value: Any, wanted: Any) -> bool:
    return bool(wanted(value)) if callable(wanted) else value == wanted


def _begins(name: str, begins: str) -> bool:
    return name == begins or name.startswith((begins + ",", begins + " "))


class Page:
    """Collects Markdown, and draws its plots beside it."""

    def __init__(self, results: Results, folder: Path) -> None:
        self.results, self.folder = results, folder
        self.records = Records(results.records)
        self.parts: list[str] = []

    def say(self, text: str) -> None:
        """A paragraph, a list or a heading, as Markdown."""
        self.parts.append(text.strip())

    def title(self, text: str) -> None:
        self.say(f"# {text}")

    def heading(self, text: str) -> None:
        self.say(f"## {text}")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        found = [[_cell(value) for value in row] for row in rows]
        if found:
            lines = [header, ["---"] * len(header), *found]
            self.say("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def lines(
        self,
        name: str,
        title: str,
        records: Records,
        x: str,
        line: str | Callable[[Record], str],
        x_label: str,
        y_label: str,
        y: str | Callable[[Record], float] = "median",
        log: str = "xy",
        bars: bool = True,
        markers: bool = True,
        level: float | None = None,
    ) -> None:
        """A line for each value of a field, over another field; with quartiles where the records have them."""
        found: dict[str, list[Record]] = {}
        for record in records:
            found.setdefault(line(record) if callable(line) else str(record[line]), []).append(record)
        if not found:
            return
        drawn = {name_: _line(group, x, y, bars) for name_, group in found.items()}
        plots.lines(self.folder / f"{self._file(name)}", title, drawn, x_label, y_label, log, markers, level)
        self._image(name, title)

    def bars(
        self, name: str, title: str, found: Mapping[str, Mapping[str, float]], x_label: str, log: bool = False
    ) -> None:
        """Groups of bars: `found[group][name]`."""
        if any(found.values()):
            plots.bars(self.folder / self._file(name), title, found, x_label, log)
            self._image(name, title)

    def findings(self, begins: str) -> None:
        """What the paper reports, what was measured, and why they differ, for an experiment and its parts."""
        found = [r for r in self.records.experiment(begins) if "seen" in r]
        rows = [(r["experiment"], r["paper"], r["here"], "yes" if r["seen"] else "no") for r in found]
        self.table(["", "the paper", "here", "the same"], rows)
        whys = [f"- **{r['experiment']}**: {r['why']}" for r in found if r.get("why")]
        if whys:
            self.say("Why, as far as we know:")
            self.say("\n".join(dict.fromkeys(whys)))

    def targets(self) -> None:
        """What this suite aims at, and whether it gets there."""
        found = self.results.targets
        if not found:
            return
        missed = [target for target in found if not target["met"]]
        near = [target for target in found if _near(target)]
        self.heading("Aims")
        said = f"{len(found)} aims, {len(found) - len(missed)} met, {len(missed)} missed. Less is better."
        if near:
            said += (
                f" The aim lies within the interval of what was measured for {len(near)} of them, "
                f"{sum(target['met'] for target in near)} met and {sum(not target['met'] for target in near)} missed: "
                "another run may say otherwise."
            )
        self.say(said)
        self.table(["missed", "measured", "aim"], [_aimed(target) for target in missed])
        self.table(["met, but within the interval", "measured", "aim"], [_aimed(t) for t in near if t["met"]])

    def made_on(self) -> None:
        """The machine, the versions, the commit: where these figures come from."""
        found, facts = self.results, self.results.machine
        self.heading("Where these figures come from")
        versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
        self.say(
            f"`slidewheel bench {found.suite}{'' if found.kind == 'full' else f' --{found.kind}'}` on {found.date}, "
            f"{found.seconds:.0f} s, seed {found.seed}, commit `{str(facts['commit'])[:12]}`"
            f"{str(facts['commit'])[40:]}; the file is `bench/results/{found.suite}.json`. "
            f"{facts['cores']} cores of {facts['cpu']}, {facts['system']}, Python {facts['python']}, {versions}."
        )
        rounds = sorted({len(r["rounds"]) for r in self.records if len(r.get("rounds", ())) > 1})
        sure = " and ".join(f"{confidence(n, cut(n)):.0%} with {n} of them" for n in rounds)
        self.say(
            "All contestants run once in each round, and ratios are taken within a round. The interval in brackets "
            f"contains the true median with a probability of {sure or 'nothing, as there was one round'}. The machine "
            "is shared: figures of another run differ by tens of percent, ratios by less. [How it is "
            "measured](index.md#how-it-is-measured)."
        )
        if found.errors:
            self.say(
                "**Errors of this run**, whose figures are left out:\n\n" + "\n".join(f"- {e}" for e in found.errors)
            )

    def text(self) -> str:
        return "\n\n".join(self.parts) + "\n"

    def _file(self, name: str) -> str:
        return f"{self.results.suite}-{name}.svg"

    def _image(self, name: str, title: str) -> None:
        self.say(f"![{title}]({self._file(name)})")


def _near(target: Record) -> bool:
    """Whether the true ratio may be on the other side of the aim."""
    low, high = target.get("within", (math.inf, -math.inf))
    return bool(low < target["limit"] <= high)


def _aimed(target: Record) -> tuple[str, str, str]:
    within = " ({} to {})".format(*map(figure, target["within"])) if "within" in target else ""
    measured = f"{figure(target['measured'])}{target['unit']}{within}"
    return target["target"], measured, f"{figure(target['limit'])}{target['unit']}"


def _line(group: Sequence[Record], x: str, y: str | Callable[[Record], float], bars: bool) -> Line:
    ordered = sorted(group, key=lambda r: r[x])

    def of(record: Record) -> float:
        return float(y(record) if callable(y) else record[y])

    if not bars or not all("quartiles" in r for r in ordered):
        return Line([r[x] for r in ordered], [of(r) for r in ordered])
    ends = [sorted(of({**r, "median": end}) for end in r["quartiles"]) for r in ordered]
    return Line([r[x] for r in ordered], [of(r) for r in ordered], [low for low, _ in ends], [high for _, high in ends])


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return figure(value) if isinstance(value, float) else str(value).replace("|", "\\|")
