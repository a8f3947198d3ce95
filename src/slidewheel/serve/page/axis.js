// Labels of the time axis: the unit that changes from tick to tick, and below it what it is part of, when that changes.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number) => String(number).padStart(2, "0");

const year = (at) => String(at.getUTCFullYear());
const month = (at) => MONTHS[at.getUTCMonth()];
const day = (at) => `${at.getUTCDate()} ${month(at)}`;
const date = (at) => `${day(at)} ${year(at)}`;
const clock = (at) => `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
const seconds = (at) => `${clock(at)}:${two(at.getUTCSeconds())}`;
const fraction = (at) => `${two(at.getUTCSeconds())}.${String(at.getUTCMilliseconds()).padStart(3, "0")}`;

function unitsOf(step) {
  if (step >= 365 * 86400) return [year, null];
  if (step >= 28 * 86400) return [month, year];
  if (step >= 86400) return [day, year];
  if (step >= 60) return [clock, date];
  return step >= 1 ? [seconds, date] : [fraction, (at) => `${clock(at)} ${date(at)}`];
}

// splits and step are seconds, as uPlot gives them.
export function timeLabels(splits, step) {
  const [upper, lower] = unitsOf(step);
  let before = null;
  return splits.map((split) => {
    if (split === null) return null;
    const at = new Date(Math.round(split * 1000));
    const below = lower?.(at);
    const label = below && below !== before ? `${upper(at)}\n${below}` : upper(at);
    before = below;
    return label;
  });
}
