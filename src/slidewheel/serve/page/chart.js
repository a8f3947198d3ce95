// The chart: uPlot with our colours, a drag that zooms and a cursor that reads values.

import { timeLabels } from "./axis.js";
import { showShort } from "./text.js";

export const available = () => typeof window.uPlot === "function";

// What a colour of the style sheet is in the theme of now, for the canvas.
function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// A value between two gaps has no line, so it gets a point.
function pointsShown(u, k, show, gaps) {
  if (show || !gaps?.length) return null;
  const alone = [];
  const values = u.data[k];
  const [first, last] = u.series[0].idxs;
  for (let at = first; at <= last; at++) {
    if (values[at] != null && values[at - 1] == null && values[at + 1] == null) alone.push(at);
  }
  return alone;
}

const cursorOf = (u) => (u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null);

export function makeChart(root, { onZoom, onBack, onCursor }) {
  let plot = null;
  let last = null;
  const font = () => `12px ${getComputedStyle(document.documentElement).fontFamily}`;
  const size = () => ({ width: root.clientWidth, height: root.clientHeight });

  function options(lines) {
    const [quiet, grid] = [colour("--quiet"), colour("--grid")];
    const line = { stroke: grid, width: 1 };
    const axis = { stroke: quiet, font: font(), grid: line, ticks: { ...line, size: 5 } };
    return {
      ...size(),
      padding: [18, 20, 2, 4],
      legend: { show: false },
      tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1000), "UTC"),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => {
            onBack();
            return null;
          },
        },
      },
      scales: { x: { time: true, range: (_, low, high) => [low, high] } },
      axes: [
        { ...axis, space: 74, size: 48, values: (_, splits, __, ___, step) => timeLabels(splits, step) },
        {
          ...axis,
          space: 44,
          ticks: { show: false },
          values: (_, splits) => splits.map((split) => (split === null ? null : showShort(split))),
          size: (_, labels) => 20 + 7.2 * Math.max(3, ...(labels ?? []).map((label) => label?.length ?? 0)),
        },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 1.6,
          dash: line.dashed ? [6, 4] : undefined,
          points: { filter: pointsShown, size: 5, fill: colour(line.colour), stroke: colour(line.colour) },
        })),
      ],
      hooks: {
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            if (width >= 4) onZoom(u.posToVal(left, "x") * 1e6, u.posToVal(left + width, "x") * 1e6);
          },
        ],
        setCursor: [(u) => onCursor(cursorOf(u))],
      },
    };
  }

  const look = (lines) => JSON.stringify(lines.map((line) => [line.label, line.colour, line.dashed]));

  return {
    // lines: [{label, colour, dashed, values}]; range in microseconds.
    draw(x, lines, range) {
      const made = look(lines);
      const data = [x, ...lines.map((line) => line.values)];
      if (!plot || plot.look !== made) {
        plot?.destroy();
        plot = new window.uPlot(options(lines), data, root);
        plot.look = made;
      } else {
        plot.setData(data, false);
      }
      last = { x, lines, range };
      this.window(range);
    },
    window([from, to]) {
      if (last) last.range = [from, to];
      plot?.setScale("x", { min: from / 1e6, max: to / 1e6 });
    },
    // Once more from the start: for another theme.
    again() {
      if (!plot) return;
      plot.look = null;
      this.draw(last.x, last.lines, last.range);
    },
    resize() {
      const { width, height } = size();
      if (plot && width && height && (plot.width !== width || plot.height !== height)) plot.setSize({ width, height });
    },
    clear() {
      plot?.destroy();
      plot = last = null;
    },
    // The place in the data that the cursor points to.
    cursor: () => (plot ? cursorOf(plot) : null),
    // How many pixels are there for values.
    width: () => plot?.over.clientWidth || Math.max(100, root.parentElement.clientWidth - 70),
  };
}
