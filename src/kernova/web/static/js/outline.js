/** A specimen's landmarks over the mean shape. */

import { drawn } from "./dom.js";

/**
 * Draw an outline.
 * @param {{points: number[][], consensus?: number[][], links?: number[][]}} outline
 * @param {{isSmall?: boolean, words?: string}} [options] small ones have no numbers
 */
export function outlineDrawing({ points, consensus = [], links = [] }, { isSmall = false, words = "" } = {}) {
  const view = viewOf([...points, ...consensus]);
  const place = (point) => [point[0] - view.x, view.high - (point[1] - view.y)]; // on screens y grows downwards
  const size = Math.max(view.wide, view.high);
  const lines = (shape, kind) => links.map(([from, to]) => {
    const [[x1, y1], [x2, y2]] = [place(shape[from]), place(shape[to])];
    return drawn("line", { x1, y1, x2, y2, class: kind, "vector-effect": "non-scaling-stroke" });
  });
  const dots = (shape, kind, radius) => shape.map((point) => {
    const [cx, cy] = place(point);
    return drawn("circle", { cx, cy, r: radius * size, class: kind });
  });
  const shifts = isSmall ? [] : consensus.map((mean, number) => {
    const [[x1, y1], [x2, y2]] = [place(mean), place(points[number])];
    return drawn("line", { x1, y1, x2, y2, class: "shift", "vector-effect": "non-scaling-stroke" });
  });
  const numbers = isSmall ? [] : points.map((point, number) => {
    const [x, y] = place(point);
    return drawn("text", { x: x + 0.014 * size, y: y - 0.014 * size, "font-size": 0.034 * size }, number + 1);
  });
  return drawn("svg", { class: "outline", viewBox: `0 0 ${view.wide} ${view.high}`, role: words ? "img" : "presentation", "aria-label": words || null },
    ...(consensus.length ? lines(consensus, "mean") : []), ...shifts, ...lines(points, "own"),
    ...dots(consensus, "mean", 0.007), ...dots(points, "own", isSmall ? 0.014 : 0.01), ...numbers);
}

function viewOf(points) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const margin = 0.07 * Math.max(right - left, high - low, 1e-9);
  return { x: left - margin, y: low - margin, wide: right - left + 2 * margin, high: high - low + 2 * margin };
}
