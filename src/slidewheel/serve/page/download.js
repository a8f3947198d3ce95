// The values that are shown, as a file: the rows of the answer, for the keys that were asked for.

import { make } from "./make.js";
import { idOf } from "./series.js";
import { iso } from "./text.js";

function line(cells) {
  const quoted = cells.map((cell) => {
    const text = cell == null ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${quoted.join(",")}\r\n`;
}

function csv({ answer, columns, keys }) {
  const wanted = new Set(keys.map(idOf));
  const places = columns.map((name) => answer.columns.indexOf(name));
  const times = answer.columns.map((name) => name === "start" || name === "end");
  const lines = [line(answer.columns)];
  for (let row = 0; row < answer.rows; row++) {
    const cells = answer.data.map((column) => column[row]);
    if (wanted.has(idOf(places.map((place) => cells[place])))) {
      lines.push(line(cells.map((cell, k) => (times[k] ? iso(cell) : cell))));
    }
  }
  return lines.join("");
}

export function download(shown, name) {
  const address = URL.createObjectURL(new Blob([csv(shown)], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
