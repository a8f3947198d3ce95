// Instants, durations and numbers as text. Instants and durations are microseconds; all clocks are UTC.

export const SECOND = 1e6;
const UNITS = [
  ["d", 86400 * SECOND],
  ["h", 3600 * SECOND],
  ["min", 60 * SECOND],
  ["s", SECOND],
  ["ms", 1000],
  ["µs", 1],
];

export function parseInstant(text) {
  if (text == null) return null;
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  if (!match) return null;
  const [, date, clock = "00:00", fraction = "", zone = "Z"] = match;
  const milliseconds = Date.parse(`${date}T${clock}${zone}`);
  return Number.isNaN(milliseconds) ? null : milliseconds * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

// As short as the instant allows: no fraction when it is a whole second.
export function iso(instant) {
  const seconds = Math.floor(instant / SECOND);
  const fraction = instant - seconds * SECOND;
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  return `${text}${fraction ? `.${String(fraction).padStart(6, "0").replace(/0+$/, "")}` : ""}Z`;
}

export function showInstant(instant) {
  return iso(instant).slice(0, -1).replace("T", " ").replace(/(:\d\d):00$/, "$1");
}

// Both ends with seconds, or both without.
export function showRange([from, to]) {
  const texts = [from, to].map(showInstant);
  const long = texts.some((text) => text.length > 16);
  return texts.map((text) => (long && text.length === 16 ? `${text}:00` : text)).join(" – ");
}

// The two largest units: "3 h 20 min".
export function showDuration(length) {
  const parts = [];
  let left = Math.round(length);
  for (const [name, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) parts.push(`${count.toLocaleString("en")} ${name}`);
    if (parts.length === 2 || (parts.length && !count)) break;
  }
  return parts.join(" ") || "0 s";
}

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

export function showNumber(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e15)) return value.toExponential(3);
  return Number.isInteger(value) ? value.toLocaleString("en") : plain.format(value);
}

export function showShort(value) {
  return Math.abs(value) >= 1e5 ? short.format(value) : plain.format(value);
}

// A cell of an answer: a number, nothing, "NaN" and its like, or whatever an aggregate makes.
export function showValue(value) {
  if (value == null) return "";
  if (typeof value === "number") return showNumber(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function showKey(key) {
  return key.map((value) => (value === null ? "null" : String(value))).join(" · ");
}
