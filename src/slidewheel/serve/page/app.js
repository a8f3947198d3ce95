// The page: a view (view.js) is asked for (api.js) and drawn (chart.js); every change of it is a new address.

import { nameOf, showLegend, showPlan, showTable } from "./answer.js";
import * as api from "./api.js";
import { available, makeChart } from "./chart.js";
import { lookOf, MOST, setColours } from "./colours.js";
import { download } from "./download.js";
import { LIMIT, makeKeys } from "./keys.js";
import { $, make } from "./make.js";
import { atEnd, fitting, inTicks } from "./range.js";
import { drawn, linesOf } from "./series.js";
import { iso, parseInstant, SECOND, showDuration, showRange } from "./text.js";
import { watchTheme } from "./themes.js";
import { watchFingers } from "./touch.js";
import { readView, writeView } from "./view.js";

const FIRST_KEYS = 3;
const POLL = 1000;
const PATIENCE = 150;
const MOST_BACK = 50;

let view = readView(location.hash);
// The ranges before this one, which belong to an entry of the browser's history.
let before = history.state?.before ?? [];
let stores = [];
let known = { keys: [], total: 0 };
let shown = null;
let asking = null;
let finding = null;
let step = { kind: null, at: 0 };

const store = () => stores.find(({ name }) => name === view.store) ?? null;
const aggregate = () => store()?.aggregates.find(({ name }) => name === view.aggregate) ?? null;
const tick = () => Math.max(1, Math.round((store()?.tick ?? 1) * SECOND));
// Of an empty store, types are not known yet.
const isText = (one) => Boolean(one?.type) && !one.numeric;
const asTable = () => view.table || isText(aggregate()) || !available();

function span() {
  const [start, end] = [parseInstant(store()?.start), parseInstant(store()?.end)];
  return start === null || end === null ? null : [start, Math.max(end, start + tick())];
}

const range = () => view.range ?? span();

const chart = makeChart($("chart"), {
  onZoom: (from, to) => go([from, to], { live: false }),
  onBack: back,
  onCursor: (at) => shown?.read(at),
});
const keyList = makeKeys({
  onFilter: (prefix) => findKeys(prefix).catch(complain),
  onChoose(keys) {
    view.keys = keys;
    remember();
    setColours(keys);
    keyList.choose(keys);
    ask();
  },
});

// ---- what is looked at

function remember(push = true) {
  const address = writeView(view);
  if (address === location.hash && history.state) return;
  history[push ? "pushState" : "replaceState"]({ before }, "", address);
}

// To another range; null is the whole span. Steps of a kind that follow each other quickly are one step of the history.
function go(wanted, { live = view.live, keep = true, kind = null } = {}) {
  const now = range();
  if (!now) return;
  let next = wanted && fitting(wanted, span(), tick());
  if (next && live) next = atEnd(next, span()[1], tick());
  const at = performance.now();
  const quick = kind !== null && kind === step.kind && at - step.at < 700;
  step = { kind, at };
  if (keep && !quick && String(next) !== String(view.range)) before = [...before, view.range].slice(-MOST_BACK);
  view = { ...view, range: next, live };
  remember(!quick);
  follow();
  if (!asTable()) chart.window(range());
  controls();
  ask();
}

function back() {
  const last = before.length ? before[before.length - 1] : null;
  before = before.slice(0, -1);
  go(last, { keep: false });
}

function zoom(factor) {
  const [from, to] = range() ?? [];
  if (from === undefined) return;
  const width = (to - from) * factor;
  const middle = (from + to) / 2;
  const whole = span();
  if (factor > 1 && width >= whole[1] - whole[0]) go(null, { kind: "zoom" });
  else go(view.live ? [to - width, to] : [middle - width / 2, middle + width / 2], { kind: "zoom" });
}

function pan(part) {
  const [from, to] = range() ?? [];
  if (from !== undefined) go([from + part * (to - from), to + part * (to - from)], { live: false, kind: "pan" });
}

async function whole() {
  await look().catch(complain);
  go(null);
}

function setLive(on) {
  view = { ...view, live: on };
  if (on && view.range && span()) view.range = atEnd(view.range, span()[1], tick());
  remember();
  follow();
  controls();
  if (on && range() && !asTable()) chart.window(range());
  if (on) ask();
}

function setTable(on) {
  view = { ...view, table: on };
  remember();
  controls();
  present();
}

// ---- asking

async function look(signal) {
  stores = await api.stores(signal);
}

