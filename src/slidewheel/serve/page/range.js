// Ranges of time, in microseconds, and how they fit what there is.

import { SECOND } from "./text.js";

const ROUND = [1, 10, 60, 600, 3600, 6 * 3600, 86400].map((seconds) => seconds * SECOND);
const LEAST_TICKS = 4;

export const inTicks = ([from, to], tick) => [Math.floor(from / tick) * tick, Math.ceil(to / tick) * tick];

// Of the same width, up to an end.
export function atEnd([from, to], end, tick) {
  const last = Math.ceil(end / tick) * tick;
  return [last - (to - from), last];
}

// Whole ticks, and not far off the span. A wide range is rounded to more than ticks, which nobody sees on the chart and
// is easier to read.
export function fitting([from, to], [first, last], tick) {
  const size = Math.max(tick, ...ROUND.filter((unit) => unit % tick === 0 && unit <= (to - from) / 400));
  const least = LEAST_TICKS * tick;
  const width = Math.min(Math.max(to - from, least), Math.max(3 * (last - first), least));
  const wanted = (from + to - width) / 2;
  const start = Math.floor(Math.min(Math.max(wanted, first - width / 2), last - width / 2) / size) * size;
  return [start, start + Math.ceil(width / size) * size];
}
