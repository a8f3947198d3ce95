// What stands around the chart: the values under the cursor, the plan, the table.

import { lookOf } from "./colours.js";
import { $, make, swatch } from "./make.js";
import { showDuration, showInstant, showKey, showValue } from "./text.js";

const EMPTY = "–";

export const nameOf = (line, aggregate) => (line.key.length ? showKey(line.key) : aggregate);

// Returns what sets the values to those of a bucket; null: of none.
export function showLegend({ starts, ends, lines }, aggregate) {
  const when = make("span", { className: "when" });
  const values = lines.map(() => make("span", { className: "value" }));
  const entries = lines.map((line, k) => [swatch(lookOf(line.key)), nameOf(line, aggregate), values[k]]);
  $("legend").replaceChildren(...entries.map((parts) => make("span", { className: "entry" }, ...parts)), when);
  return (at) => {
    when.textContent = at === null ? "" : `${showInstant(starts[at])}, ${showDuration(ends[at] - starts[at])}`;
    lines.forEach((line, k) => {
      values[k].textContent = at === null ? "" : showValue(line.cells[at]) || EMPTY;
    });
  };
}

export function showPlan(answer) {
  const { plan } = answer;
  const count = (number) => (number ?? 0).toLocaleString("en");
  const slots = Object.entries(plan.slots ?? {}).map(([level, number]) => `${count(number)} × ${level}`);
  const facts = [
    ["Buckets of", answer.every],
    ["Slots", slots.join(" + ") || "none"],
    ["States combined", count(plan.combined)],
    ["Files read", `${count(plan.files)} of ${count(plan.all_files)}`],
    ["Answered in", `${(plan.milliseconds ?? 0).toFixed(1)} ms`],
  ];
  const fact = ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value));
  $("facts").replaceChildren(...facts.map(fact));
  $("plan-text").textContent = plan.text ?? "";
  $("plan").hidden = false;
}

export function showTable({ starts, ends, lines }, aggregate, every) {
  const head = [make("th", { scope: "col" }, "Start (UTC)")];
  head.push(...lines.map((line) => make("th", { scope: "col" }, nameOf(line, aggregate))));
  const body = make("tbody");
  starts.forEach((start, at) => {
    const first = make("th", { scope: "row", title: `until ${showInstant(ends[at])}` }, showInstant(start));
    body.append(make("tr", {}, first, ...lines.map((line) => make("td", {}, showValue(line.cells[at]) || EMPTY))));
  });
  const caption = make("caption", {}, `${aggregate} in buckets of ${every}`);
  $("values").replaceChildren(make("table", {}, caption, make("thead", {}, make("tr", {}, ...head)), body));
}