async function findKeys(prefix) {
  finding?.abort();
  finding = new AbortController();
  try {
    known = await api.keys(view.store, prefix, LIMIT, finding.signal);
    if (view.keys === null) view.keys = known.keys.slice(0, FIRST_KEYS);
    setColours(view.keys);
    keyList.show(known, view.keys);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

// Asks for what is looked at now. A question that is still out is taken back.
async function ask() {
  asking?.abort();
  const own = (asking = new AbortController());
  const now = range();
  if (!now || !aggregate() || (store().keys.length && !view.keys?.length)) {
    asking = null;
    present();
    return;
  }
  const slow = setTimeout(() => busy(true), PATIENCE);
  const columns = store().keys;
  const asked = { columns, keys: columns.length ? view.keys : [[]], aggregate: view.aggregate, range: now };
  try {
    const [start, end] = inTicks(now, tick());
    const points = Math.max(20, Math.round(chart.width() / 2));
    const question = { ...asked, store: view.store, start: iso(start), end: iso(end), points };
    const answer = await api.query(question, own.signal);
    shown = { ...asked, answer, points, ...linesOf(answer, asked.columns, asked.keys, asked.aggregate), read() {} };
    present();
  } catch (error) {
    if (error.name !== "AbortError") complain(error);
  } finally {
    clearTimeout(slow);
    if (asking === own) {
      asking = null;
      busy(false);
    }
  }
}

// ---- showing

function busy(on) {
  $("busy").hidden = !on;
  $("view").ariaBusy = String(on);
  if (on) $("status").textContent = "Asking…";
}

function message(title, text, { bad = false, again = false } = {}) {
  $("message").hidden = !title;
  $("message").classList.toggle("bad", bad);
  $("message-title").textContent = title ?? "";
  $("message-text").textContent = text ?? "";
  $("again").hidden = !again;
  $("alert").textContent = bad ? `${title}. ${text}` : "";
  if (!bad) $("status").textContent = title ? `${title}. ${text}` : "";
  // Behind a message there is nothing to reach.
  $("chart").inert = $("values").inert = Boolean(title);
  if (title) {
    $("legend").replaceChildren();
    $("plan").hidden = true;
  }
}

function complain(error) {
  if (!(error instanceof api.Failure)) throw error;
  shown = null;
  const way = `${before.length ? "Go back (Backspace), or choose" : "Choose"} another range or fewer keys.`;
  message(error.title, error.refused && span() ? `${error.message} ${way}` : error.message, { bad: true, again: true });
  controls();
}

function present() {
  const table = asTable();
  $("chart").hidden = table;
  $("values").hidden = !table;
  note("");
  if (!stores.length) {
    message("No store is served", "Start the server with the path of one: slidewheel serve PATH");
  } else if (!span()) {
    message("This store is empty", "Nothing has been written to it yet. Switch Live on to wait for the first rows.");
  } else if (store().keys.length && !view.keys?.length) {
    message("No key is chosen", `Tick up to ${MOST} keys in the list to compare them.`);
  } else if (shown && !shown.shown) {
    message("No rows in this range", "Zoom out (−), or press 0 for the whole span.");
    showPlan(shown.answer);
  } else if (shown) {
    message(null);
    paint(table);
  }
  controls();
}

function paint(table) {
  const { answer, lines, range: asked } = shown;
  const read = showLegend(shown, shown.aggregate);
  showPlan(answer);
  if (table) {
    showTable(shown, shown.aggregate, answer.every);
    shown.read = () => {};
    if (!available()) note("The chart library is missing, so here are the values. From a checkout, run: make page");
    else if (isText(aggregate())) note(`${view.aggregate} is no number, so it is shown as a table.`);
  } else {
    const { x, from, values, left } = drawn(shown);
    shown.read = (at) => read(at === null || from[at] < 0 ? null : (from[at] ?? null));
    const name = (line) => nameOf(line, shown.aggregate);
    const look = lines.map((line, k) => ({ label: name(line), ...lookOf(line.key), values: values[k] }));
    chart.draw(x, look, asked);
    if (left) note(`${left.toLocaleString("en")} values are not finite and not drawn; the table has them.`);
  }
  read(null);
  if (!table) shown.read(chart.cursor());
  const names = lines.map((line) => nameOf(line, shown.aggregate)).join(", ");
  $("chart").ariaLabel = `Chart of ${shown.aggregate} for ${names}, ${showRange(asked)} UTC`;
  $("status").textContent = view.live ? "" : `${shown.shown.toLocaleString("en")} values shown.`;
}

function note(text) {
  if ($("note").textContent !== text) $("note").textContent = text;
}

function controls() {
  const now = range();
  $("range").replaceChildren();
  if (now) {
    const width = make("span", { className: "quiet" }, showDuration(now[1] - now[0]));
    $("range").append(`${showRange(now)} UTC`, width);
  }
  for (const id of ["earlier", "later", "wider", "closer"]) $(id).disabled = !now;
  $("back").disabled = !before.length;
  $("whole").disabled = !now || (!view.range && !$("message").classList.contains("bad"));
  $("csv").disabled = !shown?.shown;
  $("live").ariaPressed = String(view.live);
  $("table").ariaPressed = String(asTable());
  $("table").disabled = asTable() && !view.table;
  $("live").disabled = !stores.length;
}

function choices() {
  const option = (value, text = value) => make("option", { value }, text);
  $("store").replaceChildren(...stores.map(({ name }) => option(name)));
  $("store").value = view.store ?? "";
  const all = store()?.aggregates ?? [];
  $("aggregate").replaceChildren(...all.map((one) => option(one.name, isText(one) ? `${one.name} (table)` : one.name)));
  $("aggregate").value = view.aggregate ?? "";
  $("panel").hidden = !store()?.keys.length;
  document.querySelector(".work").classList.toggle("alone", !store()?.keys.length);
  $("panel-title").textContent = store()?.keys.join(" · ") ?? "Keys";
  document.title = view.store ? `${view.aggregate} – ${view.store} – slidewheel` : "slidewheel";
}

// ---- following the stream

let following = 0;

function follow() {
  clearTimeout(following);
  following = view.live ? setTimeout(poll, POLL) : 0;
}

async function poll() {
  const own = following;
  try {
    if (!document.hidden && !asking) {
      const [was, empty] = [store(), !span()];
      await look();
      const is = store();
      if (!view.live || own !== following) return;
      note("");
      const failed = $("message").classList.contains("bad");
      if (is && (failed || is.version !== was?.version || is.end !== was?.end)) {
        if (view.range && span()) view.range = atEnd(view.range, span()[1], tick());
        remember(false);
        if (empty && span()) await open();
        else await ask();
      }
    }
  } catch (error) {
    if (!(error instanceof api.Failure)) throw error;
    note("The server does not answer; it is asked again every second.");
  } finally {
    if (own === following) follow();
  }
}

// ---- starting

// Takes up a view: of a store, or of one that had nothing in it.
async function open() {
  const found = store() ?? stores[0] ?? null;
  view.store = found?.name ?? null;
  const usable = found?.aggregates ?? [];
  if (!usable.some(({ name }) => name === view.aggregate)) {
    view.aggregate = (usable.find((one) => !isText(one)) ?? usable[0])?.name ?? null;
  }
  if (view.keys) view.keys = view.keys.filter((key) => key.length === found?.keys.length).slice(0, MOST);
  shown = null;
  chart.clear();
  choices();
  try {
    if (found?.keys.length && span()) await findKeys("");
    else keyList.show({ keys: [], total: 0 }, []);
    if (view.range && span()) {
      view.range = view.live ? atEnd(view.range, span()[1], tick()) : inTicks(view.range, tick());
    }
    remember(false);
    follow();
    controls();
    await ask();
  } catch (error) {
    complain(error);
  }
}

async function start() {
  try {
    await look();
  } catch (error) {
    complain(error);
    return;
  }
  await open();
}

const SHORTCUTS = {
  ArrowLeft: () => pan(-0.25),
  ArrowRight: () => pan(0.25),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  0: whole,
  Backspace: back,
  l: () => setLive(!view.live),
  t: () => setTable(!view.table),
  "/": () => {
    $("panel").open = true;
    $("filter").focus();
  },
  "?": () => $("keyboard").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keyboard").open) return;
  if (event.target.closest("select, input[type=search]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest("#keys, #values")) return;
  const action = SHORTCUTS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

const CLICKS = {
  back,
  whole,
  earlier: () => pan(-0.25),
  later: () => pan(0.25),
  wider: () => zoom(2),
  closer: () => zoom(0.5),
  live: () => setLive(!view.live),
  table: () => setTable(!view.table),
  csv: () => download(shown, `${view.store}-${view.aggregate}.csv`),
  again: () => (stores.length ? ask() : start()),
  help: () => $("keyboard").showModal(),
  close: () => $("keyboard").close(),
};
for (const [id, action] of Object.entries(CLICKS)) $(id).addEventListener("click", action);

$("store").addEventListener("change", () => {
  view = { ...readView(""), store: $("store").value, live: view.live, table: view.table };
  before = [];
  keyList.reset();
  remember();
  open();
});
$("aggregate").addEventListener("change", () => {
  view.aggregate = $("aggregate").value;
  remember();
  choices();
  ask();
});
window.addEventListener("popstate", (event) => {
  view = readView(location.hash);
  before = event.state?.before ?? [];
  keyList.reset();
  open();
});

let asked = 0;
new ResizeObserver(() => {
  chart.resize();
  clearTimeout(asked);
  asked = setTimeout(() => {
    const ratio = shown ? chart.width() / 2 / shown.points : 1;
    if (ratio > 1.25 || ratio < 0.8) ask();
  }, 250);
}).observe($("view"));

watchFingers($("chart"), {
  range,
  onMove: (moved) => chart.window(moved),
  onDone: (moved) => go(moved, { live: false }),
});

// On a narrow screen the chart comes first.
if (matchMedia("(max-width: 760px)").matches) $("panel").open = false;
watchTheme($("theme"), () => chart.again());
start();
