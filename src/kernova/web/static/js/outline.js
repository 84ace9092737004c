/** A specimen's landmarks over the mean shape. */

import { drawn } from "./dom.js";

/**
 * Draw an outline; y grows downwards already.
 * @param {import("./page_types.js").Outline} outline
 * @param {{isSmall?: boolean, words?: string}} [options] small ones show the specimen's form alone
 */
export function outlineDrawing(outline, { isSmall = false, words = "" } = {}) {
  const { points, consensus, curves, box: [left, top, right, bottom] } = outline;
  const size = Math.max(right - left, bottom - top);
  const parts = isSmall
    ? [form(outline, points, "own"), ...dots(points, "own", 0.014 * size, outline.missing)]
    : [form(outline, consensus, "mean"), ...dots(consensus, "mean", 0.007 * size), ...shifts(points, consensus),
      ...curves.map((curve) => drawn("path", { class: "curve", d: pathThrough(curve) })), form(outline, points, "own"),
      ...dots(points, "own", 0.01 * size, outline.missing), ...numbers(points, size)];
  return drawn("svg", { class: "outline", viewBox: `${left} ${top} ${right - left} ${bottom - top}`, role: words ? "img" : "presentation", "aria-label": words || null }, ...parts);
}

/**
 * The border around the landmarks and the links inside it.
 * @param {import("./page_types.js").Outline} outline
 * @param {number[][]} shape
 * @param {string} kind
 */
function form({ border, links }, shape, kind) {
  const around = border.length > 0 ? `${pathThrough(border.map((landmark) => shape[landmark]))}Z` : "";
  const inside = links.map((ends) => pathThrough(ends.map((landmark) => shape[landmark]))).join("");
  return drawn("g", { class: kind }, drawn("path", { class: "border", d: around || "M0 0" }), drawn("path", { class: "links", d: inside || "M0 0" }));
}

/** @param {number[][]} points */
function pathThrough(points) {
  return `M${points.map(([x, y]) => `${x} ${y}`).join("L")}`;
}

/**
 * Landmarks that were estimated are hollow.
 * @param {number[][]} shape
 * @param {string} kind
 * @param {number} radius
 * @param {number[]} missing
 */
function dots(shape, kind, radius, missing = []) {
  return shape.map(([cx, cy], landmark) => drawn("circle", { cx, cy, r: radius, class: missing.includes(landmark) ? `${kind} estimated` : kind }));
}

/**
 * @param {number[][]} points
 * @param {number[][]} consensus
 */
function shifts(points, consensus) {
  return consensus.map((mean, landmark) => drawn("path", { class: "shift", d: pathThrough([mean, points[landmark]]) }));
}

/**
 * @param {number[][]} points
 * @param {number} size
 */
function numbers(points, size) {
  return points.map(([x, y], landmark) => drawn("text", { x: x + 0.012 * size, y: y - 0.012 * size, "font-size": 0.028 * size }, landmark + 1));
}
