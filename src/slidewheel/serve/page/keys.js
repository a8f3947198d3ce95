// The list of keys: a filter, and a box to tick for each key.

import { MOST, lookOf } from "./colours.js";
import { $, make, swatch } from "./make.js";
import { idOf } from "./series.js";
import { showKey } from "./text.js";

export const LIMIT = 200;

// onFilter(prefix) asks for other keys, onChoose(keys) takes what is ticked.
export function makeKeys({ onFilter, onChoose }) {
  const list = $("keys");
  const filter = $("filter");
  let chosen = [];
  let boxes = new Map();
  let found = { keys: [], total: 0 };
  let waiting = 0;

  function item(key) {
    const box = make("input", { type: "checkbox", tabIndex: -1 });
    const mark = make("span");
    box.addEventListener("change", () => {
      const others = chosen.filter((other) => idOf(other) !== idOf(key));
      onChoose(box.checked ? [...others, key] : others);
    });
    boxes.set(idOf(key), { key, box, mark });
    const name = make("span", { className: "name" }, showKey(key));
    return make("li", {}, make("label", { title: showKey(key) }, box, name, mark));
  }

  function mark() {
    const ticked = new Set(chosen.map(idOf));
    for (const [id, { key, box, mark }] of boxes) {
      box.checked = ticked.has(id);
      box.disabled = !box.checked && chosen.length >= MOST;
      mark.replaceChildren(...(box.checked ? [swatch(lookOf(key))] : []));
    }
    $("keys-note").textContent = note();
    $("panel-count").textContent = chosen.length ? `${chosen.length} chosen` : "";
  }

  function note() {
    if (chosen.length >= MOST) return `${MOST} keys are compared at most.`;
    if (!found.keys.length) return filter.value ? "No key begins like this." : "";
    const [here, all] = [found.keys.length, found.total];
    return all > here ? `${here} of ${all.toLocaleString("en")}: type to find others.` : "";
  }

  // One stop for Tab; arrows move inside.
  function stop(at) {
    const all = [...boxes.values()].map(({ box }) => box);
    for (const box of all) box.tabIndex = -1;
    if (at ?? all[0]) (at ?? all[0]).tabIndex = 0;
  }
  list.addEventListener("focusin", (event) => stop(event.target));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...boxes.values()].map(({ box }) => box).filter((box) => !box.disabled);
    all[all.indexOf(event.target) + step]?.focus();
  });
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => onFilter(filter.value), 120);
  });

  return {
    // Keys that were found; those chosen that are not among them come first.
    show(keys, now) {
      found = keys;
      chosen = now;
      boxes = new Map();
      const here = new Set(keys.keys.map(idOf));
      const pinned = filter.value ? [] : chosen.filter((key) => !here.has(idOf(key)));
      const items = pinned.map(item);
      if (pinned.length) items.push(make("li", { className: "line-break", role: "presentation" }));
      list.replaceChildren(...items, ...keys.keys.map(item));
      mark();
      stop();
    },
    choose(keys) {
      chosen = keys;
      mark();
    },
    reset() {
      filter.value = "";
    },
  };
}
