// What is looked at, as the part of the address behind the #, so that a view can be shared and Back works.
// A range of null is the whole span; keys of null are those that the page chooses.

import { iso, parseInstant } from "./text.js";

function spelled(key) {
  const plain = key.length === 1 && typeof key[0] === "string" && key[0][0] !== "[";
  return plain ? key[0] : JSON.stringify(key);
}

function understood(text) {
  if (text[0] !== "[") return [text];
  try {
    const key = JSON.parse(text);
    return Array.isArray(key) ? key : null;
  } catch {
    return null;
  }
}

export function readView(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const from = parseInstant(given.get("from"));
  const to = parseInstant(given.get("to"));
  const keys = given.getAll("key").map(understood).filter(Boolean);
  return {
    store: given.get("store"),
    aggregate: given.get("aggregate"),
    keys: given.has("key") ? keys : given.get("keys") === "none" ? [] : null,
    range: from !== null && to !== null && from < to ? [from, to] : null,
    live: given.get("live") === "1",
    table: given.get("view") === "table",
  };
}

export function writeView(view) {
  const said = new URLSearchParams();
  if (view.store) said.set("store", view.store);
  if (view.aggregate) said.set("aggregate", view.aggregate);
  for (const key of view.keys ?? []) said.append("key", spelled(key));
  if (view.keys && !view.keys.length) said.set("keys", "none");
  if (view.range) {
    said.set("from", iso(view.range[0]));
    said.set("to", iso(view.range[1]));
  }
  if (view.live) said.set("live", "1");
  if (view.table) said.set("view", "table");
  // Colons need no escape here, and instants read better with them.
  return `#${said.toString().replaceAll("%3A", ":")}`;
}
