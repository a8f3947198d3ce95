// A key keeps its colour for as long as it is chosen. The second round of colours is dashed.

import { idOf } from "./series.js";

const COLOURS = 8;
export const MOST = 2 * COLOURS;

const taken = new Map();

export function setColours(keys) {
  const wanted = new Set(keys.map(idOf));
  for (const id of [...taken.keys()]) if (!wanted.has(id)) taken.delete(id);
  for (const id of wanted) {
    if (taken.has(id)) continue;
    const used = new Set(taken.values());
    let free = 0;
    while (used.has(free)) free++;
    taken.set(id, free);
  }
}

export function lookOf(key) {
  const number = taken.get(idOf(key)) ?? 0;
  return { colour: `--series-${number % COLOURS}`, dashed: number >= COLOURS };
}
