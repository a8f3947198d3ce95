// Fingers on the chart: one moves the range, two stretch it.

// range() is what is shown; onMove draws while fingers move, onDone asks when they have left.
export function watchFingers(root, { range, onMove, onDone }) {
  const fingers = new Map();
  let began = null;

  const places = () => [...fingers.values()];
  const start = () => {
    began = fingers.size ? { places: places(), range: range(), moved: null } : null;
  };

  function moved() {
    const box = root.querySelector(".u-over").getBoundingClientRect();
    const [from, to] = began.range;
    const at = (place) => from + ((place - box.left) / box.width) * (to - from);
    const now = places();
    if (now.length === 1) {
      const by = at(began.places[0]) - at(now[0]);
      return [from + by, to + by];
    }
    const [a, b] = [Math.min(...began.places), Math.max(...began.places)];
    const [c, d] = [Math.min(...now), Math.max(...now)];
    const scale = (b - a) / Math.max(20, d - c);
    const low = at(a) - (at(c) - from) * scale;
    return [low, low + (to - from) * scale];
  }

  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch" || !event.target.closest(".u-over")) return;
    fingers.set(event.pointerId, event.clientX);
    start();
  });
  root.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId) || !began?.range) return;
    fingers.set(event.pointerId, event.clientX);
    const far = fingers.size > 1 || Math.abs(event.clientX - began.places[0]) > 8;
    if (!far && !began.moved) return;
    began.moved = moved();
    onMove(began.moved);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    root.addEventListener(name, (event) => {
      if (!fingers.delete(event.pointerId)) return;
      if (began?.moved) onDone(began.moved);
      start();
    });
  }
}
