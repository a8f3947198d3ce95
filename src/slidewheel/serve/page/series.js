// An answer, which has a row for each bucket and key that are not empty, as one line for each key.

export const idOf = (key) => JSON.stringify(key);

const NOT_FINITE = new Set(["NaN", "Infinity", "-Infinity"]);

// {starts, ends, lines: [{key, cells}], shown}: starts and ends of buckets, the cell of each key in each, and how many
// cells hold something.
export function linesOf(answer, columns, keys, aggregate) {
  const column = (name) => answer.data[answer.columns.indexOf(name)] ?? [];
  const [starts, ends, cells] = [column("start"), column("end"), column(aggregate)];
  const parts = columns.map(column);
  const order = [...new Set(starts)].sort((a, b) => a - b);
  const place = new Map(order.map((start, k) => [start, k]));
  const lines = new Map(keys.map((key) => [idOf(key), { key, cells: new Array(order.length).fill(null) }]));
  const ending = new Array(order.length);
  let shown = 0;
  for (let row = 0; row < starts.length; row++) {
    const at = place.get(starts[row]);
    ending[at] = ends[row];
    const line = lines.get(idOf(parts.map((part) => part[row])));
    if (!line) continue;
    line.cells[at] = cells[row];
    shown++;
  }
  return { starts: order, ends: ending, lines: [...lines.values()], shown };
}

// The same as columns of the chart: seconds, and numbers or null. Where buckets are missing, lines break.
export function drawn({ starts, ends, lines }) {
  const x = [];
  const from = [];
  for (let k = 0; k < starts.length; k++) {
    x.push(starts[k] / 1e6);
    from.push(k);
    if (k + 1 < starts.length && starts[k + 1] > ends[k]) {
      x.push(ends[k] / 1e6);
      from.push(-1);
    }
  }
  let left = 0;
  const number = (cell) => {
    if (typeof cell === "number") return cell;
    if (typeof cell === "boolean") return Number(cell);
    if (NOT_FINITE.has(cell)) left++;
    // Decimals come as text.
    else if (typeof cell === "string" && cell.trim() && Number.isFinite(Number(cell))) return Number(cell);
    return null;
  };
  const values = lines.map((line) => from.map((k) => (k < 0 ? null : number(line.cells[k]))));
  return { x, from, values, left };
}
